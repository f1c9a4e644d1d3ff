//! SELECT statements: ranges of a table or index, read one after the other until the page is full.

use crate::Engine;
use crate::capacity::{Consistency, Consumption};
use crate::catalog::table::{Index, Table};
use crate::key::{scalar_keys, stored_key};
use crate::read::key_range::{ExpectedPartition, KeyBounds};
use crate::read::selection::{Selection, filter_not_projected, resume_after};
use crate::read::{ItemFetch, PageRequest, read_page};
use partita_api::key_schema::KeySchema;
use partita_api::statement::execute_statement::{ExecuteStatement, ExecuteStatementOutput};
use partita_api::{Exception, messages};
use partita_expression::{Condition, KeyTerm};
use partita_partiql::{KeyPart, KeyParts, ReadAccess, ReadOrder, ReadRange, Select, read_access, read_order};
use partita_store::{Direction, KeyRange, Store};
use partita_value::{Item, limits};
use std::cmp::Ordering;

const OVERLAP: &str = "Overlapping conditions with range keys are not supported in where clause";
const TOKEN_MISMATCH: &str = "NextToken does not match request";

/// The attributes of a key, in the form that statements are matched against.
pub fn key_parts(schema: &KeySchema) -> KeyParts<'_> {
    let parts = |attributes| -> Vec<KeyPart<'_>> {
        let attributes: &[partita_api::key_schema::KeyAttribute] = attributes;
        attributes.iter().map(|key| KeyPart { name: &key.name, kind: Some(key.kind) }).collect()
    };
    KeyParts { partition: parts(&schema.partition), sort: parts(&schema.sort) }
}

/// The key of the single item that a SELECT among several statements must name; `otherwise` is the message if it does not.
pub fn single_key(table: &Table, select: &Select, otherwise: &str) -> Result<Item, Exception> {
    let mut key = key_parts(&table.key);
    key.partition.iter_mut().chain(&mut key.sort).for_each(|part| part.kind = None);
    let access = match &select.index {
        Some(_) => ReadAccess::Scan,
        None => read_access(select.condition.as_ref(), &key)?,
    };
    let ReadAccess::Ranges(ranges) = access else { return Err(Exception::validation(otherwise)) };
    let repeats = |(at, range): (usize, &ReadRange)| ranges[..at].iter().any(|other| other.key == range.key);
    if ranges.iter().enumerate().any(repeats) {
        return Err(Exception::validation(OVERLAP));
    }
    match ranges.as_slice() {
        [range] if range.names_one_item(&key) => Ok(key_of(&range.key.terms)),
        _ => Err(Exception::validation(otherwise)),
    }
}

fn key_of(terms: &[KeyTerm]) -> Item {
    Item::build(|encoder| {
        for term in terms {
            if let partita_expression::KeyComparison::Equal(value) = &term.comparison {
                encoder.entry(&term.attribute, value.view());
            }
        }
    })
}

impl<S: Store> Engine<S> {
    /// Reads one page of a SELECT.
    pub(crate) async fn select(
        &self,
        select: &Select,
        request: &ExecuteStatement,
    ) -> Result<ExecuteStatementOutput, Exception> {
        let table = self.catalog.table(&select.table)?;
        let selection = read_selection(&table, select, request.consistent_read)?;
        let key = key_parts(selection.schema());
        let access = read_access(select.condition.as_ref(), &key)?;
        let order = read_order(&select.order, &access, &key)?;
        let read = SelectRead::new(select, &selection, &access, order)?;
        let start =
            request.next_token.as_deref().map(|token| PagePosition::read(token, request)).transpose()?;
        let page = read.read_page(self, request, start.unwrap_or_default()).await?;
        let next_token = page.next.as_ref().map(|next| next.token(request));
        Ok(ExecuteStatementOutput {
            items: page.items,
            next_token,
            last_evaluated_key: page.last_evaluated_key,
            consumed_capacity: page.consumption.report(&table.name, request.return_consumed_capacity, None),
        })
    }
}

/// The table or index that a statement reads. The messages differ from those of Query and Scan.
fn read_selection<'a>(
    table: &'a Table,
    select: &Select,
    consistent_read: bool,
) -> Result<Selection<'a>, Exception> {
    if let Some(name) = &select.index {
        match table.index(name) {
            None => return Err(Exception::validation("The table does not have the specified index")),
            Some(index) if consistent_read && index.is_global() => {
                return Err(Exception::validation(
                    "Strongly consistent read is not supported on Global Secondary Indexes",
                ));
            }
            Some(_) => {}
        }
    }
    Selection::new(table, select.index.as_deref(), consistent_read)
}

