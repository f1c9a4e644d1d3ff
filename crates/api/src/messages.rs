//! The texts of exceptions that need more than one stage to agree on them, as AWS writes them.

use partita_value::names::TableName;

pub const CONDITION_FAILED: &str = "The conditional request failed";
pub const TABLE_NOT_FOUND: &str = "Requested resource not found";
pub const KEY_MISMATCH: &str = "The provided key element does not match the schema";
pub const ITEM_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
pub const ITEM_TOO_LARGE_AFTER_UPDATE: &str = "Item size to update has exceeded the maximum allowed size";
pub const PARTITION_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes";
pub const SORT_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
pub const START_KEY_INVALID: &str = "The provided starting key is invalid";
/// `KeyConditions` on a table, or on an index whose key has no more attributes.
pub const KEY_CONDITIONS_COUNT: &str = "Conditions can be of length 1 or 2 only";
pub const COLLECTION_TOO_LARGE: &str = "Collection size exceeded.";
pub const TOKEN_MISMATCH: &str = "The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with different requests, unless the requests are identical";

/// DescribeTable, DeleteTable and UpdateTable name the table; the item operations do not.
pub fn table_not_found(table: &TableName) -> String {
    format!("{TABLE_NOT_FOUND}: Table: {table} not found")
}

/// An attribute that is part of a key or index has the wrong type.
pub fn type_mismatch(attribute: &str, expected: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Type mismatch for key {attribute} expected: {expected} actual: {actual}"
    )
}

pub const NESTED_TOO_DEEP: &str = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

/// CreateTable says so of its own request, UpdateTable also of a table that is on-demand already.
pub const PROVISIONED_UNITS_ON_DEMAND: &str = "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
pub const PROVISIONED_UNITS_MISSING: &str = "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED";
/// A request that changes several indexes, or one while another is still being changed.
pub const ONE_INDEX_AT_A_TIME: &str =
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
/// A request with too many tags, or one that adds too many to those there are.
pub const TOO_MANY_TAGS: &str = "Number of Tags exceed the current limit for the provided ResourceArn";

/// UpdateTable asks less warm throughput of a table or an index than it has.
pub fn warm_decrease(member: &str, owner: &dyn std::fmt::Display) -> String {
    format!(
        "One or more parameter values were invalid: Requested {member} for WarmThroughput for {owner} is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
    )
}

/// UpdateTable adds an index with units to a table that is on-demand, or becomes it.
pub fn index_units_on_demand(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

/// UpdateTable adds an index without units to a table that has them.
pub fn index_units_missing(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index}"
    )
}

/// DescribeStream and GetShardIterator name the stream.
pub fn stream_not_found(arn: &str) -> String {
    format!("{TABLE_NOT_FOUND}: Stream: {arn} not found")
}

pub const SHARD_NOT_FOUND: &str = "Requested resource not found: Shard does not exist";
pub const INVALID_STREAM_ARN: &str = "Invalid StreamArn";
pub const INVALID_SHARD_ITERATOR: &str = "Invalid ShardIterator";
pub const INVALID_SEQUENCE_NUMBER: &str = "Invalid SequenceNumber";
pub const EXPIRED_ITERATOR: &str = "The provided iterator exceeds the maximum age allowed";
pub const TRIMMED_DATA: &str = "The data you are trying to access has been trimmed";

pub const INVALID_NEXT_TOKEN: &str = "Invalid NextToken";

/// What is wrong with one statement of ExecuteTransaction.
pub fn in_transact_statement(index: usize, problem: &str) -> String {
    format!("Validation failed in TransactStatements[{index}]: {problem}")
}

/// INSERT, unlike PutItem, replaces nothing.
pub const DUPLICATE_ITEM: &str = "Duplicate primary key exists in table";

/// A batch reads or writes each item once.
pub const DUPLICATE_KEYS: &str = "Provided list of item keys contains duplicates";
