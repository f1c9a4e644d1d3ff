//! Scan: reads a page of a table or index, or of one segment of it.

use crate::Engine;
use crate::capacity::Consistency;
use crate::key::item_key::check_shape;
use crate::key::{scalar_keys, stored_key};
use crate::read::key_range::ExpectedPartition;
use crate::read::selection::{Selection, check_start_attribute, resume_after, start_key_mismatch};
use crate::read::{PageRequest, read_page};
use partita_api::item::scan::{Scan, ScanOutput, Segment};
use partita_api::reporting::Select;
use partita_api::{Exception, messages};
use partita_store::{Direction, Store};
use partita_value::{Item, limits};

impl<S: Store> Engine<S> {
    pub async fn scan(&self, request: Scan) -> Result<ScanOutput, Exception> {
        let table = self.catalog.table(&request.table)?;
        let selection = Selection::new(&table, request.index.as_deref(), request.consistent_read)?;
        let start_key = request.exclusive_start_key.as_ref();
        start_key.map_or(Ok(()), |key| check_start_key(&selection, key))?;
        let fetch =
            selection.item_fetch(request.select, request.projection.as_ref(), request.filter.as_ref())?;
        let segment = request.segment.unwrap_or(Segment { number: 0, total: 1 });
        let mut range = stored_key::segment(selection.space(), segment.number, segment.total);
        if let Some(start_key) = start_key {
            let position = selection.position(start_key)?;
            if !range.contains(&position) {
                return Err(wrong_segment(segment));
            }
            range = resume_after(range, Direction::Ascending, position);
        }
        scalar_keys::check(&table, request.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        scalar_keys::check(&table, request.filter.iter().flat_map(|filter| filter.nested_roots()))?;
        let page_request = PageRequest {
            table: &table,
            index: selection.index,
            range,
            partition: ExpectedPartition::default(),
            direction: Direction::Ascending,
            sort_prefix: None,
            limit: request.limit,
            max_bytes: limits::PAGE_BYTES,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            count_only: request.select == Some(Select::Count),
            fetch,
            consistency: Consistency::of(request.consistent_read),
            skip_damage: request.past_damage,
        };
        let read = read_page(self, &page_request).await?;
        let consumed_capacity =
            read.consumption.report(&request.table, request.return_consumed_capacity, None);
        Ok(ScanOutput { page: read.page, consumed_capacity })
    }
}

/// Checks a starting key. In a table, a scan has one message for every kind of mismatch.
fn check_start_key(selection: &Selection<'_>, start_key: &Item) -> Result<(), Exception> {
    match selection.index {
        Some(index) => {
            selection.check_start_key_size(start_key)?;
            index.key.attributes().try_for_each(|attribute| check_start_attribute(start_key, attribute))
        }
        None => check_shape(selection.table.key.attributes(), start_key.view(), &start_key_mismatch()),
    }
}

fn wrong_segment(segment: Segment) -> Exception {
    Exception::validation(format!(
        "{}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: {} Segment: {}",
        messages::START_KEY_INVALID,
        segment.total,
        segment.number
    ))
}
