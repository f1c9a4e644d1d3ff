//! The rows as one transaction left them: what readers hold.
//!
//! A root keeps an LMDB transaction open for as long as it is held, so that LMDB writes to none of its pages. Rows are
//! read through checked pages, not through LMDB, which would trust whatever the file contains.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Mutex;

use heed::{RoTxn, WithoutTls};
use partita_store::{Damage, Direction, KeyRange, StoreError};

use crate::damage::damaged_leaf::{DamagedLeaf, LeafItem};
use crate::damage::lost_ranges::LostRange;
use crate::pages::page::{Database, Meta, Node, NodeValue, Page};
use crate::pages::page_view::{LostPage, PageView};
use crate::pages::tree_walk::{KeyBounds, TreeItem, TreeView};
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;

pub(crate) struct Root {
    pub view: PageView,
    free: Database,
    main: Database,
    pub named: NamedDatabases,
    /// While it is open LMDB leaves the pages alone.
    _anchor: Option<Mutex<RoTxn<'static, WithoutTls>>>,
}

/// The named databases, as listed in the main database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedDatabases {
    pub rows: Database,
    pub chunks: Database,
    pub dropped: Database,
    pub log: Database,
}

impl NamedDatabases {
    pub fn read(view: &PageView, main: Database) -> Result<NamedDatabases, StoreError> {
        let tree = TreeView { view, database: main };
        let find = |name: &str| match tree.get(name.as_bytes()).map_err(damaged)? {
            Some(NodeValue::Database(record)) => Database::read(record)
                .ok_or_else(|| StoreError::damaged(format!("the record of database {name} is malformed"))),
            _ => Err(StoreError::damaged(format!("data.mdb has no database {name}"))),
        };
        Ok(NamedDatabases {
            rows: find("rows")?,
            chunks: find("chunks")?,
            dropped: find("dropped")?,
            log: find("log")?,
        })
    }

    /// The total number of their pages.
    pub fn pages(&self) -> u64 {
        [self.rows, self.chunks, self.dropped, self.log].iter().map(|database| database.pages).sum()
    }
}

/// The lost ranges that were not yet visited, the next one last, and their version.
struct RemainingRanges {
    version: u64,
    left: Vec<LostRange>,
}

/// An item of a range: a row, or keys whose rows are damaged.
pub(crate) enum RangeItem<'r> {
    Row(StoredRow<'r>),
    Lost(Damage),
}

/// A row in the tree. Its value is read and checked on demand.
pub(crate) struct StoredRow<'r> {
    pub key: &'r [u8],
    value: NodeValue<'r>,
    root: &'r Root,
}

impl<'r> StoredRow<'r> {
    pub fn value(&self) -> Result<Cow<'r, [u8]>, StoreError> {
        self.root.value(self.key, self.value)
    }

    /// The entry in the tree, if it is readable.
    pub fn entry(&self) -> Option<Entry<'r>> {
        self.root.rows().bytes(self.value).ok().and_then(|stored| entry::read(self.key, stored).ok())
    }
}

impl Root {
    pub fn new(view: PageView, meta: &Meta, anchor: RoTxn<'static, WithoutTls>) -> Result<Root, StoreError> {
        Ok(Root { _anchor: Some(Mutex::new(anchor)), ..Root::read_only(view, meta)? })
    }

    /// A root of a file that nobody writes.
    pub fn read_only(view: PageView, meta: &Meta) -> Result<Root, StoreError> {
        let named = NamedDatabases::read(&view, meta.main)?;
        Ok(Root { view, free: meta.free, main: meta.main, named, _anchor: None })
    }

