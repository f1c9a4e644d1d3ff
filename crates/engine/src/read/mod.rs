//! The one reader: points of a table out of one snapshot, and pages of a table or an index, a slice a snapshot.

pub mod key_range;
pub mod selection;
pub mod slices;

use crate::Engine;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::catalog::Catalog;
use crate::catalog::table::{Index, Table};
use crate::key::item_key::{ItemKey, key_item};
use crate::offload::heavy_work::{HEAVY_WORK, Verdict};
use crate::read::key_range::{Partition, has_sort_prefix};
use crate::read::selection::{go_on_at, go_on_behind, no_index};
use crate::read::slices::{Slice, let_others};
use crate::storage_failed;
use crate::write::lost_item::{damaged_rows, item_read_failed, told_damage};
use partita_api::reporting::Page;
use partita_api::{Exception, messages};
use partita_expression::{Condition, ExpressionError, Projection};
use partita_store::{Damage, Direction, KeyRange, Snapshot, Store};
use partita_value::{Item, ItemRef};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Reads one item and shows it to `look`; the size of what was found comes back too.
pub fn read_item<T>(
    snapshot: &impl Snapshot,
    table: &Table,
    key: &ItemKey,
    look: impl FnOnce(ItemRef<'_>) -> T,
) -> Result<(Option<T>, usize), Exception> {
    let row = snapshot.get(&key.stored).map_err(item_read_failed)?;
    let item = row.as_deref().and_then(ItemRef::new);
    let item = item.map(|item| key.checked(&table.key, item)).transpose()?;
    Ok((item.map(look), item.map_or(0, |item| item.size())))
}

/// The row of the item that an index entry is of.
fn fetch_item<'s>(
    snapshot: &'s impl Snapshot,
    table: &Table,
    entry: ItemRef<'_>,
) -> Result<Option<Cow<'s, [u8]>>, Exception> {
    let key = ItemKey::of_stored_item(table, entry);
    let row = snapshot.get(&key.stored).map_err(item_read_failed)?;
    row.as_deref().and_then(ItemRef::new).map(|item| key.checked(&table.key, item)).transpose()?;
    Ok(row)
}

/// An item as a projection wants it.
pub fn project(projection: Option<&Projection>, item: ItemRef<'_>) -> Item {
    match projection {
        Some(projection) => projection.apply(item),
        None => item.to_owned(),
    }
}

/// Whether each entry's item is read besides, because the index does not hold all that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    Nothing,
    /// The filter needs the item; shown is what the index holds.
    ToFilter,
    ToShow,
}

/// A page to read: which rows, and what to make of them.
pub struct PageRequest<'a> {
    pub table: &'a Table,
    pub index: Option<&'a Index>,
    pub range: KeyRange,
    pub partition: Partition<'a>,
    pub direction: Direction,
    /// A text or binary that the last sort attribute must begin with; the range alone may hold more.
    pub sort_prefix: Option<(&'a str, &'a [u8])>,
    pub limit: Option<u32>,
    /// The page ends once this many bytes were read.
    pub most_bytes: usize,
    pub filter: Option<&'a Condition>,
    pub projection: Option<&'a Projection>,
    pub count_only: bool,
    pub fetch: Fetch,
    pub consistency: Consistency,
    /// Go on behind what cannot be read, and list it.
    pub past_damage: bool,
}

/// A page, and what reading it used.
pub struct PageRead {
    pub page: Page,
    pub bytes: usize,
    pub consumption: Consumption,
}

/// A row that changes again and again is decided about at once after so many times.
const MOST_OVERTAKEN: u32 = 8;

/// How the reading of a slice ended.
enum Next {
    /// The page is whole.
    End,
    /// Others are to have their turn; it goes on behind this key.
    Behind(Vec<u8>),
    /// What the filter says of the item at this key takes long to find out.
    Weigh(Vec<u8>, Vec<u8>),
}

/// What became of one row.
enum Visited {
    /// It is done with; looking at it has cost so much.
    Kept(usize),
    /// It is done with, and the page is whole.
    Last,
    /// What the filter says of this item takes long to find out.
    Heavy(Vec<u8>),
}

/// Reads rows until the range, the limit or the bytes end.
pub async fn read_page<S: Store>(
    engine: &Engine<S>,
    request: &PageRequest<'_>,
) -> Result<PageRead, Exception> {
    let mut reading = Reading::new(request);
    let mut range = request.range.clone();
    let mut is_whole = true;
    loop {
        range = match reading.read_slice(&engine.store, &range)? {
            Next::End => {
                if !is_whole {
                    request.check_still_there(&engine.catalog)?;
                }
                return Ok(reading.finish());
            }
            Next::Behind(last) => {
                let_others().await;
                go_on_behind(range, request.direction, last)
            }
            Next::Weigh(key, row) => {
                if let Some(filter) = request.filter {
                    reading.verdict = Some(Verdict::of(filter, Some(row)).await?);
                }
                go_on_at(range, request.direction, key)
            }
        };
        is_whole = false;
    }
}

impl PageRequest<'_> {
    /// What looking at an item of so many bytes costs.
    fn work(&self, item_bytes: usize) -> usize {
        item_bytes + self.filter.map_or(0, |filter| filter.work(item_bytes))
    }

    /// What is deleted between two slices has no more rows: that is not the end of a page.
    fn check_still_there(&self, catalog: &Catalog) -> Result<(), Exception> {
        let Some(table) = catalog.current(self.table) else {
            return Err(Exception::resource_not_found(messages::TABLE_NOT_FOUND));
        };
        match self.index {
            Some(index) if table.indexes.iter().all(|now| now.space != index.space) => {
                Err(no_index(&index.name))
            }
            _ => Ok(()),
        }
    }

    /// The attributes that say where to go on: the table's key and the index's.
    fn position(&self, entry: ItemRef<'_>) -> Item {
        let index_key = self.index.iter().flat_map(|index| index.key.attributes());
        key_item(self.table.key.attributes().chain(index_key), entry)
    }
}

