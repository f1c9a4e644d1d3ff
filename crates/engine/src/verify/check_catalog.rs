//! Checks the catalog: all records are readable and consistent, and every space has exactly one owner.

use super::finding::{Finding, FindingKind};
use super::verification::{Lookup, Outcome, Verification, Visited, find, page};
use crate::catalog::catalog_rows::{self, CatalogRows};
use crate::catalog::spaces::Spaces;
use crate::catalog::table::{Table, TableRecord};
use crate::history::History;
use crate::key::stored_key::{self, Key, SideRow};
use crate::stream::Stream;
use partita_store::{Counters, Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError, Write};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The readable records of the catalog.
#[derive(Default)]
pub struct Records {
    pub tables: Vec<TableRecord>,
    pub streams: Vec<Stream>,
    pub histories: Vec<History>,
}

impl Records {
    /// The records of one snapshot.
    fn of(stored: &CatalogRows) -> Records {
        Records {
            tables: stored.records(stored_key::all_table_records()).collect(),
            streams: stored.records(stored_key::all_streams()).collect(),
            histories: stored.records(stored_key::all_histories()).collect(),
        }
    }

    /// Finds records under other keys than their own.
    fn misplaced(&self, stored: &CatalogRows) -> Vec<Finding> {
        let tables = self.tables.iter().map(|record| Key::TableRecord { name: &record.name }.to_bytes());
        let streams = self.streams.iter().map(|stream| Key::Stream { space: stream.space() }.to_bytes());
        let histories = self.histories.iter().map(|known| Key::History { space: known.space() }.to_bytes());
        let own: BTreeSet<_> =
            tables.chain(streams).chain(histories).chain([Key::NextSpace.to_bytes()]).collect();
        let records =
            [stored_key::all_table_records(), stored_key::all_streams(), stored_key::all_histories()];
        let finding = |key: &Vec<u8>| match records.iter().any(|range| range.contains(key)) {
            true => wrong(FindingKind::WrongCatalog, key, "a catalog record is stored under another key"),
            false => wrong(FindingKind::UnknownRow, key, "an unknown row of the catalog"),
        };
        stored.rows.keys().filter(|key| !own.contains(*key)).map(finding).collect()
    }

    /// The owner of each space. Adds a finding for a space with two owners.
    fn owners(&self, findings: &mut Vec<Finding>) -> BTreeMap<u32, String> {
        let mut owned = Vec::new();
        for record in &self.tables {
            let table = Table::new(record.clone());
            owned.push((record.space, format!("table {}", record.name)));
            owned.extend(
                table.side_spaces().into_iter().map(|space| (space.0, format!("table {}", record.name))),
            );
        }
        for stream in &self.streams {
            owned.push((stream.space, format!("stream {} of table {}", stream.label, stream.table)));
        }
        for history in &self.histories {
            owned.push((history.space, format!("the history of table {}", history.table)));
            if history.table_deleted {
                owned.push((history.items, format!("the deleted table {}", history.table)));
            }
        }
        let mut owners: BTreeMap<u32, String> = BTreeMap::new();
        for (space, owner) in owned {
            if let Some(other) = owners.insert(space, owner.clone()) {
                let text = format!("{owner} and {other} have the same space {space}");
                let key = stored_key::all_rows(Space(space)).start;
                findings.push(wrong(FindingKind::WrongCatalog, &key, text));
            }
        }
        owners
    }

    /// Finds references to records that do not exist.
    fn dangling(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for record in &self.tables {
            let table = Table::new(record.clone());
            let key = Key::TableRecord { name: &record.name }.to_bytes();
            let mut add = |text: &str| {
                findings.push(Finding::new(FindingKind::WrongCatalog, Some(&record.name), &key, text));
            };
            if table.stream.is_some_and(|name| !self.streams.iter().any(|stream| stream.name() == name)) {
                add("its stream does not exist");
            }
            let history = |space: u32| {
                self.histories.iter().any(|history| history.space == space && history.items == record.space)
            };
            if record.history.is_some_and(|space| !history(space)) {
                add("its history does not exist");
            }
        }
        findings
    }

