//! Reads one of LMDB's trees through checked pages: a key, or a range of keys in either direction.

use std::ops::ControlFlow;

use partita_store::{Direction, KeyRange, MAX_KEY_BYTES};

use crate::pages::page::{Database, Kind, Node, Page, Value};
use crate::pages::page_view::{LostPage, View};

/// A tree of a view.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'v> {
    pub view: &'v View,
    pub database: Database,
}

/// Keys from the first on, up to and without the second; without bounds where they are `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds<'v> {
    pub low: Option<&'v [u8]>,
    pub high: Option<&'v [u8]>,
}

/// What a walk comes across.
pub(crate) enum Found<'v> {
    Row(Node<'v>),
    /// A page that is not readable, and the keys that are on it or below it.
    Lost(LostPage, Bounds<'v>),
}

/// A step on the way down to a key.
#[derive(Clone, Copy)]
pub(crate) struct Step<'v> {
    pub number: u64,
    pub page: Page<'v>,
    /// The child through which the way goes on.
    pub index: usize,
}

impl<'v> Tree<'v> {
    pub fn get(&self, key: &[u8]) -> Result<Option<Value<'v>>, LostPage> {
        let Some(mut number) = self.database.root else { return Ok(None) };
        for _ in 1..self.database.depth {
            let page = self.page(number, Kind::Branch)?;
            let index = page.child_with(key).ok_or_else(|| self.broken(number))?;
            number = page.child(index).ok_or_else(|| self.broken(number))?;
        }
        let page = self.page(number, Kind::Leaf)?;
        let index = page.first_not_below(key).ok_or_else(|| self.broken(number))?;
        if index == page.nodes() {
            return Ok(None);
        }
        let node = page.leaf_node(index).ok_or_else(|| self.broken(number))?;
        Ok((node.key == key).then_some(node.value))
    }

    /// The value's bytes, wherever they are. The record of a database is no value.
    pub fn bytes(&self, value: Value<'v>) -> Result<&'v [u8], LostPage> {
        match value {
            Value::Here(bytes) | Value::Database(bytes) => Ok(bytes),
            Value::Elsewhere { page, bytes } => self.view.overflow(page, bytes),
        }
    }

    /// Shows `visit` what there is in a range, in order, until it breaks.
    pub fn range<E>(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(Found<'v>) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let Some(root) = self.database.root.filter(|_| range.start < range.end) else { return Ok(()) };
        let walk = Walk { tree: *self, range, direction };
        walk.below(root, self.database.depth, Bounds::default(), &mut visit).map(|_| ())
    }

    /// The way down to where a key is, or would be: branches first, then the leaf.
    pub fn way_to(&self, key: &[u8]) -> Result<Vec<Step<'v>>, LostPage> {
        let mut way = Vec::with_capacity(self.database.depth.into());
        let Some(mut number) = self.database.root else { return Ok(way) };
        for _ in 1..self.database.depth {
            let page = self.page(number, Kind::Branch)?;
            let index = page.child_with(key).ok_or_else(|| self.broken(number))?;
            way.push(Step { number, page, index });
            number = page.child(index).ok_or_else(|| self.broken(number))?;
        }
        let page = self.page(number, Kind::Leaf)?;
        let index = page.first_not_below(key).ok_or_else(|| self.broken(number))?;
        way.push(Step { number, page, index });
        Ok(way)
    }

    /// Where the first page on the way to `key` that is not readable stands: which keys it has.
    pub fn bounds_of_lost(&self, key: &[u8]) -> Bounds<'v> {
        let mut bounds = Bounds::default();
        let Some(mut number) = self.database.root else { return bounds };
        for _ in 1..self.database.depth {
            let Ok(page) = self.page(number, Kind::Branch) else { return bounds };
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

    /// At which level a page stands, and which keys it has. Leaves are not read.
    pub fn place_of(&self, number: u64) -> Option<(u16, Bounds<'v>)> {
        let root = self.database.root?;
        self.place_below(number, root, self.database.depth, Bounds::default())
    }

    fn place_below(&self, wanted: u64, at: u64, level: u16, bounds: Bounds<'v>) -> Option<(u16, Bounds<'v>)> {
        if at == wanted {
            return Some((level, bounds));
        }
        if level <= 1 {
            return None;
        }
        let page = self.page(at, Kind::Branch).ok()?;
        (0..page.nodes()).find_map(|index| {
            self.place_below(wanted, page.child(index)?, level - 1, bounds.of_child(page, index))
        })
    }

    /// Reads all branches and leaves and calls `visit` with the number, the level (leaves have 1) and the page of
    /// each, parents first.
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
            let child = page.child(index).ok_or_else(|| self.broken(number))?;
            self.pages_below(child, level - 1, visit)?;
        }
        Ok(())
    }

    /// The page of a level: a leaf at level 1, above it branches.
    pub fn page_at(&self, number: u64, level: u16) -> Result<Page<'v>, LostPage> {
        self.page(number, if level > 1 { Kind::Branch } else { Kind::Leaf })
    }

    fn page(&self, number: u64, kind: Kind) -> Result<Page<'v>, LostPage> {
        let page = self.view.page(number)?;
        if page.kind() == Some(kind) && page.nodes() > 0 { Ok(page) } else { Err(self.broken(number)) }
    }

    #[cold]
    pub fn broken(&self, number: u64) -> LostPage {
        self.view.lost(number, "is not the page it should be")
    }
}

