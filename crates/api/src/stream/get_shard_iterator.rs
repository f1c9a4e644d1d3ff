//! GetShardIterator: an iterator that starts at a position in a shard.

use crate::stream::sequence_number::SequenceNumber;
use partita_value::names::StreamName;

/// The request of GetShardIterator.
#[derive(Clone, Debug)]
pub struct GetShardIterator {
    /// The stream.
    pub stream: StreamName,
    /// The ARN of the stream, as the request wrote it.
    pub arn: String,
    /// The id of the shard.
    pub shard: String,
    /// Where to start reading.
    pub position: ShardPosition,
}

/// Where in a shard to start reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShardPosition {
    /// At the oldest record.
    TrimHorizon,
    /// After the newest record.
    Latest,
    /// At the record with this number.
    At(SequenceNumber),
    /// After the record with this number.
    After(SequenceNumber),
    /// At the first record that is not older than this, in seconds since 1970.
    AtTime(u64),
}

/// The response to GetShardIterator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetShardIteratorOutput {
    /// The iterator, opaque to clients.
    pub iterator: Vec<u8>,
}
