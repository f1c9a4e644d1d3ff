//! SELECT: ranges of a table or index, read one after the other by the one reader until the page is full.

use crate::Engine;
use crate::capacity::{Consistency, Consumption};
use crate::catalog::table::{Index, Table};
use crate::key::{scalar_keys, stored_key};
use crate::read::key_range::{KeyBounds, Partition};
use crate::read::selection::{Selection, filter_not_projected, go_on_behind};
use crate::read::{Fetch, PageRequest, read_page};
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

/// A key as statements are held against it.
pub fn key_parts(schema: &KeySchema) -> KeyParts<'_> {
    let parts = |attributes| -> Vec<KeyPart<'_>> {
        let attributes: &[partita_api::key_schema::KeyAttribute] = attributes;
        attributes.iter().map(|key| KeyPart { name: &key.name, kind: Some(key.kind) }).collect()
    };
    KeyParts { partition: parts(&schema.partition), sort: parts(&schema.sort) }
}

/// The key of the one item that a SELECT of several statements means; `otherwise` is what is wrong if it means more.
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
        let plan = Plan::new(select, &selection, &access, order)?;
        let start = request.next_token.as_deref().map(|token| Start::read(token, request)).transpose()?;
        let page = plan.read(self, request, start.unwrap_or_default()).await?;
        let next_token = page.next.as_ref().map(|next| next.token(request));
        Ok(ExecuteStatementOutput {
            items: page.items,
            next_token,
            last_evaluated_key: page.last_evaluated_key,
            consumed_capacity: page.consumption.report(&table.name, request.return_consumed_capacity, None),
        })
    }
}

/// Where a statement reads; what is wrong with that is told in words of its own.
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

/// Rows to read and what is asked of them.
struct PlannedRange<'a> {
    rows: KeyRange,
    owner: Partition<'a>,
    sort_prefix: Option<(&'a str, &'a [u8])>,
    filter: Option<&'a Condition>,
    /// Which partition, for ordering.
    partition: &'a [KeyTerm],
    /// There is at most one row, so nothing comes behind it.
    single: bool,
}

struct Plan<'a> {
    select: &'a Select,
    selection: &'a Selection<'a>,
    ranges: Vec<PlannedRange<'a>>,
    direction: Direction,
    fetch: Fetch,
}

impl<'a> Plan<'a> {
    fn new(
        select: &'a Select,
        selection: &'a Selection<'a>,
        access: &'a ReadAccess,
        order: ReadOrder,
    ) -> Result<Plan<'a>, Exception> {
        let projection = select.projection.as_ref();
        scalar_keys::check(selection.table, projection.iter().flat_map(|paths| paths.nested_roots()))?;
        let filter = select.condition.iter().flat_map(|condition| condition.nested_roots());
        scalar_keys::check(selection.table, filter)?;
        let mut ranges = match access {
            ReadAccess::Scan => vec![whole(selection, select.condition.as_ref())],
            ReadAccess::Ranges(ranges) => {
                ranges.iter().map(|range| planned(selection, range)).collect::<Result<_, _>>()?
            }
        };
        check_apart(&ranges)?;
        if let (Some(index), ReadAccess::Ranges(_)) = (selection.index, access) {
            check_projected(index, &ranges)?;
        }
        if !select.order.is_empty() {
            ranges.sort_by(|one, two| compare(one, two, order));
        }
        Ok(Plan {
            select,
            selection,
            ranges,
            direction: if order.descending { Direction::Descending } else { Direction::Ascending },
            // Conditions look at what the index holds; only what is selected may be fetched besides.
            fetch: selection.fetch(None, projection, None)?,
        })
    }

    async fn read<S: Store>(
        &self,
        engine: &Engine<S>,
        request: &ExecuteStatement,
        start: Start,
    ) -> Result<StatementPage, Exception> {
        let mut page = StatementPage::default();
        let (mut scanned, mut bytes) = (0, 0);
        for (number, planned) in self.ranges.iter().enumerate().skip(start.range) {
            let full = request.limit.is_some_and(|limit| scanned >= limit) || bytes >= limits::PAGE_BYTES;
            if full {
                page.next = Some(Start { range: number, position: None });
                break;
            }
            let position = start.position.as_ref().filter(|_| number == start.range);
            let page_request = PageRequest {
                table: self.selection.table,
                index: self.selection.index,
                range: rows_behind(planned, self.direction, position)?,
                partition: planned.owner.clone(),
                direction: self.direction,
                sort_prefix: planned.sort_prefix,
                limit: request.limit.map(|limit| limit - scanned),
                most_bytes: limits::PAGE_BYTES - bytes,
                filter: planned.filter,
                projection: self.select.projection.as_ref(),
                count_only: false,
                fetch: self.fetch,
                consistency: Consistency::of(request.consistent_read),
                past_damage: false,
            };
            let read = read_page(engine, &page_request).await?;
            scanned = scanned.saturating_add(u32::try_from(read.page.scanned_count).unwrap_or(u32::MAX));
            bytes += read.bytes;
            page.items.extend(read.page.items.unwrap_or_default());
            page.consumption.add(read.consumption);
            if let Some(key) = read.page.last_evaluated_key.filter(|_| !planned.single) {
                let position = self.selection.position(&key)?;
                page.next = Some(Start { range: number, position: Some(position) });
                page.last_evaluated_key = Some(key);
                break;
            }
        }
        Ok(page)
    }
}