    pub fn rows(&self) -> TreeView<'_> {
        self.tree(self.named.rows)
    }

    /// The trees of all databases.
    pub fn trees(&self) -> impl Iterator<Item = TreeView<'_>> {
        let NamedDatabases { rows, chunks, dropped, log } = self.named;
        [self.free, self.main, rows, chunks, dropped, log].into_iter().map(|database| self.tree(database))
    }

    /// Reads every live page.
    pub fn check_all(&self) -> Result<(), StoreError> {
        for tree in self.trees() {
            let mut lost = None;
            let mut values = |_, level, page: Page<'_>| {
                let nodes =
                    (0..if level == 1 { page.nodes() } else { 0 }).filter_map(|index| page.leaf_node(index));
                lost = nodes.filter_map(|node| tree.bytes(node.value).err()).next().or(lost.take());
            };
            tree.all_pages(&mut values).map_err(damaged)?;
            lost.map_or(Ok(()), |lost| Err(damaged(lost)))?;
        }
        Ok(())
    }

    pub fn tree(&self, database: Database) -> TreeView<'_> {
        TreeView { view: &self.view, database }
    }

    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        match self.rows().get(key) {
            Ok(Some(value)) => self.value(key, value).map(Some),
            Ok(None) => self.missing(key),
            Err(lost) => self.get_from_damaged(key, &lost),
        }
    }

    /// A row that is not found was lost, or does not exist.
    fn missing<'r>(&self, key: &[u8]) -> Result<Option<Cow<'r, [u8]>>, StoreError> {
        match self.view.pages.damage.containing(key) {
            Some(lost) => Err(damage_of_range(&lost).into()),
            None => Ok(None),
        }
    }

    /// Visits the rows of `range` in order until `visit` breaks, and the damage between them.
    pub fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(RangeItem<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut remaining = self.remaining_ranges(range, direction);
        let mut ended = false;
        self.rows().range(range, direction, |found| {
            self.refresh(&mut remaining, range, direction);
            let flow = match found {
                TreeItem::Row(node) => self.visit_row(node, direction, &mut remaining, &mut visit)?,
                TreeItem::Lost(lost, bounds) => {
                    self.visit_damaged_leaf(&lost, bounds, range, direction, &mut remaining, &mut visit)?
                }
            };
            ended = flow.is_break();
            Ok::<_, StoreError>(flow)
        })?;
        self.refresh(&mut remaining, range, direction);
        while !ended && let Some(lost) = remaining.left.pop() {
            ended = visit(RangeItem::Lost(damage_of_range(&lost)))?.is_break();
        }
        Ok(())
    }

    fn remaining_ranges(&self, range: &KeyRange, direction: Direction) -> RemainingRanges {
        let version = self.view.pages.damage.version();
        let mut left = self.view.pages.damage.overlapping(range);
        if direction == Direction::Ascending {
            left.reverse();
        }
        RemainingRanges { version, left }
    }

    /// A page that was just read may have been rewritten since the lost ranges were fetched: then there are more.
    fn refresh(&self, remaining: &mut RemainingRanges, range: &KeyRange, direction: Direction) {
        if remaining.version != self.view.pages.damage.version() {
            *remaining = self.remaining_ranges(range, direction);
        }
    }

    /// Visits a row, and before it the lost ranges that begin before it.
    fn visit_row(
        &self,
        node: Node<'_>,
        direction: Direction,
        remaining: &mut RemainingRanges,
        visit: &mut impl FnMut(RangeItem<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        while let Some(lost) = remaining.left.pop_if(|lost| lost.begins_before(node.key, direction)) {
            if visit(RangeItem::Lost(damage_of_range(&lost)))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        visit(RangeItem::Row(StoredRow { key: node.key, value: node.value, root: self }))
    }

    /// Visits what is left of a damaged page.
    #[cold]
    fn visit_damaged_leaf(
        &self,
        lost: &LostPage,
        bounds: KeyBounds<'_>,
        range: &KeyRange,
        direction: Direction,
        remaining: &mut RemainingRanges,
        visit: &mut impl FnMut(RangeItem<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let copy = self.view.damaged_leaf(lost.number);
        // It may be the copy of a page that was rewritten just now.
        self.refresh(remaining, range, direction);
        let Some(leaf) = copy.as_ref().and_then(|copy| DamagedLeaf::from_copy(copy, bounds)) else {
            return visit(RangeItem::Lost(damage_of_page(lost, bounds)));
        };
        for item in leaf.range(&range.start, &range.end, direction) {
            let flow = match item {
                LeafItem::Row(node) => self.visit_row(node, direction, remaining, visit)?,
                LeafItem::Lost(gap) => visit(RangeItem::Lost(damage_of_page(lost, gap)))?,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    #[cold]
    fn get_from_damaged(&self, key: &[u8], lost: &LostPage) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        let bounds = self.rows().bounds_of_lost(key);
        let copy = self.view.damaged_leaf(lost.number);
        let Some(leaf) = copy.as_ref().and_then(|copy| DamagedLeaf::from_copy(copy, bounds)) else {
            return Err(damage_of_page(lost, bounds).into());
        };
        match leaf.get(key) {
            Ok(Some(node)) => Ok(Some(Cow::Owned(self.value(key, node.value)?.into_owned()))),
            Ok(None) => self.missing(key),
            Err(gap) => Err(damage_of_page(lost, gap).into()),
        }
    }

    fn value<'r>(&'r self, key: &[u8], value: NodeValue<'r>) -> Result<Cow<'r, [u8]>, StoreError> {
        let read = || {
            let stored = self.rows().bytes(value).map_err(damaged)?;
            match entry::read(key, stored)? {
                Entry::Short(value) => Ok(Cow::Borrowed(value)),
                Entry::Long(long) => Ok(Cow::Owned(long_values::read(self, long)?)),
            }
        };
        read().map_err(|error: StoreError| error.in_row(key))
    }
}

pub(crate) fn damaged(lost: LostPage) -> StoreError {
    StoreError::damaged(lost.to_string())
}

#[cold]
fn damage_of_page(lost: &LostPage, bounds: KeyBounds<'_>) -> Damage {
    unreadable_rows(&lost.to_string(), bounds)
}

#[cold]
fn damage_of_range(range: &LostRange) -> Damage {
    unreadable_rows("a page of data.mdb was damaged", range.bounds())
}

fn unreadable_rows(why: &str, bounds: KeyBounds<'_>) -> Damage {
    let text = |bound: Option<&[u8]>, none: &str| bound.map_or(none.to_string(), entry::hex_prefix);
    let reason = format!(
        "{why}; rows from {} up to {} may be lost",
        text(bounds.low, "the first"),
        text(bounds.high, "the last")
    );
    Damage { keys: Some(bounds.to_range()), reason }
}
