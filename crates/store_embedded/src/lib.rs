//! The storage contract on one machine's disk: LMDB behind a commit log and a single writer.
//!
//! # The life of a decision
//! 1. [`Store::decide`] makes it a job and sends it to the writer (`write/writer.rs`).
//! 2. The writer takes all queued jobs as a group, reads their rows from a snapshot and runs them one after another; their
//!    writes are collected in a batch (`write/batch.rs`).
//! 3. The batch is appended to the commit log as one record, and synced (`log/appender.rs`). From here on it is committed.
//! 4. It is added to the active overlay of what is pending (`write/pending.rs`), where snapshots see it. The callers are
//!    answered.
//! 5. Later the applier (`write/applier.rs`) freezes the overlay, writes it to the tree in one large LMDB transaction,
//!    together with the log position it ends at, and frees the log's segments for new records.
//! 6. After a crash, recovery (`log/recovery.rs`) reads the records that the tree lacks, which are then pending as before.
//!
//! A snapshot is the two overlays and a root of the tree; none of them ever waits for the writer.
//!
//! # Damage
//! LMDB trusts the contents of its file. So it only ever reads checked pages: readers walk its trees themselves
//! (`pages/tree_walk.rs`), each page being compared with its checksum when it is first read (`pages/page_view.rs`), and
//! before rows are written the pages on their paths are checked (`damage/write_path_check.rs`), and those that are damaged
//! are repaired (`damage/page_repair.rs`).
//!
//! # The folder
//! ```text
//! LOCK           who has the folder open; locked meanwhile               folder/lock.rs
//! FORMAT         "partita embedded store, format 2"                      folder/format.rs, folder/upgrade.rs
//! log/MANIFEST   the segments of the log                                 log/manifest.rs
//! log/DURABLE    how much of the log must exist                          log/durable_watermark.rs
//! log/segment.N  records that the data file may lack                     log/segments.rs, segment_header.rs, record.rs
//! data.mdb       the rows: an LMDB file                                  tree/environment.rs, write/disk_space.rs
//! sums           the checksum of each page of data.mdb                   pages/checksums.rs
//! DAMAGE         key ranges with lost rows; usually does not exist       damage/lost_ranges.rs
//! REPAIR         a page that is being rewritten                          damage/page_repair.rs
//! lock.mdb       LMDB's reader table; worthless when closed
//! data.new/      where data.mdb and sums are built                       folder/creation.rs, pages/data_file.rs
//! ```
//! # The databases in data.mdb
//! ```text
//! rows        row key → kind │ crc32 │ value, or a reference to its chunks        tree/entry.rs
//! chunks      id of the value │ number → crc32 │ up to 4,076 bytes of the value   tree/long_values.rs
//! dropped     space → crc32: rows of this space are being removed                 tree/dropped_spaces.rs
//! log         "applied" → crc32 │ how much of the log this file has               log/position.rs
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod clock;
mod damage;
mod error;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod log;
mod offline;
mod open_error;
mod pages;
mod random;
mod single_threaded;
mod snapshot;
mod tree;
mod write;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita_store::{Decision, Health, KeyRange, Rows, Store, StoreError, Usage};
use tokio::sync::oneshot::Receiver;

use crate::folder::lock::FolderLock;
use crate::folder::{creation, format, private_files, upgrade};
use crate::log::appender::{AppendedRecord, LogAppender};
use crate::log::durable_watermark::DurableWatermark;
use crate::log::format_1;
use crate::log::recovery::{self, OnDamage, Recovered};
use crate::log::segments::{self, Segments};
use crate::log::sync_thread::SyncThread;
use crate::pages::data_file;
use crate::tree::environment::Environment;
use crate::write::applier::{Applier, ApplierThread};
use crate::write::decision_job::{DecisionJob, TypedJob};
use crate::write::disk_space::DiskSpace;
use crate::write::pending::{Pacing, Pending};
use crate::write::store_state::StoreState;
use crate::write::write_health::WriteHealth;
use crate::write::writer::Writer;

pub use offline::compact::{Compacted, compact};
pub use offline::salvage::{Lost, Salvaged, salvage};
pub use offline::verify::{Verified, verify};
pub use open_error::OpenError;
pub use pages::mapped_faults::EXIT_CODE as UNREADABLE_FILE_EXIT_CODE;
#[doc(hidden)]
pub use single_threaded::{Driver, compact_single_threaded};
pub use snapshot::EmbeddedSnapshot;

