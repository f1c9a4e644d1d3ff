//! The rows as one transaction left them: what readers hold.
//!
//! A root keeps an LMDB transaction open for as long as anybody holds it, so that LMDB writes to none of its pages.
//! Rows are read through checked pages, not through LMDB, which would trust whatever the file has.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Mutex;

use heed::{RoTxn, WithoutTls};
use partita_store::{Damage, Direction, KeyRange, StoreError};

use crate::damage::damaged_leaf::{DamagedLeaf, Part as LeafPart};
use crate::damage::lost_ranges::DamageNote;
use crate::pages::page::{Database, Meta, Node, Page, Value};
use crate::pages::page_view::{LostPage, View};
use crate::pages::tree_walk::{Bounds, Found, Tree};
use crate::tree::entry::{self, Entry};
use crate::tree::long_values;

pub(crate) struct Root {
    pub view: View,
    pub transaction: u64,
    free: Database,
    main: Database,
    pub named: Named,
    /// While it is open LMDB leaves the pages alone.
    _anchor: Option<Mutex<RoTxn<'static, WithoutTls>>>,
}

/// The databases with names, as the database of names lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub rows: Database,
    pub chunks: Database,
    pub dropped: Database,
    pub log: Database,
}

impl Named {
    pub fn read(view: &View, main: Database) -> Result<Named, StoreError> {
        let tree = Tree { view, database: main };
        let find = |name: &str| match tree.get(name.as_bytes()).map_err(damaged)? {
            Some(Value::Database(record)) => Database::read(record)
                .ok_or_else(|| StoreError::damaged(format!("the record of database {name} is malformed"))),
            _ => Err(StoreError::damaged(format!("data.mdb has no database {name}"))),
        };
        Ok(Named {
            rows: find("rows")?,
            chunks: find("chunks")?,
            dropped: find("dropped")?,
            log: find("log")?,
        })
    }

    /// How many pages they have.
    pub fn pages(&self) -> u64 {
        [self.rows, self.chunks, self.dropped, self.log].iter().map(|database| database.pages).sum()
    }
}

/// The notes on a range that were not yet shown, the next one last, and the version they are of.
struct Notes {
    version: u64,
    left: Vec<DamageNote>,
}

/// What a range has: a row, or keys whose rows are damaged.
pub(crate) enum Part<'r> {
    Row(StoredRow<'r>),
    Lost(Damage),
}

/// A row as it stands in the tree. Its value is read and checked when it is asked for.
pub(crate) struct StoredRow<'r> {
    pub key: &'r [u8],
    value: Value<'r>,
    root: &'r Root,
}

impl<'r> StoredRow<'r> {
    pub fn value(&self) -> Result<Cow<'r, [u8]>, StoreError> {
        self.root.value(self.key, self.value)
    }

    /// What stands in the tree, if it is readable.
    pub fn entry(&self) -> Option<Entry<'r>> {
        self.root.rows().bytes(self.value).ok().and_then(|stored| entry::read(self.key, stored).ok())
    }
}

impl Root {
    pub fn new(view: View, meta: &Meta, anchor: RoTxn<'static, WithoutTls>) -> Result<Root, StoreError> {
        Ok(Root { _anchor: Some(Mutex::new(anchor)), ..Root::offline(view, meta)? })
    }

    /// Of a file that nobody writes.
    pub fn offline(view: View, meta: &Meta) -> Result<Root, StoreError> {
        let named = Named::read(&view, meta.main)?;
        Ok(Root {
            view,
            transaction: meta.transaction,
            free: meta.free,
            main: meta.main,
            named,
            _anchor: None,
        })
    }

