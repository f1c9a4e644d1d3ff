//! Checks all pages that LMDB may read while it writes, before it does: LMDB trusts whatever it finds.
//!
//! To put a row LMDB reads the path down to it, and the pages of the current value. To delete one it may also merge a
//! leaf that has become small with its neighbour, or move a row over from there. Every removal takes in at most one more
//! neighbour; and a branch only touches its own neighbours when it has a single child left. So the neighbours on both
//! sides are checked as far as the removals counted so far can have reached, each of them once. After the last row of a
//! leaf LMDB also moves on to the next leaf, which may be below another branch. Pages that it has changed meanwhile need
//! no check: they were made from checked ones.

use std::collections::HashMap;

use crate::pages::page::{NodeValue, Page};
use crate::pages::page_view::LostPage;
use crate::pages::tree_walk::{PathStep, TreeView};
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;
use crate::tree::root::Root;

/// A page that must be repaired before LMDB reads it.
pub(crate) enum NeedsRepair {
    Page(LostPage),
    /// The pages of a long value, or of a chunk.
    Value {
        page: u64,
        bytes: usize,
    },
}

impl NeedsRepair {
    pub fn page(&self) -> u64 {
        match self {
            NeedsRepair::Page(lost) => lost.number,
            NeedsRepair::Value { page, .. } => *page,
        }
    }
}

impl From<LostPage> for NeedsRepair {
    fn from(lost: LostPage) -> NeedsRepair {
        NeedsRepair::Page(lost)
    }
}

pub(crate) struct WritePathCheck<'r> {
    root: &'r Root,
    /// By page number.
    branches: HashMap<u64, BranchState>,
}

