//! Checks index entries and expiry entries: each belongs to an existing item.

use super::check_items::{EntrySpace, shown_key};
use super::finding::{Finding, FindingKind};
use super::verification::{Lookup, Outcome, Tally, Verification, Visited, find, page};
use crate::catalog::table::{Table, TableRecord};
use crate::index::backfill::entry_in;
use crate::key::item_key::{ItemKey, fits};
use crate::key::stored_key;
use partita_store::{Snapshot, Space, Store, StoreError};
use partita_value::{ItemRef, canonical};

impl<S: Store> Verification<'_, S> {
    /// Checks all entries of a table.
    pub fn check_entries(&mut self, known: &TableRecord) -> Outcome<()> {
        let Some(table) = self.table(known)? else { return Ok(()) };
        for space in EntrySpace::all(&table).into_iter().map(|holder| holder.space) {
            self.check_entries_in(known, space)?;
        }
        Ok(())
    }

    fn check_entries_in(&mut self, known: &TableRecord, space: Space) -> Outcome<()> {
        let mut range = stored_key::all_rows(space);
        let mut tally = Tally::started_in(self.snapshot_number);
        loop {
            let Some(table) = self.table(known)? else { return Ok(()) };
            let holders = EntrySpace::all(&table);
            // The index may have been deleted in the meantime.
            let Some(holder) = holders.iter().find(|holder| holder.space == space) else { return Ok(()) };
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |visited| {
                let checked = match visited {
                    Visited::Row(key, row) => check_entry(snapshot, &table, holder, key, row, &mut findings)?,
                    Visited::Damage(damage) => {
                        findings.push(Finding::of_derived_damage(table.name.as_str(), space, damage));
                        None
                    }
                };
                match checked {
                    Some(bytes) => tally.add(bytes),
                    None => tally.is_incomplete = true,
                }
                Ok(())
            })?;
            let name = holder.name.clone();
            self.report(findings)?;
            if page.next.is_none() {
                self.compare(&known.name, &name, space, &tally)?;
            }
            self.finish_page(page.rows, &format!("{}, {name}", known.name))?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }
}

/// Checks an entry; returns its size, if it is readable.
fn check_entry(
    snapshot: &impl Snapshot,
    table: &Table,
    holder: &EntrySpace<'_>,
    key: &[u8],
    row: &[u8],
    findings: &mut Vec<Finding>,
) -> Result<Option<usize>, StoreError> {
    let name = Some(table.name.as_str());
    let flaw = canonical::check_item(row).err();
    let Some(entry) = ItemRef::new(row).filter(|_| flaw.is_none()) else {
        let text = format!("{}: not an entry: {}", holder.name, flaw.unwrap_or_default());
        findings.push(Finding::new(FindingKind::Undecodable, name, key, text));
        return Ok(None);
    };
    if !table.key.attributes().all(|attribute| fits(attribute, entry)) {
        let text = format!("{}: an entry does not contain the key of an item", holder.name);
        findings.push(Finding::new(FindingKind::Undecodable, name, key, text));
        return Ok(Some(entry.size()));
    }
    let item_key = ItemKey::of_stored_item(table, entry);
    let is_stale = match find(snapshot, &item_key.stored)? {
        Lookup::Unreadable => false,
        Lookup::Nothing => true,
        Lookup::Row(row) => {
            let expected = ItemRef::new(&row).and_then(|item| entry_in(table, holder.space, &item_key, item));
            let is_expected = expected.is_some_and(|expected| expected.key == key);
            // Nothing is known about an unreadable item.
            !is_expected && canonical::check_item(&row).is_ok()
        }
    };
    if is_stale {
        let text = format!("{}: an entry without its item {}", holder.name, shown_key(table, entry));
        findings.push(Finding::new(FindingKind::StaleEntry, name, key, text).repaired_by(None));
    }
    Ok(Some(entry.size()))
}