/// When a decision is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: it survives a power loss.
    #[default]
    Full,
    /// Once the operating system has it: it survives a kill of the process. A power loss may lose what was acknowledged
    /// in the last tenth of a second or so, whole decisions from the last one backwards; the rest stays intact.
    Relaxed,
}

/// How to open a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// When decisions are acknowledged.
    pub durability: Durability,
}

/// How soon the data file follows the commit log.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    #[default]
    Normal,
    /// Immediately, for tests of concurrent application.
    Eager,
    /// When the store is closed, for tests of recovery.
    Lazy,
    /// When the driver says so; writers never wait for it.
    Manual,
}

/// A store in a folder, which only one process can have open at a time.
pub struct EmbeddedStore {
    // In drop order: the writer finishes, the applier brings the tree up to date, LMDB closes, and only then may other
    // processes open the folder.
    writer: Writer,
    _applier_thread: ApplierThread,
    _sync_thread: Option<SyncThread>,
    state: Arc<StoreState>,
    durable: Arc<DurableWatermark>,
    log_folder: PathBuf,
    _lock: FolderLock,
}

impl EmbeddedStore {
    /// Opens the store in `folder`, or creates it.
    pub fn open(folder: &Path, options: Options) -> Result<EmbeddedStore, OpenError> {
        EmbeddedStore::open_with(folder, options, Pace::Normal, OnDamage::Refuse)
    }

    #[doc(hidden)]
    pub fn open_with_pace(folder: &Path, options: Options, pace: Pace) -> Result<EmbeddedStore, OpenError> {
        EmbeddedStore::open_with(folder, options, pace, OnDamage::Refuse)
    }

    /// Sets the callback for when the log or the data file can no longer be written, despite retries: only reopening the
    /// store may help then.
    pub fn on_failure(&self, call: impl Fn(&StoreError) + Send + Sync + 'static) {
        self.state.write_health.on_failure(Box::new(call));
    }

    /// Accepts the loss of rows with damaged pages: from now on a row that is not found there does not exist. Returns how
    /// many key ranges were in doubt.
    pub fn forget_damage(&self) -> Result<usize, StoreError> {
        let everything = KeyRange { start: Vec::new(), end: vec![0xFF; partita_store::MAX_KEY_BYTES + 1] };
        self.state.environment.forget_damage(&everything)
    }

    /// Waits until all submitted decisions are done and on disk.
    pub fn close(self) {}

    /// Submits a decision to the writer. Not inside the future: the writes happen even if it is never polled.
    fn submit<T: Send + 'static>(
        &self,
        (job, answer): (impl DecisionJob + 'static, Receiver<Result<T, StoreError>>),
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let sent = self.writer.send(Box::new(job));
        async move {
            if sent.is_err() {
                return Err(StoreError::Closed);
            }
            answer
                .await
                .unwrap_or_else(|_| Err(StoreError::Io("the writer dropped the decision".to_string())))
        }
    }

    fn open_with(
        folder: &Path,
        options: Options,
        pace: Pace,
        on_damage: OnDamage,
    ) -> Result<EmbeddedStore, OpenError> {
        let parts = Parts::open(folder, options, pace, on_damage)?;
        parts.start().map_err(|error| OpenError::io(folder, error))
    }
}

impl Parts {
    /// Opens a folder, up to the point where threads can start.
    fn open(folder: &Path, options: Options, pace: Pace, on_damage: OnDamage) -> Result<Parts, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        format::check(folder)?;
        private_files::create_folder(folder).map_err(failed)?;
        let mut lock = FolderLock::acquire(folder)?;
        // Again: the first check was not under the lock.
        let found_format = format::check(folder)?;
        lock.record_owner();
        let environment = Arc::new(open_environment(folder, found_format, on_damage)?);
        let recovered = recovery::recover(folder, &environment, on_damage)?;
        Parts::assemble(folder, lock, options, pace, environment, recovered)
    }
}

/// Opens the data file of a locked folder, after creating or upgrading it if necessary.
fn open_environment(
    folder: &Path,
    found_format: Option<u32>,
    on_damage: OnDamage,
) -> Result<Environment, OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    data_file::finish_replacing(folder).map_err(failed)?;
    match found_format {
        None => creation::create(folder)?,
        Some(1) => {
            format_1::finish_interrupted_creation(folder)?;
            data_file::build_checksums(folder)?;
        }
        Some(_) => creation::check_data_file(folder)?,
    }
    creation::remove_build_folder(folder).map_err(failed)?;
    private_files::create_folder(&folder.join(segments::FOLDER_NAME)).map_err(failed)?;
    if let Err(error) = creation::allocate_reader_table(folder) {
        tracing::warn!(%error, "LMDB's reader table could not be allocated");
    }
    let environment = Environment::open(folder)?;
    if let Some(from) = found_format.filter(|found| *found < format::CURRENT) {
        upgrade::upgrade(folder, from, &environment, on_damage)?;
    }
    Ok(environment)
}

