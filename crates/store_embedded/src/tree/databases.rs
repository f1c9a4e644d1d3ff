//! The LMDB databases, and how rows are written to them.
//!
//! Writing replaces the previous entry, its chunks included; a damaged entry is overwritten as well, which repairs the
//! row. Before LMDB reads any page, `write_path_check` has checked it.

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::Space;

use crate::error::TransactionError;
use crate::log::position::PositionRow;
use crate::tree::dropped_spaces::DroppedSpaces;
use crate::tree::entry::{self, Entry, HEADER_BYTES, LongValueRef, MAX_SHORT_VALUE_BYTES};
use crate::tree::long_values::LongValues;
use crate::write::overlay::Row;

pub(crate) struct Databases {
    pub rows: Database<'static, Bytes, Bytes>,
    pub chunks: LongValues,
    pub dropped: DroppedSpaces,
    pub position: PositionRow,
}

impl Databases {
    /// Writes the rows of an overlay, or some of them, in key order, which is fastest for LMDB.
    pub fn apply<'r>(
        &self,
        txn: &mut RwTxn<'_>,
        dropped: &[Space],
        rows: impl Iterator<Item = &'r Row>,
    ) -> Result<(), TransactionError> {
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

    pub fn put(&self, txn: &mut RwTxn<'_>, key: &[u8], value: &[u8]) -> Result<(), TransactionError> {
        if let Some(old) = self.chunks_of(txn, key)? {
            self.chunks.delete(txn, old)?;
        }
        if value.len() > MAX_SHORT_VALUE_BYTES {
            let long = self.chunks.put(txn, value)?;
            self.rows.put(txn, key, &entry::long_entry(key, long))?;
        } else {
            let header = entry::short_header(key, value);
            self.rows.put_reserved(txn, key, HEADER_BYTES + value.len(), |space| {
                use std::io::Write;
                space.write_all(&header)?;
                space.write_all(value)
            })?;
        }
        Ok(())
    }

    /// Removes a row and returns the number of removed entries, its chunks included.
    pub fn delete(&self, txn: &mut RwTxn<'_>, key: &[u8]) -> Result<usize, TransactionError> {
        let chunks = match self.chunks_of(txn, key)? {
            Some(old) => self.chunks.delete(txn, old)?,
            None => 0,
        };
        self.rows.delete(txn, key)?;
        Ok(chunks + 1)
    }

    /// The long value stored at `key`, if it is one. The chunks of a damaged entry are left behind: its id may belong to
    /// another row.
    fn chunks_of(&self, txn: &RoTxn<'_>, key: &[u8]) -> Result<Option<LongValueRef>, TransactionError> {
        let Some(old) = self.rows.get(txn, key)?.filter(|old| entry::claims_long_value(old)) else {
            return Ok(None);
        };
        match entry::read(key, old) {
            Ok(Entry::Long(long)) => Ok(Some(long)),
            Ok(Entry::Short(_)) | Err(_) => Ok(None),
        }
    }
}
