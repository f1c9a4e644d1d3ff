//! Reads an LMDB tree through checked pages: a key, or a range of keys in either direction.

use std::ops::ControlFlow;

use partita_store::{Direction, KeyRange, MAX_KEY_BYTES};

use crate::pages::page::{Database, Node, NodeValue, Page, PageKind};
use crate::pages::page_view::{LostPage, PageView};

/// A tree in a view.
#[derive(Clone, Copy)]
pub(crate) struct TreeView<'v> {
    pub view: &'v PageView,
    pub database: Database,
}

/// A key range from `low` (inclusive) to `high` (exclusive); unbounded where `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyBounds<'v> {
    pub low: Option<&'v [u8]>,
    pub high: Option<&'v [u8]>,
}

/// An item that a walk encounters.
pub(crate) enum TreeItem<'v> {
    Row(Node<'v>),
    /// An unreadable page, and the keys on it or below it.
    Lost(LostPage, KeyBounds<'v>),
}

/// A step on the path down to a key.
#[derive(Clone, Copy)]
pub(crate) struct PathStep<'v> {
    pub number: u64,
    pub page: Page<'v>,
    /// The child through which the path continues; in a leaf, the first node whose key is not below.
    pub index: usize,
}

impl<'v> TreeView<'v> {
    pub fn get(&self, key: &[u8]) -> Result<Option<NodeValue<'v>>, LostPage> {
        let Some(mut number) = self.database.root else { return Ok(None) };
        for _ in 1..self.database.depth {
            let page = self.page(number, PageKind::Branch)?;
            let index = page.child_with(key).ok_or_else(|| self.unexpected_page(number))?;
            number = page.child(index).ok_or_else(|| self.unexpected_page(number))?;
        }
        let page = self.page(number, PageKind::Leaf)?;
        let index = page.lower_bound(key).ok_or_else(|| self.unexpected_page(number))?;
        if index == page.nodes() {
            return Ok(None);
        }
        let node = page.leaf_node(index).ok_or_else(|| self.unexpected_page(number))?;
        Ok((node.key == key).then_some(node.value))
    }

    /// The value's bytes, inline or in overflow pages. The record of a database is not a value.
    pub fn bytes(&self, value: NodeValue<'v>) -> Result<&'v [u8], LostPage> {
        match value {
            NodeValue::Inline(bytes) | NodeValue::Database(bytes) => Ok(bytes),
            NodeValue::Overflow { page, bytes } => self.view.overflow(page, bytes),
        }
    }

    /// Visits the items of a range, in order, until `visit` breaks.
    pub fn range<E>(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(TreeItem<'v>) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let Some(root) = self.database.root.filter(|_| range.start < range.end) else { return Ok(()) };
        let walk = RangeWalk { tree: *self, range, direction };
        walk.below(root, self.database.depth, KeyBounds::default(), &mut visit).map(|_| ())
    }

    /// The path down to where a key is, or would be: branches first, then the leaf.
    pub fn path_to(&self, key: &[u8]) -> Result<Vec<PathStep<'v>>, LostPage> {
        let mut path = Vec::with_capacity(self.database.depth.into());
        let Some(mut number) = self.database.root else { return Ok(path) };
        for _ in 1..self.database.depth {
            let page = self.page(number, PageKind::Branch)?;
            let index = page.child_with(key).ok_or_else(|| self.unexpected_page(number))?;
            path.push(PathStep { number, page, index });
            number = page.child(index).ok_or_else(|| self.unexpected_page(number))?;
        }
        let page = self.page(number, PageKind::Leaf)?;
        let index = page.lower_bound(key).ok_or_else(|| self.unexpected_page(number))?;
        path.push(PathStep { number, page, index });
        Ok(path)
    }

    /// The key range of the first unreadable page on the path to `key`.
    pub fn bounds_of_lost(&self, key: &[u8]) -> KeyBounds<'v> {
        let mut bounds = KeyBounds::default();
        let Some(mut number) = self.database.root else { return bounds };
        for _ in 1..self.database.depth {
            let Ok(page) = self.page(number, PageKind::Branch) else { return bounds };
            let Some((index, child)) =
                page.child_with(key).and_then(|index| Some((index, page.child(index)?)))
            else {
                return bounds;
            };
            bounds = bounds.of_child(page, index);
            number = child;
        }
        bounds
    }

    /// The level and key range of a page. Leaves are not read.
    pub fn locate(&self, number: u64) -> Option<(u16, KeyBounds<'v>)> {
        let root = self.database.root?;
        self.locate_below(number, root, self.database.depth, KeyBounds::default())
    }

    fn locate_below(
        &self,
        target: u64,
        at: u64,
        level: u16,
        bounds: KeyBounds<'v>,
    ) -> Option<(u16, KeyBounds<'v>)> {
        if at == target {
            return Some((level, bounds));
        }
        if level <= 1 {
            return None;
        }
        let page = self.page(at, PageKind::Branch).ok()?;
        (0..page.nodes()).find_map(|index| {
            self.locate_below(target, page.child(index)?, level - 1, bounds.of_child(page, index))
        })
    }

    /// Reads all branches and leaves and calls `visit` with the number, the level (leaves are at 1) and the page of each,
    /// parents first.
    pub fn all_pages(&self, visit: &mut impl FnMut(u64, u16, Page<'v>)) -> Result<(), LostPage> {
        match self.database.root {
            Some(root) => self.pages_below(root, self.database.depth, visit),
            None => Ok(()),
        }
    }

    pub fn pages_below(
        &self,
        number: u64,
        level: u16,
        visit: &mut impl FnMut(u64, u16, Page<'v>),
    ) -> Result<(), LostPage> {
        let page = self.page_at(number, level)?;
        visit(number, level, page);
        for index in 0..if level > 1 { page.nodes() } else { 0 } {
            let child = page.child(index).ok_or_else(|| self.unexpected_page(number))?;
            self.pages_below(child, level - 1, visit)?;
        }
        Ok(())
    }

    /// The page at a level: a leaf at level 1, branches above.
    pub fn page_at(&self, number: u64, level: u16) -> Result<Page<'v>, LostPage> {
        self.page(number, if level > 1 { PageKind::Branch } else { PageKind::Leaf })
    }

    fn page(&self, number: u64, kind: PageKind) -> Result<Page<'v>, LostPage> {
        let page = self.view.page(number)?;
        if page.kind() == Some(kind) && page.nodes() > 0 {
            Ok(page)
        } else {
            Err(self.unexpected_page(number))
        }
    }

    #[cold]
    pub fn unexpected_page(&self, number: u64) -> LostPage {
        self.view.lost_page(number, "is not the page it should be")
    }
}

