//! Long values, split into chunks that need one page each.
//!
//! LMDB stores a long value in contiguous pages and searches for such a run, which is slow once free pages are
//! scattered. One-page chunks fit any free page. The chunks of a value are adjacent in their own database, so reading
//! one is a cursor walk, and the rows stay dense.
//!
//! ```text
//! key     id of the value (8, big-endian) │ chunk number (4, big-endian)
//! entry   crc32 of key and bytes (4)      │ up to 4,076 bytes of the value
//! ```
//! Ids are assigned in ascending order. The database that holds the log position also records, some way ahead, the
//! limit up to which ids may have been assigned, and a reopened store continues there: so no id is assigned twice, even
//! if the chunks that used it were lost. Chunks are written and removed in the same transaction as the row that
//! references their id, so an id is never shared.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::{Direction, KeyRange, StoreError};

use crate::damage::damaged_leaf::{DamagedLeaf, LeafItem};
use crate::error::TransactionError;
use crate::pages::page::Node;
use crate::pages::tree_walk::TreeItem;
use crate::tree::entry::{self, Entry, LongValueRef, PAGE_PAYLOAD_BYTES, checksum};
use crate::tree::root::{Root, damaged};

const CHECKSUM_BYTES: usize = 4;
const CHUNK_BYTES: usize = PAGE_PAYLOAD_BYTES - CHECKSUM_BYTES;
const KEY_BYTES: usize = 12;
/// Takes the place of a row's kind in the checksum, so that no chunk passes for a row.
const CHUNK: u8 = 2;

/// Ids that may have been on a lost page, if the reserved limit is not recorded.
const IDS_SKIPPED: u64 = 1 << 32;

/// The key under which the reserved limit of ids is stored.
pub(crate) const RESERVED_KEY: &[u8] = b"chunk ids";
/// How many ids are reserved ahead.
const IDS_AHEAD: u64 = 1 << 16;

pub(crate) struct LongValues {
    pub database: Database<'static, Bytes, Bytes>,
    /// The database of the log position.
    reserved: Database<'static, Bytes, Bytes>,
    next_id: AtomicU64,
}

impl LongValues {
    pub fn new(
        database: Database<'static, Bytes, Bytes>,
        reserved: Database<'static, Bytes, Bytes>,
    ) -> LongValues {
        LongValues { database, reserved, next_id: AtomicU64::new(0) }
    }

    /// Continues after the ids in use and those that may have been assigned.
    pub fn continue_after(&self, root: &Root) -> Result<(), StoreError> {
        let all = KeyRange { start: Vec::new(), end: vec![0xFF; KEY_BYTES + 1] };
        let mut next = 0;
        root.tree(root.named.chunks).range(&all, Direction::Descending, |found| {
            let (key, skipped) = match &found {
                TreeItem::Row(node) => (Some(node.key), 1),
                TreeItem::Lost(_, bounds) => (bounds.low, IDS_SKIPPED),
            };
            let id = key.and_then(|key| key.first_chunk().copied()).map_or(0, u64::from_be_bytes);
            next = id
                .checked_add(skipped)
                .ok_or_else(|| StoreError::damaged("the key of a chunk is out of range"))?;
            Ok::<_, StoreError>(ControlFlow::Break(()))
        })?;
        self.next_id.store(next.max(reserved(root)?), Ordering::Relaxed);
        Ok(())
    }

    /// Whether the reserved limit covers the next id.
    pub fn is_reserved(&self, root: &Root) -> Result<bool, StoreError> {
        Ok(reserved(root)? >= self.next_id.load(Ordering::Relaxed))
    }

    /// Reserves the ids up to the next one, and some more.
    pub fn reserve(&self, txn: &mut RwTxn<'_>) -> Result<(), TransactionError> {
        let end = self.next_id.load(Ordering::Relaxed).saturating_add(IDS_AHEAD).to_le_bytes();
        let stored = [&entry::short_header(RESERVED_KEY, &end)[..], &end].concat();
        Ok(self.reserved.put(txn, RESERVED_KEY, &stored)?)
    }