    /// Whether a space may have a row of this family.
    fn has_side_rows(&self, owners: &BTreeMap<u32, String>, side: SideRow, space: u32) -> bool {
        match side {
            SideRow::Counters | SideRow::BackfillCursor => owners.contains_key(&space),
            SideRow::NextSequence => {
                self.streams.iter().any(|stream| stream.space == space)
                    || self.histories.iter().any(|history| history.items == space)
            }
        }
    }
}

fn wrong(kind: FindingKind, key: &[u8], text: impl Into<String>) -> Finding {
    Finding::new(kind, None, key, text)
}

impl<S: Store> Verification<'_, S> {
    /// Checks the catalog within one snapshot, and returns its records.
    pub fn check_catalog(&mut self) -> Outcome<Records> {
        let stored = CatalogRows::read(&self.snapshot)?;
        let records = Records::of(&stored);
        let mut findings = unreadable_rows(&stored);
        findings.extend(different_copies(&stored));
        findings.extend(records.misplaced(&stored));
        let owners = records.owners(&mut findings);
        findings.extend(records.dangling());
        check_next_space(&self.snapshot, &owners, &mut findings)?;
        let mut ownerless = Vec::new();
        check_side_rows(&self.snapshot, &records, &owners, &mut ownerless)?;
        check_ownerless(&self.snapshot, &owners, &mut ownerless)?;
        if !stored.lost.is_empty() {
            // The record of the owner may be what is lost.
            ownerless.iter_mut().for_each(|finding| finding.remedy.clear());
        }
        findings.append(&mut ownerless);
        for space in owners.keys().map(|space| Space(*space)) {
            if let Lookup::Row(row) = find(&self.snapshot, &Key::Counters { of: space }.to_bytes())? {
                self.expected_rows += u64::try_from(Counters::read(Some(&row)).rows).unwrap_or(0);
            }
        }
        self.report(findings)?;
        self.finish_page(0, "the catalog")?;
        Ok(records)
    }
}

/// Finds rows with an unreadable copy. A row without a readable copy is lost; the repair deletes it.
fn unreadable_rows(stored: &CatalogRows) -> Vec<Finding> {
    let mut findings: Vec<_> = stored
        .damages
        .iter()
        .map(|damage| {
            let row = damage.keys.as_ref().and_then(KeyRange::row).map(stored_key::copied_catalog_row);
            let table = row.as_deref().and_then(stored_key::table_of_record).map(str::to_owned);
            let finding = Finding::of_damage(table.as_deref(), damage.clone());
            row.map_or(finding.clone(), |key| with_repair(finding, stored, &key))
        })
        .collect();
    for key in &stored.undecodable {
        let finding = Finding::new(
            FindingKind::Undecodable,
            stored_key::table_of_record(key),
            key,
            "a record of the catalog is not readable",
        );
        findings.push(with_repair(finding, stored, key));
    }
    findings
}

/// Adds the repair of a catalog row: from its other copy, or by deletion.
fn with_repair(mut finding: Finding, stored: &CatalogRows, key: &[u8]) -> Finding {
    match stored.rows.get(key) {
        Some(row) => {
            finding.text.push_str("; the other copy is intact");
            finding.remedy.extend(catalog_rows::put(key.to_vec(), row.clone()));
        }
        None => {
            finding.text.push_str("; the other copy cannot be read either");
            finding.remedy.extend(catalog_rows::delete_row(key.to_vec()));
        }
    }
    finding
}

/// Finds second copies that are missing, differ from their rows, or have no row.
fn different_copies(stored: &CatalogRows) -> Vec<Finding> {
    let is_reported = |key: &Vec<u8>| {
        let copy = stored_key::catalog_copy(key);
        let keys = |damage: &Damage| {
            damage.keys.as_ref().is_some_and(|keys| keys.contains(key) || keys.contains(&copy))
        };
        stored.undecodable.contains(key) || stored.damages.iter().any(keys)
    };
    let different =
        stored.incomplete.iter().filter(|key| stored.has_copies && !is_reported(key)).map(|key| {
            let finding = Finding::new(
                FindingKind::WrongCatalog,
                stored_key::table_of_record(key),
                key,
                "its second copy differs",
            );
            Finding { remedy: catalog_rows::put(key.clone(), stored.rows[key].clone()).to_vec(), ..finding }
        });
    let stale = stored.stale_copies.keys().map(|copy| {
        wrong(FindingKind::WrongCatalog, copy, "a second copy of a catalog row that does not exist")
            .repaired_by(None)
    });
    different.chain(stale).collect()
}

