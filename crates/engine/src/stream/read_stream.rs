//! What the operations on streams share: finding a stream, its next number, how far it is trimmed.

use crate::Engine;
use crate::key::stored_key::{self, Key};
use crate::storage_failed;
use crate::stream::stream_record;
use crate::stream::{FIRST_SEQUENCE, Shard, Stream};
use partita_api::{Exception, ExceptionKind, messages};
use partita_store::{Direction, Snapshot, Store};
use partita_value::names::StreamName;
use std::ops::ControlFlow;
use std::sync::Arc;

impl<S: Store> Engine<S> {
    /// The stream a request names; the error names it as the request did.
    pub(crate) fn named_stream(&self, name: &StreamName, arn: &str) -> Result<Arc<Stream>, Exception> {
        let stream = self.catalog.stream(name);
        stream.ok_or_else(|| Exception::resource_not_found(messages::stream_not_found(arn)))
    }
}

/// The number in a row of one number.
pub fn read_number(row: Option<&[u8]>) -> Option<u64> {
    row.and_then(|row| row.first_chunk::<8>()).map(|number| u64::from_be_bytes(*number))
}

/// The number that the stream's next record gets.
pub fn next_sequence(snapshot: &impl Snapshot, stream: &Stream) -> Result<u64, Exception> {
    let row = snapshot.get(&Key::NextSequence { of: stream.space() }.to_bytes()).map_err(storage_failed)?;
    Ok(read_number(row.as_deref()).unwrap_or(FIRST_SEQUENCE))
}

/// The number of the last record that was trimmed from a shard; 0 if none was.
pub fn trimmed_through(snapshot: &impl Snapshot, stream: &Stream, shard: u32) -> Result<u64, Exception> {
    let row =
        snapshot.get(&Key::ShardTrim { space: stream.space(), shard }.to_bytes()).map_err(storage_failed)?;
    Ok(read_number(row.as_deref()).unwrap_or(0))
}

pub fn trimmed() -> Exception {
    Exception::new(ExceptionKind::TrimmedDataAccessException, messages::TRIMMED_DATA)
}

/// The smallest number from which on no record of a shard is older than a moment. Records are in the order
/// of their times, so the range is halved until it is found.
pub fn first_not_older(
    snapshot: &impl Snapshot,
    stream: &Stream,
    shard: &Shard,
    last: u64,
    millis: u64,
) -> Result<u64, Exception> {
    // Everything below `from` is older; nothing at or above `to` is.
    let (mut from, mut to) = (shard.first, last + 1);
    while from < to {
        let middle = from + (to - from) / 2;
        let mut found = None;
        let range = stored_key::changes_from(stream.space(), shard.number, middle);
        let visit = |key: &[u8], row: &[u8]| {
            found =
                stored_key::sequence_of(key).map(|number| (number, stream_record::created_at_millis(row)));
            ControlFlow::Break(())
        };
        snapshot.range(&range, Direction::Ascending, visit).map_err(storage_failed)?;
        match found {
            Some((number, created_at)) if created_at < millis => from = number + 1,
            _ => to = middle,
        }
    }
    Ok(from)
}
