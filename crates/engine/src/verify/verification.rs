//! A running verification: reads the database in pages from a snapshot that is replaced from time to time.

use super::Pace;
use super::finding::{Event, Finding, FindingKind, Progress, Summary};
use crate::catalog::table::{Table, TableRecord};
use crate::clock;
use crate::clock::Clock;
use crate::key::stored_key::{Key, catalog_copy, next_key_after};
use partita_store::{Counters, Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

/// A page ends after this many rows,
const PAGE_ROWS: u64 = 1_024;
/// … or this many bytes.
const PAGE_BYTES: usize = 1 << 20;

/// Why a verification ended early.
pub enum EarlyEnd {
    /// The callback ended it.
    Stopped,
    Failed(StoreError),
}

impl From<StoreError> for EarlyEnd {
    fn from(error: StoreError) -> EarlyEnd {
        EarlyEnd::Failed(error)
    }
}

pub type Outcome<T> = Result<T, EarlyEnd>;

/// The result of looking up a row.
pub enum Lookup<'a> {
    Row(Cow<'a, [u8]>),
    Nothing,
    /// It is reported when its own space is checked.
    Unreadable,
}

/// A row, or damage, in a page.
pub enum Visited<'a> {
    Row(&'a [u8], &'a [u8]),
    Damage(Damage),
}

/// A running verification.
pub struct Verification<'s, S: Store> {
    store: &'s S,
    pub clock: &'s Clock,
    pub snapshot: S::Snapshot<'s>,
    snapshot_taken: Instant,
    /// Counts the snapshots: totals are valid only within one.
    pub snapshot_number: u64,
    pace: Pace,
    on_event: &'s mut dyn FnMut(Event) -> ControlFlow<()>,
    pub summary: Summary,
    pub expected_rows: u64,
}

impl<'s, S: Store> Verification<'s, S> {
    pub fn new(
        store: &'s S,
        clock: &'s Clock,
        pace: Pace,
        on_event: &'s mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Self, StoreError> {
        Ok(Verification {
            store,
            clock,
            snapshot: store.snapshot()?,
            snapshot_taken: clock::monotonic_now(),
            snapshot_number: 0,
            pace,
            on_event,
            summary: Summary::default(),
            expected_rows: 0,
        })
    }

    /// Reports progress after a page, pauses, and renews the snapshot if it is too old.
    pub fn finish_page(&mut self, rows: u64, at: &str) -> Outcome<()> {
        self.summary.rows += rows;
        let progress =
            Progress { rows: self.summary.rows, expected_rows: self.expected_rows, at: at.to_owned() };
        self.emit(Event::Progress(progress))?;
        if let Some(pause) = self.pace.pause {
            std::thread::sleep(pause);
        }
        if self.pace.max_snapshot_age.is_some_and(|age| self.snapshot_taken.elapsed() >= age) {
            self.renew_snapshot()?;
        }
        Ok(())
    }

    /// Replaces the snapshot with a current one.
    pub fn renew_snapshot(&mut self) -> Outcome<()> {
        self.snapshot = self.store.snapshot()?;
        self.snapshot_taken = clock::monotonic_now();
        self.snapshot_number += 1;
        Ok(())
    }

    pub fn report(&mut self, findings: impl IntoIterator<Item = Finding>) -> Outcome<()> {
        for finding in findings {
            self.summary.findings += 1;
            self.emit(Event::Finding(finding))?;
        }
        Ok(())
    }

    pub fn report_not_compared(&mut self, text: String) -> Outcome<()> {
        self.summary.not_compared += 1;
        self.emit(Event::NotCompared(text))
    }

