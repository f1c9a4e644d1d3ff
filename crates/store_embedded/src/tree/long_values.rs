//! Long values, cut into chunks that need one page each.
//!
//! LMDB puts a long value into neighbouring pages and searches for such a run: slow once free pages are
//! scattered. Chunks of one page take any free page. A value's chunks are neighbours in their own database, so
//! reading one is a walk along a cursor, and the rows beside it stay dense.
//!
//! ```text
//! key     id of the value (8, big-endian) │ number of the chunk (4, big-endian)
//! entry   crc32 of key and bytes (4)      │ up to 4,076 bytes of the value
//! ```
//! Ids rise: a new value takes the number after the last one given. Up to which number they may have been given stands
//! in the database of the log's position, some numbers ahead, and an opening goes on there: so no id is given twice,
//! even if the chunks that had it were lost. A chunk is written and removed in the same transaction as the row that
//! names its id, so an id is never shared.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::{Direction, KeyRange, StoreError};

use crate::damage::damaged_leaf::{DamagedLeaf, Part};
use crate::error::Failure;
use crate::pages::page::Node;
use crate::pages::tree_walk::Found;
use crate::tree::entry::{self, Entry, LongValue, PAGE_PAYLOAD_BYTES, checksum};
use crate::tree::root::{Root, damaged};

const SUM_BYTES: usize = 4;
const CHUNK_BYTES: usize = PAGE_PAYLOAD_BYTES - SUM_BYTES;
const KEY_BYTES: usize = 12;
/// Stands where rows have their kind, so that no chunk passes for a row.
const CHUNK: u8 = 2;

/// Ids that may have been on a lost page, where it is not noted up to which they were given.
const IDS_LEFT_OUT: u64 = 1 << 32;

/// Where it is noted up to which number ids may have been given.
pub(crate) const RESERVED_KEY: &[u8] = b"chunk ids";
/// How many are noted ahead.
const IDS_AHEAD: u64 = 1 << 16;

pub(crate) struct Chunks {
    pub database: Database<'static, Bytes, Bytes>,
    /// The database of the log's position.
    reserved: Database<'static, Bytes, Bytes>,
    next_id: AtomicU64,
}

impl Chunks {
    pub fn new(
        database: Database<'static, Bytes, Bytes>,
        reserved: Database<'static, Bytes, Bytes>,
    ) -> Chunks {
        Chunks { database, reserved, next_id: AtomicU64::new(0) }
    }

    /// Goes on after the ids there are, and after those that may have been given.
    pub fn number_after(&self, root: &Root) -> Result<(), StoreError> {
        let all = KeyRange { start: Vec::new(), end: vec![0xFF; KEY_BYTES + 1] };
        let mut next = 0;
        root.tree(root.named.chunks).range(&all, Direction::Descending, |found| {
            let (key, left_out) = match &found {
                Found::Row(node) => (Some(node.key), 1),
                Found::Lost(_, bounds) => (bounds.low, IDS_LEFT_OUT),
            };
            let id = key.and_then(|key| key.first_chunk().copied()).map_or(0, u64::from_be_bytes);
            next = id
                .checked_add(left_out)
                .ok_or_else(|| StoreError::damaged("the key of a chunk is out of range"))?;
            Ok::<_, StoreError>(ControlFlow::Break(()))
        })?;
        self.next_id.store(next.max(reserved(root)?), Ordering::Relaxed);
        Ok(())
    }

    /// Whether it is noted that the ids up to the next one may have been given.
    pub fn is_reserved(&self, root: &Root) -> Result<bool, StoreError> {
        Ok(reserved(root)? >= self.next_id.load(Ordering::Relaxed))
    }

    /// Notes that the ids up to the next one, and some more, may have been given.
    pub fn reserve(&self, txn: &mut RwTxn<'_>) -> Result<(), Failure> {
        let end = self.next_id.load(Ordering::Relaxed).saturating_add(IDS_AHEAD).to_le_bytes();
        let stored = [&entry::short_header(RESERVED_KEY, &end)[..], &end].concat();
        Ok(self.reserved.put(txn, RESERVED_KEY, &stored)?)
    }

    /// Stores `value` and says where.
    pub fn put(&self, txn: &mut RwTxn<'_>, value: &[u8]) -> Result<LongValue, Failure> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        // Asked of the transaction: one before it may have come to nothing.
        if read_reserved(self.reserved.get(txn, RESERVED_KEY)?)? <= id {
            self.reserve(txn)?;
        }
        for (number, part) in value.chunks(CHUNK_BYTES).enumerate() {
            let number = u32::try_from(number)
                .map_err(|_| StoreError::Io("the value is longer than a store can keep".to_string()))?;
            let key = chunk_key(id, number);
            let sum = checksum(&key, CHUNK, part).to_le_bytes();
            self.database.put_reserved(txn, &key, SUM_BYTES + part.len(), |room| {
                use std::io::Write;
                room.write_all(&sum)?;
                room.write_all(part)
            })?;
        }
        Ok(LongValue { id, length: value.len() as u64 })
    }

