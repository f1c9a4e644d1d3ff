//! Reads a table as it was at a moment, or what changed between two moments. See [`crate::history`] for how that is stored.
//!
//! Every page may be read from another snapshot: while the moment is pinned, the result does not change. Unreadable rows are skipped
//! and collected ([`Past::lost`]), and the caller reports them. Where several rows of a history are lost, it is unknown which
//! items have changed: then all that may have changed are omitted.

use crate::history::{History, Moment};
use crate::key::stored_key::{self, Key};
use crate::storage_failed;
use crate::write::change::Change;
use partita_api::Exception;
use partita_store::{Damage, Direction, KeyRange, Snapshot, Space, StoreError};
use partita_value::{Item, ItemRef};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

/// The first byte of a row; only [`EXISTING`] is followed by an item.
const EXISTING: u8 = 1;
const ABSENT: u8 = 0;
/// The item could not be read when it was replaced.
const UNREADABLE: u8 = 2;

/// Encodes the state of an item before a change.
pub fn encode_row(change: &Change<'_>) -> Vec<u8> {
    match (change, change.before()) {
        (Change::Replace { .. }, _) => vec![UNREADABLE],
        (_, Some(item)) => [&[EXISTING], item.bytes()].concat(),
        (_, None) => vec![ABSENT],
    }
}

/// Returns the bytes of the item in a row, `None` if there was no item, or what is wrong with the row.
pub fn read_row(row: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    match row.split_first() {
        Some((&EXISTING, item)) => Ok(Some(item)),
        Some((&(ABSENT | UNREADABLE), [])) => Ok(None),
        _ => Err("it is neither an item nor the absence of one"),
    }
}

fn decode_row(key: &[u8], row: &[u8]) -> PriorItem {
    match row.split_first() {
        Some((&EXISTING, item)) => Ok(ItemRef::new(item).map(|item| item.to_owned())),
        Some((&UNREADABLE, _)) => Err(Damage {
            keys: Some(KeyRange::of_row(key)),
            reason: "the item was damaged when it was replaced".to_owned(),
        }),
        _ => Ok(None),
    }
}

/// A table's past, read from one snapshot.
pub struct Past<'a, S> {
    snapshot: &'a S,
    items: Space,
    history: Space,
    /// The ranges to read, in either space.
    item_rows: KeyRange,
    history_rows: KeyRange,
    lost: RefCell<Vec<Damage>>,
    /// Lost ranges of the history.
    gaps: RefCell<Vec<KeyRange>>,
}

/// The first row of an item's history after some moment.
struct Changed {
    /// The item's key without its space.
    item: Vec<u8>,
    moment: Moment,
    prior: PriorItem,
}

/// The first of a range of rows of a history.
enum FirstRow {
    Row(Changed),
    /// A range of lost rows.
    Gap(Damage),
    Nothing,
}

/// A former state of an item: the item, its absence, or that the state cannot be read.
type PriorItem = Result<Option<Item>, Damage>;

/// The net change of an item between two moments.
pub struct NetChange {
    pub old: Option<Item>,
    pub new: Option<Item>,
    /// The moment of its last change.
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

