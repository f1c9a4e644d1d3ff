//! Reading a table as it was at a moment, and what changed between two. See [`crate::history`] for how it is kept.
//!
//! Every page may be read out of a snapshot of its own: while the moment is pinned, what there was then does not
//! change. What cannot be read is passed over and noted ([`Past::lost`]): whoever reads the past tells of it. Where several
//! rows of a history are lost, it is not known which items have changed: then all that may have are left out.

use crate::history::{History, Moment};
use crate::key::stored_key::{self, Key};
use crate::storage_failed;
use crate::write::change::Change;
use partita_api::Exception;
use partita_store::{Damage, Direction, KeyRange, Snapshot, Space, StoreError};
use partita_value::{Item, ItemRef};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

/// The byte before an item in a row of a history; a row that tells of no item is another byte.
const WAS_THERE: u8 = 1;
const WAS_NOT_THERE: u8 = 0;
/// There was an item, but it could not be read when it was replaced.
const WAS_UNREADABLE: u8 = 2;

/// The row that tells what an item was before a change.
pub fn encode_row(change: &Change<'_>) -> Vec<u8> {
    match (change, change.before()) {
        (Change::Replace { .. }, _) => vec![WAS_UNREADABLE],
        (_, Some(item)) => [&[WAS_THERE], item.bytes()].concat(),
        (_, None) => vec![WAS_NOT_THERE],
    }
}

/// The bytes of the item in a row; none if there was no item. An error is what is wrong with the row.
pub fn read_row(row: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    match row.split_first() {
        Some((&WAS_THERE, item)) => Ok(Some(item)),
        Some((&(WAS_NOT_THERE | WAS_UNREADABLE), [])) => Ok(None),
        _ => Err("it tells neither of an item nor of none"),
    }
}

