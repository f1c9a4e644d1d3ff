//! The log of what violates a model. Lines are written by a thread of their own: the store's writer and the threads that serve connections
//! never wait for whoever reads the log, and clients cannot make it grow without bounds.

use super::statistics::shortened;
use partita_design::formatting::printable;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How many lines wait to be written. Those that come when there are more are counted only.
const MAX_WAITING: usize = 100;
/// How long the thread pauses between two lines: at most a hundred are written in a second.
const PAUSE: Duration = Duration::from_millis(10);

/// The log of one table. Its thread starts with the first line.
pub struct ViolationLog {
    table: String,
    sender: OnceLock<Option<SyncSender<Line>>>,
    omitted: Arc<AtomicU64>,
}

struct Line {
    rule: &'static str,
    message: String,
}

impl ViolationLog {
    pub fn new(table: String) -> ViolationLog {
        ViolationLog { table, sender: OnceLock::new(), omitted: Arc::default() }
    }

    /// Records a violation, unless too many are waiting.
    pub fn record(&self, rule: &'static str, message: &str) {
        let table = &self.table;
        let write = || {
            let table = table.clone();
            move |line: &Line, omitted: u64| {
                tracing::warn!(table, rule = line.rule, "{}", line.message);
                if omitted > 0 {
                    tracing::warn!(table, "{omitted} more violations were counted, but not logged");
                }
            }
        };
        self.record_with(rule, message, write);
    }

    fn record_with<W: FnMut(&Line, u64) + Send + 'static>(
        &self,
        rule: &'static str,
        message: &str,
        write: impl FnOnce() -> W,
    ) {
        let sender = self.sender.get_or_init(|| start(Arc::clone(&self.omitted), write()));
        // Messages quote keys and values that clients have chosen.
        let line = || Line { rule, message: printable(&shortened(message)).into_owned() };
        if sender.as_ref().is_none_or(|sender| sender.try_send(line()).is_err()) {
            self.omitted.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Starts the thread, which ends with the log it writes; `None` if there can be no more threads.
#[expect(clippy::disallowed_methods, reason = "the thread that writes the log")]
fn start(
    omitted: Arc<AtomicU64>,
    write: impl FnMut(&Line, u64) + Send + 'static,
) -> Option<SyncSender<Line>> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    let thread = std::thread::Builder::new().name("violation log".to_owned());
    thread.spawn(move || write_all(&receiver, &omitted, write)).ok().map(|_| sender)
}

fn write_all(receiver: &Receiver<Line>, omitted: &AtomicU64, mut write: impl FnMut(&Line, u64)) {
    for line in receiver {
        write(&line, omitted.swap(0, Ordering::Relaxed));
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn clients_cannot_forge_lines() {
        let log = ViolationLog::new("Tab".to_owned());
        let (written, lines) = channel();
        log.record_with("type", "type User\n2026 INFO admin logged in\u{1b}[2J", || {
            move |line: &Line, _: u64| written.send(line.message.clone()).unwrap_or_default()
        });
        drop(log);
        let lines: Vec<String> = lines.iter().collect();
        assert_eq!(lines, ["type User\\n2026 INFO admin logged in\\u{1b}[2J"]);
    }

    #[test]
    fn nobody_waits_for_the_reader_of_the_log() {
        let log = ViolationLog::new("Tab".to_owned());
        let (resume, stopped) = channel::<()>();
        let (written, lines) = channel();
        let write = move || {
            move |line: &Line, omitted: u64| {
                let _ = stopped.recv();
                let _ = written.send((line.message.clone(), omitted));
            }
        };
        let mut write = Some(write);
        for number in 0..1_000 {
            log.record_with("key", &number.to_string(), || write.take().unwrap()());
        }
        drop((resume, log));
        let lines: Vec<(String, u64)> = lines.iter().collect();
        assert_eq!(lines[0].0, "0");
        let omitted: u64 = lines.iter().map(|(_, omitted)| omitted).sum();
        assert_eq!(lines.len() as u64 + omitted, 1_000);
    }
}
