//! GetShardIterator: a place in a shard, as bytes.

use crate::Engine;
use crate::storage_failed;
use crate::stream::read_stream::{first_not_older, next_sequence, trimmed, trimmed_through};
use crate::stream::shard_iterator::ShardIterator;
use partita_api::stream::get_shard_iterator::{GetShardIterator, GetShardIteratorOutput, ShardPosition};
use partita_api::stream::sequence_number::SequenceNumber;
use partita_api::{Exception, messages};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn get_shard_iterator(
        &self,
        request: GetShardIterator,
    ) -> Result<GetShardIteratorOutput, Exception> {
        let stream = self.named_stream(&request.stream, &request.arn)?;
        let Some(shard) = stream.shards.iter().find(|shard| shard.id() == request.shard) else {
            return Err(Exception::resource_not_found(messages::SHARD_NOT_FOUND));
        };
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let next = next_sequence(&snapshot, &stream)?;
        let last = stream.last_of(shard, next);
        let in_shard = |SequenceNumber(number): SequenceNumber| {
            if number < shard.first || number > last.unwrap_or(next) {
                return Err(Exception::validation(messages::INVALID_SEQUENCE_NUMBER));
            }
            if number <= trimmed_through(&snapshot, &stream, shard.number)? {
                return Err(trimmed());
            }
            Ok(number)
        };
        let position = match request.position {
            ShardPosition::TrimHorizon => 0,
            ShardPosition::Latest => next.max(shard.first),
            ShardPosition::At(number) => in_shard(number)?,
            ShardPosition::After(number) => in_shard(number)? + 1,
            ShardPosition::AtTime(seconds) => {
                let millis = seconds.saturating_mul(1_000);
                first_not_older(&snapshot, &stream, shard, last.unwrap_or(next), millis)?
            }
        };
        let iterator = ShardIterator {
            space: stream.space,
            shard: shard.number,
            next: position,
            issued_at_millis: self.clock.now_millis(),
        };
        Ok(GetShardIteratorOutput { iterator: iterator.to_bytes(&stream) })
    }
}