fn decode_row(key: &[u8], row: &[u8]) -> Was {
    match row.split_first() {
        Some((&WAS_THERE, item)) => Ok(ItemRef::new(item).map(|item| item.to_owned())),
        Some((&WAS_UNREADABLE, _)) => Err(Damage {
            keys: Some(KeyRange::of_row(key)),
            reason: "the item was damaged when it was replaced".to_owned(),
        }),
        _ => Ok(None),
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
    lost: RefCell<Vec<Damage>>,
    /// Ranges of the history that are lost.
    gaps: RefCell<Vec<KeyRange>>,
}

/// An item that has a row in the history behind some moment: what it was then.
struct Changed {
    /// Its key without the space.
    item: Vec<u8>,
    moment: Moment,
    was: Was,
}

/// The first of some rows of a history.
enum Met {
    Row(Changed),
    /// Several rows that are lost.
    Gap(Damage),
    Nothing,
}

/// What an item was, if it was there, unless that cannot be read.
type Was = Result<Option<Item>, Damage>;

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
        Past {
            snapshot,
            items,
            history,
            item_rows,
            history_rows,
            lost: RefCell::default(),
            gaps: RefCell::default(),
        }
    }

    /// The same, of a range of the items' rows only.
    pub fn within(self, rows: KeyRange) -> Past<'a, S> {
        let history_rows = stored_key::moved(&rows, self.items, self.history);
        Past { item_rows: rows, history_rows, ..self }
    }

    /// What could not be read, so far.
    pub fn lost(self) -> Vec<Damage> {
        self.lost.into_inner()
    }

    /// What an item was; what cannot be read is noted, as if there had been none.
    fn known(&self, was: Was) -> Option<Item> {
        was.unwrap_or_else(|damage| {
            self.lost.borrow_mut().push(damage);
            None
        })
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
        let merge = RefCell::new(Merge { past: self, moment, changed, visit, failure: None });
        let flow = Cell::new(ControlFlow::Continue(()));
        let noted = |shown: ControlFlow<()>| {
            flow.set(shown);
            shown
        };
        let show = |key: &[u8], row: &[u8]| {
            noted(merge.borrow_mut().show(stored_key::within_space(key), ItemRef::new(row)))
        };
        let damaged = |damage: Damage| noted(merge.borrow_mut().pass_over(damage));
        let walked = self.snapshot.range_past_damage(&rows, Direction::Ascending, show, damaged);
        walked.map_err(storage_failed)?;
        let mut merge = merge.into_inner();
        if flow.get().is_continue() {
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
                    old: self.known(was),
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
        match self.first_in(&range, Direction::Ascending)? {
            Met::Row(changed) => return Ok(self.known(changed.was)),
            Met::Gap(damage) => return Ok(self.known(Err(damage))),
            Met::Nothing => {}
        }
        match self.snapshot.get(&stored_key::in_space(self.items, item)) {
            Ok(row) => Ok(row.as_deref().and_then(ItemRef::new).map(|item| item.to_owned())),
            Err(StoreError::Damaged(damage)) => Ok(self.known(Err(damage))),
            Err(error) => Err(storage_failed(error)),
        }
    }

    fn last_change(&self, item: &[u8], until: Moment) -> Result<Option<Moment>, Exception> {
        let range = KeyRange { start: self.key(item, 0), end: self.key(item, until + 1) };
        Ok(match self.first_in(&range, Direction::Descending)? {
            Met::Row(changed) => Some(changed.moment),
            Met::Gap(_) | Met::Nothing => None,
        })
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
                Met::Row(older) if older.moment <= moment => start = self.key(&older.item, moment + 1),
                Met::Row(mut changed) => {
                    if self.may_have_changed(&changed.item, moment, changed.moment) {
                        let key = stored_key::in_space(self.items, &changed.item);
                        let reason = "it may have changed in a part of its history that is lost".to_owned();
                        changed.was = Err(Damage { keys: Some(KeyRange::of_row(&key)), reason });
                    }
                    return Ok(Some(changed));
                }
                Met::Gap(damage) => start = self.pass_gap(damage, &range)?,
                Met::Nothing => return Ok(None),
            }
        }
    }

    /// Notes that rows are lost, unless it was noted when what lies before was read. Says where the next ones are.
    fn pass_gap(&self, damage: Damage, looked_at: &KeyRange) -> Result<Vec<u8>, Exception> {
        let Some(gap) = damage.keys.clone().filter(|gap| gap.end > looked_at.start) else {
            return Err(storage_failed(StoreError::Damaged(damage)));
        };
        if gap.start >= looked_at.start || looked_at.start == self.history_rows.start {
            self.lost.borrow_mut().push(damage);
        }
        let behind = gap.end.clone();
        self.gaps.borrow_mut().push(gap);
        Ok(behind)
    }

    /// Whether a lost row may have told of a change of an item after one moment and before another.
    fn may_have_changed(&self, item: &[u8], after: Moment, before: Moment) -> bool {
        let gaps = self.gaps.borrow();
        if gaps.is_empty() {
            return false;
        }
        let (first, last) = (self.key(item, after + 1), self.key(item, before));
        gaps.iter().any(|gap| gap.start < last && first < gap.end)
    }

    fn first_in(&self, range: &KeyRange, direction: Direction) -> Result<Met, Exception> {
        let met = RefCell::new(Met::Nothing);
        let take = |key: &[u8], was: Was| {
            if let Some((item, moment)) = stored_key::item_and_moment(key) {
                *met.borrow_mut() = Met::Row(Changed { item: item.to_vec(), moment, was });
            }
            ControlFlow::Break(())
        };
        let damaged = |damage: Damage| match damage.keys.clone() {
            Some(keys) if keys.row().is_some() => take(&keys.start, Err(damage)),
            _ => {
                *met.borrow_mut() = Met::Gap(damage);
                ControlFlow::Break(())
            }
        };
        let visit = |key: &[u8], row: &[u8]| take(key, decode_row(key, row));
        self.snapshot.range_past_damage(range, direction, visit, damaged).map_err(storage_failed)?;
        Ok(met.into_inner())
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
    fn show(&mut self, key: &[u8], item: Option<ItemRef<'_>>) -> ControlFlow<()> {
        self.show_changed_before(Some(key))?;
        if self.changed.as_ref().is_some_and(|changed| changed.item == key) {
            return self.show_changed();
        }
        let is_sure = !self.past.may_have_changed(key, self.moment, Moment::MAX);
        (self.visit)(key, item.filter(|_| is_sure))
    }

    /// Notes what cannot be read of the items as they are. What one of them was may be known all the same.
    fn pass_over(&mut self, damage: Damage) -> ControlFlow<()> {
        let row =
            damage.keys.as_ref().and_then(KeyRange::row).map(|key| stored_key::within_space(key).to_vec());
        let Some(key) = row else {
            self.past.known(Err(damage));
            return ControlFlow::Continue(());
        };
        self.show_changed_before(Some(&key))?;
        if self.changed.as_ref().is_none_or(|changed| changed.item != key) {
            self.past.known(Err(damage));
        }
        self.show(&key, None)
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
        let was = self.past.known(changed.was);
        (self.visit)(&changed.item, was.as_ref().map(Item::view))?;
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