impl<'r> WritePathCheck<'r> {
    pub fn of(root: &'r Root) -> WritePathCheck<'r> {
        WritePathCheck { root, branches: HashMap::new() }
    }

    /// Checks all pages of the small databases.
    pub fn check_small_databases(&self) -> Result<(), NeedsRepair> {
        for database in [self.root.named.dropped, self.root.named.log] {
            self.root.tree(database).all_pages(&mut |_, _, _| {})?;
        }
        Ok(())
    }

    /// Checks the path to where the chunks of new values go: after all others.
    pub fn check_chunk_append(&self) -> Result<(), NeedsRepair> {
        self.root.tree(self.root.named.chunks).path_to(&[0xFF; 12])?;
        Ok(())
    }

    /// Checks the pages for putting or deleting a row, whatever is stored there now.
    pub fn check_row(&mut self, key: &[u8], is_deleted: bool) -> Result<(), NeedsRepair> {
        let rows = self.root.rows();
        let path = rows.path_to(key)?;
        let Some(value) = value_at(&path, key) else { return Ok(()) };
        let stored = value_bytes(rows, value)?;
        if is_deleted {
            self.check_neighbours(rows, &path)?;
        }
        if let Ok(Entry::Long(long)) = entry::read(key, stored) {
            let chunks = self.root.tree(self.root.named.chunks);
            for key in long_values::keys_of(long) {
                let path = chunks.path_to(&key)?;
                if let Some(value) = value_at(&path, &key) {
                    value_bytes(chunks, value)?;
                    self.check_neighbours(chunks, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Checks what LMDB may read when the last page of a path loses a row.
    fn check_neighbours(&mut self, tree: TreeView<'r>, path: &[PathStep<'r>]) -> Result<(), NeedsRepair> {
        for (level, step) in (1..).zip(path.iter().rev().skip(1)) {
            let children = step.page.nodes();
            let branch = self.branches.entry(step.number).or_insert_with(|| BranchState::of(children));
            branch.removals += 1;
            branch.check_siblings(tree, step, level)?;
            if level == 1 && step.index + branch.removals >= children && !branch.next_is_checked {
                check_next_leaf(tree, path)?;
                branch.next_is_checked = true;
            }
            if branch.removals + 1 < children {
                break;
            }
        }
        Ok(())
    }
}

/// The state of a branch below which rows are deleted.
struct BranchState {
    /// How many children may have been removed in this transaction.
    removals: usize,
    /// For each child that is checked, with everything below it, how many removals it takes to get past it; 0 for others.
    removals_to_pass: Vec<usize>,
    /// Whether all children are checked.
    is_checked: bool,
    /// Whether the first leaf after this branch is checked.
    next_is_checked: bool,
}

impl BranchState {
    fn of(children: usize) -> BranchState {
        BranchState {
            removals: 0,
            removals_to_pass: vec![0; children],
            is_checked: false,
            next_is_checked: false,
        }
    }

    /// Checks the siblings of a child, as far as the removals reach.
    fn check_siblings(
        &mut self,
        tree: TreeView<'_>,
        branch: &PathStep<'_>,
        level: u16,
    ) -> Result<(), NeedsRepair> {
        if self.is_checked {
            return Ok(());
        }
        let reaches_last =
            self.check_nearest(tree, branch, level, branch.index + 1..self.removals_to_pass.len())?;
        let reaches_first = self.check_nearest(tree, branch, level, (0..branch.index).rev())?;
        if reaches_last && reaches_first {
            self.check_child(tree, branch, level, branch.index)?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Checks children from the nearest on. Returns whether the removals reach beyond all of them.
    fn check_nearest(
        &mut self,
        tree: TreeView<'_>,
        branch: &PathStep<'_>,
        level: u16,
        children: impl Iterator<Item = usize>,
    ) -> Result<bool, NeedsRepair> {
        let mut reached = 0;
        for index in children {
            if reached >= self.removals {
                return Ok(false);
            }
            if self.removals_to_pass[index] == 0 {
                self.check_child(tree, branch, level, index)?;
            }
            reached += self.removals_to_pass[index];
        }
        Ok(true)
    }

    fn check_child(
        &mut self,
        tree: TreeView<'_>,
        branch: &PathStep<'_>,
        level: u16,
        index: usize,
    ) -> Result<(), NeedsRepair> {
        let number = branch.page.child(index).ok_or_else(|| tree.unexpected_page(branch.number))?;
        tree.pages_below(number, level, &mut |_, _, _| {})?;
        let nodes = tree.page_at(number, level)?.nodes();
        // A leaf may be merged as a whole; a branch loses one child at a time, down to the last two.
        self.removals_to_pass[index] = if level > 1 { nodes.saturating_sub(2).max(1) } else { 1 };
        Ok(())
    }
}

/// Checks the path to the leaf after the last one of a path's lowest branch: when LMDB has deleted the last row of a
/// leaf it moves on to the next one, wherever that is in the tree.
fn check_next_leaf(tree: TreeView<'_>, path: &[PathStep<'_>]) -> Result<(), NeedsRepair> {
    let branches = (2..).zip(path.iter().rev().skip(2));
    let mut turns = branches.skip_while(|(_, step)| step.index + 1 == step.page.nodes());
    let Some((mut level, step)) = turns.next() else { return Ok(()) };
    let (mut number, mut page, mut index) = (step.number, step.page, step.index + 1);
    while level > 0 {
        number = page.child(index).ok_or_else(|| tree.unexpected_page(number))?;
        page = tree.page_at(number, level)?;
        (level, index) = (level - 1, 0);
    }
    Ok(())
}

fn value_at<'r>(path: &[PathStep<'r>], key: &[u8]) -> Option<NodeValue<'r>> {
    let leaf = path.last()?;
    let node = Page::leaf_node(leaf.page, leaf.index)?;
    (node.key == key).then_some(node.value)
}

fn value_bytes<'r>(tree: TreeView<'r>, value: NodeValue<'r>) -> Result<&'r [u8], NeedsRepair> {
    match value {
        NodeValue::Inline(stored) | NodeValue::Database(stored) => Ok(stored),
        NodeValue::Overflow { page, bytes } => {
            tree.view.overflow(page, bytes).map_err(|_| NeedsRepair::Value { page, bytes })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use super::*;
    use crate::pages::page_view;
    use crate::tree::environment::Environment;

    /// Long, so that few fit into a branch.
    fn key(number: u16) -> Vec<u8> {
        [&[0, 0, 0, 1], &number.to_be_bytes()[..], &[7; 400]].concat()
    }

    fn filled(folder: &Path, rows: u16) -> Environment {
        crate::folder::creation::create_data_file(folder).unwrap();
        let environment = Environment::open(folder).unwrap();
        for number in 0..rows {
            let key = key(number);
            environment
                .write_rows(&[(&key, false)], |databases, txn| databases.put(txn, &key, b"value"))
                .unwrap();
        }
        environment
    }

    /// Makes the first child of a branch a page that does not exist.
    fn corrupt_first_child(folder: &Path, branch: u64) {
        let file = File::options().read(true).write(true).open(page_view::file_of(folder)).unwrap();
        let mut offset = [0; 2];
        file.read_exact_at(&mut offset, branch * 4_096 + 16).unwrap();
        let node = branch * 4_096 + u64::from(u16::from_le_bytes(offset));
        file.write_all_at(&[0xFF, 0xFF, 0xFF, 0x0F], node).unwrap();
    }

    #[test]
    fn the_leaf_after_a_branch_is_checked_before_the_last_row_before_it_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let environment = filled(folder.path(), 400);
        let root = environment.root();
        assert_eq!(root.rows().database.depth, 3);
        let first = root.rows().path_to(&key(0)).unwrap();
        let top = first[0].page;
        // The last row before the second branch of the top, and the lowest branch after it.
        let behind = root.rows().path_to(top.key(1).unwrap()).unwrap();
        let last = (0..400).rev().map(key).find(|key| key.as_slice() < top.key(1).unwrap()).unwrap();
        let damaged = behind[1].number;
        drop((root, environment));
        corrupt_first_child(folder.path(), damaged);

        let environment = Environment::open(folder.path()).unwrap();
        environment.write_rows(&[(&last, true)], |databases, txn| databases.delete(txn, &last)).unwrap();
        let root = environment.root();
        for number in 0..400 {
            assert_eq!(root.get(&key(number)).unwrap().is_some(), key(number) != last, "{number}");
        }
    }

    /// The rows are deleted in an order that leaves gaps; in the end there is nothing left to check.
    #[test]
    fn pages_below_a_branch_are_checked_once() {
        let folder = tempfile::tempdir().unwrap();
        let environment = filled(folder.path(), 400);
        let root = environment.root();
        let mut paths = WritePathCheck::of(&root);
        for number in (0..400).step_by(3).chain((1..400).step_by(3)) {
            assert!(paths.check_row(&key(number), true).is_ok());
        }
        assert!(paths.branches.values().all(|branch| branch.is_checked));
        let keys: Vec<_> = (0..400).map(key).collect();
        let touched: Vec<_> = keys.iter().map(|key| (key.as_slice(), true)).collect();
        let deleted = environment.write_rows(&touched, |databases, txn| {
            keys.iter().map(|key| databases.delete(txn, key)).sum::<Result<usize, _>>()
        });
        assert_eq!(deleted.unwrap(), 400);
    }
}