/// Checks that the space to allocate next has no owner.
fn check_next_space(
    snapshot: &impl Snapshot,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let key = Key::NextSpace.to_bytes();
    let next = match find(snapshot, &key)? {
        Lookup::Unreadable => return Ok(()),
        Lookup::Row(row) => Spaces::after(Some(&row)).take(),
        Lookup::Nothing => Spaces::after(None).take(),
    };
    if let Some((last, owner)) = owners.last_key_value().filter(|(last, _)| **last >= next) {
        let text = format!("space {next} would be allocated next, but {owner} has {last}");
        findings.push(wrong(FindingKind::WrongCatalog, &key, text));
    }
    Ok(())
}

/// Checks that counters, cursors and sequences belong to spaces with an owner.
fn check_side_rows(
    snapshot: &impl Snapshot,
    records: &Records,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    for side in [SideRow::Counters, SideRow::BackfillCursor, SideRow::NextSequence] {
        let mut range = side.all();
        loop {
            let page = page(snapshot, &range, |visited| {
                let (key, row) = match visited {
                    Visited::Row(key, row) => (key, row),
                    Visited::Damage(damage) => {
                        findings.push(Finding::of_damage(None, damage));
                        return Ok(());
                    }
                };
                let space =
                    stored_key::within_space(key).as_array::<4>().map(|space| u32::from_be_bytes(*space));
                let is_owned = space.is_some_and(|space| records.has_side_rows(owners, side, space));
                let is_whole = match side {
                    SideRow::Counters => row.len() == 16,
                    SideRow::BackfillCursor => true,
                    SideRow::NextSequence => row.len() == 8,
                };
                if !is_owned {
                    let text = format!("{side:?} of a space without an owner");
                    findings.push(wrong(FindingKind::Ownerless, key, text).repaired_by(None));
                } else if !is_whole {
                    findings.push(wrong(FindingKind::Undecodable, key, format!("{side:?} cannot be read")));
                }
                Ok(())
            })?;
            let Some(next) = page.next else { break };
            range.start = next;
        }
    }
    Ok(())
}

/// Checks that spaces without an owner are empty.
fn check_ownerless(
    snapshot: &impl Snapshot,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let copies = stored_key::all_catalog_copies();
    let mut rest = KeyRange { start: stored_key::after_fixed_spaces(), end: copies.start };
    while let Some((space, finding)) = first_of(snapshot, &rest)? {
        rest.start = stored_key::all_rows(space).end;
        if !owners.contains_key(&space.0) {
            findings.push(finding);
        }
    }
    let after_copies = KeyRange { start: copies.end, end: vec![u8::MAX; 5] };
    findings.extend(first_of(snapshot, &after_copies)?.map(|(_, finding)| finding));
    Ok(())
}

/// The first space with rows, and the finding if it has no owner.
fn first_of(snapshot: &impl Snapshot, range: &KeyRange) -> Result<Option<(Space, Finding)>, StoreError> {
    let first = RefCell::new(None);
    let take = |key: &[u8], finding: Finding| {
        let space = Space(key.first_chunk::<4>().map_or(0, |space| u32::from_be_bytes(*space)));
        *first.borrow_mut() = Some((space, finding));
        ControlFlow::Break(())
    };
    let visit = |key: &[u8], _: &[u8]| {
        let mut finding = wrong(FindingKind::Ownerless, key, "rows of a space without an owner");
        finding
            .remedy
            .extend(key.first_chunk::<4>().map(|space| Write::DropSpace(Space(u32::from_be_bytes(*space)))));
        take(key, finding)
    };
    let damaged = |damage: Damage| {
        let start = damage
            .keys
            .as_ref()
            .map_or_else(|| range.start.clone(), |keys| keys.start.clone().max(range.start.clone()));
        take(&start, Finding::of_damage(None, damage))
    };
    snapshot.range_past_damage(range, Direction::Ascending, visit, damaged)?;
    Ok(first.into_inner())
}
