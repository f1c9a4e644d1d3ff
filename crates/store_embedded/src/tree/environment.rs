//! The LMDB environment: opened once, read through [`Root`]s, written through [`Environment::write`].
//!
//! LMDB only writes; readers walk its pages themselves, because LMDB trusts whatever the file contains. After every
//! transaction the checksums of its new pages are written, and then its root is published to readers.
//!
//! This is the only file that calls LMDB's unsafe functions: to open a memory-mapped file, and to remap it when it has
//! outgrown its map.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use heed::types::Bytes;
use heed::{
    CommitOrAbort, CompactionOption, Database, Env, EnvFlags, EnvOpenOptions, MdbError, RwTxn, WithoutTls,
};
use partita_store::{KeyRange, Space, StoreError, Usage};

use crate::damage::checksum_repair;
use crate::damage::page_repair;
use crate::damage::write_path_check::{NeedsRepair, WritePathCheck};
use crate::error::{TransactionError, io_error, store_error};
use crate::log::position::{LogPosition, PositionRow};
use crate::open_error::OpenError;
use crate::pages::data_file::{self, DataFile};
use crate::pages::live_pages::LivePages;
use crate::pages::mapped_faults::MappedRange;
use crate::pages::page::{META_BYTES, Meta};
use crate::pages::page_view;
use crate::tree::databases::Databases;
use crate::tree::dropped_spaces::{self, DroppedSpaces};
use crate::tree::long_values::LongValues;
use crate::tree::root::Root;
use crate::write::overlay::{Overlay, Row};

/// Address space, not memory: how far the file may grow before it is remapped.
const FIRST_MAP_BYTES: usize = 1 << 40;
/// An address space with less than this is too small to work in.
const SMALLEST_MAP_BYTES: usize = 1 << 28;
const MAX_READERS: u32 = 4_096;
const MAX_DATABASES: u32 = 12;
const OUT_OF_MEMORY: i32 = 12;
const INPUT_OUTPUT: i32 = 5;
/// How many rows are written per transaction when the disk is nearly full.
const ROWS_WHEN_FULL: usize = 100;
/// How much must fit on a disk that is not full.
const PROBE_BYTES: usize = 64 << 10;

pub(crate) struct Environment {
    env: Env<WithoutTls>,
    databases: Databases,
    root: ArcSwap<Root>,
    /// Held while writing.
    live_pages: Mutex<LivePages>,
    map_bytes: AtomicUsize,
    /// Whether the address space may allow a larger map.
    may_grow: bool,
    /// Set when writing has become impossible: the file could not be remapped, or a meta page could not be written, after
    /// which LMDB does nothing more.
    is_broken: AtomicBool,
    /// Where the data file is mapped, for the error message if it cannot be read there.
    mapped: Mutex<Vec<MappedRange>>,
}

/// A row that is to be written, and whether it is deleted.
pub(crate) type TouchedRow<'a> = (&'a [u8], bool);

impl Environment {
    pub fn open(folder: &Path) -> Result<Environment, OpenError> {
        Environment::open_with_map(folder, FIRST_MAP_BYTES)
    }

    fn open_with_map(folder: &Path, requested: usize) -> Result<Environment, OpenError> {
        let file = data_file::open(folder, requested)?;
        let failed = |error: StoreError| OpenError::store(folder, error);
        // What LMDB reads on its own: its free list and the names of its databases.
        let live_pages = LivePages::read(&file.view, &file.slot.meta).map_err(failed)?;
        let (env, map_bytes) = open_env(folder, requested).map_err(|error| open_error(folder, error))?;
        let databases = open_databases(&env).map_err(|error| open_error(folder, error))?;
        let root = Arc::new(first_root(&env, file).map_err(failed)?);
        databases.chunks.continue_after(&root).map_err(failed)?;
        Ok(Environment {
            env,
            databases,
            root: ArcSwap::new(root),
            live_pages: Mutex::new(live_pages),
            map_bytes: AtomicUsize::new(map_bytes),
            may_grow: map_bytes == requested,
            is_broken: AtomicBool::new(false),
            mapped: Mutex::new(MappedRange::all_of(&page_view::file_of(folder))),
        })
    }

    /// The spaces whose rows are being removed, in order.
    pub fn dropped(&self) -> Result<Vec<Space>, StoreError> {
        dropped_spaces::list(&self.root())
    }

    /// The current root.
    pub fn root(&self) -> Arc<Root> {
        self.root.load_full()
    }

