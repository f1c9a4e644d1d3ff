//! Reading a table as it was at a moment, and what changed between two. See [`crate::history`] for how it is kept.
//!
//! Every page may be read out of a snapshot of its own: while the moment is pinned, what there was then does not
//! change.

use crate::history::{History, Moment};
use crate::storage_failed;
use crate::stored_key::{self, Key};
use partita_api::Exception;
use partita_store::{Direction, KeyRange, Snapshot, Space};
use partita_value::{Item, ItemRef};
use std::ops::ControlFlow;

/// The byte before an item in a row of a history; a row that tells of no item is another byte.
const WAS_THERE: u8 = 1;
const WAS_NOT_THERE: u8 = 0;

/// The row that tells what an item was.
pub fn encode_row(old: Option<ItemRef<'_>>) -> Vec<u8> {
    match old {
        Some(item) => [&[WAS_THERE], item.bytes()].concat(),
        None => vec![WAS_NOT_THERE],
    }
}

/// The bytes of the item in a row; none if there was no item. An error is what is wrong with the row.
pub fn read_row(row: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    match row.split_first() {
        Some((&WAS_THERE, item)) => Ok(Some(item)),
        Some((&WAS_NOT_THERE, [])) => Ok(None),
        _ => Err("it tells neither of an item nor of none"),
    }
}

fn decode_row(row: &[u8]) -> Option<ItemRef<'_>> {
    match row.split_first() {
        Some((&WAS_THERE, item)) => ItemRef::new(item),
        _ => None,
    }
}

/// A table's past in one snapshot.
pub struct Past<'a, S> {
    snapshot: &'a S,
    items: Space,
    history: Space,
    /// The rows that are looked at, in either space.
    item_rows: KeyRange,
    history_rows: KeyRange,
}

/// An item that has a row in the history behind some moment: what it was then.
struct Changed {
    /// Its key without the space.
    item: Vec<u8>,
    moment: Moment,
    was: Option<Item>,
}

/// What became of an item between two moments.
pub struct NetChange {
    pub old: Option<Item>,
    pub new: Option<Item>,
    /// When it changed last.
    pub written: Moment,
}

impl<'a, S: Snapshot> Past<'a, S> {
    pub fn of(snapshot: &'a S, history: &History) -> Past<'a, S> {
        let (items, history) = (history.items(), history.space());
        let (item_rows, history_rows) = (stored_key::all_rows(items), stored_key::all_rows(history));
        Past { snapshot, items, history, item_rows, history_rows }
    }

    /// The same, of a range of the items' rows only.
    pub fn within(self, rows: KeyRange) -> Past<'a, S> {
        let history_rows = stored_key::moved(&rows, self.items, self.history);
        Past { item_rows: rows, history_rows, ..self }
    }

