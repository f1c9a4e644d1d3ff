//! Dropped spaces whose rows are still on disk.
//!
//! A drop is one entry here, written with the decision that dropped the space: from then on readers skip it. The rows
//! are removed in the background, in small steps; the entry goes with the last of them. So a drop takes no longer than a
//! put, and after a restart the removal resumes.

use crate::clock;
use std::ops::ControlFlow;
use std::time::Duration;

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::{Direction, KeyRange, Space, StoreError};

use crate::error::TransactionError;
use crate::pages::tree_walk::TreeItem;
use crate::tree::entry::{self, Entry};
use crate::tree::environment::Environment;
use crate::tree::long_values;
use crate::tree::root::{RangeItem, Root, StoredRow, damaged};

/// The limits of one removal step, so that no writer waits long for it.
const STEP_ENTRIES: usize = 1_000;
const STEP_TIME: Duration = Duration::from_millis(3);

#[derive(Clone, Copy)]
pub(crate) struct DroppedSpaces {
    pub database: Database<'static, Bytes, Bytes>,
}

impl DroppedSpaces {
    pub fn record(&self, txn: &mut RwTxn<'_>, space: Space) -> Result<(), TransactionError> {
        let key = space.prefix();
        Ok(self.database.put(txn, &key, &entry::short_header(&key, b""))?)
    }
}

/// All dropped spaces, in order. Usually none.
pub(crate) fn list(root: &Root) -> Result<Vec<Space>, StoreError> {
    let mut spaces = Vec::new();
    let tree = root.tree(root.named.dropped);
    let all = KeyRange { start: Vec::new(), end: vec![0xFF; 5] };
    tree.range(&all, Direction::Ascending, |found| match found {
        TreeItem::Row(node) => {
            entry::read(node.key, tree.bytes(node.value).map_err(damaged)?)?;
            spaces.extend(node.key.try_into().ok().map(u32::from_be_bytes).map(Space));
            Ok(ControlFlow::Continue(()))
        }
        TreeItem::Lost(lost, _) => Err(damaged(lost)),
    })?;
    Ok(spaces)
}

/// Removes some rows of the first dropped space, and its entry once no row is left. Returns whether there is more to do.
pub(crate) fn remove_some(environment: &Environment) -> Result<bool, StoreError> {
    let root = environment.root();
    let dropped = list(&root)?;
    let Some(space) = dropped.first().copied() else { return Ok(false) };
    let KeyBatch { keys, reached_end } = next_keys(&root, space)?;
    drop(root);
    if reached_end {
        // Nor does it matter any more what was lost in it.
        environment.forget_damage(&range_of(space))?;
    }
    let touched: Vec<_> = keys.iter().map(|key| (key.as_slice(), true)).collect();
    let is_empty = environment.write_rows(&touched, |databases, txn| {
        let until = clock::monotonic_now() + STEP_TIME;
        let mut left = STEP_ENTRIES;
        for key in &keys {
            if left == 0 || clock::monotonic_now() >= until {
                return Ok(false);
            }
            left = left.saturating_sub(databases.delete(txn, key)?);
        }
        if reached_end {
            databases.dropped.database.delete(txn, &space.prefix())?;
        }
        Ok(reached_end)
    })?;
    Ok(!is_empty || dropped.len() > 1)
}

fn range_of(space: Space) -> KeyRange {
    let after = space.0.checked_add(1).map(|next| Space(next).prefix().to_vec());
    KeyRange {
        start: space.prefix().to_vec(),
        end: after.unwrap_or_else(|| vec![0xFF; partita_store::MAX_KEY_BYTES + 1]),
    }
}

/// Keys of a space from its first on.
struct KeyBatch {
    keys: Vec<Vec<u8>>,
    reached_end: bool,
}

/// As many keys as one step can remove, counting their chunks: every page they lead to is checked first.
fn next_keys(root: &Root, space: Space) -> Result<KeyBatch, StoreError> {
    let mut keys = Vec::new();
    let mut entries = 0;
    root.range(&range_of(space), Direction::Ascending, |item| {
        // Damage in a dropped space does not matter.
        if let RangeItem::Row(row) = item {
            keys.push(row.key.to_vec());
            entries += 1 + chunks_of(&row);
        }
        Ok(if entries < STEP_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(KeyBatch { keys, reached_end: entries < STEP_ENTRIES })
}

fn chunks_of(row: &StoredRow<'_>) -> usize {
    match row.entry() {
        Some(Entry::Long(long)) => long_values::keys_of(long).count(),
        Some(Entry::Short(_)) | None => 0,
    }
}
