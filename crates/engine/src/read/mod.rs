//! The reader: single items from one snapshot, and pages of a table or an index.
//!
//! A page may take several snapshots: when its [`WorkBudget`] is used up, the reader yields and resumes after the last row.
//! A filter that is expensive to evaluate on a large item is evaluated on another thread ([`crate::offload::heavy_work`]).
//! [`selection`] says which rows a request reads, [`key_range`] turns key conditions into ranges of stored keys.

pub mod key_range;
pub mod selection;
pub mod work_budget;

use crate::Engine;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::catalog::Catalog;
use crate::catalog::table::{Index, Table};
use crate::key::item_key::{ItemKey, key_item};
use crate::offload::heavy_work::{ConditionResult, HEAVY_WORK};
use crate::read::key_range::{ExpectedPartition, has_sort_prefix};
use crate::read::selection::{no_index, resume_after, resume_at};
use crate::read::work_budget::{WorkBudget, yield_now};
use crate::storage_failed;
use crate::write::lost_item::{damaged_rows, describe_damage, item_read_failed};
use partita_api::item::page::ItemPage;
use partita_api::{Exception, messages};
use partita_expression::{Condition, ExpressionError, Projection};
use partita_store::{Damage, Direction, KeyRange, Snapshot, Store};
use partita_value::{Item, ItemRef};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Reads one item; returns what `map` makes of it, and its size.
pub fn read_item<T>(
    snapshot: &impl Snapshot,
    table: &Table,
    key: &ItemKey,
    map: impl FnOnce(ItemRef<'_>) -> T,
) -> Result<(Option<T>, usize), Exception> {
    let row = snapshot.get(&key.stored).map_err(item_read_failed)?;
    let item = row.as_deref().and_then(ItemRef::new);
    let item = item.map(|item| key.checked(&table.key, item)).transpose()?;
    Ok((item.map(map), item.map_or(0, |item| item.size())))
}

/// The row of the item of an index entry.
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

/// Applies a projection to an item.
pub fn project(projection: Option<&Projection>, item: ItemRef<'_>) -> Item {
    match projection {
        Some(projection) => projection.apply(item),
        None => item.to_owned(),
    }
}

/// Whether the item of each index entry is fetched too, because the index does not hold everything requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemFetch {
    Never,
    /// For the filter only; the entry is returned.
    ToFilter,
    ToReturn,
}

/// A page to read: which rows, and what to do with them.
pub struct PageRequest<'a> {
    pub table: &'a Table,
    pub index: Option<&'a Index>,
    pub range: KeyRange,
    pub partition: ExpectedPartition<'a>,
    pub direction: Direction,
    /// What the last sort attribute must start with; the range alone may contain other rows.
    pub sort_prefix: Option<(&'a str, &'a [u8])>,
    pub limit: Option<u32>,
    /// The page ends once this many bytes are read.
    pub max_bytes: usize,
    pub filter: Option<&'a Condition>,
    pub projection: Option<&'a Projection>,
    pub count_only: bool,
    pub fetch: ItemFetch,
    pub consistency: Consistency,
    /// Whether to skip rows that cannot be read, and list them.
    pub skip_damage: bool,
}

/// A page, and what reading it consumed.
pub struct PageRead {
    pub page: ItemPage,
    pub bytes: usize,
    pub consumption: Consumption,
}

/// After this many retries, a row that keeps changing is filtered on this thread.
const MAX_RETRIES: u32 = 8;

/// Why the reader stopped.
enum Pause {
    /// The page is complete.
    Complete,
    /// The budget is used up. Resumes after this key.
    Yield(Vec<u8>),
    /// Filtering the item at this key is expensive. Resumes at the key once the filter was evaluated on the row.
    Evaluate(Vec<u8>, Vec<u8>),
}

/// The result of visiting one row.
enum Visited {
    /// The row is processed, at this cost.
    Processed(usize),
    /// The row is processed, and the page is complete.
    Last,
    /// Filtering this item is expensive.
    Heavy(Vec<u8>),
}

/// Reads rows to the end of the range, up to the limit of items or of bytes.
pub async fn read_page<S: Store>(
    engine: &Engine<S>,
    request: &PageRequest<'_>,
) -> Result<PageRead, Exception> {
    let mut reader = PageReader::new(request);
    let mut range = request.range.clone();
    let mut is_one_snapshot = true;
    loop {
        range = match reader.read_part(&engine.store, &range)? {
            Pause::Complete => {
                if !is_one_snapshot {
                    request.check_still_exists(&engine.catalog)?;
                }
                return Ok(reader.finish());
            }
            Pause::Yield(last) => {
                yield_now().await;
                resume_after(range, request.direction, last)
            }
            Pause::Evaluate(key, row) => {
                if let Some(filter) = request.filter {
                    reader.verdict = Some(ConditionResult::evaluate(filter, Some(row)).await?);
                }
                resume_at(range, request.direction, key)
            }
        };
        is_one_snapshot = false;
    }
}

impl PageRequest<'_> {
    /// The cost of processing an item of this many bytes.
    fn work(&self, item_bytes: usize) -> usize {
        item_bytes + self.filter.map_or(0, |filter| filter.work(item_bytes))
    }

    /// A table or index that was deleted between two snapshots has no more rows, which is not the end of a page.
    fn check_still_exists(&self, catalog: &Catalog) -> Result<(), Exception> {
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

    /// The attributes from which the next page can start: the table's key and the index's.
    fn position(&self, entry: ItemRef<'_>) -> Item {
        let index_key = self.index.iter().flat_map(|index| index.key.attributes());
        key_item(self.table.key.attributes().chain(index_key), entry)
    }
}

