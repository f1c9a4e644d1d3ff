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
//! Ids rise: a new value takes the number after the last one given, and after an opening that after the highest
//! stored. A chunk is written and removed in the same transaction as the row that names its id, so an id is never
//! shared.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::{Direction, KeyRange, StoreError};

use crate::damaged_leaf::Part;
use crate::entry::{LongValue, PAGE_PAYLOAD_BYTES, checksum};
use crate::failure::Failure;
use crate::page::Node;
use crate::root::{Root, damaged};
use crate::walk::Found;

const SUM_BYTES: usize = 4;
const CHUNK_BYTES: usize = PAGE_PAYLOAD_BYTES - SUM_BYTES;
const KEY_BYTES: usize = 12;
/// Stands where rows have their kind, so that no chunk passes for a row.
const CHUNK: u8 = 2;

/// Ids that may have been on a lost page.
const IDS_LEFT_OUT: u64 = 1 << 32;

pub(crate) struct Chunks {
    pub database: Database<'static, Bytes, Bytes>,
    next_id: AtomicU64,
}

impl Chunks {
    pub fn new(database: Database<'static, Bytes, Bytes>) -> Chunks {
        Chunks { database, next_id: AtomicU64::new(0) }
    }

    /// Goes on after the ids there are.
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
        self.next_id.store(next, Ordering::Relaxed);
        Ok(())
    }

    /// Stores `value` and says where.
    pub fn put(&self, txn: &mut RwTxn<'_>, value: &[u8]) -> Result<LongValue, Failure> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
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
            let leaf = root.judge(&lost, bounds).ok_or_else(|| damaged(lost))?;
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
