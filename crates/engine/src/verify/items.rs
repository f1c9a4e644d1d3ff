//! Items: each is whole, lies where its key attributes say, and has its entries; totals and collections add up.

use super::finding::{Finding, FindingKind};
use super::walk::{Found, Outcome, Seen, Tally, Verification, counters_of, find, page};
use crate::catalog::table::{IndexKind, Table, TableRecord};
use crate::index::backfill::entry_in;
use crate::key::item_key::{ItemKey, fits};
use crate::key::stored_key::{self, Key, Token};
use partita_store::{Counters, KeyRange, Snapshot, Space, Store, StoreError};
use partita_value::{ItemRef, ValueRef, canonical};
use std::ops::ControlFlow;

/// Something that holds entries of items: an index, or the order of expiry.
pub struct EntryHolder<'a> {
    pub name: String,
    pub space: Space,
    pub backfilling: bool,
    is_local: bool,
    table: &'a Table,
}

impl<'a> EntryHolder<'a> {
    /// All that a table has.
    pub fn all(table: &'a Table) -> Vec<EntryHolder<'a>> {
        let indexes = table.indexes.iter().map(|index| EntryHolder {
            name: format!("index {}", index.name),
            space: index.space,
            backfilling: index.backfilling,
            is_local: index.kind == IndexKind::Local,
            table,
        });
        let expiry = table.expiry.iter().map(|expiry| EntryHolder {
            name: "the order of expiry".to_owned(),
            space: expiry.space,
            backfilling: expiry.backfilling,
            is_local: false,
            table,
        });
        indexes.chain(expiry).collect()
    }

    fn finding(&self, kind: FindingKind, key: &[u8], text: &str, item: ItemRef<'_>) -> Finding {
        let text = format!("{}: {text} item {}", self.name, shown_key(self.table, item));
        Finding::new(kind, Some(self.table.name.as_str()), key, text)
    }
}

impl<S: Store> Verification<'_, S> {
    /// The items of a table, and what is kept about them.
    pub fn check_items(&mut self, known: &TableRecord) -> Outcome<()> {
        let mut range = stored_key::all_rows(Space(known.space));
        let mut tally = Tally::begun_in(self.age);
        let mut collection = CollectionTally::begun_in(self.age);
        loop {
            let Some(table) = self.table(known)? else { return Ok(()) };
            let holders = EntryHolder::all(&table);
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            collection.now = self.age;
            let page = page(snapshot, &range, |seen| {
                let (key, row) = match seen {
                    Seen::Row(key, row) => (key, row),
                    Seen::Damage(damage) => {
                        tally.is_unsure = true;
                        collection.blur();
                        findings.push(Finding::of_damage(Some(table.name.as_str()), damage));
                        return Ok(());
                    }
                };
                let Some(item) = checked_item(&table, key, row, &mut findings) else {
                    tally.is_unsure = true;
                    collection.blur();
                    return Ok(());
                };
                tally.add(item.size());
                let local_bytes = check_entries_of(snapshot, &holders, item, &mut findings)?;
                let added = Counters { rows: 1, bytes: (item.size() + local_bytes) as i64 };
                collection.add(snapshot, &table, key, added, &mut findings)
            })?;
            let next = page.next;
            if next.is_none() {
                collection.finish(snapshot, &table, &mut findings)?;
            }
            self.report(findings)?;
            let Some(next) = next else { return self.sum_up(known, &tally, collection, page.rows) };
            self.rest(page.rows, &known.name)?;
            range.start = next;
        }
    }

    fn sum_up(
        &mut self,
        known: &TableRecord,
        tally: &Tally,
        collection: CollectionTally,
        rows: u64,
    ) -> Outcome<()> {
        self.compare(&known.name, "its items", Space(known.space), tally)?;
        if collection.not_compared > 0 {
            let count = collection.not_compared;
            self.note(format!(
                "table {}: the sizes of {count} item collections were not compared",
                known.name
            ))?;
        }
        self.rest(rows, &known.name)
    }

    /// Sizes of item collections that have no items.
    pub fn check_collections(&mut self, known: &TableRecord) -> Outcome<()> {
        let Some(space) = known.collections.map(Space) else { return Ok(()) };
        let mut range = stored_key::all_rows(space);
        loop {
            if self.table(known)?.is_none() {
                return Ok(());
            }
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |seen| {
                match seen {
                    Seen::Row(key, row) => findings.extend(check_collection(snapshot, known, key, row)?),
                    Seen::Damage(damage) => {
                        findings.push(Finding::of_damage_beside_items(&known.name, space, damage));
                    }
                }
                Ok(())
            })?;
            self.report(findings)?;
            self.rest(page.rows, &known.name)?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }
}

/// The row as an item, if it is one and lies where it should.
pub fn checked_item<'a>(
    table: &Table,
    key: &[u8],
    row: &'a [u8],
    findings: &mut Vec<Finding>,
) -> Option<ItemRef<'a>> {
    let name = Some(table.name.as_str());
    if let Err(flaw) = canonical::check_item(row) {
        findings.push(Finding::new(FindingKind::Undecodable, name, key, format!("no item: {flaw}")));
        return None;
    }
    let item = ItemRef::new(row)?;
    if !is_at(table, item, stored_key::within_space(key)) {
        let text = format!("item {} lies where another belongs", shown_key(table, item));
        findings.push(Finding::new(FindingKind::Misplaced, name, key, text));
        return None;
    }
    Some(item)
}

/// Whether the item has its key attributes, and they say that it belongs to this key, which is without its space.
pub fn is_at(table: &Table, item: ItemRef<'_>, within: &[u8]) -> bool {
    table.key.attributes().all(|attribute| fits(attribute, item))
        && stored_key::within_space(&ItemKey::of_stored_item(table, item).stored) == within
}

