//! The LMDB environment: opened once, read through [`Reader`]s, written through [`Environment::write`].
//!
//! This is the only file that calls LMDB's unsafe functions: to open a file that is mapped into memory, and to map
//! it anew when it has outgrown its map.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, DatabaseStat, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};
use partita_store::{Space, StoreError, Usage};

use crate::chunks::Chunks;
use crate::dropped_spaces::DroppedSpaces;
use crate::failure::{Failure, io_error, store_error};
use crate::gate::{Gate, Pass};
use crate::open_error::OpenError;
use crate::overlay::Overlay;
use crate::position::{Position, PositionRow};
use crate::tree::Tree;

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
    pub tree: Tree,
    gate: Gate,
    map_bytes: AtomicUsize,
    /// Whether the address space may have room for a larger map.
    may_grow: bool,
    /// Set when a map could not be made anew: there is nothing left to read from.
    unmapped: AtomicBool,
}

impl Environment {
    pub fn open(folder: &Path) -> Result<Environment, OpenError> {
        Environment::open_with_map(folder, FIRST_MAP_BYTES)
    }

    fn open_with_map(folder: &Path, wanted: usize) -> Result<Environment, OpenError> {
        let mut map_bytes = wanted;
        let env = loop {
            match open_env(folder, map_bytes) {
                Ok(env) => break env,
                Err(heed::Error::Io(error))
                    if error.raw_os_error() == Some(OUT_OF_MEMORY) && map_bytes > SMALLEST_MAP_BYTES =>
                {
                    map_bytes /= 2;
                }
                Err(error) => return Err(open_error(folder, error)),
            }
        };
        let tree = open_tree(&env).map_err(|error| open_error(folder, error))?;
        Ok(Environment {
            env,
            tree,
            gate: Gate::default(),
            map_bytes: AtomicUsize::new(map_bytes),
            may_grow: map_bytes == wanted,
            unmapped: AtomicBool::new(false),
        })
    }

    /// The spaces whose rows are being removed, in order.
    pub fn dropped(&self) -> Result<Vec<Space>, StoreError> {
        self.tree.dropped.list(&self.reader()?.txn)
    }

    /// The rows as they are now.
    pub fn reader(&self) -> Result<Reader<'_>, StoreError> {
        let pass = self.pass()?;
        let txn = self.env.read_txn().map_err(store_error)?;
        Ok(Reader { txn, _pass: pass })
    }

    /// Makes `change` in one transaction and commits it. On an error nothing is changed. When the file has outgrown
    /// its map, the map is grown and `change` is asked again.
    pub fn write<T>(
        &self,
        mut change: impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        loop {
            match self.write_once(&mut change) {
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
        let at_once = self.write(|tree, txn| {
            tree.apply(txn, rows.dropped(), rows.all())?;
            tree.position.set(txn, position)
        });
        let Err(StoreError::Full(_)) = at_once else { return at_once };
        self.write(|tree, txn| tree.apply(txn, rows.dropped(), std::iter::empty()))?;
        let mut left = rows.all().peekable();
        while left.peek().is_some() {
            let some: Vec<_> = left.by_ref().take(ROWS_WHEN_FULL).collect();
            self.write(|tree, txn| tree.apply(txn, &[], some.iter().copied()))?;
        }
        self.write(|tree, txn| tree.position.set(txn, position))
    }

    /// How much of the log the tree has.
    pub fn position(&self) -> Result<Position, StoreError> {
        self.tree.position.get(&self.reader()?.txn)
    }

    /// The log's position as it stands there, whatever the format.
    pub fn position_numbers(&self) -> Result<Option<Vec<u64>>, StoreError> {
        self.tree.position.numbers(&self.reader()?.txn)
    }

    pub fn usage(&self) -> Result<Usage, StoreError> {
        let reader = self.reader()?;
        let mut used_bytes = 0;
        for database in [self.tree.rows, self.tree.chunks.database, self.tree.dropped.database] {
            used_bytes += bytes_of(&database.stat(&reader.txn).map_err(store_error)?);
        }
        Ok(Usage { file_bytes: self.env.real_disk_size().map_err(store_error)?, used_bytes })
    }

    /// How much of the file holds nothing.
    pub fn unused_bytes(&self) -> u64 {
        self.usage().map_or(0, |usage| usage.file_bytes.saturating_sub(usage.used_bytes))
    }

    fn write_once<T>(
        &self,
        change: &mut impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _pass = self.pass()?;
        let mut txn = self.env.write_txn()?;
        // An error drops the transaction, which aborts it.
        let result = change(&self.tree, &mut txn)?;
        txn.commit().map_err(|error| self.commit_failure(error))?;
        Ok(result)
    }

    /// LMDB calls it an input/output error when the disk took a part of a write only. Mostly it is full.
    fn commit_failure(&self, error: heed::Error) -> Failure {
        let is_unclear = matches!(&error, heed::Error::Io(io) if io.raw_os_error() == Some(INPUT_OUTPUT));
        if is_unclear && is_full(self.env.path()) {
            return Failure::Store(StoreError::Full("no room for the data file".to_string()));
        }
        error.into()
    }

    fn pass(&self) -> Result<Pass<'_>, StoreError> {
        let pass = self.gate.pass();
        if self.unmapped.load(Ordering::SeqCst) {
            return Err(StoreError::Io("the data file is no longer in reach: restart".to_string()));
        }
        Ok(pass)
    }

    fn grow(&self) -> Result<(), StoreError> {
        let wanted = self.map_bytes.load(Ordering::SeqCst).saturating_mul(2);
        if !self.may_grow || wanted == usize::MAX {
            return Err(Failure::MapFull.into());
        }
        let grown = self.gate.alone(|| {
            let grown = map_anew(&self.env, wanted);
            self.unmapped.store(grown.is_err(), Ordering::SeqCst);
            grown
        });
        grown.map_err(store_error)?;
        self.map_bytes.store(wanted, Ordering::SeqCst);
        tracing::info!(bytes = wanted, "the data file has outgrown its map; the map was grown");
        Ok(())
    }
}

/// A read transaction.
pub(crate) struct Reader<'a> {
    pub txn: RoTxn<'a, WithoutTls>,
    // Given back after the transaction has ended: fields are dropped in this order.
    _pass: Pass<'a>,
}

#[allow(unsafe_code)]
fn open_env(folder: &Path, map_bytes: usize) -> heed::Result<Env<WithoutTls>> {
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
    // SAFETY: No transaction may be alive: the caller is alone behind the gate that every transaction of this
    // environment passes.
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
            chunks: Chunks { database: chunks },
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

fn bytes_of(stat: &DatabaseStat) -> u64 {
    (stat.page_size as usize * (stat.branch_pages + stat.leaf_pages + stat.overflow_pages)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_the_map_under_readers() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::open_with_map(folder.path(), 1 << 20).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let reader = environment.reader().unwrap();
                    environment.tree.get(&reader.txn, b"space7").unwrap();
                }
            });
            for number in 0..200_u32 {
                let key = [b"space".as_slice(), &number.to_be_bytes()].concat();
                environment.write(|tree, txn| tree.put(txn, &key, &vec![7; 50_000])).unwrap();
            }
            over.store(true, Ordering::SeqCst);
        });
        let reader = environment.reader().unwrap();
        assert_eq!(environment.tree.rows.len(&reader.txn).unwrap(), 200);
        assert!(environment.map_bytes.load(Ordering::SeqCst) > 10_000_000);
    }
}