    /// Shows the items there were at a moment, in the order of their keys, from behind a key on. Keys are told
    /// without their space, also those of items that there were not, so that a walk that finds nothing can be interrupted.
    pub fn items_at(
        &self,
        moment: Moment,
        behind: Option<&[u8]>,
        visit: impl FnMut(&[u8], Option<ItemRef<'_>>) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let start = behind.map(|key| stored_key::just_behind(&stored_key::in_space(self.items, key)));
        let start = start.unwrap_or_else(|| self.item_rows.start.clone());
        let rows = KeyRange { start, end: self.item_rows.end.clone() };
        let changed = self.first_changed(moment, behind)?;
        let mut merge = Merge { past: self, moment, changed, visit, failure: None };
        let mut flow = ControlFlow::Continue(());
        let walked = self.snapshot.range(&rows, Direction::Ascending, |key, row| {
            flow = merge.show(stored_key::within_space(key), row);
            flow
        });
        walked.map_err(storage_failed)?;
        if flow.is_continue() {
            // Those that were behind the last item that is left.
            let _ = merge.show_changed_before(None);
        }
        merge.failure.map_or(Ok(()), Err)
    }

    /// Shows what became of the items that changed after one moment and up to another, from behind a key on. Keys of items that
    /// did not are told too.
    pub fn changes_between(
        &self,
        (after, until): (Moment, Moment),
        behind: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], Option<NetChange>) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let mut changed = self.first_changed(after, behind)?;
        while let Some(Changed { item, moment, was }) = changed {
            let change = match moment <= until {
                true => Some(NetChange {
                    old: was,
                    new: self.item_at(&item, until)?,
                    written: self.last_change(&item, until)?.unwrap_or(moment),
                }),
                false => None,
            };
            if visit(&item, change).is_break() {
                return Ok(());
            }
            changed = self.changed_behind(after, &item)?;
        }
        Ok(())
    }

    fn item_at(&self, item: &[u8], moment: Moment) -> Result<Option<Item>, Exception> {
        let range = KeyRange { start: self.key(item, moment + 1), end: self.behind_item(item) };
        if let Some(changed) = self.first_in(&range, Direction::Ascending)? {
            return Ok(changed.was);
        }
        let row = self.snapshot.get(&stored_key::in_space(self.items, item)).map_err(storage_failed)?;
        Ok(row.as_deref().and_then(ItemRef::new).map(|item| item.to_owned()))
    }

    fn last_change(&self, item: &[u8], until: Moment) -> Result<Option<Moment>, Exception> {
        let range = KeyRange { start: self.key(item, 0), end: self.key(item, until + 1) };
        Ok(self.first_in(&range, Direction::Descending)?.map(|changed| changed.moment))
    }

    fn first_changed(&self, moment: Moment, behind: Option<&[u8]>) -> Result<Option<Changed>, Exception> {
        match behind {
            Some(item) => self.changed_behind(moment, item),
            None => self.changed_from(moment, self.history_rows.start.clone()),
        }
    }

    fn changed_behind(&self, moment: Moment, item: &[u8]) -> Result<Option<Changed>, Exception> {
        self.changed_from(moment, self.behind_item(item))
    }

    /// The first item from a key of the history on that has a row behind the moment.
    fn changed_from(&self, moment: Moment, mut start: Vec<u8>) -> Result<Option<Changed>, Exception> {
        loop {
            let range = KeyRange { start, end: self.history_rows.end.clone() };
            match self.first_in(&range, Direction::Ascending)? {
                // The item's older rows are jumped over.
                Some(older) if older.moment <= moment => start = self.key(&older.item, moment + 1),
                found => return Ok(found),
            }
        }
    }

    fn first_in(&self, range: &KeyRange, direction: Direction) -> Result<Option<Changed>, Exception> {
        let mut found = None;
        let visit = |key: &[u8], row: &[u8]| {
            found = stored_key::item_and_moment(key).map(|(item, moment)| Changed {
                item: item.to_vec(),
                moment,
                was: decode_row(row).map(|item| item.to_owned()),
            });
            ControlFlow::Break(())
        };
        self.snapshot.range(range, direction, visit).map_err(storage_failed)?;
        Ok(found)
    }

    fn key(&self, item: &[u8], moment: Moment) -> Vec<u8> {
        Key::Past { space: self.history, item, moment }.to_bytes()
    }

    /// Behind all rows of an item's history: no key is the beginning of another.
    fn behind_item(&self, item: &[u8]) -> Vec<u8> {
        stored_key::just_behind(&self.key(item, Moment::MAX))
    }
}

/// The walk through the items as they are, together with those that were something else.
struct Merge<'a, 'b, S, V> {
    past: &'a Past<'b, S>,
    moment: Moment,
    /// The next item that has changed since.
    changed: Option<Changed>,
    visit: V,
    failure: Option<Exception>,
}

impl<S: Snapshot, V: FnMut(&[u8], Option<ItemRef<'_>>) -> ControlFlow<()>> Merge<'_, '_, S, V> {
    /// Shows what was instead of an item, and all before it.
    fn show(&mut self, key: &[u8], row: &[u8]) -> ControlFlow<()> {
        self.show_changed_before(Some(key))?;
        if self.changed.as_ref().is_some_and(|changed| changed.item == key) {
            return self.show_changed();
        }
        (self.visit)(key, ItemRef::new(row))
    }

    fn show_changed_before(&mut self, key: Option<&[u8]>) -> ControlFlow<()> {
        let is_before = |changed: &Changed| key.is_none_or(|key| changed.item.as_slice() < key);
        while self.changed.as_ref().is_some_and(is_before) {
            self.show_changed()?;
        }
        ControlFlow::Continue(())
    }

    /// Shows what the next changed item was, and goes on to the one behind it.
    fn show_changed(&mut self) -> ControlFlow<()> {
        let Some(changed) = self.changed.take() else { return ControlFlow::Continue(()) };
        (self.visit)(&changed.item, changed.was.as_ref().map(Item::view))?;
        match self.past.changed_behind(self.moment, &changed.item) {
            Ok(next) => {
                self.changed = next;
                ControlFlow::Continue(())
            }
            Err(exception) => {
                self.failure = Some(exception);
                ControlFlow::Break(())
            }
        }
    }
}
