//! Checks all pages that LMDB may read while it writes, before it does: it trusts whatever it finds.
//!
//! To put a row LMDB reads the way down to it, and the pages of the value that stands there. To delete one it may also
//! merge a leaf that has become small with its neighbour, or move a row over from there. Every removal takes in one
//! neighbour more at the most; and a branch looks to its own neighbours only when but one child is left to it. So
//! the neighbours on both sides are checked as far as the removals counted so far can have come, each of them once.
//! Behind the last row of a leaf LMDB also goes on to the next leaf, below another branch perhaps. Pages that it has
//! changed meanwhile need no check: they were made from checked ones.

use std::collections::HashMap;

use crate::pages::page::{Page, Value};
use crate::pages::page_view::LostPage;
use crate::pages::tree_walk::{Step, Tree};
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;
use crate::tree::root::Root;

/// A page that must be written anew before LMDB comes to it.
pub(crate) enum Unfit {
    Page(LostPage),
    /// The pages of a long value, or of a chunk.
    Value {
        page: u64,
        bytes: usize,
    },
}

impl Unfit {
    pub fn page(&self) -> u64 {
        match self {
            Unfit::Page(lost) => lost.number,
            Unfit::Value { page, .. } => *page,
        }
    }
}

impl From<LostPage> for Unfit {
    fn from(lost: LostPage) -> Unfit {
        Unfit::Page(lost)
    }
}

pub(crate) struct WritePaths<'r> {
    root: &'r Root,
    /// By their numbers.
    branches: HashMap<u64, Branch>,
}

impl<'r> WritePaths<'r> {
    pub fn of(root: &'r Root) -> WritePaths<'r> {
        WritePaths { root, branches: HashMap::new() }
    }

    /// The databases that are small: all of them.
    pub fn small_ones(&self) -> Result<(), Unfit> {
        for database in [self.root.named.dropped, self.root.named.log] {
            self.root.tree(database).all_pages(&mut |_, _, _| {})?;
        }
        Ok(())
    }

    /// Where the chunks of new values go: behind all others.
    pub fn new_chunks(&self) -> Result<(), Unfit> {
        self.root.tree(self.root.named.chunks).way_to(&[0xFF; 12])?;
        Ok(())
    }

    /// A row that is put or deleted, whatever stands there now.
    pub fn row(&mut self, key: &[u8], is_deleted: bool) -> Result<(), Unfit> {
        let rows = self.root.rows();
        let way = rows.way_to(key)?;
        let Some(value) = value_at(&way, key) else { return Ok(()) };
        let stored = value_bytes(rows, value)?;
        if is_deleted {
            self.neighbours(rows, &way)?;
        }
        if let Ok(Entry::Long(long)) = entry::read(key, stored) {
            let chunks = self.root.tree(self.root.named.chunks);
            for key in long_values::keys_of(long) {
                let way = chunks.way_to(&key)?;
                if let Some(value) = value_at(&way, &key) {
                    value_bytes(chunks, value)?;
                    self.neighbours(chunks, &way)?;
                }
            }
        }
        Ok(())
    }

    /// What LMDB may read when the last page of a way loses a row.
    fn neighbours(&mut self, tree: Tree<'r>, way: &[Step<'r>]) -> Result<(), Unfit> {
        for (level, step) in (1..).zip(way.iter().rev().skip(1)) {
            let children = step.page.nodes();
            let branch = self.branches.entry(step.number).or_insert_with(|| Branch::of(children));
            branch.removals += 1;
            branch.check_beside(tree, step, level)?;
            if level == 1 && step.index + branch.removals >= children && !branch.next_is_checked {
                first_leaf_behind(tree, way)?;
                branch.next_is_checked = true;
            }
            if branch.removals + 1 < children {
                break;
            }
        }
        Ok(())
    }
}

/// What is known of a branch below which rows are deleted.
struct Branch {
    /// How many children may have gone in this transaction.
    removals: usize,
    /// Of each child that is checked, with all below it, how many removals it takes to get past it; 0 of the others.
    passed_after: Vec<usize>,
    /// Whether this is so of all children.
    is_checked: bool,
    /// Whether the first leaf behind this branch is checked.
    next_is_checked: bool,
}

impl Branch {
    fn of(children: usize) -> Branch {
        Branch { removals: 0, passed_after: vec![0; children], is_checked: false, next_is_checked: false }
    }