impl<'v> Bounds<'v> {
    /// As a range, in which no bound is a bound behind all keys.
    pub fn to_range(self) -> KeyRange {
        KeyRange {
            start: self.low.unwrap_or_default().to_vec(),
            end: self.high.map_or_else(|| vec![0xFF; MAX_KEY_BYTES + 1], <[u8]>::to_vec),
        }
    }

    pub fn has(self, key: &[u8]) -> bool {
        self.low.is_none_or(|low| low <= key) && self.high.is_none_or(|high| key < high)
    }

    /// Whether all keys of a page in order are within.
    pub fn hold(self, page: Page<'v>, kind: Kind) -> bool {
        let first = usize::from(kind == Kind::Branch);
        let (Some(low), Some(high)) = (page.key(first), page.key(page.nodes().saturating_sub(1))) else {
            return page.nodes() <= first;
        };
        self.low.is_none_or(|bound| bound <= low) && self.high.is_none_or(|bound| high < bound)
    }

    pub fn of_child(self, branch: Page<'v>, index: usize) -> Bounds<'v> {
        Bounds {
            low: if index == 0 { self.low } else { branch.key(index) },
            high: if index + 1 < branch.nodes() { branch.key(index + 1) } else { self.high },
        }
    }
}

struct Walk<'v, 'r> {
    tree: Tree<'v>,
    range: &'r KeyRange,
    direction: Direction,
}

impl<'v> Walk<'v, '_> {
    fn below<E>(
        &self,
        number: u64,
        level: u16,
        bounds: Bounds<'v>,
        visit: &mut impl FnMut(Found<'v>) -> Result<ControlFlow<()>, E>,
    ) -> Result<ControlFlow<()>, E> {
        let page = match self.tree.page_at(number, level) {
            Ok(page) => page,
            Err(lost) => return visit(Found::Lost(lost, bounds)),
        };
        let Some((first, end)) = self.part_of(page, level) else {
            return visit(Found::Lost(self.tree.broken(number), bounds));
        };
        for step in 0..end.saturating_sub(first) {
            let index = match self.direction {
                Direction::Ascending => first + step,
                Direction::Descending => end - 1 - step,
            };
            let flow = if level > 1 {
                match page.child(index) {
                    Some(child) => self.below(child, level - 1, bounds.of_child(page, index), visit)?,
                    None => visit(Found::Lost(self.tree.broken(number), bounds))?,
                }
            } else {
                match page.leaf_node(index) {
                    Some(node) => visit(Found::Row(node))?,
                    None => visit(Found::Lost(self.tree.broken(number), bounds))?,
                }
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The nodes of a page that have to do with the range: from the first, up to and without the second.
    fn part_of(&self, page: Page<'v>, level: u16) -> Option<(usize, usize)> {
        if level == 1 {
            return Some((page.first_not_below(&self.range.start)?, page.first_not_below(&self.range.end)?));
        }
        let last = page.child_with(&self.range.end)?;
        // The last child is left out when it begins with the end.
        let is_empty = last > 0 && page.key(last)? == self.range.end.as_slice();
        Some((page.child_with(&self.range.start)?, last + usize::from(!is_empty)))
    }
}
