//! Query: key condition → range of one partition → page.

use crate::Engine;
use crate::capacity::Consistency;
use crate::key::scalar_keys;
use crate::read::key_range::KeyBounds;
use crate::read::selection::{Selection, check_start_attribute, go_on_behind};
use crate::read::{PageRequest, read_page};
use partita_api::item::query::{Query, QueryOutput};
use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_api::reporting::Select;
use partita_api::{Exception, messages};
use partita_expression::{Condition, print_value};
use partita_store::{Direction, Store};
use partita_value::{Item, ValueRef, limits, ordered_key};

const OUTSIDE_BOUNDARIES: &str =
    "The provided starting key is outside query boundaries based on provided conditions";
const OUTSIDE_SORT_TERMS: &str = "The provided starting key does not match the range key predicate";
/// AWS's words for a starting key of another partition where the sort key is asked for too.
const OTHER_PARTITION: &str = "The query can return at most one row and cannot be restarted";

impl<S: Store> Engine<S> {
    pub async fn query(&self, request: Query) -> Result<QueryOutput, Exception> {
        let table = self.catalog.table(&request.table)?;
        let selection = Selection::new(&table, request.index.as_deref(), request.consistent_read)?;
        let schema = selection.schema();
        if request.legacy && schema.len() <= 2 && request.key_condition.terms.len() > 2 {
            return Err(Exception::validation(messages::KEY_CONDITIONS_COUNT));
        }
        let start_key = request.exclusive_start_key.as_ref();
        start_key.map_or(Ok(()), |key| selection.check_start_key_size(key))?;
        let bounds = KeyBounds::new(schema, selection.index, &request.key_condition, |attribute| {
            start_key.map_or(Ok(()), |key| check_start_attribute(key, attribute))
        })?;
        let start = start_key.map(|key| start_position(&selection, &bounds, key)).transpose()?;
        scalar_keys::check(&table, request.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        if let Some(filter) = &request.filter {
            refuse_key_attributes(schema, filter, request.legacy)?;
            selection.check_filter(filter)?;
        }
        let fetch = selection.fetch(request.select, request.projection.as_ref(), None)?;
        scalar_keys::check(&table, request.filter.iter().flat_map(|filter| filter.nested_roots()))?;
        let direction = if request.scan_index_forward { Direction::Ascending } else { Direction::Descending };
        let mut range = bounds.range(selection.space(), table.token_key);
        if let Some(position) = start {
            range = go_on_behind(range, direction, position);
        }
        let page_request = PageRequest {
            table: &table,
            index: selection.index,
            range,
            partition: bounds.owner(schema),
            direction,
            sort_prefix: bounds.sort_prefix(),
            limit: request.limit,
            most_bytes: limits::PAGE_BYTES,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            count_only: request.select == Some(Select::Count),
            fetch,
            consistency: Consistency::of(request.consistent_read),
            past_damage: false,
        };
        let mut read = read_page(self, &page_request).await?;
        if selection.reads_single_items() {
            read.page.last_evaluated_key = None;
        }
        let consumed_capacity =
            read.consumption.report(&request.table, request.return_consumed_capacity, None);
        Ok(QueryOutput { page: read.page, consumed_capacity })
    }
}

/// Where the query goes on: a row that satisfies the key condition, or would if it were there.
fn start_position(
    selection: &Selection<'_>,
    bounds: &KeyBounds<'_>,
    start_key: &Item,
) -> Result<Vec<u8>, Exception> {
    let position = selection.position(start_key)?;
    if selection.reads_single_items() {
        return Err(nothing_behind(start_key));
    }
    let value = |attribute: &KeyAttribute| start_key.get(&attribute.name).unwrap_or(ValueRef::Null);
    let partition: Vec<ValueRef<'_>> = selection.schema().partition.iter().map(value).collect();
    let token = ordered_key::keyed_token(selection.table.token_key, partition.iter().copied());
    let range = bounds.range_in(selection.space(), &token);
    let text = match partition.into_iter().eq(bounds.partition_values()) {
        _ if !range.contains(&position) => OUTSIDE_SORT_TERMS,
        false if bounds.has_sort_terms() => OTHER_PARTITION,
        false => OUTSIDE_BOUNDARIES,
        true => return Ok(position),
    };
    Err(Exception::validation(text))
}

/// Where a partition is one item, a page cannot start behind it.
fn nothing_behind(start_key: &Item) -> Exception {
    let attribute = |(name, value): (&[u8], ValueRef<'_>)| {
        format!("{}=AttributeValue: {{{}}}", String::from_utf8_lossy(name), print_value(value))
    };
    let key: Vec<_> = start_key.view().attributes().into_iter().map(attribute).collect();
    Exception::validation(format!(
        "The provided exclusive start key is invalid: ExclusiveStartKey: {{{}}}",
        key.join(", ")
    ))
}

/// A filter runs after the read: conditions on the keys belong into the key condition.
pub fn refuse_key_attributes(schema: &KeySchema, filter: &Condition, legacy: bool) -> Result<(), Exception> {
    let Some(key) = filter.attribute_roots().find(|name| schema.contains(name)) else {
        return Ok(());
    };
    let parameter = if legacy { "QueryFilter" } else { "Filter Expression" };
    Err(Exception::validation(format!(
        "{parameter} can only contain non-primary key attributes: Primary key attribute: {key}"
    )))
}
