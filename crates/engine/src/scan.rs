//! Scan: a table or index, or one segment of it, a page at a time.

use crate::Engine;
use crate::capacity::Consistency;
use crate::read::{PageRequest, read_page};
use crate::selection::{Selection, go_on_behind};
use crate::storage_failed;
use crate::stored_key;
use partita_api::reporting::Select;
use partita_api::scan::{Scan, ScanOutput, Segment};
use partita_api::{Exception, messages};
use partita_store::{Direction, Store};

impl<S: Store> Engine<S> {
    pub fn scan(&self, request: &Scan) -> Result<ScanOutput, Exception> {
        let table = self.catalog.table(&request.table)?;
        let selection = Selection::new(&table, request.index.as_deref(), request.consistent_read)?;
        let fetch_items = selection.must_fetch_items(
            request.select,
            request.projection.as_ref(),
            request.filter.as_ref(),
        )?;
        let segment = request.segment.unwrap_or(Segment { number: 0, total: 1 });
        let mut range = stored_key::segment(selection.space(), segment.number, segment.total);
        if let Some(start_key) = &request.exclusive_start_key {
            let position = selection.position(start_key)?;
            if !(range.start.clone()..range.end.clone()).contains(&position) {
                return Err(wrong_segment(segment));
            }
            range = go_on_behind(range, Direction::Ascending, position);
        }
        let page_request = PageRequest {
            table: &table,
            index: selection.index,
            range,
            direction: Direction::Ascending,
            sort_prefix: None,
            limit: request.limit,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            count_only: request.select == Some(Select::Count),
            fetch_items,
            consistency: Consistency::of(request.consistent_read),
        };
        let read = read_page(&self.store.snapshot().map_err(storage_failed)?, &page_request)?;
        let consumed_capacity = read.consumption.report(&table, request.return_consumed_capacity, None);
        Ok(ScanOutput { page: read.page, consumed_capacity })
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
