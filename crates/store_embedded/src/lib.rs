//! The storage contract on one machine's disk: LMDB behind a commit log and one writer thread.
//!
//! # The life of a decision
//! 1. [`Store::decide`] makes it a `job` and sends it to the `writer`.
//! 2. The writer takes all jobs that wait as a group, reads their rows from a `snapshot` and asks them one after
//!    another; what they write gathers in a `batch`.
//! 3. The batch is appended to the `log` as one `record`, and flushed. From here on it has happened.
//! 4. It is added to the active `overlay` of what is `pending`, where snapshots see it. The callers are answered.
//! 5. Later the `applier` freezes the overlay, writes it to the `tree` in one large transaction of the `environment`,
//!    together with the `position` in the log that this comes up to, and frees the log's `segments` for new records.
//! 6. After a crash `recovery` reads what the log has beyond the tree's position, and it is pending as before.
//!
//! A snapshot is the two overlays and a `root` of the tree; neither ever waits for the writer.
//!
//! # Damage
//! LMDB trusts what its file has. So it is let near checked pages only: readers walk its trees themselves (`walk`), each
//! page being compared with its sum when it is first read (`pages`), and before rows are written the pages on the way
//! are checked (`write_paths`), and those that are damaged written anew (`repair`).
//!
//! # The folder
//! ```text
//! LOCK           who has the folder open; locked while it is            lock.rs
//! FORMAT         "partita embedded store, format 2"                     format.rs, upgrade.rs
//! log/MANIFEST   which segments the log has                             manifest.rs
//! log/DURABLE    how much of the log there must be                      durable.rs
//! log/segment.N  what the data file may not have yet                    segments.rs, segment_header.rs, record.rs
//! data.mdb       the rows: an LMDB file                                 environment.rs, room.rs
//! sums           what each page of data.mdb must be                     page_sums.rs
//! DAMAGE         keys whose rows were lost with a page; usually none    damage_notes.rs
//! REPAIR         a page that is being written anew                      repair.rs
//! lock.mdb       LMDB's table of readers; worthless when closed
//! data.new/      where data.mdb and sums are made at the first start    creation.rs
//! ```
//! # The databases in data.mdb
//! ```text
//! rows        key of the row → kind │ crc32 │ value, or where its chunks are      entry.rs
//! chunks      id of the value │ number → crc32 │ up to 4,076 bytes of the value   chunks.rs
//! dropped     space → crc32: rows of this space are being removed                 dropped_spaces.rs
//! log         "applied" → crc32 │ how much of the log this file has               position.rs
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

use crate::folder::creation;
use crate::folder::format;
use crate::folder::lock::FolderLock;
use crate::folder::private_files;
use crate::folder::upgrade;
use crate::log::appender::{Appended, Log};
use crate::log::durable_watermark::Durable;
use crate::log::format_1;
use crate::log::recovery;
use crate::log::recovery::{OnDamage, Recovered};
use crate::log::segments;
use crate::log::segments::Segments;
use crate::log::sync_thread::Flusher;
use crate::pages::data_file;
use crate::tree::environment::Environment;
use crate::write::applier::{Application, Applier};
use crate::write::decision_job::{Asked, Job};
use crate::write::disk_space::Room;
use crate::write::pending::{Pacing, Pending};
use crate::write::store_state::Shared;
use crate::write::write_health::Trouble;
use crate::write::writer::Writer;

pub use offline::compact::{Compacted, compact};
pub use offline::salvage::{Lost, Salvaged, salvage};
pub use offline::verify::{Verified, verify};
pub use open_error::OpenError;
pub use pages::mapped_faults::EXIT_CODE as UNREADABLE_FILE_EXIT_CODE;
#[doc(hidden)]
pub use single_threaded::{Steps, compact_stepwise};
pub use snapshot::EmbeddedSnapshot;

