//! The walk of a verification through the database: page by page out of a snapshot that is held for a while.

use super::Pace;
use super::finding::{Event, Finding, FindingKind, Progress, Summary};
use crate::catalog::table::{Table, TableRecord};
use crate::clock;
use crate::clock::Clock;
use crate::key::stored_key::{Key, catalog_copy, just_behind};
use partita_store::{Counters, Damage, Direction, KeyRange, Snapshot, Space, Store, StoreError};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

/// Rows of one page.
const PAGE_ROWS: u64 = 1_024;
/// … or this many bytes of them.
const PAGE_BYTES: usize = 1 << 20;

/// Why a verification ended early.
pub enum Ended {
    /// Whoever is told said so.
    Stopped,
    Failed(StoreError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Ended {
        Ended::Failed(error)
    }
}

pub type Outcome<T> = Result<T, Ended>;

/// A row that was looked for.
pub enum Found<'a> {
    Row(Cow<'a, [u8]>),
    Nothing,
    /// It will be told of, or was, when its own space is walked through.
    Unreadable,
}

/// What a page shows.
pub enum Seen<'a> {
    Row(&'a [u8], &'a [u8]),
    Damage(Damage),
}

/// A verification under way.
pub struct Verification<'s, S: Store> {
    store: &'s S,
    pub clock: &'s Clock,
    pub snapshot: S::Snapshot<'s>,
    taken: Instant,
    /// The number of the snapshot: totals are good only within one.
    pub age: u64,
    pace: Pace,
    tell: &'s mut dyn FnMut(Event) -> ControlFlow<()>,
    pub summary: Summary,
    pub expected_rows: u64,
}

impl<'s, S: Store> Verification<'s, S> {
    pub fn new(
        store: &'s S,
        clock: &'s Clock,
        pace: Pace,
        tell: &'s mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<Self, StoreError> {
        Ok(Verification {
            store,
            clock,
            snapshot: store.snapshot()?,
            taken: clock::monotonic_now(),
            age: 0,
            pace,
            tell,
            summary: Summary::default(),
            expected_rows: 0,
        })
    }

    /// Says that a page was looked at, and lets others have their turn.
    pub fn rest(&mut self, rows: u64, at: &str) -> Outcome<()> {
        self.summary.rows += rows;
        let progress =
            Progress { rows: self.summary.rows, expected_rows: self.expected_rows, at: at.to_owned() };
        self.tell(Event::Progress(progress))?;
        if let Some(rest) = self.pace.rest {
            std::thread::sleep(rest);
        }
        if self.pace.hold.is_some_and(|hold| self.taken.elapsed() >= hold) {
            self.renew()?;
        }
        Ok(())
    }

    /// Goes on with what the database is now.
    pub fn renew(&mut self) -> Outcome<()> {
        self.snapshot = self.store.snapshot()?;
        self.taken = clock::monotonic_now();
        self.age += 1;
        Ok(())
    }

    pub fn report(&mut self, findings: impl IntoIterator<Item = Finding>) -> Outcome<()> {
        for finding in findings {
            self.summary.findings += 1;
            self.tell(Event::Finding(finding))?;
        }
        Ok(())
    }

    pub fn note(&mut self, text: String) -> Outcome<()> {
        self.summary.not_compared += 1;
        self.tell(Event::NotCompared(text))
    }