/// A page being read.
struct Reading<'a> {
    request: &'a PageRequest<'a>,
    page: Page,
    bytes_read: usize,
    /// Of items read besides their index entries.
    fetched_bytes: usize,
    fetched: Consumption,
    /// What the filter says of the row that took long last.
    verdict: Option<Verdict>,
    /// How often that was found out in vain: the row had changed meanwhile.
    overtaken: u32,
}

impl<'a> Reading<'a> {
    fn new(request: &'a PageRequest<'a>) -> Reading<'a> {
        let items = (!request.count_only).then(Vec::new);
        Reading {
            request,
            page: Page { items, ..Page::default() },
            bytes_read: 0,
            fetched_bytes: 0,
            fetched: Consumption::default(),
            verdict: None,
            overtaken: 0,
        }
    }

    /// Reads on.
    fn read_slice(&mut self, store: &impl Store, range: &KeyRange) -> Result<Next, Exception> {
        let snapshot = store.snapshot().map_err(storage_failed)?;
        let mut slice = Slice::new();
        let (mut next, mut lost) = (Ok(Next::End), Vec::new());
        let request = self.request;
        let damaged = |damage: Damage| {
            lost.push(damage);
            if request.past_damage { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let visit = |key: &[u8], row: &[u8]| {
            let Some(entry) = ItemRef::new(row) else { return ControlFlow::Continue(()) };
            let is_wanted = has_sort_prefix(entry, request.sort_prefix);
            match if is_wanted { self.visit(&snapshot, entry) } else { Ok(Visited::Kept(row.len())) } {
                Ok(Visited::Kept(work)) if !slice.spend(work) => return ControlFlow::Continue(()),
                Ok(Visited::Kept(_)) => next = Ok(Next::Behind(key.to_vec())),
                Ok(Visited::Last) => {}
                Ok(Visited::Heavy(row)) => next = Ok(Next::Weigh(key.to_vec(), row)),
                Err(exception) => next = Err(exception),
            }
            ControlFlow::Break(())
        };
        snapshot.range_past_damage(range, request.direction, visit, damaged).map_err(storage_failed)?;
        drop(snapshot);
        for damage in lost {
            let told = told_damage(store, request.table, damage);
            match request.past_damage {
                true => self.page.damaged.push(told),
                false => return Err(damaged_rows(&told)),
            }
        }
        next
    }

    fn has_verdict(&self, item: ItemRef<'_>) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.is_about(Some(item)))
    }

    fn visit(&mut self, snapshot: &impl Snapshot, entry: ItemRef<'_>) -> Result<Visited, Exception> {
        // All rows of a range have one token: that it stands for this key is seen by the first of a page and the last.
        if self.page.scanned_count == 0 {
            self.request.partition.check(entry)?;
        }
        let fetches = self.request.fetch != Fetch::Nothing;
        let fetched = if fetches { fetch_item(snapshot, self.request.table, entry)? } else { None };
        let fetched = fetched.as_deref().and_then(ItemRef::new);
        let item = if fetches { fetched } else { Some(entry) };
        let work = self.request.work(item.map_or(0, |item| item.bytes().len()));
        let is_weighed =
            |reading: &Self, item| reading.has_verdict(item) || reading.overtaken == MOST_OVERTAKEN;
        if let Some(item) = item.filter(|item| work > HEAVY_WORK && !is_weighed(self, *item)) {
            self.overtaken += 1;
            return Ok(Visited::Heavy(item.bytes().to_vec()));
        }
        self.overtaken = 0;
        self.page.scanned_count += 1;
        self.bytes_read += entry.size();
        if fetches {
            let size = item.map_or(0, |item| item.size());
            self.fetched_bytes += size;
            self.fetched.table += read_units(size, self.request.consistency);
        }
        if let Some(item) = item {
            let shows_item = self.request.fetch == Fetch::ToShow;
            self.keep(item, if shows_item { item } else { entry })?;
        }
        let limit_reached =
            self.request.limit.is_some_and(|limit| self.page.scanned_count >= u64::from(limit));
        if limit_reached || self.bytes_read + self.fetched_bytes >= self.request.most_bytes {
            self.request.partition.check(entry)?;
            self.page.last_evaluated_key = Some(self.request.position(entry));
            return Ok(Visited::Last);
        }
        Ok(Visited::Kept(entry.bytes().len() + work))
    }

    /// Takes what is shown of the item into the page if the filter lets the item through.
    fn keep(&mut self, item: ItemRef<'_>, shown: ItemRef<'_>) -> Result<(), ExpressionError> {
        if let Some(filter) = self.request.filter {
            let verdict = self.verdict.as_ref().filter(|verdict| verdict.is_about(Some(item)));
            if !verdict.map_or_else(|| filter.matches(Some(item)), |verdict| Ok(verdict.holds))? {
                return Ok(());
            }
        }
        self.page.count += 1;
        if let Some(items) = &mut self.page.items {
            items.push(project(self.request.projection, shown));
        }
        Ok(())
    }

    fn finish(self) -> PageRead {
        let units = read_units(self.bytes_read, self.request.consistency);
        let mut consumption = self.fetched;
        match self.request.index {
            Some(index) => consumption.charge_index(&index.name, index.kind, units),
            None => consumption.table += units,
        }
        PageRead { page: self.page, bytes: self.bytes_read + self.fetched_bytes, consumption }
    }
}
