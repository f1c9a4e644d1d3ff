//! Reading a table as it was at a moment, and what changed between two. See [`crate::history`] for how it is kept.
//!
//! Every page may be read out of a snapshot of its own: while the moment is pinned, what there was then does not
//! change.

use crate::history::{History, Moment};
use crate::storage_failed;
use crate::stored_key::{self, Key, rest_of};
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
        Past { snapshot, items, history, item_rows: all_rows(items), history_rows: all_rows(history) }
    }

    /// The same, of a range of the items' rows only.
    pub fn within(self, rows: KeyRange) -> Past<'a, S> {
        let history_rows = KeyRange {
            start: stored_key::in_space(self.history, stored_key::within_space(&rows.start)),
            end: match rows.end.starts_with(&self.items.prefix()) {
                true => stored_key::in_space(self.history, stored_key::within_space(&rows.end)),
                // The end of all.
                false => self.history_rows.end,
            },
        };
        Past { item_rows: rows, history_rows, ..self }
    }

    /// Shows the items there were at a moment, in the order of their keys, from behind a key on. Keys are told
    /// without their space.
    pub fn items_at(
        &self,
        moment: Moment,
        behind: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], ItemRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let mut changed = self.first_changed(moment, behind)?;
        let mut failed = Ok(());
        let mut advance = |changed: &mut Option<Changed>| match self.next_changed(moment, changed.as_ref()) {
            Ok(next) => {
                *changed = next;
                ControlFlow::Continue(())
            }
            Err(exception) => {
                failed = Err(exception);
                ControlFlow::Break(())
            }
        };
        let mut ended = ControlFlow::Continue(());
        let start = behind.map(|key| stored_key::just_behind(&stored_key::in_space(self.items, key)));
        let start = start.unwrap_or_else(|| self.item_rows.start.clone());
        let rows = KeyRange { start, end: self.item_rows.end.clone() };
        let walked = self.snapshot.range(&rows, Direction::Ascending, |key, row| {
            let key = stored_key::within_space(key);
            let mut show = || {
                while let Some(other) = changed.as_ref().filter(|changed| changed.item.as_slice() < key) {
                    show_was(other, &mut visit)?;
                    advance(&mut changed)?;
                }
                match changed.as_ref().filter(|changed| changed.item == key) {
                    Some(same) => {
                        show_was(same, &mut visit)?;
                        advance(&mut changed)
                    }
                    None => ItemRef::new(row).map_or(ControlFlow::Continue(()), |item| visit(key, item)),
                }
            };
            ended = show();
            ended
        });
        while ended.is_continue()
            && let Some(other) = &changed
        {
            ended = show_was(other, &mut visit);
            if ended.is_continue() {
                ended = advance(&mut changed);
            }
        }
        walked.map_err(storage_failed)?;
        failed
    }

    /// Shows what became of the items that changed after one moment and up to another, from behind a key on.
    pub fn changes_between(
        &self,
        (after, until): (Moment, Moment),
        behind: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], NetChange) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let mut changed = self.first_changed(after, behind)?;
        while let Some(Changed { item, moment, was }) = changed {
            if moment <= until {
                let change = NetChange {
                    old: was,
                    new: self.item_at(&item, until)?,
                    written: self.last_change(&item, until)?.unwrap_or(moment),
                };
                if visit(&item, change).is_break() {
                    return Ok(());
                }
            }
            changed = self.next_changed(after, Some(&Changed { item, moment, was: None }))?;
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
        let start = match behind {
            Some(item) => self.behind_item(item),
            None => self.history_rows.start.clone(),
        };
        self.changed_from(moment, start)
    }

    fn next_changed(&self, moment: Moment, last: Option<&Changed>) -> Result<Option<Changed>, Exception> {
        match last {
            Some(last) => self.changed_from(moment, self.behind_item(&last.item)),
            None => Ok(None),
        }
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

fn all_rows(space: Space) -> KeyRange {
    rest_of(space, space.prefix().to_vec())
}

fn show_was(
    changed: &Changed,
    visit: &mut impl FnMut(&[u8], ItemRef<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match &changed.was {
        Some(item) => visit(&changed.item, item.view()),
        None => ControlFlow::Continue(()),
    }
}
