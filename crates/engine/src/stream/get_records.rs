//! GetRecords: returns records of a shard, starting at an iterator: up to a thousand, or a megabyte.

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

/// Consecutive records of a shard.
struct RecordPage {
    records: Vec<ChangeRecord>,
    /// The smallest sequence number that was not read.
    next: u64,
    /// Whether there are no more records.
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
        // Taken after reading the catalog, so that it contains every record of a shard that is closed there.
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let trimmed_to = trimmed_through(&snapshot, stream, shard.number)?;
        if iterator.next != 0 && iterator.next <= trimmed_to {
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
) -> Result<RecordPage, Exception> {
    let mut page = RecordPage { records: Vec::new(), next: from, is_last: true };
    let mut bytes = 0;
    let mut after_damage = None;
    let (found_damage, has_records) = (Cell::new(false), Cell::new(false));
    let visit = |key: &[u8], row: &[u8]| {
        let record =
            stored_key::sequence_of(key).and_then(|sequence| stream_record::decode(stream, sequence, row));
        let Some(record) = record else {
            found_damage.set(true);
            return if has_records.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        };
        if found_damage.get() {
            after_damage = Some(record.sequence);
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
        found_damage.set(true);
        if has_records.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let range = stored_key::changes_from(stream.space(), shard.number, from);
    snapshot.range_past_damage(&range, Direction::Ascending, visit, damaged).map_err(storage_failed)?;
    match (found_damage.get(), page.records.is_empty()) {
        (false, _) => Ok(page),
        // Records before the damage are returned first.
        (true, false) => Ok(RecordPage { is_last: false, ..page }),
        (true, true) => Err(unreadable_records(after_damage)),
    }
}

fn unreadable_records(after_damage: Option<SequenceNumber>) -> Exception {
    let advice = match after_damage {
        Some(number) => format!("an iterator AT_SEQUENCE_NUMBER {number} continues after them"),
        None => "there are no records after them yet".to_owned(),
    };
    Exception::internal(format!(
        "Internal server error: the next records of the stream are damaged and cannot be read; {advice}"
    ))
}
