//! Records requests in a file: one JSON line for each, `{"time":1794871234.125,"operation":"Query","request":{…}}`.
//!
//! A thread writes the lines. Requests never wait for it: what does not fit into its queue is dropped and counted.

use partita_api::Operation;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// The most requests that wait to be written.
const MAX_WAITING: usize = 4_096;
/// The most bytes that wait to be written.
const MAX_WAITING_BYTES: usize = 32 << 20;

/// A request that waits to be written.
struct Entry {
    millis: u64,
    operation: Operation,
    body: Vec<u8>,
}

/// What is waiting, and what was dropped.
#[derive(Default)]
struct Counters {
    waiting_bytes: AtomicUsize,
    dropped: AtomicU64,
}

/// A log of requests. Dropping it writes what is waiting.
pub struct RequestLog {
    sender: Option<SyncSender<Entry>>,
    counters: Arc<Counters>,
    writer: Option<JoinHandle<()>>,
}

impl RequestLog {
    /// Starts the thread that writes the lines, each with one call.
    ///
    /// # Errors
    ///
    /// Returns an error if there can be no more threads.
    #[expect(clippy::disallowed_methods, reason = "the thread that writes the log")]
    pub fn start(out: impl Write + Send + 'static) -> std::io::Result<RequestLog> {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let counters = Arc::<Counters>::default();
        let shared = Arc::clone(&counters);
        let writer = std::thread::Builder::new()
            .name("request log".to_owned())
            .spawn(move || write_all(&receiver, out, &shared))?;
        Ok(RequestLog { sender: Some(sender), counters, writer: Some(writer) })
    }

    /// Records a request, unless too many are waiting.
    pub fn record(&self, millis: u64, operation: Operation, body: &[u8]) {
        let waiting = self.counters.waiting_bytes.fetch_add(body.len(), Ordering::Relaxed);
        let fits = waiting + body.len() <= MAX_WAITING_BYTES;
        let entry = || Entry { millis, operation, body: body.to_vec() };
        if !fits || self.sender.as_ref().is_none_or(|sender| sender.try_send(entry()).is_err()) {
            self.counters.waiting_bytes.fetch_sub(body.len(), Ordering::Relaxed);
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        // Without a sender, the thread ends after the last entry.
        self.sender = None;
        if self.writer.take().is_some_and(|writer| writer.join().is_err()) {
            tracing::error!("the thread that writes the request log panicked");
        }
    }
}

/// Writes entries until the log is dropped. After an error nothing more is written.
fn write_all(receiver: &Receiver<Entry>, mut out: impl Write, counters: &Counters) {
    let mut failed = false;
    while let Some(entry) = next(receiver, &mut out, &mut failed) {
        counters.waiting_bytes.fetch_sub(entry.body.len(), Ordering::Relaxed);
        if !failed && partita_wire::is_json(&entry.body) {
            failed = report(write_line(&mut out, &entry));
        }
        let dropped = counters.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            tracing::warn!(dropped, "the request log is not written fast enough: requests are missing in it");
        }
    }
}

/// The next entry; what is buffered is written before waiting for it.
fn next(receiver: &Receiver<Entry>, out: &mut impl Write, failed: &mut bool) -> Option<Entry> {
    match receiver.try_recv() {
        Ok(entry) => Some(entry),
        Err(TryRecvError::Empty) => {
            *failed = *failed || report(out.flush());
            receiver.recv().ok().or_else(|| next(receiver, out, failed))
        }
        Err(TryRecvError::Disconnected) => {
            *failed = *failed || report(out.flush());
            None
        }
    }
}

/// Returns whether writing failed.
fn report(result: std::io::Result<()>) -> bool {
    if let Err(error) = &result {
        tracing::error!(%error, "the request log cannot be written and ends here");
    }
    result.is_err()
}

/// Writes a line at once, so that no line is divided where one file ends and the next begins.
fn write_line(out: &mut impl Write, entry: &Entry) -> std::io::Result<()> {
    let (seconds, millis) = (entry.millis / 1_000, entry.millis % 1_000);
    let operation = entry.operation.name();
    let head = format!(r#"{{"time":{seconds}.{millis:03},"operation":"{operation}","request":"#);
    let mut line = Vec::with_capacity(head.len() + entry.body.len() + 2);
    line.extend_from_slice(head.as_bytes());
    // Line breaks in JSON are only between values.
    line.extend(entry.body.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    line.extend_from_slice(b"}\n");
    out.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// Sends each piece that is written.
    struct Pieces(Sender<Vec<u8>>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_request_is_a_line_and_what_is_not_json_is_left_out() {
        let (sender, written) = channel();
        let log = RequestLog::start(Pieces(sender)).unwrap();
        log.record(1_005, Operation::Query, b"{\n\"TableName\": \"a\\nb\"\r\n}");
        log.record(2_000, Operation::Scan, b"{");
        log.record(62_120, Operation::GetItem, b"{}");
        drop(log);
        let text = String::from_utf8(written.iter().flatten().collect()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                r#"{"time":1.005,"operation":"Query","request":{ "TableName": "a\nb"  }}"#,
                r#"{"time":62.120,"operation":"GetItem","request":{}}"#,
            ]
        );
    }

    #[test]
    fn requests_do_not_wait_for_a_file_that_is_not_written() {
        struct Stuck(std::sync::mpsc::Receiver<()>);
        impl Write for Stuck {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                let _ = self.0.recv();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (release, stuck) = channel();
        let log = RequestLog::start(Stuck(stuck)).unwrap();
        (0..2 * MAX_WAITING as u64).for_each(|millis| log.record(millis, Operation::GetItem, b"{}"));
        assert!(log.counters.dropped.load(Ordering::Relaxed) >= MAX_WAITING as u64 - 1);
        let large = vec![b' '; MAX_WAITING_BYTES];
        let before = log.counters.dropped.load(Ordering::Relaxed);
        log.record(0, Operation::GetItem, &large);
        assert_eq!(log.counters.dropped.load(Ordering::Relaxed), before + 1);
        drop(release);
    }
}