    /// Applies `change`, which writes no rows, in one transaction. On an error nothing is changed.
    pub fn write<T>(
        &self,
        change: impl FnMut(&Databases, &mut RwTxn<'_>) -> Result<T, TransactionError>,
    ) -> Result<T, StoreError> {
        self.write_rows(&[], change)
    }

    /// Applies `change`, which writes only these rows, in one transaction. On an error nothing is changed. If the file has
    /// outgrown its map, the map is grown and `change` is called again.
    pub fn write_rows<T>(
        &self,
        rows: &[TouchedRow<'_>],
        change: impl FnMut(&Databases, &mut RwTxn<'_>) -> Result<T, TransactionError>,
    ) -> Result<T, StoreError> {
        let mut live_pages = self.lock();
        self.check_and_repair(&mut live_pages, rows)?;
        self.write_checked(&mut live_pages, change)
    }

    /// Applies a change for which all pages have been checked.
    fn write_checked<T>(
        &self,
        live_pages: &mut LivePages,
        mut change: impl FnMut(&Databases, &mut RwTxn<'_>) -> Result<T, TransactionError>,
    ) -> Result<T, StoreError> {
        loop {
            match self.write_once(live_pages, &mut change) {
                Ok(result) => return Ok(result),
                Err(TransactionError::MapFull) => self.grow()?,
                Err(TransactionError::Store(error)) => return Err(error),
            }
        }
    }

    /// Writes an overlay, and `position` as the log position the tree then has.
    ///
    /// One transaction needs space for a new copy of every page it touches. If the disk does not have that much left, small
    /// transactions may still succeed: each reuses the pages that earlier ones freed. Readers do not notice, because they
    /// see the overlay; and the position is written last, so after a crash in between the work is repeated.
    pub fn apply(&self, rows: &Overlay, position: LogPosition) -> Result<(), StoreError> {
        let touched: Vec<_> = rows.all().map(touch).collect();
        let at_once = self.write_rows(&touched, |databases, txn| {
            databases.apply(txn, rows.dropped(), rows.all())?;
            databases.position.set(txn, position)
        });
        let Err(StoreError::Full(_)) = at_once else { return at_once };
        self.write(|databases, txn| databases.apply(txn, rows.dropped(), std::iter::empty()))?;
        let mut left = rows.all().peekable();
        while left.peek().is_some() {
            let batch: Vec<_> = left.by_ref().take(ROWS_WHEN_FULL).collect();
            let touched: Vec<_> = batch.iter().copied().map(touch).collect();
            self.write_rows(&touched, |databases, txn| databases.apply(txn, &[], batch.iter().copied()))?;
        }
        self.write(|databases, txn| databases.position.set(txn, position))
    }

    /// Writes an overlay, and leaves the log position alone.
    pub fn apply_rows(&self, rows: &Overlay) -> Result<(), StoreError> {
        let touched: Vec<_> = rows.all().map(touch).collect();
        self.write_rows(&touched, |databases, txn| databases.apply(txn, rows.dropped(), rows.all()))
    }

    /// Copies all live pages into a new data file. Every page is checked before LMDB reads it.
    pub fn copy_to(&self, file: &Path) -> Result<(), StoreError> {
        let _guard = self.lock();
        self.root().check_all()?;
        let copied = self.env.copy_to_path(file, CompactionOption::Enabled).map_err(store_error)?;
        copied.sync_all().map_err(|error| io_error(&error))
    }

    /// The log position of the databases.
    pub fn position(&self) -> Result<LogPosition, StoreError> {
        PositionRow::get(&self.root())
    }

    /// The stored log position as plain numbers, whatever the format.
    pub fn position_numbers(&self) -> Result<Option<Vec<u64>>, StoreError> {
        PositionRow::numbers(&self.root())
    }

    pub fn usage(&self) -> Result<Usage, StoreError> {
        let root = self.root();
        let named = root.named;
        let pages = named.rows.pages + named.chunks.pages + named.dropped.pages;
        let file_bytes = root.view.pages.bytes().map_err(|error| io_error(&error))?;
        Ok(Usage { file_bytes, used_bytes: pages * root.view.page_bytes as u64 })
    }

    /// How many bytes of the file are unused.
    pub fn unused_bytes(&self) -> u64 {
        self.usage().map_or(0, |usage| usage.file_bytes.saturating_sub(usage.used_bytes))
    }

    /// Forgets what may have been lost in a range with a rewritten page.
    pub fn forget_damage(&self, range: &KeyRange) -> Result<usize, StoreError> {
        let _guard = self.lock();
        self.root().view.pages.damage.forget(range).map_err(|error| io_error(&error))
    }

    fn write_once<T>(
        &self,
        live_pages: &mut LivePages,
        change: &mut impl FnMut(&Databases, &mut RwTxn<'_>) -> Result<T, TransactionError>,
    ) -> Result<T, TransactionError> {
        if self.is_broken() {
            return Err(StoreError::Io("the data file can no longer be written: restart".to_string()).into());
        }
        let mut txn = self.env.write_txn()?;
        // An error drops the transaction, which aborts it.
        let result = change(&self.databases, &mut txn)?;
        txn.commit().map_err(|error| self.commit_failure(error))?;
        self.publish(live_pages)?;
        Ok(result)
    }

    /// Checks all pages that LMDB will read, and repairs those that are damaged.
    fn check_and_repair(
        &self,
        live_pages: &mut LivePages,
        rows: &[TouchedRow<'_>],
    ) -> Result<(), StoreError> {
        let mut root = self.root();
        let mut repaired = HashSet::new();
        while let Err(needs_repair) = check_paths(&root, rows) {
            if !self.databases.chunks.is_reserved(&root)? {
                // Later it is unknown which ids were lost.
                self.write_checked(live_pages, |databases, txn| databases.chunks.reserve(txn))?;
                root = self.root();
                continue;
            }
            if !repaired.insert(needs_repair.page()) {
                return Err(StoreError::damaged(format!("page {} cannot be repaired", needs_repair.page())));
            }
            page_repair::repair(self.env.path(), &root, live_pages.live(), needs_repair)?;
        }
        Ok(())
    }

    /// Repairs damaged blocks of the checksum file.
    pub fn repair_checksums(&self) -> Result<(), StoreError> {
        let live_pages = self.lock();
        checksum_repair::repair(&self.root().view, live_pages.live()).map_err(|error| io_error(&error))
    }

    /// Writes the checksums of the transaction that LMDB has just committed, and publishes its root. Until that is done,
    /// readers and a restart after a crash see the previous root, which keeps its pages unchanged.
    fn publish(&self, live_pages: &mut LivePages) -> Result<(), StoreError> {
        let anchor = self.env.clone().static_read_txn().map_err(store_error)?;
        let before = self.root();
        let view = before.view.refreshed().map_err(|error| io_error(&error))?;
        if !view.shares_map_with(&before.view) {
            self.register_maps();
        }
        let transaction = anchor.id() as u64;
        let unreadable = || StoreError::damaged("the meta page just written is not readable");
        let page: [u8; META_BYTES] =
            *view.raw_pages(transaction % 2, 1).and_then(<[u8]>::first_chunk).ok_or_else(unreadable)?;
        let meta = Meta::read(&page).filter(|meta| meta.transaction == transaction).ok_or_else(unreadable)?;
        if transaction == live_pages.transaction() {
            return Ok(());
        }
        let changes = live_pages.changes(&view, &meta)?;
        view.pages.checksums.write(&changes.checksums, &page).map_err(|error| io_error(&error))?;
        live_pages.apply(changes);
        self.root.store(Arc::new(Root::new(view, &meta, anchor)?));
        Ok(())
    }

    /// Registers the current maps of the data file, so that faults in them are reported.
    fn register_maps(&self) {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.clear();
        *mapped = MappedRange::all_of(&page_view::file_of(self.env.path()));
    }

    fn lock(&self) -> MutexGuard<'_, LivePages> {
        self.live_pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether only reopening can help.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// LMDB reports an I/O error when the disk accepted only part of a write. Usually the disk is full.
    fn commit_failure(&self, error: heed::Error) -> TransactionError {
        if matches!(self.env.write_txn(), Err(heed::Error::Mdb(MdbError::Panic))) {
            self.is_broken.store(true, Ordering::SeqCst);
        }
        let is_unclear = matches!(&error, heed::Error::Io(io) if io.raw_os_error() == Some(INPUT_OUTPUT));
        if is_unclear && is_full(self.env.path()) {
            return TransactionError::Store(StoreError::Full("no space for the data file".to_string()));
        }
        error.into()
    }

    fn grow(&self) -> Result<(), StoreError> {
        let requested = self.map_bytes.load(Ordering::SeqCst).saturating_mul(2);
        if !self.may_grow || requested == usize::MAX {
            return Err(TransactionError::MapFull.into());
        }
        let grown = remap(&self.env, requested);
        self.is_broken.store(grown.is_err(), Ordering::SeqCst);
        grown.map_err(store_error)?;
        self.map_bytes.store(requested, Ordering::SeqCst);
        self.register_maps();
        tracing::info!(bytes = requested, "the data file has outgrown its map; the map was grown");
        Ok(())
    }
}

fn touch(row: &Row) -> TouchedRow<'_> {
    (row.key(), row.value().is_none())
}

/// Checks the pages that LMDB will read.
fn check_paths(root: &Root, rows: &[TouchedRow<'_>]) -> Result<(), NeedsRepair> {
    let mut paths = WritePathCheck::of(root);
    paths.check_small_databases()?;
    paths.check_chunk_append()?;
    rows.iter().try_for_each(|(key, is_deleted)| paths.check_row(key, *is_deleted))
}

/// Creates a data file with empty databases.
pub(crate) fn create_databases(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: heed::Error| open_error(folder, error);
    let (env, _) = open_env(folder, SMALLEST_MAP_BYTES).map_err(failed)?;
    open_databases(&env).map_err(failed)?;
    env.prepare_for_closing().wait();
    Ok(())
}

/// The root that LMDB has opened, which must be the one that was checked.
fn first_root(env: &Env<WithoutTls>, file: DataFile) -> Result<Root, StoreError> {
    let anchor = env.clone().static_read_txn().map_err(store_error)?;
    if anchor.id() as u64 != file.slot.meta.transaction {
        return Err(StoreError::damaged("LMDB has opened another transaction than the one that was checked"));
    }
    Root::new(file.view, &file.slot.meta, anchor)
}

/// Opens the environment with a map of the requested size, or less if the address space is limited.
fn open_env(folder: &Path, requested: usize) -> heed::Result<(Env<WithoutTls>, usize)> {
    let mut map_bytes = requested;
    loop {
        match open_env_with(folder, map_bytes) {
            Err(heed::Error::Io(error))
                if error.raw_os_error() == Some(OUT_OF_MEMORY) && map_bytes > SMALLEST_MAP_BYTES =>
            {
                map_bytes /= 2;
            }
            opened => return Ok((opened?, map_bytes)),
        }
    }
}

#[allow(unsafe_code)]
fn open_env_with(folder: &Path, map_bytes: usize) -> heed::Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(map_bytes).max_readers(MAX_READERS).max_dbs(MAX_DATABASES);
    // SAFETY: The map shows the contents of the file, so nobody else may write the file meanwhile: the caller holds the
    // folder's exclusive lock, and this process opens the folder once. The flag is harmless: it disables read-ahead.
    unsafe {
        options.flags(EnvFlags::NO_READ_AHEAD);
        options.open(folder)
    }
}

#[allow(unsafe_code)]
fn remap(env: &Env<WithoutTls>, map_bytes: usize) -> heed::Result<()> {
    // SAFETY: No transaction may use LMDB's map meanwhile. The only one that ever does is the write transaction, and it
    // has ended: the caller holds the write lock. Those that roots keep open only occupy an entry in LMDB's reader
    // table; rows are read through separate maps.
    unsafe { env.resize(map_bytes) }
}

fn open_databases(env: &Env<WithoutTls>) -> heed::Result<Databases> {
    type Opened<'e> = Database<'e, Bytes, Bytes>;
    let txn = env.write_txn()?;
    let opened = env.create_databases_and_commit(txn, |opener, txn| {
        let rows: Opened<'_> = opener.create_database(txn, Some("rows"))?;
        let chunks: Opened<'_> = opener.create_database(txn, Some("chunks"))?;
        let dropped: Opened<'_> = opener.create_database(txn, Some("dropped"))?;
        let log: Opened<'_> = opener.create_database(txn, Some("log"))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((rows, chunks, dropped, log)))
    })?;
    match opened {
        CommitOrAbort::Commit((rows, chunks, dropped, log)) => Ok(Databases {
            rows,
            chunks: LongValues::new(chunks, log),
            dropped: DroppedSpaces { database: dropped },
            position: PositionRow { database: log },
        }),
        CommitOrAbort::Abort(()) => Err(heed::Error::Mdb(heed::MdbError::Problem)),
    }
}

fn open_error(folder: &Path, error: heed::Error) -> OpenError {
    match error {
        heed::Error::Io(error) => OpenError::io(folder, error),
        other => OpenError::damaged(folder, format!("data.mdb is not readable ({other})")),
    }
}

fn is_full(folder: &Path) -> bool {
    let probe = folder.join("PROBE");
    let written = std::fs::write(&probe, vec![1; PROBE_BYTES]);
    let _ = std::fs::remove_file(&probe);
    written.is_err_and(|error| matches!(io_error(&error), StoreError::Full(_)))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use partita_store::{Direction, KeyRange};

    use super::*;
    use crate::tree::root::RangeItem;

    #[test]
    fn grows_the_map_under_readers() {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::create_data_file(folder.path()).unwrap();
        let environment = Environment::open_with_map(folder.path(), 1 << 20).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    environment.root().get(b"space7").unwrap();
                }
            });
            for number in 0..200_u32 {
                let key = [b"space".as_slice(), &number.to_be_bytes()].concat();
                environment
                    .write_rows(&[(&key, false)], |databases, txn| databases.put(txn, &key, &vec![7; 50_000]))
                    .unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut rows = 0;
        let all = KeyRange { start: Vec::new(), end: vec![0xFF] };
        let count = |_: RangeItem<'_>| {
            rows += 1;
            Ok(ControlFlow::Continue(()))
        };
        environment.root().range(&all, Direction::Ascending, count).unwrap();
        assert_eq!(rows, 200);
        assert!(environment.map_bytes.load(Ordering::SeqCst) > 10_000_000);
    }
}
