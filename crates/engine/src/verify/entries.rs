//! Entries of indexes and of the order of expiry: each stands for an item that is there and has it.

use super::finding::{Finding, FindingKind};
use super::items::{EntryHolder, shown_key};
use super::walk::{Found, Outcome, Seen, Tally, Verification, find, page};
use crate::catalog::table::{Table, TableRecord};
use crate::index::backfill::entry_in;
use crate::key::item_key::{ItemKey, fits};
use crate::key::stored_key;
use partita_store::{Snapshot, Space, Store, StoreError};
use partita_value::{ItemRef, canonical};

impl<S: Store> Verification<'_, S> {
    /// All entries of all indexes of a table.
    pub fn check_entries(&mut self, known: &TableRecord) -> Outcome<()> {
        let Some(table) = self.table(known)? else { return Ok(()) };
        for space in EntryHolder::all(&table).into_iter().map(|holder| holder.space) {
            self.check_entries_in(known, space)?;
        }
        Ok(())
    }

    fn check_entries_in(&mut self, known: &TableRecord, space: Space) -> Outcome<()> {
        let mut range = stored_key::all_rows(space);
        let mut tally = Tally::begun_in(self.age);
        loop {
            let Some(table) = self.table(known)? else { return Ok(()) };
            let holders = EntryHolder::all(&table);
            // The index may have been deleted meanwhile.
            let Some(holder) = holders.iter().find(|holder| holder.space == space) else { return Ok(()) };
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |seen| {
                let checked = match seen {
                    Seen::Row(key, row) => check_entry(snapshot, &table, holder, key, row, &mut findings)?,
                    Seen::Damage(damage) => {
                        findings.push(Finding::of_damage_beside_items(table.name.as_str(), space, damage));
                        None
                    }
                };
                match checked {
                    Some(bytes) => tally.add(bytes),
                    None => tally.is_unsure = true,
                }
                Ok(())
            })?;
            let name = holder.name.clone();
            self.report(findings)?;
            if page.next.is_none() {
                self.compare(&known.name, &name, space, &tally)?;
            }
            self.rest(page.rows, &format!("{}, {name}", known.name))?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }
}

/// Checks one entry; returns its size, if it is an entry at all.
fn check_entry(
    snapshot: &impl Snapshot,
    table: &Table,
    holder: &EntryHolder<'_>,
    key: &[u8],
    row: &[u8],
    findings: &mut Vec<Finding>,
) -> Result<Option<usize>, StoreError> {
    let name = Some(table.name.as_str());
    let flaw = canonical::check_item(row).err();
    let Some(entry) = ItemRef::new(row).filter(|_| flaw.is_none()) else {
        let text = format!("{}: no entry: {}", holder.name, flaw.unwrap_or_default());
        findings.push(Finding::new(FindingKind::Undecodable, name, key, text));
        return Ok(None);
    };
    if !table.key.attributes().all(|attribute| fits(attribute, entry)) {
        let text = format!("{}: an entry does not hold the key of an item", holder.name);
        findings.push(Finding::new(FindingKind::Undecodable, name, key, text));
        return Ok(Some(entry.size()));
    }
    let item_key = ItemKey::of_stored_item(table, entry);
    let is_stale = match find(snapshot, &item_key.stored)? {
        Found::Unreadable => false,
        Found::Nothing => true,
        Found::Row(row) => {
            let expected = ItemRef::new(&row).and_then(|item| entry_in(table, holder.space, &item_key, item));
            let is_expected = expected.is_some_and(|expected| expected.key == key);
            // Of an item that cannot be read nothing is known.
            !is_expected && canonical::check_item(&row).is_ok()
        }
    };
    if is_stale {
        let text = format!("{}: an entry stands for no such item {}", holder.name, shown_key(table, entry));
        findings.push(Finding::new(FindingKind::StaleEntry, name, key, text).mended_by(None));
    }
    Ok(Some(entry.size()))
}
