//! The log position of the tree, stored in the tree itself and updated in the transaction that applies the records.
//!
//! ```text
//! "applied" → kind │ crc32 │ sequence (8) │ durable (8) │ whether the log has more (8)
//! ```
//! Without this row the tree has everything: there is no log yet.

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::StoreError;

use crate::error::TransactionError;
use crate::tree::entry::{self, Entry};
use crate::tree::root::{Root, damaged};

pub(crate) const KEY: &[u8] = b"applied";

/// How much of the log the tree has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// The last record that the tree has.
    pub sequence: u64,
    /// The last record up to which the log was known to be durable.
    pub durable: u64,
    /// Whether the log may have records that the tree lacks. If not, its files are not needed.
    pub is_open: bool,
}

impl LogPosition {
    /// The tree has everything.
    pub fn closed(sequence: u64) -> LogPosition {
        LogPosition { sequence, durable: sequence, is_open: false }
    }

    /// The log may have more.
    pub fn open(sequence: u64, durable: u64) -> LogPosition {
        LogPosition { sequence, durable: durable.max(sequence), is_open: true }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PositionRow {
    pub database: Database<'static, Bytes, Bytes>,
}

impl PositionRow {
    pub fn get(root: &Root) -> Result<LogPosition, StoreError> {
        let Some(numbers) = PositionRow::numbers(root)? else { return Ok(LogPosition::default()) };
        match numbers[..] {
            [sequence, durable, is_open @ (0 | 1)] => {
                Ok(LogPosition { sequence, durable, is_open: is_open == 1 })
            }
            _ => Err(malformed()),
        }
    }

    pub fn set(&self, txn: &mut RwTxn<'_>, position: LogPosition) -> Result<(), TransactionError> {
        let numbers = [position.sequence, position.durable, u64::from(position.is_open)];
        let payload = numbers.map(u64::to_le_bytes).concat();
        let stored = [&entry::short_header(KEY, &payload)[..], &payload].concat();
        Ok(self.database.put(txn, KEY, &stored)?)
    }

    /// The numbers in the row, if there is one.
    pub fn numbers(root: &Root) -> Result<Option<Vec<u64>>, StoreError> {
        let tree = root.tree(root.named.log);
        let Some(stored) = tree.get(KEY).map_err(damaged)? else { return Ok(None) };
        let stored = tree.bytes(stored).map_err(damaged)?;
        let Entry::Short(payload) = entry::read(KEY, stored)? else { return Err(malformed()) };
        let (numbers, []) = payload.as_chunks::<8>() else { return Err(malformed()) };
        Ok(Some(numbers.iter().map(|number| u64::from_le_bytes(*number)).collect()))
    }
}

fn malformed() -> StoreError {
    StoreError::damaged("the log's position is malformed")
}
