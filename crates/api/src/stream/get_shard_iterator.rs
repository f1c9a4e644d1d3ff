//! GetShardIterator: where in a shard to begin reading.

use crate::stream::sequence_number::SequenceNumber;
use partita_value::names::StreamName;

#[derive(Clone, Debug)]
pub struct GetShardIterator {
    pub stream: StreamName,
    /// As the client wrote it.
    pub arn: String,
    pub shard: String,
    pub position: ShardPosition,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShardPosition {
    /// At the oldest record there is.
    TrimHorizon,
    /// Behind the newest record.
    Latest,
    At(SequenceNumber),
    After(SequenceNumber),
    /// At the first record that is not older: seconds since 1970.
    AtTime(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetShardIteratorOutput {
    /// Opaque to clients.
    pub iterator: Vec<u8>,
}