/// A range to read, and how to filter it.
struct RangeRead<'a> {
    rows: KeyRange,
    expected_partition: ExpectedPartition<'a>,
    sort_prefix: Option<(&'a str, &'a [u8])>,
    filter: Option<&'a Condition>,
    /// The terms of the partition key, for ordering.
    partition: &'a [KeyTerm],
    /// Whether there is at most one row, and so no next page.
    single: bool,
}

/// A SELECT that is about to be read.
struct SelectRead<'a> {
    select: &'a Select,
    selection: &'a Selection<'a>,
    ranges: Vec<RangeRead<'a>>,
    direction: Direction,
    fetch: ItemFetch,
}

impl<'a> SelectRead<'a> {
    fn new(
        select: &'a Select,
        selection: &'a Selection<'a>,
        access: &'a ReadAccess,
        order: ReadOrder,
    ) -> Result<SelectRead<'a>, Exception> {
        let projection = select.projection.as_ref();
        scalar_keys::check(selection.table, projection.iter().flat_map(|paths| paths.nested_roots()))?;
        let filter = select.condition.iter().flat_map(|condition| condition.nested_roots());
        scalar_keys::check(selection.table, filter)?;
        let mut ranges = match access {
            ReadAccess::Scan => vec![whole_range(selection, select.condition.as_ref())],
            ReadAccess::Ranges(ranges) => {
                ranges.iter().map(|range| range_read(selection, range)).collect::<Result<_, _>>()?
            }
        };
        check_disjoint(&ranges)?;
        if let (Some(index), ReadAccess::Ranges(_)) = (selection.index, access) {
            check_projected(index, &ranges)?;
        }
        if !select.order.is_empty() {
            ranges.sort_by(|one, two| compare(one, two, order));
        }
        Ok(SelectRead {
            select,
            selection,
            ranges,
            direction: if order.descends { Direction::Descending } else { Direction::Ascending },
            // Conditions see only what the index holds; items are fetched for selected attributes only.
            fetch: selection.item_fetch(None, projection, None)?,
        })
    }

    async fn read_page<S: Store>(
        &self,
        engine: &Engine<S>,
        request: &ExecuteStatement,
        start: PagePosition,
    ) -> Result<StatementPage, Exception> {
        let mut page = StatementPage::default();
        let (mut scanned, mut bytes) = (0, 0);
        for (number, range_read) in self.ranges.iter().enumerate().skip(start.range) {
            let full = request.limit.is_some_and(|limit| scanned >= limit) || bytes >= limits::PAGE_BYTES;
            if full {
                page.next = Some(PagePosition { range: number, position: None });
                break;
            }
            let position = start.position.as_ref().filter(|_| number == start.range);
            let page_request = PageRequest {
                table: self.selection.table,
                index: self.selection.index,
                range: rows_after(range_read, self.direction, position)?,
                partition: range_read.expected_partition.clone(),
                direction: self.direction,
                sort_prefix: range_read.sort_prefix,
                limit: request.limit.map(|limit| limit - scanned),
                max_bytes: limits::PAGE_BYTES - bytes,
                filter: range_read.filter,
                projection: self.select.projection.as_ref(),
                count_only: false,
                fetch: self.fetch,
                consistency: Consistency::of(request.consistent_read),
                skip_damage: false,
            };
            let read = read_page(engine, &page_request).await?;
            scanned = scanned.saturating_add(u32::try_from(read.page.scanned_count).unwrap_or(u32::MAX));
            bytes += read.bytes;
            page.items.extend(read.page.items.unwrap_or_default());
            page.consumption.add(read.consumption);
            if let Some(key) = read.page.last_evaluated_key.filter(|_| !range_read.single) {
                let position = self.selection.position(&key)?;
                page.next = Some(PagePosition { range: number, position: Some(position) });
                page.last_evaluated_key = Some(key);
                break;
            }
        }
        Ok(page)
    }
}

/// One page of a statement.
#[derive(Default)]
struct StatementPage {
    items: Vec<Item>,
    consumption: Consumption,
    next: Option<PagePosition>,
    last_evaluated_key: Option<Item>,
}

/// Where a page starts: in which range, and after which row of it.
#[derive(Default)]
struct PagePosition {
    range: usize,
    position: Option<Vec<u8>>,
}

impl PagePosition {
    /// The token: the fingerprint of the request, the number of the range and the key of the row.
    fn token(&self, request: &ExecuteStatement) -> Vec<u8> {
        let range = u32::try_from(self.range).unwrap_or(u32::MAX).to_be_bytes();
        [&request.fingerprint[..], &range, self.position.as_deref().unwrap_or_default()].concat()
    }

