//! Spaces that were dropped and whose rows are still on disk.
//!
//! A drop is one entry here, written with the decision that dropped: from then on readers skip the space. The rows
//! go in the background, some at a time; with the last of them goes the entry. So a drop takes no longer than a
//! put, and a restart in between goes on where it stopped.

use crate::clock;
use std::ops::ControlFlow;
use std::time::Duration;

use heed::types::Bytes;
use heed::{Database, RwTxn};
use partita_store::{Direction, KeyRange, Space, StoreError};

use crate::error::Failure;
use crate::pages::tree_walk::Found;
use crate::tree::entry::{self, Entry};
use crate::tree::environment::Environment;
use crate::tree::long_values;
use crate::tree::root::{Part, Root, StoredRow, damaged};

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
}

/// All of them, in order. Usually none.
pub(crate) fn list(root: &Root) -> Result<Vec<Space>, StoreError> {
    let mut spaces = Vec::new();
    let tree = root.tree(root.named.dropped);
    let all = KeyRange { start: Vec::new(), end: vec![0xFF; 5] };
    tree.range(&all, Direction::Ascending, |found| match found {
        Found::Row(node) => {
            entry::read(node.key, tree.bytes(node.value).map_err(damaged)?)?;
            spaces.extend(node.key.try_into().ok().map(u32::from_be_bytes).map(Space));
            Ok(ControlFlow::Continue(()))
        }
        Found::Lost(lost, _) => Err(damaged(lost)),
    })?;
    Ok(spaces)
}

/// Removes some rows of the first dropped space, and its record once nothing is left. Says whether there is more to
/// do.
pub(crate) fn remove_some(environment: &Environment) -> Result<bool, StoreError> {
    let root = environment.root();
    let dropped = list(&root)?;
    let Some(space) = dropped.first().copied() else { return Ok(false) };
    let SomeKeys { keys, reached_the_end } = some_keys(&root, space)?;
    drop(root);
    if reached_the_end {
        // Nor does anybody miss what was lost of it.
        environment.forget_damage(&all_of(space))?;
    }
    let touched: Vec<_> = keys.iter().map(|key| (key.as_slice(), true)).collect();
    let is_empty = environment.write_rows(&touched, |tree, txn| {
        let until = clock::monotonic_now() + STEP_TIME;
        let mut left = STEP_ENTRIES;
        for key in &keys {
            if left == 0 || clock::monotonic_now() >= until {
                return Ok(false);
            }
            left = left.saturating_sub(tree.delete(txn, key)?);
        }
        if reached_the_end {
            tree.dropped.database.delete(txn, &space.prefix())?;
        }
        Ok(reached_the_end)
    })?;
    Ok(!is_empty || dropped.len() > 1)
}

fn all_of(space: Space) -> KeyRange {
    let after = space.0.checked_add(1).map(|next| Space(next).prefix().to_vec());
    KeyRange {
        start: space.prefix().to_vec(),
        end: after.unwrap_or_else(|| vec![0xFF; partita_store::MAX_KEY_BYTES + 1]),
    }
}

/// Keys of a space from its first on.
struct SomeKeys {
    keys: Vec<Vec<u8>>,
    reached_the_end: bool,
}

/// As many as one step can remove, with their chunks: all that they lead to is checked before.
fn some_keys(root: &Root, space: Space) -> Result<SomeKeys, StoreError> {
    let mut keys = Vec::new();
    let mut entries = 0;
    root.range(&all_of(space), Direction::Ascending, |part| {
        // What is damaged in a dropped space is of no interest.
        if let Part::Row(row) = part {
            keys.push(row.key.to_vec());
            entries += 1 + chunks_of(&row);
        }
        Ok(if entries < STEP_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(SomeKeys { keys, reached_the_end: entries < STEP_ENTRIES })
}

fn chunks_of(row: &StoredRow<'_>) -> usize {
    match row.entry() {
        Some(Entry::Long(long)) => long_values::keys_of(long).count(),
        Some(Entry::Short(_)) | None => 0,
    }
}
