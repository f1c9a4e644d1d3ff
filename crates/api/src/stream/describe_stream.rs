//! DescribeStream: a stream and a page of its shards.

use crate::key_schema::KeySchema;
use crate::stream::sequence_number::SequenceNumber;
use crate::table::StreamViewType;
use partita_value::names::StreamName;

#[derive(Clone, Debug)]
pub struct DescribeStream {
    pub name: StreamName,
    /// As the client wrote it.
    pub arn: String,
    pub exclusive_start: Option<String>,
    pub limit: u32,
    /// Only the children of this shard.
    pub children_of: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DescribeStreamOutput {
    pub name: StreamName,
    pub arn: String,
    pub enabled: bool,
    pub view: StreamViewType,
    /// Seconds since 1970, with milliseconds.
    pub created_at: f64,
    pub key: KeySchema,
    pub shards: Vec<ShardDescription>,
    /// The last shard shown, if there are more.
    pub last_evaluated: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ShardDescription {
    pub id: String,
    pub parent: Option<String>,
    pub first: SequenceNumber,
    /// Of a closed shard: no record of it has a larger number.
    pub last: Option<SequenceNumber>,
}
