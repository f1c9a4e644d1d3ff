//! DescribeStream: a stream and a page of its shards.

use crate::key_schema::KeySchema;
use crate::stream::sequence_number::SequenceNumber;
use crate::table::StreamViewType;
use partita_value::names::StreamName;

/// The request of DescribeStream.
#[derive(Clone, Debug)]
pub struct DescribeStream {
    /// The stream.
    pub name: StreamName,
    /// The ARN of the stream, as the request wrote it.
    pub arn: String,
    /// The id of the shard after which the page starts.
    pub exclusive_start: Option<String>,
    /// The maximum number of shards to return.
    pub limit: u32,
    /// Only children of this shard.
    pub children_of: Option<String>,
}

/// The response to DescribeStream.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeStreamOutput {
    /// The stream.
    pub name: StreamName,
    /// Its ARN.
    pub arn: String,
    /// Whether it still takes records.
    pub enabled: bool,
    /// What the records show of an item.
    pub view: StreamViewType,
    /// When it was enabled, in seconds since 1970, with milliseconds.
    pub created_at: f64,
    /// The key of the stream's table.
    pub key: KeySchema,
    /// The page of shards.
    pub shards: Vec<ShardDescription>,
    /// The last shard of the page, if there are more.
    pub last_evaluated: Option<String>,
}

/// A shard of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardDescription {
    /// The id of the shard.
    pub id: String,
    /// The id of its parent, if it has one.
    pub parent: Option<String>,
    /// No record of the shard has a smaller number.
    pub first: SequenceNumber,
    /// No record of the shard has a larger number; `None` while it is open.
    pub last: Option<SequenceNumber>,
}
