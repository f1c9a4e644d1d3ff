//! Checks items: each is readable, stored under the key of its attributes, and has its entries; totals and collections add up.

use super::finding::{Finding, FindingKind};
use super::verification::{Lookup, Outcome, Tally, Verification, Visited, counters_of, find, page};
use crate::catalog::table::{IndexKind, Table, TableRecord};
use crate::index::backfill::entry_in;
use crate::key::item_key::{ItemKey, fits};
use crate::key::stored_key::{self, Key, Token};
use partita_store::{Counters, KeyRange, Snapshot, Space, Store, StoreError};
use partita_value::{ItemRef, ValueRef, canonical};
use std::ops::ControlFlow;

/// A space with entries of items: an index, or the expiry entries.
pub struct EntrySpace<'a> {
    pub name: String,
    pub space: Space,
    pub backfilling: bool,
    is_local: bool,
    table: &'a Table,
}

impl<'a> EntrySpace<'a> {
    /// All entry spaces of a table.
    pub fn all(table: &'a Table) -> Vec<EntrySpace<'a>> {
        let indexes = table.indexes.iter().map(|index| EntrySpace {
            name: format!("index {}", index.name),
            space: index.space,
            backfilling: index.backfilling,
            is_local: index.kind == IndexKind::Local,
            table,
        });
        let expiry = table.expiry.iter().map(|expiry| EntrySpace {
            name: "the expiry entries".to_owned(),
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
    /// Checks the items of a table, their entries and totals.
    pub fn check_items(&mut self, known: &TableRecord) -> Outcome<()> {
        let mut range = stored_key::all_rows(Space(known.space));
        let mut tally = Tally::started_in(self.snapshot_number);
        let mut collection = CollectionTally::started_in(self.snapshot_number);
        loop {
            let Some(table) = self.table(known)? else { return Ok(()) };
            let holders = EntrySpace::all(&table);
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            collection.snapshot_number = self.snapshot_number;
            let page = page(snapshot, &range, |visited| {
                let (key, row) = match visited {
                    Visited::Row(key, row) => (key, row),
                    Visited::Damage(damage) => {
                        tally.is_incomplete = true;
                        collection.mark_incomplete();
                        findings.push(Finding::of_damage(Some(table.name.as_str()), damage));
                        return Ok(());
                    }
                };
                let Some(item) = checked_item(&table, key, row, &mut findings) else {
                    tally.is_incomplete = true;
                    collection.mark_incomplete();
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
            let Some(next) = next else { return self.finish_items(known, &tally, collection, page.rows) };
            self.finish_page(page.rows, &known.name)?;
            range.start = next;
        }
    }

    fn finish_items(
        &mut self,
        known: &TableRecord,
        tally: &Tally,
        collection: CollectionTally,
        rows: u64,
    ) -> Outcome<()> {
        self.compare(&known.name, "its items", Space(known.space), tally)?;
        if collection.not_compared > 0 {
            let count = collection.not_compared;
            self.report_not_compared(format!(
                "table {}: the sizes of {count} item collections were not compared",
                known.name
            ))?;
        }
        self.finish_page(rows, &known.name)
    }

    /// Checks for sizes of item collections without items.
    pub fn check_collections(&mut self, known: &TableRecord) -> Outcome<()> {
        let Some(space) = known.collections.map(Space) else { return Ok(()) };
        let mut range = stored_key::all_rows(space);
        loop {
            if self.table(known)?.is_none() {
                return Ok(());
            }
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |visited| {
                match visited {
                    Visited::Row(key, row) => findings.extend(check_collection(snapshot, known, key, row)?),
                    Visited::Damage(damage) => {
                        findings.push(Finding::of_derived_damage(&known.name, space, damage));
                    }
                }
                Ok(())
            })?;
            self.report(findings)?;
            self.finish_page(page.rows, &known.name)?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }
}

/// Returns the row as an item, if it is one and has the right key.
pub fn checked_item<'a>(
    table: &Table,
    key: &[u8],
    row: &'a [u8],
    findings: &mut Vec<Finding>,
) -> Option<ItemRef<'a>> {
    let name = Some(table.name.as_str());
    if let Err(flaw) = canonical::check_item(row) {
        findings.push(Finding::new(FindingKind::Undecodable, name, key, format!("not an item: {flaw}")));
        return None;
    }
    let item = ItemRef::new(row)?;
    if !belongs_at(table, item, stored_key::within_space(key)) {
        let text = format!("item {} is stored under another key", shown_key(table, item));
        findings.push(Finding::new(FindingKind::Misplaced, name, key, text));
        return None;
    }
    Some(item)
}

/// Whether the item has its key attributes, and they determine this key, which has no space.
pub fn belongs_at(table: &Table, item: ItemRef<'_>, within: &[u8]) -> bool {
    table.key.attributes().all(|attribute| fits(attribute, item))
        && stored_key::within_space(&ItemKey::of_stored_item(table, item).stored) == within
}

/// Checks that an item has its entries; returns the bytes of those in local indexes.
fn check_entries_of(
    snapshot: &impl Snapshot,
    holders: &[EntrySpace<'_>],
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
            Lookup::Row(row) if row == entry.value => continue,
            Lookup::Nothing if holder.backfilling => continue,
            Lookup::Unreadable => continue,
            Lookup::Row(_) => (FindingKind::DifferentEntry, "a different entry of"),
            Lookup::Nothing => (FindingKind::MissingEntry, "no entry of"),
        };
        let finding = holder.finding(kind, &entry.key, text, item);
        findings.push(finding.repaired_by(Some(entry.value.into_owned())));
    }
    Ok(local_bytes)
}

/// The size of the item collection that is being read.
struct CollectionTally {
    partition: Option<Token>,
    tally: Tally,
    /// The current snapshot.
    snapshot_number: u64,
    /// The next collection may start with unreadable rows.
    next_is_incomplete: bool,
    not_compared: u64,
}

impl CollectionTally {
    fn started_in(snapshot_number: u64) -> CollectionTally {
        let tally = Tally::started_in(snapshot_number);
        CollectionTally {
            partition: None,
            tally,
            snapshot_number,
            next_is_incomplete: false,
            not_compared: 0,
        }
    }

    fn mark_incomplete(&mut self) {
        self.tally.is_incomplete = true;
        self.next_is_incomplete = true;
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
            self.tally =
                Tally { is_incomplete: self.next_is_incomplete, ..Tally::started_in(self.snapshot_number) };
            (self.partition, self.next_is_incomplete) = (partition, false);
        }
        self.tally.counted += added;
        Ok(())
    }

    /// Compares the counted size with the stored one.
    fn finish(
        &mut self,
        snapshot: &impl Snapshot,
        table: &Table,
        findings: &mut Vec<Finding>,
    ) -> Result<(), StoreError> {
        let (Some(token), Some(space)) = (self.partition.take(), table.collections) else { return Ok(()) };
        if self.tally.is_incomplete || self.tally.snapshot_number != self.snapshot_number {
            self.not_compared += 1;
            return Ok(());
        }
        let key = Key::Collection { space, token }.to_bytes();
        let found = find(snapshot, &key)?;
        if matches!(found, Lookup::Unreadable) || counters_of(&found) == Some(self.tally.counted) {
            return Ok(());
        }
        let Counters { rows, bytes } = self.tally.counted;
        let text =
            format!("an item collection has {rows} items and {bytes} bytes, but other totals are stored");
        let finding = Finding::new(FindingKind::WrongCollection, Some(table.name.as_str()), &key, text);
        findings.push(finding.repaired_by(Some(self.tally.counted.to_row())));
        Ok(())
    }
}

/// Checks the row of a collection: whether it is malformed, or the collection does not exist.
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
    let text = "totals are stored for an empty item collection";
    let is_empty = is_empty(snapshot, &stored_key::rows_beginning_with(prefix))?;
    let finding = || Finding::new(FindingKind::WrongCollection, Some(&table.name), key, text);
    Ok(is_empty.then(|| finding().repaired_by(None)))
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

/// The key attributes of an item as readable text.
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
