//! Threads that write batches to one table. Batches are numbered; a load that is killed resumes after the last batch up to
//! which all are done.

use crate::arguments::Endpoint;
use crate::transfer::batch_writer::BatchWriter;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Items, and the number of the line that contains the last of them.
pub struct Batch {
    pub items: Vec<Value>,
    pub last_line: u64,
}

pub struct WriterPool {
    sender: Option<SyncSender<(u64, Batch)>>,
    sent: u64,
    outcome: Arc<Mutex<Outcome>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Outcome {
    /// The number of the first batch that is not done.
    next: u64,
    /// Later batches that are done: number → last line.
    ahead: BTreeMap<u64, u64>,
    /// The line up to which all are done.
    line: u64,
    failure: Option<String>,
}

impl WriterPool {
    /// Starts the threads; `line` is the last that is done already.
    #[expect(clippy::disallowed_methods, reason = "starts the threads that write")]
    pub fn start(
        target: &Endpoint,
        table: &str,
        keys: &[String],
        threads: usize,
        line: u64,
    ) -> Result<WriterPool, String> {
        let (sender, receiver) = sync_channel(threads * 2);
        let receiver = Arc::new(Mutex::new(receiver));
        let outcome = Arc::new(Mutex::new(Outcome { line, ..Outcome::default() }));
        let mut pool = WriterPool { sender: Some(sender), sent: 0, outcome, threads: Vec::new() };
        for _ in 0..threads {
            let writer = BatchWriter::new(target, table, keys)?;
            let (receiver, outcome) = (Arc::clone(&receiver), Arc::clone(&pool.outcome));
            pool.threads.push(std::thread::spawn(move || run(writer, &receiver, &outcome)));
        }
        Ok(pool)
    }

    /// Sends a batch to the threads; blocks while their queue is full.
    pub fn put(&mut self, batch: Batch) -> Result<(), String> {
        let sent = self.sender.as_ref().map(|sender| sender.send((self.sent, batch)));
        self.sent += 1;
        match (sent, locked(&self.outcome).failure.clone()) {
            (Some(Ok(())), None) => Ok(()),
            (_, failure) => Err(failure.unwrap_or_else(|| "the loading threads have ended".to_owned())),
        }
    }

    /// The line up to which all are done.
    pub fn line(&self) -> u64 {
        locked(&self.outcome).line
    }

    /// Waits for all batches.
    pub fn finish(&mut self) -> Result<(), String> {
        self.sender = None;
        let ended = self.threads.drain(..).all(|thread| thread.join().is_ok());
        match locked(&self.outcome).failure.take() {
            Some(failure) => Err(failure),
            None if ended => Ok(()),
            None => Err("a loading thread failed".to_owned()),
        }
    }
}

fn run(mut writer: BatchWriter, receiver: &Mutex<Receiver<(u64, Batch)>>, outcome: &Mutex<Outcome>) {
    loop {
        let received = locked(receiver).recv();
        let Ok((number, batch)) = received else { return };
        let put = writer.put(batch.items);
        let mut outcome = locked(outcome);
        match put {
            Ok(()) => outcome.done(number, batch.last_line),
            Err(message) => {
                outcome.failure.get_or_insert(message);
                return;
            }
        }
    }
}

impl Outcome {
    fn done(&mut self, number: u64, last_line: u64) {
        self.ahead.insert(number, last_line);
        while let Some(line) = self.ahead.remove(&self.next) {
            self.next += 1;
            self.line = line;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn the_line_does_not_advance_past_a_gap() {
        let mut outcome = Outcome { line: 2, ..Outcome::default() };
        outcome.done(1, 50);
        assert_eq!(outcome.line, 2);
        outcome.done(0, 27);
        assert_eq!((outcome.line, outcome.ahead.len()), (50, 0));
    }
}
