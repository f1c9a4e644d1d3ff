//! Spaces that were dropped and whose rows are still on disk.
//!
//! A drop is one entry here, written with the decision that dropped: from then on readers skip the space. The rows
//! go in the background, some at a time; with the last of them goes the entry. So a drop takes no longer than a
//! put, and a restart in between goes on where it stopped.

use std::ops::Bound;
use std::time::{Duration, Instant};

use heed::types::Bytes;
use heed::{Database, RoTxn, RwTxn};
use partita_store::{Space, StoreError};

use crate::entry;
use crate::failure::{Failure, store_error};
use crate::tree::Tree;

/// What one step of the removal takes at most, so that no writer waits long for it.
const STEP_ENTRIES: usize = 1_000;
const STEP_TIME: Duration = Duration::from_millis(3);

#[derive(Clone, Copy)]
pub(crate) struct DroppedSpaces {
    pub database: Database<'static, Bytes, Bytes>,
}

impl DroppedSpaces {
    pub fn record(&self, txn: &mut RwTxn<'_>, space: Space) -> Result<(), Failure> {
        let key = space.prefix();
        Ok(self.database.put(txn, &key, &entry::short_header(&key, b""))?)
    }

    pub fn any(&self, txn: &RoTxn<'_>) -> Result<bool, StoreError> {
        Ok(!self.database.is_empty(txn).map_err(store_error)?)
    }

    /// All of them, in order. Usually none.
    pub fn list(&self, txn: &RoTxn<'_>) -> Result<Vec<Space>, StoreError> {
        let mut spaces = Vec::new();
        if self.any(txn)? {
            for record in self.database.iter(txn).map_err(store_error)? {
                let (key, record) = record.map_err(store_error)?;
                entry::read(key, record)?;
                spaces.extend(key.try_into().ok().map(u32::from_be_bytes).map(Space));
            }
        }
        Ok(spaces)
    }
}

/// Removes some rows of the first dropped space, and its record once nothing is left. Says whether there is more to
/// do; `None` if there was nothing to begin with.
pub(crate) fn remove_some(tree: &Tree, txn: &mut RwTxn<'_>) -> Result<Option<bool>, Failure> {
    let Some(space) = tree.dropped.list(txn)?.first().copied() else { return Ok(None) };
    let until = Instant::now() + STEP_TIME;
    let mut left = STEP_ENTRIES;
    let keys = some_keys(tree, txn, space)?;
    let reached_the_end = keys.len() < STEP_ENTRIES;
    for key in keys {
        if left == 0 || Instant::now() >= until {
            return Ok(Some(true));
        }
        left = left.saturating_sub(tree.delete(txn, &key)?);
    }
    if reached_the_end {
        tree.dropped.database.delete(txn, &space.prefix())?;
    }
    Ok(Some(tree.dropped.any(txn)?))
}

fn some_keys(tree: &Tree, txn: &RoTxn<'_>, space: Space) -> Result<Vec<Vec<u8>>, Failure> {
    let first = space.prefix();
    let after = space.0.checked_add(1).map(|next| Space(next).prefix());
    let end = after.as_ref().map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_slice()));
    let mut keys = Vec::new();
    for row in tree.rows.range(txn, &(Bound::Included(first.as_slice()), end))?.take(STEP_ENTRIES) {
        keys.push(row?.0.to_vec());
    }
    Ok(keys)
}