/// The parts of a store before its threads are started.
struct Parts {
    log: LogAppender,
    applier: Applier,
    durability: Durability,
    state: Arc<StoreState>,
    durable: Arc<DurableWatermark>,
    log_folder: PathBuf,
    lock: FolderLock,
}

impl Parts {
    fn assemble(
        folder: &Path,
        lock: FolderLock,
        options: Options,
        pace: Pace,
        environment: Arc<Environment>,
        recovered: Recovered,
    ) -> Result<Parts, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        let Recovered { position, sequence, batch, log_bytes, live, discarded: _ } = recovered;
        let log_folder = folder.join(segments::FOLDER_NAME);
        let segments = Arc::new(Segments::of(&log_folder, live, position.is_open).map_err(failed)?);
        let durable = Arc::new(DurableWatermark::start(&log_folder, sequence));
        let dropped = environment.dropped().map_err(|error| OpenError::store(folder, error))?;
        let pending = Arc::new(Pending::new(Pacing::of(pace), dropped));
        if !batch.is_empty() {
            tracing::info!(
                records = sequence - position.sequence,
                "the commit log has records that the data file lacks"
            );
            pending.publish(&batch, &AppendedRecord { sequence, bytes: log_bytes });
        }
        let disk_space = DiskSpace::of(folder).map_err(failed)?;
        let state =
            Arc::new(StoreState { environment, pending, disk_space, write_health: WriteHealth::default() });
        let log = LogAppender::start(
            Arc::clone(&state),
            Arc::clone(&segments),
            Arc::clone(&durable),
            options.durability,
            sequence,
            position.is_open,
        );
        let applier = Applier::new(Arc::clone(&state), segments, Arc::clone(&durable), position);
        let durability = options.durability;
        Ok(Parts { log, applier, durability, state, durable, log_folder, lock })
    }

    /// Starts each part on a thread of its own.
    fn start(self) -> io::Result<EmbeddedStore> {
        let applier_thread = ApplierThread::start(self.applier)?;
        let sync_thread = match self.durability {
            Durability::Full => None,
            Durability::Relaxed => Some(SyncThread::start(Arc::clone(&self.durable))?),
        };
        let writer = Writer::start(Arc::clone(&self.state), self.log)?;
        Ok(EmbeddedStore {
            writer,
            _applier_thread: applier_thread,
            _sync_thread: sync_thread,
            state: self.state,
            durable: self.durable,
            log_folder: self.log_folder,
            _lock: self.lock,
        })
    }
}

impl Store for EmbeddedStore {
    type Snapshot<'a> = EmbeddedSnapshot<'a>;

    fn snapshot(&self) -> Result<EmbeddedSnapshot<'_>, StoreError> {
        EmbeddedSnapshot::take(&self.state)
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.submit(TypedJob::new(keys, false, move |rows: &Rows<'_>, _: &[usize]| decision(rows)))
    }

    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.submit(TypedJob::new(keys, true, decision))
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        let tree = self.state.environment.usage()?;
        let log_bytes = segments::bytes_of(&self.log_folder).map_err(|error| error::io_error(&error))?;
        let pending_bytes = self.state.pending.bytes();
        Ok(Usage { file_bytes: tree.file_bytes + log_bytes, used_bytes: tree.used_bytes + pending_bytes })
    }

    fn health(&self) -> Health {
        let StoreState { disk_space, write_health, pending, .. } = &*self.state;
        let failed = disk_space.shortage().or_else(|| pending.applier_error()).or_else(|| write_health.get());
        match failed {
            // Clients may be routed elsewhere and never retry, so whether a write would succeed is checked now.
            Some(StoreError::ReadOnly(_)) if self.durable.is_writable() => Health::Ok,
            // There is space again, though nothing was written since.
            Some(StoreError::Full(_))
                if disk_space.shortage().is_none() && pending.applier_error().is_none() =>
            {
                Health::Ok
            }
            Some(error) => Health::from(&error),
            None => Health::Ok,
        }
    }
}