    /// Restricts reading to a range of the items' rows.
    pub fn within(self, rows: KeyRange) -> Past<'a, S> {
        let history_rows = stored_key::moved(&rows, self.items, self.history);
        Past { item_rows: rows, history_rows, ..self }
    }

    /// Returns what could not be read so far.
    pub fn lost(self) -> Vec<Damage> {
        self.lost.into_inner()
    }

    /// Returns a former state; one that cannot be read is added to the lost ones and counts as absent.
    fn or_lost(&self, prior: PriorItem) -> Option<Item> {
        prior.unwrap_or_else(|damage| {
            self.lost.borrow_mut().push(damage);
            None
        })
    }

    /// Visits the items that existed at a moment, in key order, starting after a key. Keys have no space; those of items that did not
    /// exist are visited too, so that a long scan without results can be interrupted.
    pub fn items_at(
        &self,
        moment: Moment,
        after_key: Option<&[u8]>,
        visit: impl FnMut(&[u8], Option<ItemRef<'_>>) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let start = after_key.map(|key| stored_key::next_key_after(&stored_key::in_space(self.items, key)));
        let start = start.unwrap_or_else(|| self.item_rows.start.clone());
        let rows = KeyRange { start, end: self.item_rows.end.clone() };
        let changed = self.first_changed(moment, after_key)?;
        let merge = RefCell::new(Merge { past: self, moment, changed, visit, failure: None });
        let flow = Cell::new(ControlFlow::Continue(()));
        let remember = |next: ControlFlow<()>| {
            flow.set(next);
            next
        };
        let visit_row = |key: &[u8], row: &[u8]| {
            remember(merge.borrow_mut().visit_item(stored_key::within_space(key), ItemRef::new(row)))
        };
        let damaged = |damage: Damage| remember(merge.borrow_mut().skip_damage(damage));
        let walked = self.snapshot.range_past_damage(&rows, Direction::Ascending, visit_row, damaged);
        walked.map_err(storage_failed)?;
        let mut merge = merge.into_inner();
        if flow.get().is_continue() {
            // Items after the last one that still exists.
            let _ = merge.visit_changed_before(None);
        }
        merge.failure.map_or(Ok(()), Err)
    }

    /// Visits the items that changed after one moment and up to another, starting after a key. Keys of other items with a history
    /// are visited too.
    pub fn changes_between(
        &self,
        (after, until): (Moment, Moment),
        after_key: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], Option<NetChange>) -> ControlFlow<()>,
    ) -> Result<(), Exception> {
        let mut changed = self.first_changed(after, after_key)?;
        while let Some(Changed { item, moment, prior }) = changed {
            let change = match moment <= until {
                true => Some(NetChange {
                    old: self.or_lost(prior),
                    new: self.item_at(&item, until)?,
                    written: self.last_change(&item, until)?.unwrap_or(moment),
                }),
                false => None,
            };
            if visit(&item, change).is_break() {
                return Ok(());
            }
            changed = self.changed_after(after, &item)?;
        }
        Ok(())
    }

    fn item_at(&self, item: &[u8], moment: Moment) -> Result<Option<Item>, Exception> {
        let range = KeyRange { start: self.key(item, moment + 1), end: self.end_of_item(item) };
        match self.first_in(&range, Direction::Ascending)? {
            FirstRow::Row(changed) => return Ok(self.or_lost(changed.prior)),
            FirstRow::Gap(damage) => return Ok(self.or_lost(Err(damage))),
            FirstRow::Nothing => {}
        }
        match self.snapshot.get(&stored_key::in_space(self.items, item)) {
            Ok(row) => Ok(row.as_deref().and_then(ItemRef::new).map(|item| item.to_owned())),
            Err(StoreError::Damaged(damage)) => Ok(self.or_lost(Err(damage))),
            Err(error) => Err(storage_failed(error)),
        }
    }

    fn last_change(&self, item: &[u8], until: Moment) -> Result<Option<Moment>, Exception> {
        let range = KeyRange { start: self.key(item, 0), end: self.key(item, until + 1) };
        Ok(match self.first_in(&range, Direction::Descending)? {
            FirstRow::Row(changed) => Some(changed.moment),
            FirstRow::Gap(_) | FirstRow::Nothing => None,
        })
    }

    fn first_changed(&self, moment: Moment, after_key: Option<&[u8]>) -> Result<Option<Changed>, Exception> {
        match after_key {
            Some(item) => self.changed_after(moment, item),
            None => self.changed_from(moment, self.history_rows.start.clone()),
        }
    }

    fn changed_after(&self, moment: Moment, item: &[u8]) -> Result<Option<Changed>, Exception> {
        self.changed_from(moment, self.end_of_item(item))
    }

    /// The first item, starting at a key of the history, with a row after the moment.
    fn changed_from(&self, moment: Moment, mut start: Vec<u8>) -> Result<Option<Changed>, Exception> {
        loop {
            let range = KeyRange { start, end: self.history_rows.end.clone() };
            match self.first_in(&range, Direction::Ascending)? {
                // Skips the item's older rows.
                FirstRow::Row(older) if older.moment <= moment => start = self.key(&older.item, moment + 1),
                FirstRow::Row(mut changed) => {
                    if self.may_have_changed(&changed.item, moment, changed.moment) {
                        let key = stored_key::in_space(self.items, &changed.item);
                        let reason = "it may have changed in a part of its history that is lost".to_owned();
                        changed.prior = Err(Damage { keys: Some(KeyRange::of_row(&key)), reason });
                    }
                    return Ok(Some(changed));
                }
                FirstRow::Gap(damage) => start = self.skip_gap(damage, &range)?,
                FirstRow::Nothing => return Ok(None),
            }
        }
    }

    /// Records lost rows, unless an earlier read did so already. Returns where the next rows start.
    fn skip_gap(&self, damage: Damage, read_range: &KeyRange) -> Result<Vec<u8>, Exception> {
        let Some(gap) = damage.keys.clone().filter(|gap| gap.end > read_range.start) else {
            return Err(storage_failed(StoreError::Damaged(damage)));
        };
        if gap.start >= read_range.start || read_range.start == self.history_rows.start {
            self.lost.borrow_mut().push(damage);
        }
        let end = gap.end.clone();
        self.gaps.borrow_mut().push(gap);
        Ok(end)
    }

    /// Whether a lost row may have recorded a change of an item after one moment and before another.
    fn may_have_changed(&self, item: &[u8], after: Moment, before: Moment) -> bool {
        let gaps = self.gaps.borrow();
        if gaps.is_empty() {
            return false;
        }
        let (first, last) = (self.key(item, after + 1), self.key(item, before));
        gaps.iter().any(|gap| gap.start < last && first < gap.end)
    }

    fn first_in(&self, range: &KeyRange, direction: Direction) -> Result<FirstRow, Exception> {
        let first = RefCell::new(FirstRow::Nothing);
        let take = |key: &[u8], prior: PriorItem| {
            if let Some((item, moment)) = stored_key::item_and_moment(key) {
                *first.borrow_mut() = FirstRow::Row(Changed { item: item.to_vec(), moment, prior });
            }
            ControlFlow::Break(())
        };
        let damaged = |damage: Damage| match damage.keys.clone() {
            Some(keys) if keys.row().is_some() => take(&keys.start, Err(damage)),
            _ => {
                *first.borrow_mut() = FirstRow::Gap(damage);
                ControlFlow::Break(())
            }
        };
        let visit = |key: &[u8], row: &[u8]| take(key, decode_row(key, row));
        self.snapshot.range_past_damage(range, direction, visit, damaged).map_err(storage_failed)?;
        Ok(first.into_inner())
    }

    fn key(&self, item: &[u8], moment: Moment) -> Vec<u8> {
        Key::Past { space: self.history, item, moment }.to_bytes()
    }

    /// The end of an item's rows: no item key is a prefix of another.
    fn end_of_item(&self, item: &[u8]) -> Vec<u8> {
        stored_key::next_key_after(&self.key(item, Moment::MAX))
    }
}