/// When a decision is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: it survives a power loss.
    #[default]
    Full,
    /// Once the operating system has it: it survives a kill of the process. A power loss may take what was answered
    /// in the last tenth of a second or so, whole decisions from the last one backwards; the rest stays intact.
    Relaxed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub durability: Durability,
}

/// How soon the data file follows the commit log.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    #[default]
    Usual,
    /// At once, for tests of what can happen meanwhile.
    Hurried,
    /// When the store is closed, for tests of recovery.
    Lazy,
    /// When somebody says so; writers never wait for it.
    Stepwise,
}

/// A store in a folder. One process has a folder open at a time.
pub struct EmbeddedStore {
    // In the order in which they must end: the writer finishes, the applier brings the tree up to date, LMDB
    // closes, and only then others may open.
    writer: Writer,
    _applier: Applier,
    _flusher: Option<Flusher>,
    shared: Arc<Shared>,
    durable: Arc<Durable>,
    log_folder: PathBuf,
    _lock: FolderLock,
}

impl EmbeddedStore {
    /// Opens the store in `folder`, which is made if there is none.
    pub fn open(folder: &Path, options: Options) -> Result<EmbeddedStore, OpenError> {
        EmbeddedStore::open_with(folder, options, Pace::Usual, OnDamage::Refuse)
    }

    #[doc(hidden)]
    pub fn open_at_pace(folder: &Path, options: Options, pace: Pace) -> Result<EmbeddedStore, OpenError> {
        EmbeddedStore::open_with(folder, options, pace, OnDamage::Refuse)
    }

    /// Sets what is called when neither the log nor the data file can be written any more, whatever is tried: only to
    /// open the store again may help then.
    pub fn on_failure(&self, call: impl Fn(&StoreError) + Send + Sync + 'static) {
        self.shared.trouble.on_failure(Box::new(call));
    }

    /// Takes what was lost with damaged pages for lost: from now on a row that is not found there is not there. Says
    /// how many ranges of keys there were of which that was not known.
    pub fn forget_damage(&self) -> Result<usize, StoreError> {
        let everything = KeyRange { start: Vec::new(), end: vec![0xFF; partita_store::MAX_KEY_BYTES + 1] };
        self.shared.environment.forget_damage(&everything)
    }

    /// Waits until all that was asked for is done and on disk.
    pub fn close(self) {}

    /// Hands a decision over. Here and not in the future: the writes happen even if nobody polls it.
    fn ask<T: Send + 'static>(
        &self,
        (job, answer): (impl Job + 'static, Receiver<Result<T, StoreError>>),
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let sent = self.writer.send(Box::new(job));
        async move {
            if sent.is_err() {
                return Err(StoreError::Closed);
            }
            answer
                .await
                .unwrap_or_else(|_| Err(StoreError::Io("the writer gave the decision up".to_string())))
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
    /// Opens a folder, so far that work can begin.
    fn open(folder: &Path, options: Options, pace: Pace, on_damage: OnDamage) -> Result<Parts, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        format::check(folder)?;
        private_files::make_folder(folder).map_err(failed)?;
        let mut lock = FolderLock::take(folder)?;
        // Again: the first look was not under the lock.
        let found_format = format::check(folder)?;
        lock.sign();
        let environment = Arc::new(open_environment(folder, found_format, on_damage)?);
        let recovered = recovery::recover(folder, &environment, on_damage)?;
        Parts::assemble(folder, lock, options, pace, environment, recovered)
    }
}

/// The data file of a folder that is locked, made or brought to the current format if need be.
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
            format_1::make_up_for_a_cut_start(folder)?;
            data_file::build_sums(folder)?;
        }
        Some(_) => creation::check_data_file(folder)?,
    }
    creation::remove_workplace(folder).map_err(failed)?;
    private_files::make_folder(&folder.join(segments::FOLDER_NAME)).map_err(failed)?;
    if let Err(error) = creation::make_room_for_readers(folder) {
        tracing::warn!(%error, "the table of readers has no room of its own");
    }
    let environment = Environment::open(folder)?;
    if let Some(from) = found_format.filter(|found| *found < format::CURRENT) {
        upgrade::upgrade(folder, from, &environment, on_damage)?;
    }
    Ok(environment)
}

