//! Compares everything that is kept beside items with the items: index entries, expiry entries, counters, sizes of
//! item collections; and reads the records of streams and histories. All of one snapshot; nothing is changed.

use crate::catalog::Catalog;
use crate::history::History;
use crate::index_entry::{self, Entry};
use crate::item_key::ItemKey;
use crate::read_stream::read_number;
use crate::stored_key::{Key, Token, all_rows, item_and_moment, sequence_of};
use crate::stream::{FIRST_SEQUENCE, Stream};
use crate::stream_record;
use crate::table::{IndexKind, Table};
use partita_store::{Counters, Direction, Snapshot, Space, Store, StoreError};
use partita_value::ItemRef;
use std::fmt;
use std::ops::ControlFlow;

/// So many findings a table are listed; the others are counted.
const LISTED: usize = 100;

/// What was compared, and what does not fit.
#[derive(Debug, Default)]
pub struct Verified {
    pub tables: u64,
    pub items: u64,
    pub entries: u64,
    pub findings: Vec<Finding>,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub table: String,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "table {}: {}", self.table, self.what)
    }
}

pub fn verify(store: &impl Store) -> Result<Verified, StoreError> {
    let catalog = Catalog::load(store)?;
    let snapshot = store.snapshot()?;
    let mut verified = Verified::default();
    for table in catalog.all().values() {
        let mut check = Check::new(&snapshot, table);
        check.table()?;
        verified.tables += 1;
        verified.items += check.items.rows.cast_unsigned();
        verified.entries += check.entries.iter().map(|entries| entries.rows.cast_unsigned()).sum::<u64>();
        verified.findings.append(&mut check.findings());
    }
    for stream in catalog.streams().values() {
        verify_stream(&snapshot, stream, &mut verified.findings)?;
    }
    for history in catalog.histories().values() {
        verify_history(&snapshot, history, &mut verified.findings)?;
    }
    Ok(verified)
}

/// The comparison of one table.
struct Check<'a, S> {
    snapshot: &'a S,
    table: &'a Table,
    items: Counters,
    /// What the items say that each index, and then the order of expiry, must have.
    entries: Vec<Counters>,
    collection: Option<(Token, Counters)>,
    collections: u64,
    found: Vec<String>,
    more: usize,
}

