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
//! 6. After a crash `recovery` writes to the tree what the log has beyond the tree's position.
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
//! FORMAT         "partita embedded store, format 2"                     format.rs
//! log/segment.N  what the data file may not have yet                    segments.rs, record.rs
//! data.mdb       the rows: an LMDB file                                 environment.rs
//! sums           what each page of data.mdb must be                     page_sums.rs
//! DAMAGE         keys whose rows were lost with a page; usually none    damage_notes.rs
//! REPAIR         a page that is being written anew                      repair.rs
//! data.new/      data.mdb and sums while they are made                  data_file.rs
//! lock.mdb       LMDB's table of readers; worthless when closed
//! ```
//! # The databases in data.mdb
//! ```text
//! rows        key of the row → kind │ crc32 │ value, or where its chunks are      entry.rs
//! chunks      id of the value │ number → crc32 │ up to 4,076 bytes of the value   chunks.rs
//! dropped     space → crc32: rows of this space are being removed                 dropped_spaces.rs
//! log         "applied" → crc32 │ how much of the log this file has               position.rs
//! ```

mod applier;
mod batch;
mod branch_repair;
mod chunks;
mod compact;
mod damage_notes;
mod damaged_leaf;
mod data_file;
mod dropped_spaces;
mod entry;
mod environment;
mod failure;
mod flusher;
mod format;
mod job;
mod lock;
mod log;
mod mapped_faults;
mod offline;
mod open_error;
mod orphans;
mod overlay;
mod page;
mod page_accounts;
mod page_bits;
mod page_sums;
mod pages;
mod pending;
mod position;
mod record;
mod recovery;
mod repair;
mod root;
mod salvage;
mod segments;
mod shared;
mod snapshot;
mod tree;
mod verify;
mod walk;
mod write_paths;
mod writer;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita_store::{Decision, Rows, Store, StoreError, Usage};

use crate::applier::Applier;
use crate::environment::Environment;
use crate::flusher::Flusher;
use crate::job::Asked;
use crate::lock::FolderLock;
use crate::log::{Log, Unflushed};
use crate::pending::{Pacing, Pending};
use crate::record::Stamp;
use crate::recovery::OnDamage;
use crate::segments::Segments;
use crate::shared::Shared;
use crate::writer::Writer;

pub use compact::{Compacted, compact};
pub use mapped_faults::EXIT_CODE as UNREADABLE_FILE_EXIT_CODE;
pub use open_error::OpenError;
pub use salvage::{Salvaged, salvage};
pub use snapshot::EmbeddedSnapshot;
pub use verify::{Verified, verify};

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
}

/// A store in a folder. One process has a folder open at a time.
pub struct EmbeddedStore {
    // In the order in which they must end: the writer finishes, the applier brings the tree up to date, LMDB
    // closes, and only then others may open.
    writer: Writer,
    _applier: Applier,
    _flusher: Option<Flusher>,
    shared: Arc<Shared>,
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

    /// Waits until all that was asked for is done and on disk.
    pub fn close(self) {}

    fn open_with(
        folder: &Path,
        options: Options,
        pace: Pace,
        on_damage: OnDamage,
    ) -> Result<EmbeddedStore, OpenError> {
        let failed = |error: io::Error| OpenError::io(folder, error);
        format::check(folder)?;
        make_folder(folder).map_err(failed)?;
        let mut lock = FolderLock::take(folder)?;
        // Again: the first look was not under the lock.
        let found = format::check(folder)?;
        lock.sign().map_err(failed)?;
        format::establish(folder)?;
        let log_folder = folder.join(segments::FOLDER_NAME);
        make_folder(&log_folder).map_err(failed)?;

        upgrade(folder, found)?;
        let environment = Arc::new(Environment::open(folder)?);
        // LMDB makes its files durable, but not their names.
        format::sync_folder(folder).map_err(failed)?;
        let start = recovery::recover(folder, &log_folder, &environment, on_damage)?;
        let segments = Arc::new(Segments::of(&log_folder).map_err(failed)?);
        let unflushed = Arc::new(Unflushed::default());
        let stamp = Stamp { run: start.run, sequence: start.sequence, durability: options.durability };
        let log = Log::start(Arc::clone(&segments), Arc::clone(&unflushed), stamp);
        let dropped = environment.dropped().map_err(|error| OpenError::store(folder, error))?;
        let pending = Arc::new(Pending::new(Pacing::of(pace), dropped));
        let applier = Applier::start(
            Arc::clone(&environment),
            Arc::clone(&pending),
            segments,
            Arc::clone(&unflushed),
            start.run,
        )
        .map_err(failed)?;
        let flusher = match options.durability {
            Durability::Full => None,
            Durability::Relaxed => Some(Flusher::start(unflushed).map_err(failed)?),
        };
        let shared = Arc::new(Shared { environment, pending });
        let writer = Writer::start(Arc::clone(&shared), log).map_err(failed)?;
        Ok(EmbeddedStore { writer, _applier: applier, _flusher: flusher, shared, log_folder, _lock: lock })
    }
}

/// Brings a folder of an earlier format to the current one. Cut short, it is done again from the beginning.
fn upgrade(folder: &Path, found: u32) -> Result<(), OpenError> {
    if found < 2 {
        if pages::file_of(folder).exists() {
            tracing::info!("the data file of an earlier version is looked through, and gets checksums");
            data_file::build_sums(folder)?;
        }
        format::set_current(folder)?;
    }
    Ok(())
}

/// Makes a folder and those above it, durably, unless it is there.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    match folder.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => {
            make_folder(above)?;
            std::fs::create_dir(folder)?;
            format::sync_folder(above)
        }
        None => std::fs::create_dir(folder),
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
        decision: impl FnMut(&Rows<'_>) -> Decision<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let (job, answer) = Asked::new(keys, decision);
        // Handed over here and not in the future: the writes happen even if nobody polls it.
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

    fn usage(&self) -> Result<Usage, StoreError> {
        let tree = self.shared.environment.usage()?;
        let log_bytes = segments::bytes_of(&self.log_folder).map_err(|error| failure::io_error(&error))?;
        let pending_bytes = self.shared.pending.bytes();
        Ok(Usage { file_bytes: tree.file_bytes + log_bytes, used_bytes: tree.used_bytes + pending_bytes })
    }
}