/// What a store is made of before its threads run.
struct Parts {
    log: Log,
    application: Application,
    durability: Durability,
    shared: Arc<Shared>,
    durable: Arc<Durable>,
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
        let Recovered { position, sequence, batch, log_bytes, live, given_up: _ } = recovered;
        let log_folder = folder.join(segments::FOLDER_NAME);
        let segments = Arc::new(Segments::of(&log_folder, live, position.is_open).map_err(failed)?);
        let durable = Arc::new(Durable::start(&log_folder, sequence));
        let dropped = environment.dropped().map_err(|error| OpenError::store(folder, error))?;
        let pending = Arc::new(Pending::new(Pacing::of(pace), dropped));
        if !batch.is_empty() {
            tracing::info!(
                records = sequence - position.sequence,
                "the commit log has what the data file lacks"
            );
            pending.publish(&batch, &Appended { sequence, bytes: log_bytes });
        }
        let room = Room::of(folder).map_err(failed)?;
        let shared = Arc::new(Shared { environment, pending, room, trouble: Trouble::default() });
        let log = Log::start(
            Arc::clone(&shared),
            Arc::clone(&segments),
            Arc::clone(&durable),
            options.durability,
            sequence,
            position.is_open,
        );
        let application = Application::new(Arc::clone(&shared), segments, Arc::clone(&durable), position);
        let durability = options.durability;
        Ok(Parts { log, application, durability, shared, durable, log_folder, lock })
    }

    /// Each part on a thread of its own.
    fn start(self) -> io::Result<EmbeddedStore> {
        let applier = Applier::start(self.application)?;
        let flusher = match self.durability {
            Durability::Full => None,
            Durability::Relaxed => Some(Flusher::start(Arc::clone(&self.durable))?),
        };
        let writer = Writer::start(Arc::clone(&self.shared), self.log)?;
        Ok(EmbeddedStore {
            writer,
            _applier: applier,
            _flusher: flusher,
            shared: self.shared,
            durable: self.durable,
            log_folder: self.log_folder,
            _lock: self.lock,
        })
    }
}

impl Store for EmbeddedStore {
    type Snapshot<'a> = EmbeddedSnapshot<'a>;

    fn snapshot(&self) -> Result<EmbeddedSnapshot<'_>, StoreError> {
        EmbeddedSnapshot::take(&self.shared)
    }

    fn decide<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        mut decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.ask(Asked::new(keys, false, move |rows: &Rows<'_>, _: &[usize]| decision(rows)))
    }

    fn decide_over_damage<T: Send + 'static>(
        &self,
        keys: Vec<Vec<u8>>,
        decision: impl FnMut(&Rows<'_>, &[usize]) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.ask(Asked::new(keys, true, decision))
    }

    fn usage(&self) -> Result<Usage, StoreError> {
        let tree = self.shared.environment.usage()?;
        let log_bytes = segments::bytes_of(&self.log_folder).map_err(|error| error::io_error(&error))?;
        let pending_bytes = self.shared.pending.bytes();
        Ok(Usage { file_bytes: tree.file_bytes + log_bytes, used_bytes: tree.used_bytes + pending_bytes })
    }

    fn health(&self) -> Health {
        let Shared { room, trouble, pending, .. } = &*self.shared;
        let failed = room.shortage().or_else(|| pending.trouble()).or_else(|| trouble.get());
        match failed {
            // Nobody may be sent here to try again, so whether that would do is found out now.
            Some(StoreError::ReadOnly(_)) if self.durable.can_be_noted() => Health::Ok,
            // There is room again, though nobody has used it yet.
            Some(StoreError::Full(_)) if room.shortage().is_none() && pending.trouble().is_none() => {
                Health::Ok
            }
            Some(error) => Health::from(&error),
            None => Health::Ok,
        }
    }
}
