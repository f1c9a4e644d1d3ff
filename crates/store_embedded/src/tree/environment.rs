//! The LMDB environment: opened once, read through [`Root`]s, written through [`Environment::write`].
//!
//! LMDB writes; readers look at its pages themselves, since it trusts whatever the file has. After every transaction
//! the sums of its new pages are written, and then its root is what readers get.
//!
//! This is the only file that calls LMDB's unsafe functions: to open a file that is mapped into memory, and to map
//! it anew when it has outgrown its map.

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
use crate::damage::write_path_check::{Unfit, WritePaths};
use crate::error::{Failure, io_error, store_error};
use crate::log::position::{Position, PositionRow};
use crate::open_error::OpenError;
use crate::pages::data_file::{self, DataFile};
use crate::pages::live_pages::PageAccounts;
use crate::pages::mapped_faults::MappedRange;
use crate::pages::page::{META_BYTES, Meta};
use crate::pages::page_view;
use crate::tree::databases::Tree;
use crate::tree::dropped_spaces::{self, DroppedSpaces};
use crate::tree::long_values::Chunks;
use crate::tree::root::Root;
use crate::write::overlay::{Overlay, Row};

/// Address space, not memory: what the file may grow to before the map is made anew.
const FIRST_MAP_BYTES: usize = 1 << 40;
/// With less than this an address space is too small to work in.
const SMALLEST_MAP_BYTES: usize = 1 << 28;
const MAX_READERS: u32 = 4_096;
const MAX_DATABASES: u32 = 12;
const OUT_OF_MEMORY: i32 = 12;
const INPUT_OUTPUT: i32 = 5;
/// How many rows are written at once when the disk is nearly full.
const ROWS_WHEN_FULL: usize = 100;
/// How much must fit on a disk that is not full.
const PROBE_BYTES: usize = 64 << 10;

pub(crate) struct Environment {
    env: Env<WithoutTls>,
    tree: Tree,
    root: ArcSwap<Root>,
    /// Held by whoever writes.
    accounts: Mutex<PageAccounts>,
    map_bytes: AtomicUsize,
    /// Whether the address space may have room for a larger map.
    may_grow: bool,
    /// Set when there is nothing left to write through: a map could not be made anew, or a meta page could not be
    /// written, after which LMDB does nothing more.
    is_broken: AtomicBool,
    /// Where the data file is mapped, for the message if it cannot be read there.
    mapped: Mutex<Vec<MappedRange>>,
}

/// A row that is to be written, and whether it is deleted.
pub(crate) type Touched<'a> = (&'a [u8], bool);

impl Environment {
    pub fn open(folder: &Path) -> Result<Environment, OpenError> {
        Environment::open_with_map(folder, FIRST_MAP_BYTES)
    }

    fn open_with_map(folder: &Path, wanted: usize) -> Result<Environment, OpenError> {
        let file = data_file::open(folder, wanted)?;
        let failed = |error: StoreError| OpenError::store(folder, error);
        // What LMDB reads by itself: its free pages and the names of its databases.
        let accounts = PageAccounts::read(&file.view, &file.slot.meta).map_err(failed)?;
        let (env, map_bytes) = open_env(folder, wanted).map_err(|error| open_error(folder, error))?;
        let tree = open_tree(&env).map_err(|error| open_error(folder, error))?;
        let root = Arc::new(first_root(&env, file).map_err(failed)?);
        tree.chunks.number_after(&root).map_err(failed)?;
        Ok(Environment {
            env,
            tree,
            root: ArcSwap::new(root),
            accounts: Mutex::new(accounts),
            map_bytes: AtomicUsize::new(map_bytes),
            may_grow: map_bytes == wanted,
            is_broken: AtomicBool::new(false),
            mapped: Mutex::new(MappedRange::all_of(&page_view::file_of(folder))),
        })
    }

    /// The spaces whose rows are being removed, in order.
    pub fn dropped(&self) -> Result<Vec<Space>, StoreError> {
        dropped_spaces::list(&self.root())
    }