    fn emit(&mut self, event: Event) -> Outcome<()> {
        match (self.on_event)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(EarlyEnd::Stopped),
        }
    }

    /// Returns a table as of the snapshot; `None` if it has since been deleted.
    pub fn table(&self, known: &TableRecord) -> Outcome<Option<Table>> {
        let record =
            record::<TableRecord>(&self.snapshot, &Key::TableRecord { name: &known.name }.to_bytes())?;
        Ok(record.filter(|record| record.id == known.id).map(Table::new))
    }

    /// Reads a range in pages, and reports what `check` finds for each row.
    pub fn walk(
        &mut self,
        mut range: KeyRange,
        at: &str,
        mut check: impl FnMut(&S::Snapshot<'s>, &[u8], &[u8], &mut Vec<Finding>) -> Result<(), StoreError>,
    ) -> Outcome<()> {
        loop {
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |visited| match visited {
                Visited::Row(key, row) => check(snapshot, key, row, &mut findings),
                Visited::Damage(damage) => {
                    findings.push(Finding::of_damage(None, damage));
                    Ok(())
                }
            })?;
            self.report(findings)?;
            self.finish_page(page.rows, at)?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    /// Compares counted totals with the stored ones.
    pub fn compare(&mut self, table: &str, what: &str, space: Space, tally: &Tally) -> Outcome<()> {
        let key = Key::Counters { of: space }.to_bytes();
        let reason = match find(&self.snapshot, &key)? {
            Lookup::Unreadable => "they cannot be read",
            _ if tally.is_incomplete => "not all rows can be read",
            _ if tally.snapshot_number != self.snapshot_number => {
                "it is too large to be counted within one snapshot"
            }
            found => {
                let stored = counters_of(&found);
                if stored == Some(tally.counted) {
                    return Ok(());
                }
                let text = format!(
                    "the counters of {what} say {}, but there are {}",
                    stored.map_or("nothing readable".to_owned(), counters_text),
                    counters_text(tally.counted)
                );
                let finding = Finding::new(FindingKind::WrongCounter, Some(table), &key, text);
                return self.report([finding.repaired_by(Some(tally.counted.to_row()))]);
            }
        };
        self.report_not_compared(format!("table {table}: the counters of {what} were not compared: {reason}"))
    }
}

fn counters_text(counters: Counters) -> String {
    format!("{} rows and {} bytes", counters.rows, counters.bytes)
}

/// The counters in a row; zero without a row, `None` if the row is malformed or unreadable.
pub fn counters_of(found: &Lookup<'_>) -> Option<Counters> {
    match found {
        Lookup::Row(row) if row.len() == 16 => Some(Counters::read(Some(row))),
        Lookup::Row(_) | Lookup::Unreadable => None,
        Lookup::Nothing => Some(Counters::default()),
    }
}

/// A running total.
pub struct Tally {
    pub counted: Counters,
    /// The snapshot in which counting started.
    pub snapshot_number: u64,
    /// Not every row could be counted.
    pub is_incomplete: bool,
}

impl Tally {
    pub fn started_in(snapshot_number: u64) -> Tally {
        Tally { counted: Counters::default(), snapshot_number, is_incomplete: false }
    }

    pub fn add(&mut self, bytes: usize) {
        self.counted += Counters { rows: 1, bytes: bytes as i64 };
    }
}

pub fn find<'a>(snapshot: &'a impl Snapshot, key: &[u8]) -> Result<Lookup<'a>, StoreError> {
    match snapshot.get(key) {
        Ok(Some(row)) => Ok(Lookup::Row(row)),
        Ok(None) => Ok(Lookup::Nothing),
        Err(StoreError::Damaged(_)) => Ok(Lookup::Unreadable),
        Err(error) => Err(error),
    }
}

/// Reads a JSON record, if it exists and is readable. Falls back to the second copy of a catalog record.
pub fn record<R: DeserializeOwned>(snapshot: &impl Snapshot, key: &[u8]) -> Result<Option<R>, StoreError> {
    let read = |row: &[u8]| serde_json::from_slice(row).ok();
    let first = match find(snapshot, key)? {
        Lookup::Row(row) => read(&row),
        Lookup::Unreadable => None,
        Lookup::Nothing => return Ok(None),
    };
    match (first, find(snapshot, &catalog_copy(key))?) {
        (None, Lookup::Row(copy)) => Ok(read(&copy)),
        (first, _) => Ok(first),
    }
}

/// A page that was visited.
pub struct WalkedPage {
    pub rows: u64,
    /// Where the next page starts, unless this is the last.
    pub next: Option<Vec<u8>>,
}

/// Visits rows and damage from the start of a range.
pub fn page(
    snapshot: &impl Snapshot,
    range: &KeyRange,
    visit: impl FnMut(Visited<'_>) -> Result<(), StoreError>,
) -> Result<WalkedPage, StoreError> {
    let state = RefCell::new((visit, WalkedPage { rows: 0, next: None }, Ok(())));
    let mut bytes = 0;
    let take = |visited: Visited<'_>, after: &dyn Fn() -> Vec<u8>, is_full: bool| {
        let (visit, page, failed) = &mut *state.borrow_mut();
        *failed = visit(visited);
        page.rows += 1;
        if failed.is_ok() && page.rows < PAGE_ROWS && !is_full {
            return ControlFlow::Continue(());
        }
        page.next = Some(after());
        ControlFlow::Break(())
    };
    let row = |key: &[u8], row: &[u8]| {
        bytes += key.len() + row.len();
        take(Visited::Row(key, row), &|| next_key_after(key), bytes >= PAGE_BYTES)
    };
    let damaged = |damage: Damage| {
        let end = damage.keys.as_ref().map_or_else(|| range.end.clone(), |keys| keys.end.clone());
        take(Visited::Damage(damage), &|| end.clone(), false)
    };
    snapshot.range_past_damage(range, Direction::Ascending, row, damaged)?;
    let (_, page, failed) = state.into_inner();
    failed.map(|()| page)
}
