//! The single writer: makes decisions and commits them in groups, usually on a thread of its own.
//!
//! Jobs arrive through a channel. The thread takes all queued jobs as one group, runs their decisions one after another
//! against the rows as the group has changed them so far, appends the group to the log, makes it visible to readers and
//! then answers all callers. A lone job does not wait for others: while one group is made durable, the next one queues
//! up. A caller whose thread has nothing else to serve may commit on its own thread, which saves two thread switches
//! (see [`blocking`]); the lock on the committer ensures a single writer.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use partita_store::{Counters, Snapshot, StoreError, Write, blocking};

use crate::log::appender::LogAppender;
use crate::snapshot::EmbeddedSnapshot;
use crate::write::batch::Batch;
use crate::write::decision_job::{DecidedWrites, DecisionJob};
use crate::write::store_state::StoreState;

const MAX_GROUP_JOBS: usize = 2_048;
const MAX_GROUP_BYTES: usize = 8 << 20;
/// How much a deletion may add on a full disk in addition to what it removes.
const SMALL_BYTES: usize = 2_048;

/// The handle of the writer thread. Dropping it waits until all queued jobs are done.
pub(crate) struct Writer {
    jobs: Option<Sender<Box<dyn DecisionJob>>>,
    /// Jobs that were sent and are not yet in a group.
    waiting: Arc<AtomicUsize>,
    committer: Arc<Mutex<Committer>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that writes")]
    pub fn start(state: Arc<StoreState>, log: LogAppender) -> std::io::Result<Writer> {
        let (mut writer, writer_loop) = Writer::without_thread(state, log);
        // Panics in callers' code are caught. If the writer itself panics, it is unknown what the log contains: the
        // committer's lock is poisoned, the thread ends, and later jobs are refused until the store is reopened.
        let thread =
            std::thread::Builder::new().name("store writer".to_string()).spawn(move || writer_loop.run())?;
        writer.thread = Some(thread);
        Ok(writer)
    }

    /// A writer without a thread, and the loop for the caller to run.
    pub fn without_thread(state: Arc<StoreState>, log: LogAppender) -> (Writer, WriterLoop) {
        let (jobs, sent) = channel();
        let waiting = Arc::<AtomicUsize>::default();
        let committer = Arc::new(Mutex::new(Committer { state, log }));
        let queue = Queue { sent, waiting: Arc::clone(&waiting) };
        let writer_loop = WriterLoop { queue, committer: Arc::clone(&committer) };
        (Writer { jobs: Some(jobs), waiting, committer, thread: None }, writer_loop)
    }

    /// Queues a job, or returns it if the writer has stopped. A caller that may block commits it on its own thread if nobody
    /// else is writing or about to.
    pub fn send(&self, job: Box<dyn DecisionJob>) -> Result<(), Box<dyn DecisionJob>> {
        if blocking::is_allowed()
            && self.waiting.load(Ordering::Acquire) == 0
            && let Ok(mut committer) = self.committer.try_lock()
        {
            committer.write(job, || None);
            return Ok(());
        }
        let Some(jobs) = &self.jobs else { return Err(job) };
        self.waiting.fetch_add(1, Ordering::AcqRel);
        jobs.send(job).map_err(|refused| refused.0)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer thread panicked");
        }
    }
}

/// Commits queued jobs.
pub(crate) struct WriterLoop {
    queue: Queue,
    committer: Arc<Mutex<Committer>>,
}

impl WriterLoop {
    /// Runs until the channel is closed and empty.
    fn run(&self) {
        while let Some(first) = self.queue.wait() {
            if !self.write_group(first) {
                return;
            }
        }
    }

    /// Commits the queued jobs as one group; returns whether there were any.
    pub fn write_queued(&self) -> bool {
        self.queue.take().is_some_and(|first| self.write_group(first))
    }

    fn write_group(&self, first: Box<dyn DecisionJob>) -> bool {
        let Ok(mut committer) = self.committer.lock() else { return false };
        committer.write(first, || self.queue.take());
        true
    }
}

/// The jobs queued for the thread.
struct Queue {
    sent: Receiver<Box<dyn DecisionJob>>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    fn wait(&self) -> Option<Box<dyn DecisionJob>> {
        self.sent.recv().ok().inspect(|_| self.decrement())
    }

    fn take(&self) -> Option<Box<dyn DecisionJob>> {
        self.sent.try_recv().ok().inspect(|_| self.decrement())
    }

