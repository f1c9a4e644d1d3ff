//! Checks all pages that LMDB may read while it writes, before it does: it trusts whatever it finds.
//!
//! To put a row LMDB reads the way down to it, and the pages of the value that stands there. To delete one it may also
//! merge a leaf that has become small with its neighbour, or move a row over from there. Every removal takes in one
//! neighbour more at the most; and a branch looks to its own neighbours only when but one child is left to it. So
//! the neighbours on both sides are checked as far as the removals counted so far can have come. Pages that LMDB has
//! changed meanwhile need no check: they were made from checked ones.

use std::collections::HashMap;

use crate::chunks;
use crate::entry::{self, Entry};
use crate::page::{Page, Value};
use crate::pages::LostPage;
use crate::root::Root;
use crate::walk::{Step, Tree};

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
    /// How many children of a branch may have gone in this transaction.
    removals: HashMap<u64, usize>,
}

impl<'r> WritePaths<'r> {
    pub fn of(root: &'r Root) -> WritePaths<'r> {
        WritePaths { root, removals: HashMap::new() }
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
            for key in chunks::keys_of(long) {
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
            let removals = self.removals.entry(step.number).or_default();
            *removals += 1;
            let (removals, children) = (*removals, step.page.nodes());
            self.beside(tree, step, level, removals, step.index + 1..children)?;
            self.beside(tree, step, level, removals, (0..step.index).rev())?;
            if removals + 1 < children {
                break;
            }
        }
        Ok(())
    }

    /// Children of a branch, from the nearest on, as far as so many removals reach.
    fn beside(
        &self,
        tree: Tree<'r>,
        branch: &Step<'r>,
        level: u16,
        removals: usize,
        children: impl Iterator<Item = usize>,
    ) -> Result<(), Unfit> {
        let mut reached = 0;
        for index in children {
            let number = branch.page.child(index).ok_or_else(|| tree.broken(branch.number))?;
            let page = tree.page_at(number, level)?;
            if level > 1 {
                tree.pages_below(number, level, &mut |_, _, _| {})?;
            }
            // A leaf may be taken in as a whole; of a branch one child at a time, down to the last two.
            reached += if level > 1 { page.nodes().saturating_sub(2).max(1) } else { 1 };
            if reached >= removals {
                break;
            }
        }
        Ok(())
    }
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
