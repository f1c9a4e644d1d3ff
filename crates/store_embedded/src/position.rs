//! How much of the log the tree has, kept in the tree itself and changed in the transaction that adds to it.
//!
//! ```text
//! "applied" → kind │ crc32 │ run (8) │ sequence (8)
//! ```
//! A run is one opening of the store. Records of an earlier run are all in the tree: opening sees to that before
//! it starts the next.

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::StoreError;

use crate::entry::{self, Entry};
use crate::failure::{Failure, store_error};

const KEY: &[u8] = b"applied";

/// The last record that the tree has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub run: u64,
    pub sequence: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct PositionRow {
    pub database: Database<'static, Bytes, Bytes>,
}

impl PositionRow {
    pub fn get(&self, txn: &RoTxn<'_>) -> Result<Position, StoreError> {
        let Some(stored) = self.database.get(txn, KEY).map_err(store_error)? else {
            return Ok(Position::default());
        };
        match entry::read(KEY, stored)? {
            Entry::Short(payload) => match payload.as_chunks::<8>() {
                ([run, sequence], []) => {
                    Ok(Position { run: u64::from_le_bytes(*run), sequence: u64::from_le_bytes(*sequence) })
                }
                _ => Err(StoreError::damaged("the log's position is malformed")),
            },
            Entry::Long(_) => Err(StoreError::damaged("the log's position is malformed")),
        }
    }

    pub fn set(&self, txn: &mut RwTxn<'_>, position: Position) -> Result<(), Failure> {
        let payload = [position.run.to_le_bytes(), position.sequence.to_le_bytes()].concat();
        let stored = [&entry::short_header(KEY, &payload)[..], &payload].concat();
        Ok(self.database.put(txn, KEY, &stored)?)
    }
}
