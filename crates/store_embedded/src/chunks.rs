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
//! Ids rise: a new value takes the number after the highest stored. A chunk is written and removed in the same
//! transaction as the row that names its id, so an id is never shared.

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::StoreError;

use crate::entry::{LongValue, PAGE_PAYLOAD_BYTES, checksum};
use crate::failure::{Failure, store_error};

const SUM_BYTES: usize = 4;
const CHUNK_BYTES: usize = PAGE_PAYLOAD_BYTES - SUM_BYTES;
const KEY_BYTES: usize = 12;
/// Stands where rows have their kind, so that no chunk passes for a row.
const CHUNK: u8 = 2;

#[derive(Clone, Copy)]
pub(crate) struct Chunks {
    pub database: Database<'static, Bytes, Bytes>,
}

impl Chunks {
    /// Stores `value` and says where.
    pub fn put(&self, txn: &mut RwTxn<'_>, value: &[u8]) -> Result<LongValue, Failure> {
        let id = self.next_id(txn)?;
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

    pub fn get(&self, txn: &RoTxn<'_>, long: LongValue) -> Result<Vec<u8>, StoreError> {
        let damaged =
            || StoreError::damaged(format!("a chunk of long value {} is missing or altered", long.id));
        let length = usize::try_from(long.length).map_err(|_| damaged())?;
        let mut value = Vec::with_capacity(length.min(1 << 20));
        let bounds = chunk_key(long.id, 0)..=chunk_key(long.id, u32::MAX);
        let bounds = (bounds.start().as_slice(), bounds.end().as_slice());
        let bounds = (std::ops::Bound::Included(bounds.0), std::ops::Bound::Included(bounds.1));
        let chunks = self.database.range(txn, &bounds).map_err(store_error)?;
        for (number, chunk) in chunks.enumerate() {
            let (key, entry) = chunk.map_err(store_error)?;
            let (sum, part) = entry.split_first_chunk::<SUM_BYTES>().ok_or_else(damaged)?;
            let in_turn = u32::try_from(number).is_ok_and(|number| key == chunk_key(long.id, number));
            if !in_turn || checksum(key, CHUNK, part) != u32::from_le_bytes(*sum) {
                return Err(damaged());
            }
            value.extend_from_slice(part);
            if value.len() > length {
                return Err(damaged());
            }
        }
        if value.len() == length { Ok(value) } else { Err(damaged()) }
    }

    /// Removes a value's chunks and says how many they were.
    pub fn delete(&self, txn: &mut RwTxn<'_>, long: LongValue) -> Result<usize, Failure> {
        let (first, last) = (chunk_key(long.id, 0), chunk_key(long.id, u32::MAX));
        let bounds =
            (std::ops::Bound::Included(first.as_slice()), std::ops::Bound::Included(last.as_slice()));
        Ok(self.database.delete_range(txn, &bounds)?)
    }

    fn next_id(&self, txn: &RoTxn<'_>) -> Result<u64, Failure> {
        let Some((key, _)) = self.database.last(txn)? else { return Ok(0) };
        let (id, _) =
            key.split_first_chunk::<8>().ok_or_else(|| StoreError::damaged("the key of a chunk is cut"))?;
        u64::from_be_bytes(*id)
            .checked_add(1)
            .ok_or_else(|| StoreError::damaged("the key of a chunk is out of range").into())
    }
}

fn chunk_key(id: u64, number: u32) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&id.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}