/// Merges the current items with those that have changed since a moment.
struct Merge<'a, 'b, S, V> {
    past: &'a Past<'b, S>,
    moment: Moment,
    /// The next item that has changed.
    changed: Option<Changed>,
    visit: V,
    failure: Option<Exception>,
}

impl<S: Snapshot, V: FnMut(&[u8], Option<ItemRef<'_>>) -> ControlFlow<()>> Merge<'_, '_, S, V> {
    /// Visits the former state of an item, and all changed items before it.
    fn visit_item(&mut self, key: &[u8], item: Option<ItemRef<'_>>) -> ControlFlow<()> {
        self.visit_changed_before(Some(key))?;
        if self.changed.as_ref().is_some_and(|changed| changed.item == key) {
            return self.visit_changed();
        }
        let is_certain = !self.past.may_have_changed(key, self.moment, Moment::MAX);
        (self.visit)(key, item.filter(|_| is_certain))
    }

    /// Records current items that cannot be read. A former state may be readable nevertheless.
    fn skip_damage(&mut self, damage: Damage) -> ControlFlow<()> {
        let row =
            damage.keys.as_ref().and_then(KeyRange::row).map(|key| stored_key::within_space(key).to_vec());
        let Some(key) = row else {
            self.past.or_lost(Err(damage));
            return ControlFlow::Continue(());
        };
        self.visit_changed_before(Some(&key))?;
        if self.changed.as_ref().is_none_or(|changed| changed.item != key) {
            self.past.or_lost(Err(damage));
        }
        self.visit_item(&key, None)
    }

    fn visit_changed_before(&mut self, key: Option<&[u8]>) -> ControlFlow<()> {
        let is_before = |changed: &Changed| key.is_none_or(|key| changed.item.as_slice() < key);
        while self.changed.as_ref().is_some_and(is_before) {
            self.visit_changed()?;
        }
        ControlFlow::Continue(())
    }

    /// Visits the former state of the next changed item, and finds the one after it.
    fn visit_changed(&mut self) -> ControlFlow<()> {
        let Some(changed) = self.changed.take() else { return ControlFlow::Continue(()) };
        let prior = self.past.or_lost(changed.prior);
        (self.visit)(&changed.item, prior.as_ref().map(Item::view))?;
        match self.past.changed_after(self.moment, &changed.item) {
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