impl<'a, S: Snapshot> Check<'a, S> {
    fn new(snapshot: &'a S, table: &'a Table) -> Check<'a, S> {
        Check {
            snapshot,
            table,
            items: Counters::default(),
            entries: vec![Counters::default(); table.indexes.len() + 1],
            collection: None,
            collections: 0,
            found: Vec::new(),
            more: 0,
        }
    }

    fn table(&mut self) -> Result<(), StoreError> {
        let mut failed = Ok(());
        self.snapshot.range(&all_rows(self.table.space), Direction::Ascending, |key, row| {
            failed = self.item(key, row);
            if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        failed?;
        self.end_collection()?;
        self.totals()
    }

    fn item(&mut self, stored: &[u8], row: &[u8]) -> Result<(), StoreError> {
        let Some(item) = ItemRef::new(row) else {
            self.find(format!("the item at {stored:02x?} is not readable"));
            return Ok(());
        };
        let key = ItemKey::of_stored_item(self.table, item);
        if key.stored != stored {
            self.find(format!("the item at {stored:02x?} has another key"));
        }
        add(&mut self.items, item.size());
        let mut local_bytes = 0;
        for (place, index) in self.table.indexes.iter().enumerate() {
            let Some(entry) = index_entry::in_index(index, &key, item).ok().flatten() else { continue };
            if index.kind == IndexKind::Local {
                local_bytes += entry.size;
            }
            self.entry(place, &index.name, index.backfilling, &entry)?;
        }
        if let Some(expiry) = &self.table.expiry
            && let Some(entry) = index_entry::in_expiry(expiry, self.table, &key, item)
        {
            self.entry(self.table.indexes.len(), "the order of expiry", expiry.backfilling, &entry)?;
        }
        self.collect(key.partition, item.size() + local_bytes)
    }

    fn entry(
        &mut self,
        place: usize,
        index: &str,
        backfilling: bool,
        entry: &Entry<'_>,
    ) -> Result<(), StoreError> {
        let row = self.snapshot.get(&entry.key)?;
        match row {
            Some(row) if row == entry.value => add(&mut self.entries[place], entry.size),
            None if backfilling => {}
            Some(_) => {
                self.find(format!("index {index}: the entry {:02x?} is not that of its item", entry.key))
            }
            None => self.find(format!("index {index}: the entry {:02x?} is missing", entry.key)),
        }
        Ok(())
    }

    /// Items of one collection stand together.
    fn collect(&mut self, token: Token, size: usize) -> Result<(), StoreError> {
        if self.collection.as_ref().is_none_or(|(of, _)| *of != token) {
            self.end_collection()?;
            self.collection = Some((token, Counters::default()));
        }
        if let Some((_, total)) = &mut self.collection {
            add(total, size);
        }
        Ok(())
    }

    fn end_collection(&mut self) -> Result<(), StoreError> {
        let Some((token, total)) = self.collection.take() else { return Ok(()) };
        let Some(space) = self.table.collections else { return Ok(()) };
        self.collections += 1;
        let stored =
            Counters::read(self.snapshot.get(&Key::Collection { space, token }.to_bytes())?.as_deref());
        if stored != total {
            self.find(format!("a collection is said to have {stored:?} and has {total:?}"));
        }
        Ok(())
    }

    /// What there is of each kind, against what the items say.
    fn totals(&mut self) -> Result<(), StoreError> {
        let counters = |check: &Self, of| -> Result<Counters, StoreError> {
            Ok(Counters::read(check.snapshot.get(&Key::Counters { of }.to_bytes())?.as_deref()))
        };
        let stored = counters(self, self.table.space)?;
        if stored != self.items {
            self.find(format!("it is said to have {stored:?} and has {:?}", self.items));
        }
        for place in 0..self.table.indexes.len() {
            let index = &self.table.indexes[place];
            let expected = self.entries[place];
            let (stored, rows) = (counters(self, index.space)?, self.rows(index.space, |_| true)?);
            if stored != expected || rows != expected.rows {
                self.find(format!(
                    "index {} is said to have {stored:?}, has {rows} entries, and its items have {expected:?}",
                    index.name
                ));
            }
        }
        if let Some(expiry) = &self.table.expiry {
            let (rows, expected) =
                (self.rows(expiry.space, |_| true)?, self.entries[self.table.indexes.len()].rows);
            if rows != expected {
                self.find(format!("{rows} items are said to expire, and {expected} do"));
            }
        }
        if let Some(space) = self.table.collections {
            let rows = self.rows(space, |row| Counters::read(Some(row)) != Counters::default())?;
            if rows.cast_unsigned() != self.collections {
                self.find(format!("{rows} collections are said to be there, and {} are", self.collections));
            }
        }
        Ok(())
    }

    fn rows(&self, space: Space, counts: impl Fn(&[u8]) -> bool) -> Result<i64, StoreError> {
        let mut rows = 0;
        self.snapshot.range(&all_rows(space), Direction::Ascending, |_, row| {
            rows += i64::from(counts(row));
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    fn find(&mut self, what: String) {
        if self.found.len() < LISTED { self.found.push(what) } else { self.more += 1 }
    }

    fn findings(self) -> Vec<Finding> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        let finding = |what| Finding { table: self.table.name.to_string(), what };
        self.found.into_iter().chain(more).map(finding).collect()
    }
}

fn add(counters: &mut Counters, size: usize) {
    *counters += Counters { rows: 1, bytes: size as i64 };
}

/// Every record is readable, of a shard there is, and has a number that was given.
fn verify_stream(
    snapshot: &impl Snapshot,
    stream: &Stream,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let next = snapshot.get(&Key::NextSequence { of: stream.space() }.to_bytes())?;
    let next = read_number(next.as_deref()).unwrap_or(FIRST_SEQUENCE);
    let mut bad = 0;
    snapshot.range(&all_rows(stream.space()), Direction::Ascending, |key, row| {
        let shard = key.get(4..).and_then(|key| key.first_chunk().copied()).map(u32::from_be_bytes);
        // The row of a shard alone says how far it is trimmed.
        if key.len() == 16 {
            let sequence = sequence_of(key).filter(|sequence| *sequence < next);
            let record = sequence.and_then(|sequence| stream_record::decode(stream, sequence, row));
            bad += usize::from(record.is_none() || shard.and_then(|shard| stream.shard(shard)).is_none());
        }
        ControlFlow::Continue(())
    })?;
    note(findings, &stream.name().table, bad, "records of its stream");
    Ok(())
}

/// Every row names a moment and holds an item, or that there was none.
fn verify_history(
    snapshot: &impl Snapshot,
    history: &History,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut bad = 0;
    snapshot.range(&all_rows(history.space()), Direction::Ascending, |key, row| {
        let is_readable = match row.split_first() {
            Some((0, [])) => true,
            Some((1, item)) => ItemRef::new(item).is_some(),
            _ => false,
        };
        bad += usize::from(!is_readable || item_and_moment(key).is_none());
        ControlFlow::Continue(())
    })?;
    note(findings, &history.table, bad, "rows of its history");
    Ok(())
}

fn note(findings: &mut Vec<Finding>, table: &str, bad: usize, of_what: &str) {
    if bad > 0 {
        findings
            .push(Finding { table: table.to_string(), what: format!("{bad} {of_what} are not readable") });
    }
}
