//! How much of the log the tree has, kept in the tree itself and changed in the transaction that adds to it.
//!
//! ```text
//! "applied" → kind │ crc32 │ run (8) │ sequence (8)
//! ```
//! A run is one opening of the store. Records of an earlier run are all in the tree: opening sees to that before
//! it starts the next.

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::StoreError;

use crate::entry::{self, Entry};
use crate::failure::Failure;
use crate::root::{Root, damaged};

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
    pub fn get(root: &Root) -> Result<Position, StoreError> {
        let tree = root.tree(root.named.log);
        let Some(stored) = tree.get(KEY).map_err(damaged)? else { return Ok(Position::default()) };
        let stored = tree.bytes(stored).map_err(damaged)?;
        match entry::read(KEY, stored)? {
            Entry::Short(payload) => match payload.as_chunks::<8>() {
                ([run, sequence], []) => {
                    Ok(Position { run: u64::from_le_bytes(*run), sequence: u64::from_le_bytes(*sequence) })
                }
                _ => Err(StoreError::Damaged("the log's position is malformed".to_string())),
            },
            Entry::Long(_) => Err(StoreError::Damaged("the log's position is malformed".to_string())),
        }
    }

    pub fn set(&self, txn: &mut RwTxn<'_>, position: Position) -> Result<(), Failure> {
        let payload = [position.run.to_le_bytes(), position.sequence.to_le_bytes()].concat();
        let stored = [&entry::short_header(KEY, &payload)[..], &payload].concat();
        Ok(self.database.put(txn, KEY, &stored)?)
    }
}