    /// Checks the children beside one, as far as the removals reach.
    fn check_beside(&mut self, tree: Tree<'_>, branch: &Step<'_>, level: u16) -> Result<(), Unfit> {
        if self.is_checked {
            return Ok(());
        }
        let reaches_last = self.check_some(tree, branch, level, branch.index + 1..self.passed_after.len())?;
        let reaches_first = self.check_some(tree, branch, level, (0..branch.index).rev())?;
        if reaches_last && reaches_first {
            self.check_child(tree, branch, level, branch.index)?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Checks children from the nearest on. Says whether the removals reach beyond all of them.
    fn check_some(
        &mut self,
        tree: Tree<'_>,
        branch: &Step<'_>,
        level: u16,
        children: impl Iterator<Item = usize>,
    ) -> Result<bool, Unfit> {
        let mut reached = 0;
        for index in children {
            if reached >= self.removals {
                return Ok(false);
            }
            if self.passed_after[index] == 0 {
                self.check_child(tree, branch, level, index)?;
            }
            reached += self.passed_after[index];
        }
        Ok(true)
    }

    fn check_child(
        &mut self,
        tree: Tree<'_>,
        branch: &Step<'_>,
        level: u16,
        index: usize,
    ) -> Result<(), Unfit> {
        let number = branch.page.child(index).ok_or_else(|| tree.broken(branch.number))?;
        tree.pages_below(number, level, &mut |_, _, _| {})?;
        let nodes = tree.page_at(number, level)?.nodes();
        // A leaf may be taken in as a whole; of a branch one child at a time, down to the last two.
        self.passed_after[index] = if level > 1 { nodes.saturating_sub(2).max(1) } else { 1 };
        Ok(())
    }
}

/// Checks the way to the leaf behind the last one of a way's lowest branch: when LMDB has deleted the last row of a
/// leaf it goes on to the next one, wherever that hangs.
fn first_leaf_behind(tree: Tree<'_>, way: &[Step<'_>]) -> Result<(), Unfit> {
    let branches = (2..).zip(way.iter().rev().skip(2));
    let mut turns = branches.skip_while(|(_, step)| step.index + 1 == step.page.nodes());
    let Some((mut level, step)) = turns.next() else { return Ok(()) };
    let (mut number, mut page, mut index) = (step.number, step.page, step.index + 1);
    while level > 0 {
        number = page.child(index).ok_or_else(|| tree.broken(number))?;
        page = tree.page_at(number, level)?;
        (level, index) = (level - 1, 0);
    }
    Ok(())
}

fn value_at<'r>(way: &[Step<'r>], key: &[u8]) -> Option<Value<'r>> {
    let leaf = way.last()?;
    let node = Page::leaf_node(leaf.page, leaf.index)?;
    (node.key == key).then_some(node.value)
}

fn value_bytes<'r>(tree: Tree<'r>, value: Value<'r>) -> Result<&'r [u8], Unfit> {
    match value {
        Value::Here(stored) | Value::Database(stored) => Ok(stored),
        Value::Elsewhere { page, bytes } => {
            tree.view.overflow(page, bytes).map_err(|_| Unfit::Value { page, bytes })
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
        crate::folder::creation::make_data_file(folder).unwrap();
        let environment = Environment::open(folder).unwrap();
        for number in 0..rows {
            let key = key(number);
            environment.write_rows(&[(&key, false)], |tree, txn| tree.put(txn, &key, b"value")).unwrap();
        }
        environment
    }

    /// Has the first child of a branch be a page that is not there.
    fn mislead(folder: &Path, branch: u64) {
        let file = File::options().read(true).write(true).open(page_view::file_of(folder)).unwrap();
        let mut place = [0; 2];
        file.read_exact_at(&mut place, branch * 4_096 + 16).unwrap();
        let node = branch * 4_096 + u64::from(u16::from_le_bytes(place));
        file.write_all_at(&[0xFF, 0xFF, 0xFF, 0x0F], node).unwrap();
    }

    #[test]
    fn the_leaf_behind_a_branch_is_checked_before_the_last_row_before_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let environment = filled(folder.path(), 400);
        let root = environment.root();
        assert_eq!(root.rows().database.depth, 3);
        let first = root.rows().way_to(&key(0)).unwrap();
        let top = first[0].page;
        // The last row before the second branch of the top, and the lowest branch behind it.
        let behind = root.rows().way_to(top.key(1).unwrap()).unwrap();
        let last = (0..400).rev().map(key).find(|key| key.as_slice() < top.key(1).unwrap()).unwrap();
        let damaged = behind[1].number;
        drop((root, environment));
        mislead(folder.path(), damaged);

        let environment = Environment::open(folder.path()).unwrap();
        environment.write_rows(&[(&last, true)], |tree, txn| tree.delete(txn, &last)).unwrap();
        let root = environment.root();
        for number in 0..400 {
            assert_eq!(root.get(&key(number)).unwrap().is_some(), key(number) != last, "{number}");
        }
    }

    /// The rows go in an order that leaves gaps; at last there is nothing left to check.
    #[test]
    fn what_is_below_a_branch_is_checked_once() {
        let folder = tempfile::tempdir().unwrap();
        let environment = filled(folder.path(), 400);
        let root = environment.root();
        let mut paths = WritePaths::of(&root);
        for number in (0..400).step_by(3).chain((1..400).step_by(3)) {
            assert!(paths.row(&key(number), true).is_ok());
        }
        assert!(paths.branches.values().all(|branch| branch.is_checked));
        let keys: Vec<_> = (0..400).map(key).collect();
        let touched: Vec<_> = keys.iter().map(|key| (key.as_slice(), true)).collect();
        let deleted = environment.write_rows(&touched, |tree, txn| {
            keys.iter().map(|key| tree.delete(txn, key)).sum::<Result<usize, _>>()
        });
        assert_eq!(deleted.unwrap(), 400);
    }
}