impl<'v> KeyBounds<'v> {
    /// As a range, in which a missing bound is beyond all keys.
    pub fn to_range(self) -> KeyRange {
        KeyRange {
            start: self.low.unwrap_or_default().to_vec(),
            end: self.high.map_or_else(|| vec![0xFF; MAX_KEY_BYTES + 1], <[u8]>::to_vec),
        }
    }

    pub fn contains(self, key: &[u8]) -> bool {
        self.low.is_none_or(|low| low <= key) && self.high.is_none_or(|high| key < high)
    }

    /// Whether all keys of an ordered page are within bounds.
    pub fn contain_page(self, page: Page<'v>, kind: PageKind) -> bool {
        let first = usize::from(kind == PageKind::Branch);
        let (Some(low), Some(high)) = (page.key(first), page.key(page.nodes().saturating_sub(1))) else {
            return page.nodes() <= first;
        };
        self.low.is_none_or(|bound| bound <= low) && self.high.is_none_or(|bound| high < bound)
    }

    pub fn of_child(self, branch: Page<'v>, index: usize) -> KeyBounds<'v> {
        KeyBounds {
            low: if index == 0 { self.low } else { branch.key(index) },
            high: if index + 1 < branch.nodes() { branch.key(index + 1) } else { self.high },
        }
    }
}

struct RangeWalk<'v, 'r> {
    tree: TreeView<'v>,
    range: &'r KeyRange,
    direction: Direction,
}

impl<'v> RangeWalk<'v, '_> {
    fn below<E>(
        &self,
        number: u64,
        level: u16,
        bounds: KeyBounds<'v>,
        visit: &mut impl FnMut(TreeItem<'v>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let page = match self.tree.page_at(number, level) {
            Ok(page) => page,
            Err(lost) => return visit(TreeItem::Lost(lost, bounds)),
        };
        let Some((first, end)) = self.overlapping_nodes(page, level) else {
            return visit(TreeItem::Lost(self.tree.unexpected_page(number), bounds));
        };
        for step in 0..end.saturating_sub(first) {
            let index = match self.direction {
                Direction::Ascending => first + step,
                Direction::Descending => end - 1 - step,
            };
            let flow = if level > 1 {
                match page.child(index) {
                    Some(child) => self.below(child, level - 1, bounds.of_child(page, index), visit)?,
                    None => visit(TreeItem::Lost(self.tree.unexpected_page(number), bounds))?,
                }
            } else {
                match page.leaf_node(index) {
                    Some(node) => visit(TreeItem::Row(node))?,
                    None => visit(TreeItem::Lost(self.tree.unexpected_page(number), bounds))?,
                }
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The nodes of a page that overlap the range: from the first (inclusive) to the second (exclusive).
    fn overlapping_nodes(&self, page: Page<'v>, level: u16) -> Option<(usize, usize)> {
        if level == 1 {
            return Some((page.lower_bound(&self.range.start)?, page.lower_bound(&self.range.end)?));
        }
        let last = page.child_with(&self.range.end)?;
        // The last child is left out if it begins exactly at the end.
        let is_empty = last > 0 && page.key(last)? == self.range.end.as_slice();
        Some((page.child_with(&self.range.start)?, last + usize::from(!is_empty)))
    }
}