    fn tell(&mut self, event: Event) -> Outcome<()> {
        match (self.tell)(event) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Ended::Stopped),
        }
    }

    /// A table as the snapshot has it; none if it was deleted meanwhile.
    pub fn table(&self, known: &TableRecord) -> Outcome<Option<Table>> {
        let record =
            record::<TableRecord>(&self.snapshot, &Key::TableRecord { name: &known.name }.to_bytes())?;
        Ok(record.filter(|record| record.id == known.id).map(Table::new))
    }

    /// Walks through rows of no table, in pages, and reports what `check` says to each.
    pub fn walk(
        &mut self,
        mut range: KeyRange,
        at: &str,
        mut check: impl FnMut(&S::Snapshot<'s>, &[u8], &[u8], &mut Vec<Finding>) -> Result<(), StoreError>,
    ) -> Outcome<()> {
        loop {
            let mut findings = Vec::new();
            let snapshot = &self.snapshot;
            let page = page(snapshot, &range, |seen| match seen {
                Seen::Row(key, row) => check(snapshot, key, row, &mut findings),
                Seen::Damage(damage) => {
                    findings.push(Finding::of_damage(None, damage));
                    Ok(())
                }
            })?;
            self.report(findings)?;
            self.rest(page.rows, at)?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    /// Holds counted totals against the stored ones.
    pub fn compare(&mut self, table: &str, what: &str, space: Space, tally: &Tally) -> Outcome<()> {
        let key = Key::Counters { of: space }.to_bytes();
        let reason = match find(&self.snapshot, &key)? {
            Found::Unreadable => "they cannot be read",
            _ if tally.is_unsure => "not all rows can be read",
            _ if tally.age != self.age => "it is too large to be counted at once beside other work",
            found => {
                let stored = counters_of(&found);
                if stored == Some(tally.counted) {
                    return Ok(());
                }
                let text = format!(
                    "the counters of {what} say {}, but there are {}",
                    stored.map_or("nothing that is known".to_owned(), shown),
                    shown(tally.counted)
                );
                let finding = Finding::new(FindingKind::WrongCounter, Some(table), &key, text);
                return self.report([finding.mended_by(Some(tally.counted.to_row()))]);
            }
        };
        self.note(format!("table {table}: the counters of {what} were not compared: {reason}"))
    }
}

fn shown(counters: Counters) -> String {
    format!("{} rows of {} bytes", counters.rows, counters.bytes)
}

/// The counters in a row; zero if there is none, nothing if the row is malformed.
pub fn counters_of(found: &Found<'_>) -> Option<Counters> {
    match found {
        Found::Row(row) if row.len() == 16 => Some(Counters::read(Some(row))),
        Found::Row(_) | Found::Unreadable => None,
        Found::Nothing => Some(Counters::default()),
    }
}

/// A total that is being counted.
pub struct Tally {
    pub counted: Counters,
    /// Of the snapshot in which it was begun.
    pub age: u64,
    /// Not every row could be counted.
    pub is_unsure: bool,
}

impl Tally {
    pub fn begun_in(age: u64) -> Tally {
        Tally { counted: Counters::default(), age, is_unsure: false }
    }

    pub fn add(&mut self, bytes: usize) {
        self.counted += Counters { rows: 1, bytes: bytes as i64 };
    }
}

pub fn find<'a>(snapshot: &'a impl Snapshot, key: &[u8]) -> Result<Found<'a>, StoreError> {
    match snapshot.get(key) {
        Ok(Some(row)) => Ok(Found::Row(row)),
        Ok(None) => Ok(Found::Nothing),
        Err(StoreError::Damaged(_)) => Ok(Found::Unreadable),
        Err(error) => Err(error),
    }
}

/// A record of JSON, if it is there and is one. Of those of the catalog the second copy will do.
pub fn record<R: DeserializeOwned>(snapshot: &impl Snapshot, key: &[u8]) -> Result<Option<R>, StoreError> {
    let read = |row: &[u8]| serde_json::from_slice(row).ok();
    let first = match find(snapshot, key)? {
        Found::Row(row) => read(&row),
        Found::Unreadable => None,
        Found::Nothing => return Ok(None),
    };
    match (first, find(snapshot, &catalog_copy(key))?) {
        (None, Found::Row(copy)) => Ok(read(&copy)),
        (first, _) => Ok(first),
    }
}

/// A page that was shown.
pub struct Page {
    pub rows: u64,
    /// Where the next one begins, if there is more.
    pub next: Option<Vec<u8>>,
}

/// Shows rows and damage from the start of a range on.
pub fn page(
    snapshot: &impl Snapshot,
    range: &KeyRange,
    see: impl FnMut(Seen<'_>) -> Result<(), StoreError>,
) -> Result<Page, StoreError> {
    let state = RefCell::new((see, Page { rows: 0, next: None }, Ok(())));
    let mut bytes = 0;
    let show = |seen: Seen<'_>, behind: &dyn Fn() -> Vec<u8>, is_full: bool| {
        let (see, page, failed) = &mut *state.borrow_mut();
        *failed = see(seen);
        page.rows += 1;
        if failed.is_ok() && page.rows < PAGE_ROWS && !is_full {
            return ControlFlow::Continue(());
        }
        page.next = Some(behind());
        ControlFlow::Break(())
    };
    let visit = |key: &[u8], row: &[u8]| {
        bytes += key.len() + row.len();
        show(Seen::Row(key, row), &|| just_behind(key), bytes >= PAGE_BYTES)
    };
    let damaged = |damage: Damage| {
        let end = damage.keys.as_ref().map_or_else(|| range.end.clone(), |keys| keys.end.clone());
        show(Seen::Damage(damage), &|| end.clone(), false)
    };
    snapshot.range_past_damage(range, Direction::Ascending, visit, damaged)?;
    let (_, page, failed) = state.into_inner();
    failed.map(|()| page)
}
