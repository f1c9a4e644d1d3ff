//! DescribeStream: a stream's record and a page of its shards, in the order of their ids.

use crate::Engine;
use crate::storage_failed;
use crate::stream::read_stream::next_sequence;
use crate::table::describe_table::seconds;
use partita_api::Exception;
use partita_api::stream::describe_stream::{DescribeStream, DescribeStreamOutput, ShardDescription};
use partita_api::stream::sequence_number::SequenceNumber;
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_stream(&self, request: DescribeStream) -> Result<DescribeStreamOutput, Exception> {
        let stream = self.named_stream(&request.name, &request.arn)?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let next = next_sequence(&snapshot, &stream)?;
        let mut rest = stream
            .shards
            .iter()
            .filter(|shard| request.exclusive_start.as_ref().is_none_or(|start| shard.id() > *start))
            .filter(|shard| request.children_of.as_ref().is_none_or(|id| shard.parent.as_ref() == Some(id)))
            .map(|shard| ShardDescription {
                id: shard.id(),
                parent: shard.parent.clone(),
                first: SequenceNumber(shard.first),
                last: stream.last_of(shard, next).map(SequenceNumber),
            });
        let shards: Vec<_> = rest.by_ref().take(request.limit as usize).collect();
        let last_evaluated = rest.next().and(shards.last()).map(|shard| shard.id.clone());
        Ok(DescribeStreamOutput {
            name: stream.name(),
            arn: request.arn.clone(),
            enabled: stream.ended_at_millis.is_none(),
            view: stream.view,
            created_at: seconds(stream.created_at_millis),
            key: stream.key.clone(),
            shards,
            last_evaluated,
        })
    }
}