    /// Stores `value` and returns a reference to it.
    pub fn put(&self, txn: &mut RwTxn<'_>, value: &[u8]) -> Result<LongValueRef, TransactionError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        // Read in this transaction: an earlier one may have been aborted.
        if read_reserved(self.reserved.get(txn, RESERVED_KEY)?)? <= id {
            self.reserve(txn)?;
        }
        for (number, part) in value.chunks(CHUNK_BYTES).enumerate() {
            let number = u32::try_from(number)
                .map_err(|_| StoreError::Io("the value is longer than a store can hold".to_string()))?;
            let key = chunk_key(id, number);
            let sum = checksum(&key, CHUNK, part).to_le_bytes();
            self.database.put_reserved(txn, &key, CHECKSUM_BYTES + part.len(), |space| {
                use std::io::Write;
                space.write_all(&sum)?;
                space.write_all(part)
            })?;
        }
        Ok(LongValueRef { id, length: value.len() as u64 })
    }

    /// Removes a value's chunks and returns how many there were.
    pub fn delete(&self, txn: &mut RwTxn<'_>, long: LongValueRef) -> Result<usize, TransactionError> {
        let mut deleted = 0;
        for key in keys_of(long) {
            deleted += usize::from(self.database.delete(txn, &key)?);
        }
        Ok(deleted)
    }
}

/// The limit up to which ids are recorded as reserved.
fn reserved(root: &Root) -> Result<u64, StoreError> {
    let tree = root.tree(root.named.log);
    let stored = tree.get(RESERVED_KEY).map_err(damaged)?;
    read_reserved(stored.map(|stored| tree.bytes(stored)).transpose().map_err(damaged)?)
}

fn read_reserved(stored: Option<&[u8]>) -> Result<u64, StoreError> {
    let Some(stored) = stored else { return Ok(0) };
    match entry::read(RESERVED_KEY, stored)? {
        Entry::Short(end) if let Ok(end) = end.try_into() => Ok(u64::from_le_bytes(end)),
        _ => Err(StoreError::damaged("the reserved ids of chunks are malformed")),
    }
}

/// The keys of a value's chunks.
pub(crate) fn keys_of(long: LongValueRef) -> impl Iterator<Item = [u8; KEY_BYTES]> {
    let count = u32::try_from(long.length.div_ceil(CHUNK_BYTES as u64)).unwrap_or(u32::MAX);
    (0..count).map(move |number| chunk_key(long.id, number))
}

pub(crate) fn read(root: &Root, long: LongValueRef) -> Result<Vec<u8>, StoreError> {
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
        TreeItem::Row(node) => take(node),
        TreeItem::Lost(lost, bounds) => {
            let copy = root.view.damaged_leaf(lost.number).ok_or_else(|| damaged(lost.clone()))?;
            let leaf = DamagedLeaf::from_copy(&copy, bounds).ok_or_else(|| damaged(lost))?;
            // A lost chunk is noticed below.
            let parts = leaf.range(&range.start, &range.end, Direction::Ascending).into_iter();
            let mut rows =
                parts.filter_map(|part| if let LeafItem::Row(node) = part { Some(node) } else { None });
            rows.try_for_each(|node| take(node).map(|_| ()))?;
            Ok(ControlFlow::Continue(()))
        }
    })?;
    if value.len() == length { Ok(value) } else { Err(altered()) }
}

/// The part of the value in a chunk, or `None` if its checksum does not match.
pub(crate) fn read_chunk<'e>(key: &[u8], entry: &'e [u8]) -> Option<&'e [u8]> {
    let (sum, part) = entry.split_first_chunk::<CHECKSUM_BYTES>()?;
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

    /// A folder in which no long value was written since ids are reserved.
    #[test]
    fn ids_are_reserved_before_the_page_with_the_last_ones_is_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        crate::folder::creation::create_data_file(folder.path()).unwrap();
        let open = || Environment::open(folder.path()).unwrap();
        let put = |environment: &Environment, key: &[u8], value: &[u8]| {
            environment.write_rows(&[(key, false)], |databases, txn| databases.put(txn, key, value)).unwrap();
        };
        let environment = open();
        put(&environment, b"row 0", &[0; 9_000]);
        put(&environment, b"row 1", &[1; 9_000]);
        environment.write(|databases, txn| Ok(databases.chunks.reserved.delete(txn, RESERVED_KEY)?)).unwrap();
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
