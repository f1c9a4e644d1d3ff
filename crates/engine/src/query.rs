//! Query: key condition → range of one partition → page.

use crate::Engine;
use crate::capacity::Consistency;
use crate::key_range::KeyBounds;
use crate::read::{PageRequest, read_page};
use crate::selection::{Selection, go_on_behind};
use crate::storage_failed;
use partita_api::query::{Query, QueryOutput};
use partita_api::reporting::Select;
use partita_api::{Exception, messages};
use partita_expression::{Condition, printed};
use partita_store::{Direction, Store};
use partita_value::{Item, ValueRef};

const OUTSIDE_BOUNDARIES: &str =
    "The provided starting key is outside query boundaries based on provided conditions";

impl<S: Store> Engine<S> {
    pub fn query(&self, request: &Query) -> Result<QueryOutput, Exception> {
        let table = self.catalog.table(&request.table)?;
        let selection = Selection::new(&table, request.index.as_deref(), request.consistent_read)?;
        let schema = selection.index.map_or(&table.key, |index| &index.key);
        if request.legacy && schema.len() <= 2 && request.key_condition.terms.len() > 2 {
            return Err(Exception::validation(messages::KEY_CONDITIONS_COUNT));
        }
        let bounds = KeyBounds::new(schema, &request.key_condition)?;
        if let Some(filter) = &request.filter {
            refuse_key_attributes(&selection, filter, request.legacy)?;
        }
        let fetch_items = selection.must_fetch_items(
            request.select,
            request.projection.as_ref(),
            request.filter.as_ref(),
        )?;
        let direction = if request.scan_index_forward { Direction::Ascending } else { Direction::Descending };
        let mut range = bounds.range(selection.space());
        if let Some(start_key) = &request.exclusive_start_key {
            let position = selection.position(start_key)?;
            if selection.reads_single_items() {
                return Err(nothing_behind(start_key));
            }
            if !(range.start.clone()..range.end.clone()).contains(&position) {
                return Err(Exception::validation(OUTSIDE_BOUNDARIES));
            }
            range = go_on_behind(range, direction, position);
        }
        let page_request = PageRequest {
            table: &table,
            index: selection.index,
            range,
            direction,
            sort_prefix: bounds.sort_prefix(),
            limit: request.limit,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            count_only: request.select == Some(Select::Count),
            fetch_items,
            consistency: Consistency::of(request.consistent_read),
        };
        let mut read = read_page(&self.store.snapshot().map_err(storage_failed)?, &page_request)?;
        if selection.reads_single_items() {
            read.page.last_evaluated_key = None;
        }
        let consumed_capacity = read.consumption.report(&table, request.return_consumed_capacity, None);
        Ok(QueryOutput { page: read.page, consumed_capacity })
    }
}

/// Where a partition is one item, a page cannot start behind it.
fn nothing_behind(start_key: &Item) -> Exception {
    let attribute = |(name, value): (&[u8], ValueRef<'_>)| {
        format!("{}=AttributeValue: {{{}}}", String::from_utf8_lossy(name), printed(value))
    };
    let key: Vec<_> = start_key.view().attributes().into_iter().map(attribute).collect();
    Exception::validation(format!(
        "The provided exclusive start key is invalid: ExclusiveStartKey: {{{}}}",
        key.join(", ")
    ))
}

/// A filter runs after the read: conditions on the keys belong into the key condition.
fn refuse_key_attributes(
    selection: &Selection<'_>,
    filter: &Condition,
    legacy: bool,
) -> Result<(), Exception> {
    let schema = selection.index.map_or(&selection.table.key, |index| &index.key);
    let Some(key) = filter.attribute_roots().find(|name| schema.contains(name)) else { return Ok(()) };
    let parameter = if legacy { "QueryFilter" } else { "Filter Expression" };
    Err(Exception::validation(format!(
        "{parameter} can only contain non-primary key attributes: Primary key attribute: {key}"
    )))
}