    fn decrement(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Decides and commits; the holder of its lock is the writer.
struct Committer {
    state: Arc<StoreState>,
    log: LogAppender,
}

impl Committer {
    /// Commits one group made of a job and those that `next` returns.
    fn write(&mut self, first: Box<dyn DecisionJob>, next: impl FnMut() -> Option<Box<dyn DecisionJob>>) {
        let group = Group::gather(&self.state, first, next);
        self.finish(group);
    }

    fn finish(&mut self, group: Group) {
        let outcome = self.commit(&group.batch);
        self.state.write_health.record(outcome.as_ref().err());
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
                tracing::error!("an answer without a waiting caller panicked when it was dropped");
            }
        }
        if let Err(error @ StoreError::LogFailed(_)) = &outcome {
            self.state.write_health.report_fatal(error);
        }
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.state.pending.wait_for_capacity()?;
        if self.state.disk_space.shortage().is_none() {
            self.state.ensure_space(batch.bytes())?;
        }
        let appended = self.log.append(batch)?;
        self.state.pending.publish(batch, &appended);
        Ok(())
    }
}

/// Decisions that are committed together.
struct Group {
    batch: Batch,
    /// Each with its own outcome, before the commit.
    jobs: Vec<(Box<dyn DecisionJob>, Result<(), StoreError>)>,
    on_commit: Option<Box<dyn FnOnce() + Send>>,
    /// Why only writes that free space are accepted, if so.
    shortage: Option<StoreError>,
}

impl Group {
    fn gather(
        state: &StoreState,
        first: Box<dyn DecisionJob>,
        mut next_job: impl FnMut() -> Option<Box<dyn DecisionJob>>,
    ) -> Group {
        let shortage = state.disk_space.shortage();
        let mut group = Group { batch: Batch::default(), jobs: Vec::new(), on_commit: None, shortage };
        let rows = EmbeddedSnapshot::take(state);
        let mut next = Some(first);
        while let Some(mut job) = next {
            let decided = match &rows {
                Ok(rows) => group.decide(rows, job.as_mut()),
                Err(error) => Err(error.clone()),
            };
            group.jobs.push((job, decided));
            next = if group.is_full() { None } else { next_job() };
        }
        group
    }

    fn is_full(&self) -> bool {
        self.on_commit.is_some() || self.jobs.len() >= MAX_GROUP_JOBS || self.batch.bytes() >= MAX_GROUP_BYTES
    }

    fn decide(&mut self, rows: &EmbeddedSnapshot<'_>, job: &mut dyn DecisionJob) -> Result<(), StoreError> {
        let mut found = Vec::with_capacity(job.keys().len());
        let mut damaged = Vec::new();
        for (index, key) in job.keys().iter().enumerate() {
            found.push(match self.batch.get(key) {
                Some(row) => row.map(Cow::Borrowed),
                None => match rows.get(key) {
                    Err(StoreError::Damaged(_)) if job.tolerates_damage() => {
                        damaged.push(index);
                        None
                    }
                    row => row?,
                },
            });
        }
        let DecidedWrites { writes, on_commit } = job.decide(&found, &damaged)?;
        drop(found);
        let tolerates_damage = job.tolerates_damage();
        if let Some(shortage) = &self.shortage
            && !self.frees_space(rows, &writes, tolerates_damage)?
        {
            return Err(shortage.clone());
        }
        self.batch.add(writes, |key| match rows.get(key) {
            Err(StoreError::Damaged(damage)) if tolerates_damage => {
                tracing::error!(%damage, "counters cannot be read and restart from zero");
                Ok(Counters::default())
            }
            row => Ok(Counters::read(row?.as_deref())),
        })?;
        self.on_commit = on_commit;
        Ok(())
    }

    /// Whether writes delete more than they add, or nearly: what is recorded about a deletion takes space as well.
    fn frees_space(
        &self,
        rows: &EmbeddedSnapshot<'_>,
        writes: &[Write],
        tolerates_damage: bool,
    ) -> Result<bool, StoreError> {
        let (mut removed, mut added) = (0, 0);
        for write in writes {
            match write {
                Write::Delete { key } => {
                    let stored = match self.batch.get(key) {
                        Some(row) => row.map(<[u8]>::len),
                        None => match rows.get(key) {
                            // Its size is unknown, but it is removed.
                            Err(StoreError::Damaged(_)) if tolerates_damage => Some(0),
                            row => row?.map(|row| row.len()),
                        },
                    };
                    removed += stored.map_or(0, |bytes| bytes + key.len());
                }
                Write::Put { key, value } => added += key.len() + value.len(),
                Write::Count { .. } => {}
                Write::DropSpace(_) => return Ok(true),
            }
        }
        Ok(added == 0 || (removed > 0 && added <= 2 * removed + SMALL_BYTES))
    }
}
