//! The one thread that decides.
//!
//! Jobs come in through a channel. The thread takes those that wait as one group, makes their decisions one after
//! another against the rows as the group has changed them so far, appends the group to the log, shows it to
//! readers and then answers all of it. A lone job does not wait for company: while one group is made durable, the
//! next gathers by itself.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use partita_store::{Counters, Snapshot, StoreError};

use crate::batch::Batch;
use crate::job::{Decided, Job};
use crate::log::Log;
use crate::shared::Shared;
use crate::snapshot::EmbeddedSnapshot;

const GROUP_JOBS: usize = 2_048;
const GROUP_BYTES: usize = 8 << 20;

/// The way to the writing thread. Dropped, it waits until all that was asked for is done.
pub(crate) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(shared: Arc<Shared>, log: Log) -> std::io::Result<Writer> {
        let (jobs, waiting) = channel();
        let mut state = State { shared, log };
        // Callers' code is run so that its panics stay its own. Should this thread itself panic, it is not known what
        // the log has: it ends, and what comes later is refused until the store is opened again.
        let thread = std::thread::Builder::new()
            .name("store writer".to_string())
            .spawn(move || state.run(&waiting))?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a job over; one that comes too late is given back.
    pub fn send(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        match &self.jobs {
            Some(jobs) => jobs.send(job).map_err(|refused| refused.0),
            None => Err(job),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer ended in a panic");
        }
    }
}

struct State {
    shared: Arc<Shared>,
    log: Log,
}

impl State {
    /// Until the channel is closed and empty.
    fn run(&mut self, waiting: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = waiting.recv() {
            let group = Group::gather(&self.shared, first, waiting);
            self.finish(group);
        }
    }

    fn finish(&mut self, group: Group) {
        let outcome = self.commit(&group.batch);
        if let Err(error) = &outcome {
            tracing::warn!(%error, jobs = group.jobs.len(), "a group of writes failed");
        }
        if let (Ok(()), Some(on_commit)) = (&outcome, group.on_commit)
            && catch_unwind(AssertUnwindSafe(on_commit)).is_err()
        {
            tracing::error!("a decision's on_commit panicked");
        }
        for (job, decided) in group.jobs {
            let answer = AssertUnwindSafe(|| job.answer(decided.and(outcome.clone())));
            if catch_unwind(answer).is_err() {
                tracing::error!("an answer that nobody waited for panicked when it was dropped");
            }
        }
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.shared.pending.wait_for_room()?;
        let appended = self.log.append(batch)?;
        self.shared.pending.publish(batch, &appended);
        Ok(())
    }
}

/// Decisions that are committed together.
struct Group {
    batch: Batch,
    /// Each with what became of it by itself, before the commit.
    jobs: Vec<(Box<dyn Job>, Result<(), StoreError>)>,
    on_commit: Option<Box<dyn FnOnce() + Send>>,
}

impl Group {
    fn gather(shared: &Shared, first: Box<dyn Job>, waiting: &Receiver<Box<dyn Job>>) -> Group {
        let mut group = Group { batch: Batch::default(), jobs: Vec::new(), on_commit: None };
        let rows = EmbeddedSnapshot::take(shared);
        let mut next = Some(first);
        while let Some(mut job) = next {
            let decided = match &rows {
                Ok(rows) => group.decide(rows, job.as_mut()),
                Err(error) => Err(error.clone()),
            };
            group.jobs.push((job, decided));
            next = if group.is_full() { None } else { waiting.try_recv().ok() };
        }
        group
    }

    fn is_full(&self) -> bool {
        self.on_commit.is_some() || self.jobs.len() >= GROUP_JOBS || self.batch.bytes() >= GROUP_BYTES
    }

    fn decide(&mut self, rows: &EmbeddedSnapshot<'_>, job: &mut dyn Job) -> Result<(), StoreError> {
        let mut found = Vec::with_capacity(job.keys().len());
        for key in job.keys() {
            found.push(match self.batch.get(key) {
                Some(row) => row.map(Cow::Borrowed),
                None => rows.get(key)?,
            });
        }
        let Decided { writes, on_commit } = job.decide(&found)?;
        drop(found);
        self.batch.take(writes, |key| Ok(Counters::read(rows.get(key)?.as_deref())))?;
        self.on_commit = on_commit;
        Ok(())
    }
}
