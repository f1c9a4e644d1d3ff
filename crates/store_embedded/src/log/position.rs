//! How much of the log the tree has, kept in the tree itself and changed in the transaction that adds to it.
//!
//! ```text
//! "applied" → kind │ crc32 │ sequence (8) │ durable (8) │ whether the log has more (8)
//! ```
//! Without the row the tree has everything: there is no log yet.

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::StoreError;

use crate::error::Failure;
use crate::tree::entry::{self, Entry};
use crate::tree::root::{Root, damaged};

pub(crate) const KEY: &[u8] = b"applied";

/// What the tree has of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The last record that the tree has.
    pub sequence: u64,
    /// The last record of which the log's disk was known to have all up to it.
    pub durable: u64,
    /// Whether the log may have records beyond the tree's. If not, its files may as well be missing.
    pub is_open: bool,
}

impl Position {
    /// The tree has all there is.
    pub fn closed(sequence: u64) -> Position {
        Position { sequence, durable: sequence, is_open: false }
    }

    /// The log may have more.
    pub fn open(sequence: u64, durable: u64) -> Position {
        Position { sequence, durable: durable.max(sequence), is_open: true }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PositionRow {
    pub database: Database<'static, Bytes, Bytes>,
}

impl PositionRow {
    pub fn get(root: &Root) -> Result<Position, StoreError> {
        let Some(numbers) = PositionRow::numbers(root)? else { return Ok(Position::default()) };
        match numbers[..] {
            [sequence, durable, is_open @ (0 | 1)] => {
                Ok(Position { sequence, durable, is_open: is_open == 1 })
            }
            _ => Err(malformed()),
        }
    }

    pub fn set(&self, txn: &mut RwTxn<'_>, position: Position) -> Result<(), Failure> {
        let numbers = [position.sequence, position.durable, u64::from(position.is_open)];
        let payload = numbers.map(u64::to_le_bytes).concat();
        let stored = [&entry::short_header(KEY, &payload)[..], &payload].concat();
        Ok(self.database.put(txn, KEY, &stored)?)
    }

    /// What the row says, if there is one.
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
