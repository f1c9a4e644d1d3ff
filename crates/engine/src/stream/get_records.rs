//! GetRecords: the records of a shard from an iterator on: a thousand of them, or a megabyte.

use crate::Engine;
use crate::key::stored_key;
use crate::storage_failed;
use crate::stream::read_stream::{next_sequence, trimmed, trimmed_through};
use crate::stream::shard_iterator::{self, ShardIterator};
use crate::stream::stream_record;
use crate::stream::{Shard, Stream};
use partita_api::stream::get_records::{ChangeRecord, GetRecords, GetRecordsOutput};
use partita_api::stream::sequence_number::SequenceNumber;
use partita_api::{Exception, messages};
use partita_store::{Damage, Direction, Snapshot, Store};
use partita_value::limits;
use std::cell::Cell;
use std::ops::ControlFlow;

/// Records from a shard.
struct Page {
    records: Vec<ChangeRecord>,
    /// The smallest number that was not looked at.
    next: u64,
    /// Whether no record is left behind it.
    is_last: bool,
}

impl<S: Store> Engine<S> {
    pub async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput, Exception> {
        let iterator = ShardIterator::read(&request.iterator)?;
        let streams = self.catalog.streams();
        let Some(stream) = streams.values().find(|stream| stream.space == iterator.space) else {
            return Err(shard_iterator::invalid());
        };
        let now = self.clock.now_millis();
        iterator.check(&request.iterator, stream, now)?;
        let Some(shard) = stream.shard(iterator.shard) else {
            return Err(Exception::resource_not_found(messages::SHARD_NOT_FOUND));
        };
        // After the look at the catalog: of a shard that is closed there, the snapshot has every record.
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let gone = trimmed_through(&snapshot, stream, shard.number)?;
        if iterator.next != 0 && iterator.next <= gone {
            return Err(trimmed());
        }
        let page = read_page(&snapshot, stream, shard, iterator.next.max(shard.first), request.limit)?;
        let is_closed = stream.last_of(shard, next_sequence(&snapshot, stream)?).is_some();
        let next = ShardIterator { next: page.next, issued_at_millis: now, ..iterator };
        Ok(GetRecordsOutput {
            records: page.records,
            next: (!(is_closed && page.is_last)).then(|| next.to_bytes(stream)),
            region: self.region.clone(),
            view: stream.view,
        })
    }
}

fn read_page(
    snapshot: &impl Snapshot,
    stream: &Stream,
    shard: &Shard,
    from: u64,
    limit: u32,
) -> Result<Page, Exception> {
    let mut page = Page { records: Vec::new(), next: from, is_last: true };
    let mut bytes = 0;
    let mut behind = None;
    let (met_damage, has_records) = (Cell::new(false), Cell::new(false));
    let visit = |key: &[u8], row: &[u8]| {
        let record =
            stored_key::sequence_of(key).and_then(|sequence| stream_record::decode(stream, sequence, row));
        let Some(record) = record else {
            met_damage.set(true);
            return if has_records.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        if met_damage.get() {
            behind = Some(record.sequence);
            return ControlFlow::Break(());
        }
        bytes += record.size_bytes();
        let is_full =
            page.records.len() >= limit as usize || (bytes > limits::PAGE_BYTES && !page.records.is_empty());
        if is_full {
            page.is_last = false;
            return ControlFlow::Break(());
        }
        page.next = record.sequence.0 + 1;
        page.records.push(record);
        has_records.set(true);
        ControlFlow::Continue(())
    };
    let damaged = |damage: Damage| {
        tracing::error!(stream = stream.label, %damage, "records of a stream are damaged");
        met_damage.set(true);
        if has_records.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let range = stored_key::changes_from(stream.space(), shard.number, from);
    snapshot.range_past_damage(&range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
    match (met_damage.get(), page.records.is_empty()) {
        (false, _) => Ok(page),
        // What stands before the damage comes first.
        (true, false) => Ok(Page { is_last: false, ..page }),
        (true, true) => Err(unreadable_records(behind)),
    }
}

fn unreadable_records(behind: Option<SequenceNumber>) -> Exception {
    let way_on = match behind {
        Some(number) => format!("an iterator AT_SEQUENCE_NUMBER {number} goes on behind them"),
        None => "there are none behind them yet".to_owned(),
    };
    Exception::internal(format!(
        "Internal server error: the next records of the stream are damaged and cannot be read; {way_on}"
    ))
}