    /// Removes a value's chunks and says how many they were.
    pub fn delete(&self, txn: &mut RwTxn<'_>, long: LongValue) -> Result<usize, Failure> {
        let mut deleted = 0;
        for key in keys_of(long) {
            deleted += usize::from(self.database.delete(txn, &key)?);
        }
        Ok(deleted)
    }
}

/// Up to which number ids may have been given, as far as it is noted.
fn reserved(root: &Root) -> Result<u64, StoreError> {
    let tree = root.tree(root.named.log);
    let stored = tree.get(RESERVED_KEY).map_err(damaged)?;
    read_reserved(stored.map(|stored| tree.bytes(stored)).transpose().map_err(damaged)?)
}

fn read_reserved(stored: Option<&[u8]>) -> Result<u64, StoreError> {
    let Some(stored) = stored else { return Ok(0) };
    match entry::read(RESERVED_KEY, stored)? {
        Entry::Short(end) if let Ok(end) = end.try_into() => Ok(u64::from_le_bytes(end)),
        _ => Err(StoreError::damaged("the note of the ids of chunks is malformed")),
    }
}

/// The keys of a value's chunks.
pub(crate) fn keys_of(long: LongValue) -> impl Iterator<Item = [u8; KEY_BYTES]> {
    let count = u32::try_from(long.length.div_ceil(CHUNK_BYTES as u64)).unwrap_or(u32::MAX);
    (0..count).map(move |number| chunk_key(long.id, number))
}

pub(crate) fn read(root: &Root, long: LongValue) -> Result<Vec<u8>, StoreError> {
    let altered = || StoreError::damaged(format!("a chunk of long value {} is missing or altered", long.id));
    let length = usize::try_from(long.length).map_err(|_| altered())?;
    let mut value = Vec::with_capacity(length.min(1 << 20));
    let range =
        KeyRange { start: chunk_key(long.id, 0).to_vec(), end: chunk_key(long.id, u32::MAX).to_vec() };
    let tree = root.tree(root.named.chunks);
    let mut keys = keys_of(long);
    let mut take = |node: Node<'_>| {
        let entry = tree.bytes(node.value).map_err(damaged)?;
        let part = read_chunk(node.key, entry).ok_or_else(altered)?;
        if keys.next().is_none_or(|key| node.key != key) || value.len() + part.len() > length {
            return Err(altered());
        }
        value.extend_from_slice(part);
        Ok(ControlFlow::Continue(()))
    };
    tree.range(&range, Direction::Ascending, |found| match found {
        Found::Row(node) => take(node),
        Found::Lost(lost, bounds) => {
            let copy = root.view.damaged_leaf(lost.number).ok_or_else(|| damaged(lost.clone()))?;
            let leaf = DamagedLeaf::judge(&copy, bounds).ok_or_else(|| damaged(lost))?;
            // One that is lost is missed further down.
            let parts = leaf.range(&range.start, &range.end, Direction::Ascending).into_iter();
            let mut rows =
                parts.filter_map(|part| if let Part::Row(node) = part { Some(node) } else { None });
            rows.try_for_each(|node| take(node).map(|_| ()))?;
            Ok(ControlFlow::Continue(()))
        }
    })?;
    if value.len() == length { Ok(value) } else { Err(altered()) }
}

/// The part of the value in a chunk, if it is as it was written.
pub(crate) fn read_chunk<'e>(key: &[u8], entry: &'e [u8]) -> Option<&'e [u8]> {
    let (sum, part) = entry.split_first_chunk::<SUM_BYTES>()?;
    (checksum(key, CHUNK, part) == u32::from_le_bytes(*sum)).then_some(part)
}

fn chunk_key(id: u64, number: u32) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&id.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::pages::page_view;
    use crate::tree::environment::Environment;

    /// A folder in which no long value was written since ids are noted.
    #[test]
    fn ids_are_noted_before_the_page_that_had_the_last_ones_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::make_data_file(folder.path()).unwrap();
        let open = || Environment::open(folder.path()).unwrap();
        let put = |environment: &Environment, key: &[u8], value: &[u8]| {
            environment.write_rows(&[(key, false)], |tree, txn| tree.put(txn, key, value)).unwrap();
        };
        let environment = open();
        put(&environment, b"row 0", &[0; 9_000]);
        put(&environment, b"row 1", &[1; 9_000]);
        environment.write(|tree, txn| Ok(tree.chunks.reserved.delete(txn, RESERVED_KEY)?)).unwrap();
        let root = environment.root();
        let (leaf, page_bytes) = (root.named.chunks.root.unwrap() as usize, root.view.page_bytes);
        drop((root, environment));
        let file = page_view::file_of(folder.path());
        let mut bytes = fs::read(&file).unwrap();
        bytes[leaf * page_bytes..(leaf + 1) * page_bytes].fill(0);
        fs::write(&file, bytes).unwrap();
        put(&open(), b"row 2", b"short");
        let environment = open();
        put(&environment, b"row 3", &[3; 9_000]);
        assert!(environment.root().get(b"row 1").is_err());
        assert_eq!(environment.root().get(b"row 3").unwrap().unwrap(), &[3; 9_000][..]);
    }
}
