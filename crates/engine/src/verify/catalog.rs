//! The catalog: every record is one, and they fit together. Every space belongs to one of them.

use super::finding::{Finding, FindingKind};
use super::items::is_empty;
use super::walk::{Found, Outcome, Seen, Verification, find, page};
use crate::create_table::Spaces;
use crate::history::History;
use crate::stored_key::{self, FIRST_FREE_SPACE, Key, SideRow};
use crate::stream::Stream;
use crate::table::{Table, TableRecord};
use partita_store::{Counters, KeyRange, Snapshot, Space, Store, StoreError};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The records of the catalog that can be read.
#[derive(Default)]
pub struct Records {
    pub tables: Vec<TableRecord>,
    pub streams: Vec<Stream>,
    pub histories: Vec<History>,
}

impl Records {
    /// The records that one snapshot has, and what is wrong with the others.
    pub fn read(snapshot: &impl Snapshot, findings: &mut Vec<Finding>) -> Result<Records, StoreError> {
        let mut records = Records::default();
        let mut range = stored_key::whole_catalog();
        loop {
            let page = page(snapshot, &range, |seen| {
                match seen {
                    Seen::Row(key, row) => findings.extend(records.take(key, row)),
                    Seen::Damage(damage) => findings.push(Finding::of_damage(None, damage)),
                }
                Ok(())
            })?;
            let Some(next) = page.next else { return Ok(records) };
            range.start = next;
        }
    }

    fn take(&mut self, key: &[u8], row: &[u8]) -> Option<Finding> {
        if [stored_key::all_table_records(), stored_key::all_streams(), stored_key::all_histories()]
            .iter()
            .all(|range| !range.contains(key))
        {
            let known = key == Key::NextSpace.to_bytes() && row.len() == 4;
            return (!known)
                .then(|| wrong(FindingKind::UnknownRow, key, "a row of the catalog that is not known"));
        }
        let stored_at = if stored_key::all_table_records().contains(key) {
            let record = decode::<TableRecord>(row);
            let at = record.as_ref().map(|record| Key::TableRecord { name: &record.name }.to_bytes());
            self.tables.extend(record);
            at
        } else if stored_key::all_streams().contains(key) {
            let stream = decode::<Stream>(row);
            let at = stream.as_ref().map(|stream| Key::Stream { space: stream.space() }.to_bytes());
            self.streams.extend(stream);
            at
        } else {
            let history = decode::<History>(row);
            let at = history.as_ref().map(|history| Key::History { space: history.space() }.to_bytes());
            self.histories.extend(history);
            at
        };
        match stored_at {
            None => Some(wrong(FindingKind::Undecodable, key, "a record of the catalog is not readable")),
            Some(at) if at != key => Some(wrong(
                FindingKind::WrongCatalog,
                key,
                "a record of the catalog lies where another belongs",
            )),
            Some(_) => None,
        }
    }

    /// Who has which space. A space with two owners is told of.
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

    /// Records that name others which are not there.
    fn dangling(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for record in &self.tables {
            let table = Table::new(record.clone());
            let key = Key::TableRecord { name: &record.name }.to_bytes();
            let mut tell = |text: &str| {
                findings.push(Finding::new(FindingKind::WrongCatalog, Some(&record.name), &key, text));
            };
            if table.stream.is_some_and(|name| !self.streams.iter().any(|stream| stream.name() == name)) {
                tell("its stream is not there");
            }
            let history = |space: u32| {
                self.histories.iter().any(|history| history.space == space && history.items == record.space)
            };
            if record.history.is_some_and(|space| !history(space)) {
                tell("its history is not there");
            }
        }
        findings
    }

    /// What the numbers in the rows kept beside the spaces may be about.
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

fn decode<R: DeserializeOwned>(row: &[u8]) -> Option<R> {
    serde_json::from_slice(row).ok()
}

fn wrong(kind: FindingKind, key: &[u8], text: impl Into<String>) -> Finding {
    Finding::new(kind, None, key, text)
}

impl<S: Store> Verification<'_, S> {
    /// The records of the catalog, and what is wrong with it. All of it comes out of one snapshot.
    pub fn check_catalog(&mut self) -> Outcome<Records> {
        let mut findings = Vec::new();
        let records = Records::read(&self.snapshot, &mut findings)?;
        let owners = records.owners(&mut findings);
        findings.extend(records.dangling());
        check_next_space(&self.snapshot, &owners, &mut findings)?;
        check_side_rows(&self.snapshot, &records, &owners, &mut findings)?;
        check_ownerless(&self.snapshot, &owners, &mut findings)?;
        for space in owners.keys().map(|space| Space(*space)) {
            if let Found::Row(row) = find(&self.snapshot, &Key::Counters { of: space }.to_bytes())? {
                self.expected_rows += u64::try_from(Counters::read(Some(&row)).rows).unwrap_or(0);
            }
        }
        self.report(findings)?;
        self.rest(0, "the catalog")?;
        Ok(records)
    }
}

/// The space that is given away next was never given away before.
fn check_next_space(
    snapshot: &impl Snapshot,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let key = Key::NextSpace.to_bytes();
    let next = match find(snapshot, &key)? {
        Found::Unreadable => return Ok(()),
        Found::Row(row) => Spaces::after(Some(&row)).take(),
        Found::Nothing => Spaces::after(None).take(),
    };
    if let Some((last, owner)) = owners.last_key_value().filter(|(last, _)| **last >= next) {
        let text = format!("space {next} would be given away next, but {owner} has {last}");
        findings.push(wrong(FindingKind::WrongCatalog, &key, text));
    }
    Ok(())
}

/// Counters, cursors and sequences belong to spaces that somebody has.
fn check_side_rows(
    snapshot: &impl Snapshot,
    records: &Records,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    for side in [SideRow::Counters, SideRow::BackfillCursor, SideRow::NextSequence] {
        let mut range = side.all();
        loop {
            let page = page(snapshot, &range, |seen| {
                let (key, row) = match seen {
                    Seen::Row(key, row) => (key, row),
                    Seen::Damage(damage) => {
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
                    findings.push(wrong(
                        FindingKind::Ownerless,
                        key,
                        format!("{side:?} of a space that nobody has"),
                    ));
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

/// Spaces between those that somebody has are empty.
fn check_ownerless(
    snapshot: &impl Snapshot,
    owners: &BTreeMap<u32, String>,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut start = stored_key::after_fixed_spaces();
    let owned = owners.keys().filter(|space| **space >= FIRST_FREE_SPACE);
    let ends = owned.map(|space| Some(Space(*space))).chain([None]);
    for owner in ends {
        let end = owner.map_or_else(|| vec![u8::MAX; 5], |space| stored_key::all_rows(space).start);
        let between = KeyRange { start, end };
        if between.start < between.end && !is_empty(snapshot, &between)? {
            findings.push(first_of(snapshot, &between)?);
        }
        start = owner.map_or_else(Vec::new, |space| stored_key::all_rows(space).end);
    }
    Ok(())
}

fn first_of(snapshot: &impl Snapshot, range: &KeyRange) -> Result<Finding, StoreError> {
    let mut first = None;
    page(snapshot, range, |seen| {
        let finding = match seen {
            Seen::Row(key, _) => wrong(FindingKind::Ownerless, key, "rows of a space that nobody has"),
            Seen::Damage(damage) => Finding::of_damage(None, damage),
        };
        first.get_or_insert(finding);
        Ok(())
    })?;
    Ok(first
        .unwrap_or_else(|| wrong(FindingKind::Ownerless, &range.start, "rows of a space that nobody has")))
}
