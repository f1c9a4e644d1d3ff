//! The rows in LMDB: whole values in and out, whatever shape they have on disk.
//!
//! Reading checks every entry; a damaged one is an error and never a value. Writing replaces whatever stood
//! there, its chunks included; over a damaged entry it writes as well, which heals the row.

use std::borrow::Cow;
use std::ops::{Bound, ControlFlow};

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::{Direction, KeyRange, Space, StoreError};

use crate::chunks::Chunks;
use crate::dropped_spaces::DroppedSpaces;
use crate::entry::{self, Entry, HEADER_BYTES, LONGEST_SHORT_VALUE, LongValue};
use crate::failure::{Failure, store_error};
use crate::overlay::Row;
use crate::position::PositionRow;

#[derive(Clone, Copy)]
pub(crate) struct Tree {
    pub rows: Database<'static, Bytes, Bytes>,
    pub chunks: Chunks,
    pub dropped: DroppedSpaces,
    pub position: PositionRow,
}

/// A row as it stands in the tree. Its value is read and checked when it is asked for.
pub(crate) struct StoredRow<'t> {
    pub key: &'t [u8],
    entry: &'t [u8],
    tree: &'t Tree,
    txn: &'t RoTxn<'t>,
}

impl<'t> StoredRow<'t> {
    pub fn value(&self) -> Result<Cow<'t, [u8]>, StoreError> {
        self.tree.value(self.txn, self.key, self.entry)
    }
}

impl Tree {
    pub fn get<'t>(&self, txn: &'t RoTxn<'_>, key: &[u8]) -> Result<Option<Cow<'t, [u8]>>, StoreError> {
        if key.is_empty() {
            return Ok(None);
        }
        match self.rows.get(txn, key).map_err(store_error)? {
            Some(entry) => self.value(txn, key, entry).map(Some),
            None => Ok(None),
        }
    }

    /// Shows `visit` the rows of `range` in order until it breaks.
    pub fn range<'t>(
        &'t self,
        txn: &'t RoTxn<'_>,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(StoredRow<'t>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        if range.start >= range.end {
            return Ok(());
        }
        // LMDB has no empty key, not even to begin from.
        let start = match range.start.as_slice() {
            [] => Bound::Unbounded,
            start => Bound::Included(start),
        };
        let bounds = (start, Bound::Excluded(range.end.as_slice()));
        let mut show = |row: heed::Result<(&'t [u8], &'t [u8])>| {
            let (key, entry) = row.map_err(store_error)?;
            visit(StoredRow { key, entry, tree: self, txn })
        };
        match direction {
            Direction::Ascending => {
                for row in self.rows.range(txn, &bounds).map_err(store_error)? {
                    if show(row)?.is_break() {
                        break;
                    }
                }
            }
            Direction::Descending => {
                for row in self.rows.rev_range(txn, &bounds).map_err(store_error)? {
                    if show(row)?.is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

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

    fn value<'t>(
        &self,
        txn: &'t RoTxn<'_>,
        key: &[u8],
        entry: &'t [u8],
    ) -> Result<Cow<'t, [u8]>, StoreError> {
        let value = match entry::read(key, entry) {
            Ok(Entry::Short(value)) => Ok(Cow::Borrowed(value)),
            Ok(Entry::Long(long)) => self.chunks.get(txn, long).map(Cow::Owned),
            Err(error) => Err(error),
        };
        value.map_err(|error| error.in_row(key))
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