    fn read(token: &[u8], request: &ExecuteStatement) -> Result<PagePosition, Exception> {
        let Some((fingerprint, rest)) = token.split_first_chunk::<16>() else { return Err(invalid_token()) };
        let Some((range, position)) = rest.split_first_chunk::<4>() else { return Err(invalid_token()) };
        if *fingerprint != request.fingerprint {
            return Err(Exception::validation(TOKEN_MISMATCH));
        }
        let range = usize::try_from(u32::from_be_bytes(*range)).unwrap_or(usize::MAX);
        Ok(PagePosition { range, position: (!position.is_empty()).then(|| position.to_vec()) })
    }
}

fn invalid_token() -> Exception {
    Exception::validation(messages::INVALID_NEXT_TOKEN)
}

/// The rest of a range after a row.
fn rows_after(
    range_read: &RangeRead<'_>,
    direction: Direction,
    position: Option<&Vec<u8>>,
) -> Result<KeyRange, Exception> {
    match position {
        None => Ok(range_read.rows.clone()),
        Some(position) if range_read.rows.contains(position) => {
            Ok(resume_after(range_read.rows.clone(), direction, position.clone()))
        }
        Some(_) => Err(invalid_token()),
    }
}

fn whole_range<'a>(selection: &Selection<'_>, filter: Option<&'a Condition>) -> RangeRead<'a> {
    let rows = stored_key::segment(selection.space(), 0, 1);
    RangeRead {
        rows,
        expected_partition: ExpectedPartition::default(),
        sort_prefix: None,
        filter,
        partition: &[],
        single: false,
    }
}

fn range_read<'a>(selection: &Selection<'a>, range: &'a ReadRange) -> Result<RangeRead<'a>, Exception> {
    let schema = selection.schema();
    let bounds = KeyBounds::new(schema, selection.index, &range.key, |_| Ok(()))?;
    let names_one_item = selection.index.is_none() && bounds.names_one_item(schema);
    Ok(RangeRead {
        rows: bounds.range(selection.space(), selection.table.token_key),
        expected_partition: bounds.expected_partition(schema),
        sort_prefix: bounds.sort_prefix(),
        filter: range.filter.as_ref(),
        partition: range.key.terms.get(..schema.partition.len()).unwrap_or_default(),
        single: names_one_item,
    })
}

/// Checks that no row is read twice.
fn check_disjoint(ranges: &[RangeRead<'_>]) -> Result<(), Exception> {
    let mut rows: Vec<&KeyRange> = ranges.iter().map(|range| &range.rows).collect();
    rows.sort_by(|one, two| one.start.cmp(&two.start));
    match rows.windows(2).any(|pair| pair[0].end > pair[1].start) {
        true => Err(Exception::validation(OVERLAP)),
        false => Ok(()),
    }
}

/// Orders partitions by ORDER BY, and the ranges of each in the direction of the read.
fn compare(one: &RangeRead<'_>, two: &RangeRead<'_>, order: ReadOrder) -> Ordering {
    let partitions = compare_partitions(one.partition, two.partition);
    let partitions = if order.partitions_descend == Some(true) { partitions.reverse() } else { partitions };
    let rows = one.rows.start.cmp(&two.rows.start);
    partitions.then(if order.descends { rows.reverse() } else { rows })
}

fn compare_partitions(one: &[KeyTerm], two: &[KeyTerm]) -> Ordering {
    let (one, two) = (key_of(one), key_of(two));
    let pairs = one.view().attributes().into_iter().zip(two.view().attributes());
    let orders = pairs.map(|((_, one), (_, two))| one.compare(&two).unwrap_or(Ordering::Equal));
    orders.fold(Ordering::Equal, Ordering::then)
}

/// AWS checks the filter of the range it reads first, which is undocumented; a filter that some range does not need passes.
fn check_projected<'a>(index: &Index, ranges: &[RangeRead<'a>]) -> Result<(), Exception> {
    let missing = |range: &RangeRead<'a>| -> Vec<&'a str> {
        let names = range.filter.into_iter().flat_map(|filter| filter.attribute_roots());
        names.filter(|name| !index.holds(name)).collect()
    };
    if ranges.iter().any(|range| missing(range).is_empty()) {
        return Ok(());
    }
    let last = ranges.iter().max_by(|one, two| compare_partitions(one.partition, two.partition));
    Err(filter_not_projected(index, last.map(missing).unwrap_or_default()))
}