    pub fn rows(&self) -> Tree<'_> {
        self.tree(self.named.rows)
    }

    /// All there are.
    pub fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        let Named { rows, chunks, dropped, log } = self.named;
        [self.free, self.main, rows, chunks, dropped, log].into_iter().map(|database| self.tree(database))
    }

    /// Reads every page in use.
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

    pub fn tree(&self, database: Database) -> Tree<'_> {
        Tree { view: &self.view, database }
    }

    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        match self.rows().get(key) {
            Ok(Some(value)) => self.value(key, value).map(Some),
            Ok(None) => self.missing(key),
            Err(lost) => self.get_from_damaged(key, &lost),
        }
    }

    /// A row that is not found was lost, or is not there.
    fn missing<'r>(&self, key: &[u8]) -> Result<Option<Cow<'r, [u8]>>, StoreError> {
        match self.view.pages.damage.covering(key, self.transaction) {
            Some(note) => Err(noted(&note).into()),
            None => Ok(None),
        }
    }

    /// Shows `visit` the rows of `range` in order until it breaks, and between them what is damaged.
    pub fn range(
        &self,
        range: &KeyRange,
        direction: Direction,
        mut visit: impl FnMut(Part<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut notes = self.notes(range, direction);
        let mut ended = false;
        self.rows().range(range, direction, |found| {
            self.renew(&mut notes, range, direction);
            let flow = match found {
                Found::Row(node) => self.show(node, direction, &mut notes, &mut visit)?,
                Found::Lost(lost, bounds) => {
                    self.show_rest(&lost, bounds, range, direction, &mut notes, &mut visit)?
                }
            };
            ended = flow.is_break();
            Ok::<_, StoreError>(flow)
        })?;
        self.renew(&mut notes, range, direction);
        while !ended && let Some(note) = notes.left.pop() {
            ended = visit(Part::Lost(noted(&note)))?.is_break();
        }
        Ok(())
    }

    fn notes(&self, range: &KeyRange, direction: Direction) -> Notes {
        let version = self.view.pages.damage.version();
        let mut left = self.view.pages.damage.meeting(range, self.transaction);
        if direction == Direction::Ascending {
            left.reverse();
        }
        Notes { version, left }
    }

    /// A page that was just read may have been written anew since the notes were: then there are more.
    fn renew(&self, notes: &mut Notes, range: &KeyRange, direction: Direction) {
        if notes.version != self.view.pages.damage.version() {
            *notes = self.notes(range, direction);
        }
    }

    /// Shows a row, and before it the notes of what was lost before it.
    fn show(
        &self,
        node: Node<'_>,
        direction: Direction,
        notes: &mut Notes,
        visit: &mut impl FnMut(Part<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        while let Some(note) = notes.left.pop_if(|note| note.begins_before(node.key, direction)) {
            if visit(Part::Lost(noted(&note)))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        visit(Part::Row(StoredRow { key: node.key, value: node.value, root: self }))
    }

    /// Shows what is left of a damaged page.
    #[cold]
    fn show_rest(
        &self,
        lost: &LostPage,
        bounds: Bounds<'_>,
        range: &KeyRange,
        direction: Direction,
        notes: &mut Notes,
        visit: &mut impl FnMut(Part<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let copy = self.view.damaged_leaf(lost.number);
        // It may be of a page that was written anew just now.
        self.renew(notes, range, direction);
        let Some(leaf) = copy.as_ref().and_then(|copy| DamagedLeaf::judge(copy, bounds)) else {
            return visit(Part::Lost(lost_rows(lost, bounds)));
        };
        for part in leaf.range(&range.start, &range.end, direction) {
            let flow = match part {
                LeafPart::Row(node) => self.show(node, direction, notes, visit)?,
                LeafPart::Lost(around) => visit(Part::Lost(lost_rows(lost, around)))?,
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
        let Some(leaf) = copy.as_ref().and_then(|copy| DamagedLeaf::judge(copy, bounds)) else {
            return Err(lost_rows(lost, bounds).into());
        };
        match leaf.get(key) {
            Ok(Some(node)) => Ok(Some(Cow::Owned(self.value(key, node.value)?.into_owned()))),
            Ok(None) => self.missing(key),
            Err(around) => Err(lost_rows(lost, around).into()),
        }
    }

    fn value<'r>(&'r self, key: &[u8], value: Value<'r>) -> Result<Cow<'r, [u8]>, StoreError> {
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
fn lost_rows(lost: &LostPage, bounds: Bounds<'_>) -> Damage {
    not_readable(&lost.to_string(), bounds)
}

#[cold]
fn noted(note: &DamageNote) -> Damage {
    not_readable("a page of data.mdb was damaged", note.bounds())
}

fn not_readable(why: &str, bounds: Bounds<'_>) -> Damage {
    let shown = |bound: Option<&[u8]>, none: &str| bound.map_or(none.to_string(), entry::shown);
    let reason = format!(
        "{why}; rows from {} up to {} may be lost",
        shown(bounds.low, "the first"),
        shown(bounds.high, "the last")
    );
    Damage { keys: Some(bounds.to_range()), reason }
}
