//! Writes rows to LMDB, whatever shape they have on disk.
//!
//! Writing replaces whatever stood there, its chunks included; over a damaged entry it writes as well, which heals the
//! row. Before LMDB comes to any page, `write_paths` has checked it.

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::Space;

use crate::error::Failure;
use crate::log::position::PositionRow;
use crate::tree::dropped_spaces::DroppedSpaces;
use crate::tree::entry::{self, Entry, HEADER_BYTES, LONGEST_SHORT_VALUE, LongValue};
use crate::tree::long_values::Chunks;
use crate::write::overlay::Row;

pub(crate) struct Tree {
    pub rows: Database<'static, Bytes, Bytes>,
    pub chunks: Chunks,
    pub dropped: DroppedSpaces,
    pub position: PositionRow,
}

impl Tree {
    /// Writes an overlay's rows, or some of them, in key order, which LMDB does fastest.
    pub fn apply<'r>(
        &self,
        txn: &mut RwTxn<'_>,
        dropped: &[Space],
        rows: impl Iterator<Item = &'r Row>,
    ) -> Result<(), Failure> {
        for space in dropped {
            self.dropped.record(txn, *space)?;
        }
        for row in rows {
            match row.value() {
                Some(value) => self.put(txn, row.key(), value)?,
                None => {
                    self.delete(txn, row.key())?;
                }
            }
        }
        Ok(())
    }

    pub fn put(&self, txn: &mut RwTxn<'_>, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        if let Some(old) = self.chunks_of(txn, key)? {
            self.chunks.delete(txn, old)?;
        }
        if value.len() > LONGEST_SHORT_VALUE {
            let long = self.chunks.put(txn, value)?;
            self.rows.put(txn, key, &entry::long_entry(key, long))?;
        } else {
            let header = entry::short_header(key, value);
            self.rows.put_reserved(txn, key, HEADER_BYTES + value.len(), |room| {
                use std::io::Write;
                room.write_all(&header)?;
                room.write_all(value)
            })?;
        }
        Ok(())
    }

    /// Removes a row and says how many entries that took.
    pub fn delete(&self, txn: &mut RwTxn<'_>, key: &[u8]) -> Result<usize, Failure> {
        let chunks = match self.chunks_of(txn, key)? {
            Some(old) => self.chunks.delete(txn, old)?,
            None => 0,
        };
        self.rows.delete(txn, key)?;
        Ok(chunks + 1)
    }

    /// Where the value stored at `key` has chunks, if it has. A damaged entry's chunks are left behind: its id may
    /// be another's.
    fn chunks_of(&self, txn: &RoTxn<'_>, key: &[u8]) -> Result<Option<LongValue>, Failure> {
        let Some(old) = self.rows.get(txn, key)?.filter(|old| entry::claims_chunks(old)) else {
            return Ok(None);
        };
        match entry::read(key, old) {
            Ok(Entry::Long(long)) => Ok(Some(long)),
            Ok(Entry::Short(_)) | Err(_) => Ok(None),
        }
    }
}
