//! Rebuilds a lost branch page from its children: the live pages that nothing else references.

use crate::pages::page::{MAX_DEPTH, NodeValue, Page, PageKind, new_branch, overflow_pages};
use crate::pages::page_set::PageSet;
use crate::pages::page_view::PageView;
use crate::pages::tree_walk::{KeyBounds, TreeView};
use crate::tree::entry;
use crate::tree::long_values;
use crate::tree::root::Root;

/// An unreadable branch page and its position in the tree.
pub(crate) struct LostBranch<'v> {
    pub tree: TreeView<'v>,
    pub number: u64,
    pub level: u16,
    pub bounds: KeyBounds<'v>,
}

pub(crate) struct RebuiltBranch {
    pub page: Vec<u8>,
    /// Whether every unreachable page is reachable again.
    pub is_complete: bool,
}

/// A child of the lost branch, and the first and last key below it.
struct Child<'v> {
    number: u64,
    first: &'v [u8],
    last: &'v [u8],
}

impl<'v> LostBranch<'v> {
    /// Returns `None` if too little is left.
    pub fn rebuild(&self, root: &'v Root, live: &PageSet) -> Option<RebuiltBranch> {
        let mut orphans = live.clone();
        orphans.remove(self.number);
        for tree in root.trees() {
            remove_reached(tree, &mut orphans);
        }
        let mut children: Vec<_> = orphans.iter().filter_map(|number| self.child(root, number)).collect();
        let referenced = referenced_by(&root.view, &orphans, self.level);
        children.retain(|child| !referenced.contains(child.number));
        children.sort_by_key(|child| child.first);
        for child in &children {
            remove_reached_below(self.tree, child.number, self.level - 1, &mut orphans);
        }
        let is_disjoint = children.windows(2).all(|pair| pair[0].last < pair[1].first);
        if children.len() < 2 || !is_disjoint {
            return None;
        }
        let separators: Vec<_> = std::iter::once((&[][..], children[0].number))
            .chain(children.windows(2).map(|pair| (separator(pair[0].last, pair[1].first), pair[1].number)))
            .collect();
        let page = new_branch(self.number, root.view.page_bytes, &separators)?;
        Some(RebuiltBranch { page, is_complete: orphans.count() == 0 })
    }

    /// The page as a child, if it is one level below, its keys are within bounds and its contents belong to this tree.
    fn child(&self, root: &'v Root, number: u64) -> Option<Child<'v>> {
        let level = self.level - 1;
        let page = root.view.page(number).ok()?;
        if level_of(&root.view, page)? != level
            || !self.belongs_to_tree(root, first_leaf(&root.view, page, level)?)
        {
            return None;
        }
        let (first, last) =
            (end_of(&root.view, page, level, End::First)?, end_of(&root.view, page, level, End::Last)?);
        (self.bounds.contains(first) && self.bounds.contains(last)).then_some(Child { number, first, last })
    }

    /// Whether a leaf holds rows if this is the tree of rows, or else chunks of long values. Their checksums tell which.
    fn belongs_to_tree(&self, root: &Root, leaf: Page<'_>) -> bool {
        let is_row = |index| {
            let node = leaf.leaf_node(index)?;
            let stored = match node.value {
                NodeValue::Inline(stored) => stored,
                NodeValue::Overflow { page, bytes } => root.view.overflow(page, bytes).ok()?,
                NodeValue::Database(_) => return None,
            };
            let is_row = entry::read(node.key, stored).is_ok();
            (is_row || long_values::read_chunk(node.key, stored).is_some()).then_some(is_row)
        };
        let are_rows = self.tree.database == root.named.rows;
        (0..leaf.nodes()).find_map(is_row).is_none_or(|is_row| is_row == are_rows)
    }
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// The first or last key below a page.
fn end_of<'v>(view: &'v PageView, page: Page<'v>, level: u16, end: End) -> Option<&'v [u8]> {
    let index = match end {
        End::First => 0,
        End::Last => page.nodes().checked_sub(1)?,
    };
    if level == 1 {
        return page.key(index);
    }
    end_of(view, view.page(page.child(index)?).ok()?, level - 1, end)
}

fn first_leaf<'v>(view: &'v PageView, page: Page<'v>, level: u16) -> Option<Page<'v>> {
    (1..level).try_fold(page, |page, _| view.page(page.child(0)?).ok())
}

fn level_of<'v>(view: &'v PageView, mut page: Page<'v>) -> Option<u16> {
    for level in 1..=MAX_DEPTH as u16 {
        match page.kind()? {
            PageKind::Leaf => return Some(level),
            PageKind::Branch => page = view.page(page.child(0)?).ok()?,
            PageKind::Overflow => return None,
        }
    }
    None
}

/// The children of the branch pages among `pages` that are below the level of the lost one.
fn referenced_by(view: &PageView, pages: &PageSet, below: u16) -> PageSet {
    let mut referenced = PageSet::default();
    for page in pages.iter().filter_map(|number| view.page(number).ok()) {
        if page.kind() == Some(PageKind::Branch) && level_of(view, page).is_some_and(|level| level < below) {
            (0..page.nodes()).filter_map(|index| page.child(index)).for_each(|child| {
                referenced.insert(child);
            });
        }
    }
    referenced
}

/// Removes a tree's pages from a set.
pub(crate) fn remove_reached(tree: TreeView<'_>, pages: &mut PageSet) {
    if let Some(root) = tree.database.root {
        remove_reached_below(tree, root, tree.database.depth, pages);
    }
}

fn remove_reached_below(tree: TreeView<'_>, number: u64, level: u16, pages: &mut PageSet) {
    pages.remove(number);
    let Ok(page) = tree.page_at(number, level) else { return };
    for index in 0..page.nodes() {
        if level > 1 {
            if let Some(child) = page.child(index) {
                remove_reached_below(tree, child, level - 1, pages);
            }
        } else if let Some(NodeValue::Overflow { page, bytes }) = page.leaf_node(index).map(|node| node.value)
        {
            for number in page..page.saturating_add(overflow_pages(bytes, tree.view.page_bytes)) {
                pages.remove(number);
            }
        }
    }
}

/// The shortest key that is greater than `last` and not greater than `first`.
fn separator<'v>(last: &[u8], first: &'v [u8]) -> &'v [u8] {
    let shared = last.iter().zip(first).take_while(|(a, b)| a == b).count();
    &first[..(shared + 1).min(first.len())]
}
