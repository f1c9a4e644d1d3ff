//! The LMDB environment: opened once, read through [`Reader`]s, written through [`Environment::write`].
//!
//! This is the only file that calls LMDB's unsafe functions: to open a file that is mapped into memory, and to map
//! it anew when it has outgrown its map.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, DatabaseStat, Env, EnvFlags, EnvOpenOptions, RoTxn, RwTxn, WithoutTls};
use partita_store::{StoreError, Usage};

use crate::chunks::Chunks;
use crate::dropped_spaces::DroppedSpaces;
use crate::failure::{Failure, store_error};
use crate::gate::{Gate, Pass};
use crate::open_error::OpenError;
use crate::position::{Position, PositionRow};
use crate::tree::Tree;

/// Address space, not memory: what the file may grow to before the map is made anew.
const FIRST_MAP_BYTES: usize = 1 << 40;
/// With less than this an address space is too small to work in.
const SMALLEST_MAP_BYTES: usize = 1 << 28;
const MAX_READERS: u32 = 4_096;
const MAX_DATABASES: u32 = 12;
const OUT_OF_MEMORY: i32 = 12;

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

    /// How much of the log the tree has.
    pub fn position(&self) -> Result<Position, StoreError> {
        self.tree.position.get(&self.reader()?.txn)
    }

    pub fn usage(&self) -> Result<Usage, StoreError> {
        let reader = self.reader()?;
        let mut used_bytes = 0;
        for database in [self.tree.rows, self.tree.chunks.database, self.tree.dropped.database] {
            used_bytes += bytes_of(&database.stat(&reader.txn).map_err(store_error)?);
        }
        Ok(Usage { file_bytes: self.env.real_disk_size().map_err(store_error)?, used_bytes })
    }

    fn write_once<T>(
        &self,
        change: &mut impl FnMut(&Tree, &mut RwTxn<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let _pass = self.pass()?;
        let mut txn = self.env.write_txn()?;
        // An error drops the transaction, which aborts it.
        let result = change(&self.tree, &mut txn)?;
        txn.commit()?;
        Ok(result)
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
