//! The one place that decides, and the thread that usually does.
//!
//! Jobs come in through a channel. The thread takes those that wait as one group, makes their decisions one after
//! another against the rows as the group has changed them so far, appends the group to the log, shows it to
//! readers and then answers all of it. A lone job does not wait for company: while one group is made durable, the
//! next gathers by itself. A caller who serves nobody else meanwhile may do the thread's work for itself, which saves
//! the way there and back (see [`patience`]); the pen keeps it at one writer.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use partita_store::{Counters, Snapshot, StoreError, Write, patience};

use crate::log::appender::Log;
use crate::snapshot::EmbeddedSnapshot;
use crate::write::batch::Batch;
use crate::write::decision_job::{Decided, Job};
use crate::write::store_state::Shared;

const GROUP_JOBS: usize = 2_048;
const GROUP_BYTES: usize = 8 << 20;
/// What a deletion may add on a full disk beside what it removes.
const SMALL_BYTES: usize = 2_048;

/// The way to the writing thread. Dropped, it waits until all that was asked for is done.
pub(crate) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    /// Jobs that were sent and are not yet in a group.
    waiting: Arc<AtomicUsize>,
    pen: Arc<Mutex<Pen>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    #[expect(clippy::disallowed_methods, reason = "starts the thread that writes")]
    pub fn start(shared: Arc<Shared>, log: Log) -> std::io::Result<Writer> {
        let (mut writer, scribe) = Writer::without_thread(shared, log);
        // Callers' code is run so that its panics stay its own. Should the writer itself panic, it is not known what
        // the log has: the pen is poisoned, the thread ends, and what comes later is refused until the store is
        // opened again.
        let thread =
            std::thread::Builder::new().name("store writer".to_string()).spawn(move || scribe.write_all())?;
        writer.thread = Some(thread);
        Ok(writer)
    }

    /// The way to a writer, and the writer itself for whoever does its work.
    pub fn without_thread(shared: Arc<Shared>, log: Log) -> (Writer, Scribe) {
        let (jobs, sent) = channel();
        let waiting = Arc::<AtomicUsize>::default();
        let pen = Arc::new(Mutex::new(Pen { shared, log }));
        let queue = Queue { sent, waiting: Arc::clone(&waiting) };
        let scribe = Scribe { queue, pen: Arc::clone(&pen) };
        (Writer { jobs: Some(jobs), waiting, pen, thread: None }, scribe)
    }

    /// Hands a job over; one that comes too late is given back. A caller who may wait does it itself when nobody
    /// else is writing or about to.
    pub fn send(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        if patience::is_patient()
            && self.waiting.load(Ordering::Acquire) == 0
            && let Ok(mut pen) = self.pen.try_lock()
        {
            pen.write(job, || None);
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
            tracing::error!("the store's writer ended in a panic");
        }
    }
}

/// Writes what others send.
pub(crate) struct Scribe {
    queue: Queue,
    pen: Arc<Mutex<Pen>>,
}

impl Scribe {
    /// Until the channel is closed and empty.
    fn write_all(&self) {
        while let Some(first) = self.queue.wait() {
            if !self.write_group(first) {
                return;
            }
        }
    }

    /// Writes the jobs that wait as one group; says whether there were any.
    pub fn write_waiting(&self) -> bool {
        self.queue.take().is_some_and(|first| self.write_group(first))
    }

    fn write_group(&self, first: Box<dyn Job>) -> bool {
        let Ok(mut pen) = self.pen.lock() else { return false };
        pen.write(first, || self.queue.take());
        true
    }
}

/// The jobs on their way to the thread.
struct Queue {
    sent: Receiver<Box<dyn Job>>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    fn wait(&self) -> Option<Box<dyn Job>> {
        self.sent.recv().ok().inspect(|_| self.count_off())
    }

    fn take(&self) -> Option<Box<dyn Job>> {
        self.sent.try_recv().ok().inspect(|_| self.count_off())
    }

    fn count_off(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The right to write: who holds it decides and commits.
struct Pen {
    shared: Arc<Shared>,
    log: Log,
}

impl Pen {
    /// Makes one group of a job and those that `next` has.
    fn write(&mut self, first: Box<dyn Job>, next: impl FnMut() -> Option<Box<dyn Job>>) {
        let group = Group::gather(&self.shared, first, next);
        self.finish(group);
    }

    fn finish(&mut self, group: Group) {
        let outcome = self.commit(&group.batch);
        self.shared.trouble.set(outcome.as_ref().err());
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
        if let Err(error @ StoreError::LogFailed(_)) = &outcome {
            self.shared.trouble.fail(error);
        }
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.shared.pending.wait_for_room()?;
        if self.shared.room.shortage().is_none() {
            self.shared.cover(batch.bytes())?;
        }
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
    /// Why only what makes room is taken, if so.
    shortage: Option<StoreError>,
}

impl Group {
    fn gather(
        shared: &Shared,
        first: Box<dyn Job>,
        mut next_job: impl FnMut() -> Option<Box<dyn Job>>,
    ) -> Group {
        let shortage = shared.room.shortage();
        let mut group = Group { batch: Batch::default(), jobs: Vec::new(), on_commit: None, shortage };
        let rows = EmbeddedSnapshot::take(shared);
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
        self.on_commit.is_some() || self.jobs.len() >= GROUP_JOBS || self.batch.bytes() >= GROUP_BYTES
    }

    fn decide(&mut self, rows: &EmbeddedSnapshot<'_>, job: &mut dyn Job) -> Result<(), StoreError> {
        let mut found = Vec::with_capacity(job.keys().len());
        let mut damaged = Vec::new();
        for (place, key) in job.keys().iter().enumerate() {
            found.push(match self.batch.get(key) {
                Some(row) => row.map(Cow::Borrowed),
                None => match rows.get(key) {
                    Err(StoreError::Damaged(_)) if job.goes_over_damage() => {
                        damaged.push(place);
                        None
                    }
                    row => row?,
                },
            });
        }
        let Decided { writes, on_commit } = job.decide(&found, &damaged)?;
        drop(found);
        let over_damage = job.goes_over_damage();
        if let Some(shortage) = &self.shortage
            && !self.makes_room(rows, &writes, over_damage)?
        {
            return Err(shortage.clone());
        }
        self.batch.take(writes, |key| match rows.get(key) {
            Err(StoreError::Damaged(damage)) if over_damage => {
                tracing::error!(%damage, "totals cannot be read and are counted from nothing");
                Ok(Counters::default())
            }
            row => Ok(Counters::read(row?.as_deref())),
        })?;
        self.on_commit = on_commit;
        Ok(())
    }

    /// Whether writes delete more than they add, or nearly: what is kept about a deletion takes room as well.
    fn makes_room(
        &self,
        rows: &EmbeddedSnapshot<'_>,
        writes: &[Write],
        over_damage: bool,
    ) -> Result<bool, StoreError> {
        let (mut removed, mut added) = (0, 0);
        for write in writes {
            match write {
                Write::Delete { key } => {
                    let stored = match self.batch.get(key) {
                        Some(row) => row.map(<[u8]>::len),
                        None => match rows.get(key) {
                            // How much it has is not known; but that goes.
                            Err(StoreError::Damaged(_)) if over_damage => Some(0),
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