/// Checks that an item has its entries; returns the bytes of those in local indexes.
fn check_entries_of(
    snapshot: &impl Snapshot,
    holders: &[EntryHolder<'_>],
    item: ItemRef<'_>,
    findings: &mut Vec<Finding>,
) -> Result<usize, StoreError> {
    let Some(first) = holders.first() else { return Ok(0) };
    let key = ItemKey::of_stored_item(first.table, item);
    let mut local_bytes = 0;
    for holder in holders {
        let Some(entry) = entry_in(holder.table, holder.space, &key, item) else { continue };
        if holder.is_local {
            local_bytes += entry.size;
        }
        let (kind, text) = match find(snapshot, &entry.key)? {
            Found::Row(row) if row == entry.value => continue,
            Found::Nothing if holder.backfilling => continue,
            Found::Unreadable => continue,
            Found::Row(_) => (FindingKind::DifferentEntry, "its entry is not as it should be of"),
            Found::Nothing => (FindingKind::MissingEntry, "it has no entry of"),
        };
        let finding = holder.finding(kind, &entry.key, text, item);
        findings.push(finding.mended_by(Some(entry.value.into_owned())));
    }
    Ok(local_bytes)
}

/// The size of the item collection that is being walked through.
struct CollectionTally {
    partition: Option<Token>,
    tally: Tally,
    /// The number of the present snapshot.
    now: u64,
    /// The next collection may have begun with rows that cannot be read.
    is_blurred: bool,
    not_compared: u64,
}

impl CollectionTally {
    fn begun_in(age: u64) -> CollectionTally {
        let tally = Tally::begun_in(age);
        CollectionTally { partition: None, tally, now: age, is_blurred: false, not_compared: 0 }
    }

    fn blur(&mut self) {
        self.tally.is_unsure = true;
        self.is_blurred = true;
    }

    fn add(
        &mut self,
        snapshot: &impl Snapshot,
        table: &Table,
        key: &[u8],
        added: Counters,
        findings: &mut Vec<Finding>,
    ) -> Result<(), StoreError> {
        let partition = stored_key::within_space(key).first_chunk::<16>().copied();
        if self.partition != partition {
            self.finish(snapshot, table, findings)?;
            self.tally = Tally { is_unsure: self.is_blurred, ..Tally::begun_in(self.now) };
            (self.partition, self.is_blurred) = (partition, false);
        }
        self.tally.counted += added;
        Ok(())
    }

    /// Holds what was counted against what is stored.
    fn finish(
        &mut self,
        snapshot: &impl Snapshot,
        table: &Table,
        findings: &mut Vec<Finding>,
    ) -> Result<(), StoreError> {
        let (Some(token), Some(space)) = (self.partition.take(), table.collections) else { return Ok(()) };
        if self.tally.is_unsure || self.tally.age != self.now {
            self.not_compared += 1;
            return Ok(());
        }
        let key = Key::Collection { space, token }.to_bytes();
        let found = find(snapshot, &key)?;
        if matches!(found, Found::Unreadable) || counters_of(&found) == Some(self.tally.counted) {
            return Ok(());
        }
        let Counters { rows, bytes } = self.tally.counted;
        let text =
            format!("an item collection has {rows} items and {bytes} bytes, but other totals are kept");
        let finding = Finding::new(FindingKind::WrongCollection, Some(table.name.as_str()), &key, text);
        findings.push(finding.mended_by(Some(self.tally.counted.to_row())));
        Ok(())
    }
}

/// What is wrong with the row of a collection: it is malformed, or there is no such collection.
fn check_collection(
    snapshot: &impl Snapshot,
    table: &TableRecord,
    key: &[u8],
    row: &[u8],
) -> Result<Option<Finding>, StoreError> {
    let (Some(token), 16) = (stored_key::within_space(key).as_array::<16>(), row.len()) else {
        let text = "the size of an item collection is malformed";
        return Ok(Some(Finding::new(FindingKind::Undecodable, Some(&table.name), key, text)));
    };
    if Counters::read(Some(row)) == Counters::default() {
        return Ok(None);
    }
    let prefix = stored_key::partition_prefix(Space(table.space), token);
    let text = "totals are kept of an item collection that is empty";
    let is_empty = is_empty(snapshot, &stored_key::rows_beginning_with(prefix))?;
    let finding = || Finding::new(FindingKind::WrongCollection, Some(&table.name), key, text);
    Ok(is_empty.then(|| finding().mended_by(None)))
}

/// Whether a range has neither rows nor damage.
pub fn is_empty(snapshot: &impl Snapshot, range: &KeyRange) -> Result<bool, StoreError> {
    let is_empty = std::cell::Cell::new(true);
    let found = || {
        is_empty.set(false);
        ControlFlow::Break(())
    };
    snapshot.range_past_damage(range, partita_store::Direction::Ascending, |_, _| found(), |_| found())?;
    Ok(is_empty.get())
}

/// The key attributes of an item, as people read them.
pub fn shown_key(table: &Table, item: ItemRef<'_>) -> String {
    let shown = |value: ValueRef<'_>| match value {
        ValueRef::S(text) | ValueRef::N(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::B(bytes) => super::finding::hex(bytes),
        _ => "?".to_owned(),
    };
    let pairs = table.key.attributes().map(|attribute| {
        format!("{}={}", attribute.name, item.get(&attribute.name).map_or("?".to_owned(), shown))
    });
    pairs.collect::<Vec<_>>().join(", ")
}