    /// The rows as they are now.
    pub fn root(&self) -> Arc<Root> {
        self.root.load_full()
    }

    /// Makes `change`, which writes no rows, in one transaction. On an error nothing is changed.
    pub fn write<T>(
        &self,
        change: impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.write_rows(&[], change)
    }

    /// Makes `change`, which writes no rows but these, in one transaction and commits it. On an error nothing is
    /// changed. When the file has outgrown its map, the map is grown and `change` is asked again.
    pub fn write_rows<T>(
        &self,
        rows: &[Touched<'_>],
        change: impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut accounts = self.lock();
        self.make_fit(&mut accounts, rows)?;
        let result = self.write_fit(&mut accounts, change)?;
        self.heal(rows);
        Ok(result)
    }

    /// Makes a change for which all pages are fit.
    fn write_fit<T>(
        &self,
        accounts: &mut PageAccounts,
        mut change: impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        loop {
            match self.write_once(accounts, &mut change) {
                Ok(result) => return Ok(result),
                Err(Failure::MapFull) => self.grow()?,
                Err(Failure::Store(error)) => return Err(error),
            }
        }
    }

    /// Writes what an overlay says, and that the tree then has the log up to `position`.
    ///
    /// One transaction needs room for a new copy of every page it touches. When the disk has not that much left,
    /// small ones may still do: each uses the pages again that the ones before it gave up. Readers do not notice,
    /// since they see the overlay; and the position is written last, so a crash in between repeats what was done.
    pub fn apply(&self, rows: &Overlay, position: Position) -> Result<(), StoreError> {
        let touched: Vec<_> = rows.all().map(touch).collect();
        let at_once = self.write_rows(&touched, |tree, txn| {
            tree.apply(txn, rows.dropped(), rows.all())?;
            tree.position.set(txn, position)
        });
        let Err(StoreError::Full(_)) = at_once else { return at_once };
        self.write(|tree, txn| tree.apply(txn, rows.dropped(), std::iter::empty()))?;
        let mut left = rows.all().peekable();
        while left.peek().is_some() {
            let some: Vec<_> = left.by_ref().take(ROWS_WHEN_FULL).collect();
            let touched: Vec<_> = some.iter().copied().map(touch).collect();
            self.write_rows(&touched, |tree, txn| tree.apply(txn, &[], some.iter().copied()))?;
        }
        self.write(|tree, txn| tree.position.set(txn, position))
    }

    /// Writes what an overlay says, and nothing of the log.
    pub fn apply_rows(&self, rows: &Overlay) -> Result<(), StoreError> {
        let touched: Vec<_> = rows.all().map(touch).collect();
        self.write_rows(&touched, |tree, txn| tree.apply(txn, rows.dropped(), rows.all()))
    }

    /// Copies all that is in use into a new data file. Every page is checked before LMDB reads it.
    pub fn copy_to(&self, file: &Path) -> Result<(), StoreError> {
        let _alone = self.lock();
        self.root().check_all()?;
        let copied = self.env.copy_to_path(file, CompactionOption::Enabled).map_err(store_error)?;
        copied.sync_all().map_err(|error| io_error(&error))
    }

    /// How much of the log the tree has.
    pub fn position(&self) -> Result<Position, StoreError> {
        PositionRow::get(&self.root())
    }

    /// The log's position as it stands there, whatever the format.
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

    /// How much of the file holds nothing.
    pub fn unused_bytes(&self) -> u64 {
        self.usage().map_or(0, |usage| usage.file_bytes.saturating_sub(usage.used_bytes))
    }

    /// What may have been lost in a range with a page that was written anew is of no interest any more.
    pub fn forget_damage(&self, range: &KeyRange) -> Result<usize, StoreError> {
        let _alone = self.lock();
        self.root().view.pages.damage.forget(range).map_err(|error| io_error(&error))
    }

    fn write_once<T>(
        &self,
        accounts: &mut PageAccounts,
        change: &mut impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.is_broken() {
            return Err(StoreError::Io("the data file can no longer be written: restart".to_string()).into());
        }
        let mut txn = self.env.write_txn()?;
        // An error drops the transaction, which aborts it.
        let result = change(&self.tree, &mut txn)?;
        txn.commit().map_err(|error| self.commit_failure(error))?;
        self.settle(accounts)?;
        Ok(result)
    }

    /// Has all pages that LMDB will read checked, and those written anew that are damaged.
    fn make_fit(&self, accounts: &mut PageAccounts, rows: &[Touched<'_>]) -> Result<(), StoreError> {
        let mut root = self.root();
        let mut repaired = HashSet::new();
        while let Err(unfit) = check_paths(&root, rows) {
            if !self.tree.chunks.is_reserved(&root)? {
                // Later nobody can tell which ids were lost.
                self.write_fit(accounts, |tree, txn| tree.chunks.reserve(txn))?;
                root = self.root();
                continue;
            }
            if !repaired.insert(unfit.page()) {
                return Err(StoreError::damaged(format!("page {} cannot be repaired", unfit.page())));
            }
            page_repair::repair(self.env.path(), &root, accounts.live(), unfit)?;
        }
        Ok(())
    }

    /// Makes damaged blocks of the file of checksums whole again.
    pub fn mend_sums(&self) -> Result<(), StoreError> {
        let accounts = self.lock();
        checksum_repair::mend(&self.root().view, accounts.live()).map_err(|error| io_error(&error))
    }

    fn heal(&self, rows: &[Touched<'_>]) {
        let root = self.root();
        let keys = rows.iter().map(|(key, _)| *key);
        if let Err(error) = root.view.pages.damage.heal(keys, root.transaction) {
            tracing::warn!(%error, "the notes on damaged rows could not be written");
        }
    }

    /// Writes the sums of what LMDB has just committed, and shows it to readers. Until that is done they, and a start
    /// after a crash, see what was before: the root they have keeps its pages as they are.
    fn settle(&self, accounts: &mut PageAccounts) -> Result<(), StoreError> {
        let anchor = self.env.clone().static_read_txn().map_err(store_error)?;
        let before = self.root();
        let view = before.view.renewed().map_err(|error| io_error(&error))?;
        if !view.shares_map_with(&before.view) {
            self.look_for_maps();
        }
        let transaction = anchor.id() as u64;
        let unreadable = || StoreError::damaged("the meta page just written is not readable");
        let page: [u8; META_BYTES] =
            *view.run(transaction % 2, 1).and_then(<[u8]>::first_chunk).ok_or_else(unreadable)?;
        let meta = Meta::read(&page).filter(|meta| meta.transaction == transaction).ok_or_else(unreadable)?;
        if transaction == accounts.transaction() {
            return Ok(());
        }
        let changes = accounts.changes(&view, &meta)?;
        view.pages.sums.write(&changes.sums, &page).map_err(|error| io_error(&error))?;
        accounts.take(changes);
        self.root.store(Arc::new(Root::new(view, &meta, anchor)?));
        Ok(())
    }

    /// Has faults told wherever the data file is mapped now.
    fn look_for_maps(&self) {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.clear();
        *mapped = MappedRange::all_of(&page_view::file_of(self.env.path()));
    }

    fn lock(&self) -> MutexGuard<'_, PageAccounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether only to open it again may help.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// LMDB calls it an input/output error when the disk took a part of a write only. Mostly it is full.
    fn commit_failure(&self, error: heed::Error) -> Failure {
        if matches!(self.env.write_txn(), Err(heed::Error::Mdb(MdbError::Panic))) {
            self.is_broken.store(true, Ordering::SeqCst);
        }
        let is_unclear = matches!(&error, heed::Error::Io(io) if io.raw_os_error() == Some(INPUT_OUTPUT));
        if is_unclear && is_full(self.env.path()) {
            return Failure::Store(StoreError::Full("no room for the data file".to_string()));
        }
        error.into()
    }

    fn grow(&self) -> Result<(), StoreError> {
        let wanted = self.map_bytes.load(Ordering::SeqCst).saturating_mul(2);
        if !self.may_grow || wanted == usize::MAX {
            return Err(Failure::MapFull.into());
        }
        let grown = map_anew(&self.env, wanted);
        self.is_broken.store(grown.is_err(), Ordering::SeqCst);
        grown.map_err(store_error)?;
        self.map_bytes.store(wanted, Ordering::SeqCst);
        self.look_for_maps();
        tracing::info!(bytes = wanted, "the data file has outgrown its map; the map was grown");
        Ok(())
    }
}

fn touch(row: &Row) -> Touched<'_> {
    (row.key(), row.value().is_none())
}

/// Checks what LMDB will read.
fn check_paths(root: &Root, rows: &[Touched<'_>]) -> Result<(), Unfit> {
    let mut paths = WritePaths::of(root);
    paths.small_ones()?;
    paths.new_chunks()?;
    rows.iter().try_for_each(|(key, is_deleted)| paths.row(key, *is_deleted))
}

/// A data file with empty databases.
pub(crate) fn make_databases(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: heed::Error| open_error(folder, error);
    let (env, _) = open_env(folder, SMALLEST_MAP_BYTES).map_err(failed)?;
    open_tree(&env).map_err(failed)?;
    env.prepare_for_closing().wait();
    Ok(())
}

/// The root that LMDB has opened, which must be the one that was checked.
fn first_root(env: &Env<WithoutTls>, file: DataFile) -> Result<Root, StoreError> {
    let anchor = env.clone().static_read_txn().map_err(store_error)?;
    if anchor.id() as u64 != file.slot.meta.transaction {
        return Err(StoreError::damaged("LMDB has opened another transaction than was checked"));
    }
    Root::new(file.view, &file.slot.meta, anchor)
}

/// Opens the environment with a map of the size that is wanted, or less where the address space is limited.
fn open_env(folder: &Path, wanted: usize) -> heed::Result<(Env<WithoutTls>, usize)> {
    let mut map_bytes = wanted;
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
    // SAFETY: The map shows what the file holds, so nobody else may write the file meanwhile: the caller holds the
    // folder's exclusive lock, and this process opens the folder once. The flag is harmless: it leaves out reading
    // ahead.
    unsafe {
        options.flags(EnvFlags::NO_READ_AHEAD);
        options.open(folder)
    }
}

#[allow(unsafe_code)]
fn map_anew(env: &Env<WithoutTls>, map_bytes: usize) -> heed::Result<()> {
    // SAFETY: No transaction may look at LMDB's map meanwhile. The only one that ever does is that of the one who
    // writes, and it has ended: the caller holds the right to write. Those that roots keep open have an entry in
    // LMDB's table of readers and nothing else; rows are read through maps of their own.
    unsafe { env.resize(map_bytes) }
}

fn open_tree(env: &Env<WithoutTls>) -> heed::Result<Tree> {
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
        CommitOrAbort::Commit((rows, chunks, dropped, log)) => Ok(Tree {
            rows,
            chunks: Chunks::new(chunks, log),
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
    use crate::tree::root::Part;

    #[test]
    fn grows_the_map_under_readers() {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::make_data_file(folder.path()).unwrap();
        let environment = Environment::open_with_map(folder.path(), 1 << 20).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    environment.root().get(b"space7").unwrap();
                }
            });
            for number in 0..200_u32 {
                let key = [b"space".as_slice(), &number.to_be_bytes()].concat();
                environment
                    .write_rows(&[(&key, false)], |tree, txn| tree.put(txn, &key, &vec![7; 50_000]))
                    .unwrap();
            }
            over.store(true, Ordering::SeqCst);
        });
        let mut rows = 0;
        let all = KeyRange { start: Vec::new(), end: vec![0xFF] };
        let count = |_: Part<'_>| {
            rows += 1;
            Ok(ControlFlow::Continue(()))
        };
        environment.root().range(&all, Direction::Ascending, count).unwrap();
        assert_eq!(rows, 200);
        assert!(environment.map_bytes.load(Ordering::SeqCst) > 10_000_000);
    }
}