/// What one page of a statement has.
#[derive(Default)]
struct StatementPage {
    items: Vec<Item>,
    consumption: Consumption,
    next: Option<Start>,
    last_evaluated_key: Option<Item>,
}

/// Where a page begins: in which range, and behind which row of it.
#[derive(Default)]
struct Start {
    range: usize,
    position: Option<Vec<u8>>,
}

impl Start {
    /// A token is the request's fingerprint, the range's number and the row's key.
    fn token(&self, request: &ExecuteStatement) -> Vec<u8> {
        let range = u32::try_from(self.range).unwrap_or(u32::MAX).to_be_bytes();
        [&request.fingerprint[..], &range, self.position.as_deref().unwrap_or_default()].concat()
    }

    fn read(token: &[u8], request: &ExecuteStatement) -> Result<Start, Exception> {
        let Some((fingerprint, rest)) = token.split_first_chunk::<16>() else { return Err(invalid_token()) };
        let Some((range, position)) = rest.split_first_chunk::<4>() else { return Err(invalid_token()) };
        if *fingerprint != request.fingerprint {
            return Err(Exception::validation(TOKEN_MISMATCH));
        }
        let range = usize::try_from(u32::from_be_bytes(*range)).unwrap_or(usize::MAX);
        Ok(Start { range, position: (!position.is_empty()).then(|| position.to_vec()) })
    }
}

fn invalid_token() -> Exception {
    Exception::validation(messages::INVALID_NEXT_TOKEN)
}

/// What is left of a range behind a row of it.
fn rows_behind(
    planned: &PlannedRange<'_>,
    direction: Direction,
    position: Option<&Vec<u8>>,
) -> Result<KeyRange, Exception> {
    match position {
        None => Ok(planned.rows.clone()),
        Some(position) if planned.rows.contains(position) => {
            Ok(go_on_behind(planned.rows.clone(), direction, position.clone()))
        }
        Some(_) => Err(invalid_token()),
    }
}

fn whole<'a>(selection: &Selection<'_>, filter: Option<&'a Condition>) -> PlannedRange<'a> {
    let rows = stored_key::segment(selection.space(), 0, 1);
    PlannedRange {
        rows,
        owner: Partition::default(),
        sort_prefix: None,
        filter,
        partition: &[],
        single: false,
    }
}

fn planned<'a>(selection: &Selection<'a>, range: &'a ReadRange) -> Result<PlannedRange<'a>, Exception> {
    let schema = selection.schema();
    let bounds = KeyBounds::new(schema, selection.index, &range.key, |_| Ok(()))?;
    let pins_all = selection.index.is_none() && bounds.pins(schema);
    Ok(PlannedRange {
        rows: bounds.range(selection.space(), selection.table.token_key),
        owner: bounds.owner(schema),
        sort_prefix: bounds.sort_prefix(),
        filter: range.filter.as_ref(),
        partition: range.key.terms.get(..schema.partition.len()).unwrap_or_default(),
        single: pins_all,
    })
}

/// No row may be read twice.
fn check_apart(ranges: &[PlannedRange<'_>]) -> Result<(), Exception> {
    let mut rows: Vec<&KeyRange> = ranges.iter().map(|range| &range.rows).collect();
    rows.sort_by(|one, two| one.start.cmp(&two.start));
    match rows.windows(2).any(|pair| pair[0].end > pair[1].start) {
        true => Err(Exception::validation(OVERLAP)),
        false => Ok(()),
    }
}

/// Partitions as ORDER BY asks, the ranges of each in the direction of reading.
fn compare(one: &PlannedRange<'_>, two: &PlannedRange<'_>, order: ReadOrder) -> Ordering {
    let partitions = compare_partitions(one.partition, two.partition);
    let partitions =
        if order.partitions_descending == Some(true) { partitions.reverse() } else { partitions };
    let rows = one.rows.start.cmp(&two.rows.start);
    partitions.then(if order.descending { rows.reverse() } else { rows })
}

fn compare_partitions(one: &[KeyTerm], two: &[KeyTerm]) -> Ordering {
    let (one, two) = (key_of(one), key_of(two));
    let pairs = one.view().attributes().into_iter().zip(two.view().attributes());
    let orders = pairs.map(|((_, one), (_, two))| one.compare(&two).unwrap_or(Ordering::Equal));
    orders.fold(Ordering::Equal, Ordering::then)
}

/// AWS looks at the filter of the range it reads first, which is not told; a filter that some range does without is
/// let through.
fn check_projected<'a>(index: &Index, ranges: &[PlannedRange<'a>]) -> Result<(), Exception> {
    let missing = |range: &PlannedRange<'a>| -> Vec<&'a str> {
        let names = range.filter.into_iter().flat_map(|filter| filter.attribute_roots());
        names.filter(|name| !index.holds(name)).collect()
    };
    if ranges.iter().any(|range| missing(range).is_empty()) {
        return Ok(());
    }
    let last = ranges.iter().max_by(|one, two| compare_partitions(one.partition, two.partition));
    Err(filter_not_projected(index, last.map(missing).unwrap_or_default()))
}