/// A page while it is read.
struct PageReader<'a> {
    request: &'a PageRequest<'a>,
    page: ItemPage,
    bytes_read: usize,
    /// The bytes of items fetched in addition to their index entries.
    fetched_bytes: usize,
    fetched: Consumption,
    /// The result of the filter on the last row that was expensive.
    verdict: Option<ConditionResult>,
    /// How often that result was of no use, because the row had changed meanwhile.
    retries: u32,
}

impl<'a> PageReader<'a> {
    fn new(request: &'a PageRequest<'a>) -> PageReader<'a> {
        let items = (!request.count_only).then(Vec::new);
        PageReader {
            request,
            page: ItemPage { items, ..ItemPage::default() },
            bytes_read: 0,
            fetched_bytes: 0,
            fetched: Consumption::default(),
            verdict: None,
            retries: 0,
        }
    }

    /// Reads rows from one snapshot, until the page is complete or the reader must pause.
    fn read_part(&mut self, store: &impl Store, range: &KeyRange) -> Result<Pause, Exception> {
        let snapshot = store.snapshot().map_err(storage_failed)?;
        let mut budget = WorkBudget::new();
        let (mut next, mut lost) = (Ok(Pause::Complete), Vec::new());
        let request = self.request;
        let damaged = |damage: Damage| {
            lost.push(damage);
            if request.skip_damage { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let visit = |key: &[u8], row: &[u8]| {
            let Some(entry) = ItemRef::new(row) else { return ControlFlow::Continue(()) };
            let has_prefix = has_sort_prefix(entry, request.sort_prefix);
            match if has_prefix { self.visit(&snapshot, entry) } else { Ok(Visited::Processed(row.len())) } {
                Ok(Visited::Processed(work)) if !budget.spend(work) => return ControlFlow::Continue(()),
                Ok(Visited::Processed(_)) => next = Ok(Pause::Yield(key.to_vec())),
                Ok(Visited::Last) => {}
                Ok(Visited::Heavy(row)) => next = Ok(Pause::Evaluate(key.to_vec(), row)),
                Err(exception) => next = Err(exception),
            }
            ControlFlow::Break(())
        };
        snapshot.range_past_damage(range, request.direction, visit, damaged).map_err(storage_failed)?;
        drop(snapshot);
        for damage in lost {
            let description = describe_damage(store, request.table, damage);
            match request.skip_damage {
                true => self.page.damaged.push(description),
                false => return Err(damaged_rows(&description)),
            }
        }
        next
    }

    fn has_verdict(&self, item: ItemRef<'_>) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.is_about(Some(item)))
    }

    fn visit(&mut self, snapshot: &impl Snapshot, entry: ItemRef<'_>) -> Result<Visited, Exception> {
        // All rows of a range have the same token. Checking the first and the last row of a page shows whether it is the
        // token of the expected partition.
        if self.page.scanned_count == 0 {
            self.request.partition.check(entry)?;
        }
        let fetches = self.request.fetch != ItemFetch::Never;
        let fetched = if fetches { fetch_item(snapshot, self.request.table, entry)? } else { None };
        let fetched = fetched.as_deref().and_then(ItemRef::new);
        let item = if fetches { fetched } else { Some(entry) };
        let work = self.request.work(item.map_or(0, |item| item.bytes().len()));
        let is_evaluated = |reader: &Self, item| reader.has_verdict(item) || reader.retries == MAX_RETRIES;
        if let Some(item) = item.filter(|item| work > HEAVY_WORK && !is_evaluated(self, *item)) {
            self.retries += 1;
            return Ok(Visited::Heavy(item.bytes().to_vec()));
        }
        self.retries = 0;
        self.page.scanned_count += 1;
        self.bytes_read += entry.size();
        if fetches {
            let size = item.map_or(0, |item| item.size());
            self.fetched_bytes += size;
            self.fetched.table += read_units(size, self.request.consistency);
        }
        if let Some(item) = item {
            let returns_item = self.request.fetch == ItemFetch::ToReturn;
            self.filter_and_add(item, if returns_item { item } else { entry })?;
        }
        let limit_reached =
            self.request.limit.is_some_and(|limit| self.page.scanned_count >= u64::from(limit));
        if limit_reached || self.bytes_read + self.fetched_bytes >= self.request.max_bytes {
            self.request.partition.check(entry)?;
            self.page.last_evaluated_key = Some(self.request.position(entry));
            return Ok(Visited::Last);
        }
        Ok(Visited::Processed(entry.bytes().len() + work))
    }

    /// Adds `returned` to the page if the item passes the filter.
    fn filter_and_add(&mut self, item: ItemRef<'_>, returned: ItemRef<'_>) -> Result<(), ExpressionError> {
        if let Some(filter) = self.request.filter {
            let verdict = self.verdict.as_ref().filter(|verdict| verdict.is_about(Some(item)));
            if !verdict.map_or_else(|| filter.matches(Some(item)), |verdict| Ok(verdict.holds))? {
                return Ok(());
            }
        }
        self.page.count += 1;
        if let Some(items) = &mut self.page.items {
            items.push(project(self.request.projection, returned));
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
