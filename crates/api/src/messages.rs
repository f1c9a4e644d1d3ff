//! The messages of exceptions that more than one crate returns, as AWS words them.

use partita_value::names::TableName;

/// A condition was not met.
pub const CONDITION_FAILED: &str = "The conditional request failed";
/// There is no such table; item operations do not say which.
pub const TABLE_NOT_FOUND: &str = "Requested resource not found";
/// A key does not have the attributes of the table's key, or not with their types.
pub const KEY_MISMATCH: &str = "The provided key element does not match the schema";
/// An item that is put is too large.
pub const ITEM_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
/// An item is too large after its update.
pub const ITEM_TOO_LARGE_AFTER_UPDATE: &str = "Item size to update has exceeded the maximum allowed size";
/// A partition key is too long. The missing space is AWS's.
pub const PARTITION_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes";
/// A sort key is too long.
pub const SORT_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
/// An `ExclusiveStartKey` does not match what is read.
pub const START_KEY_INVALID: &str = "The provided starting key is invalid";
/// The wrong number of `KeyConditions` for a key of at most two attributes.
pub const KEY_CONDITIONS_COUNT: &str = "Conditions can be of length 1 or 2 only";
/// An item collection would exceed its limit.
pub const COLLECTION_TOO_LARGE: &str = "Collection size exceeded.";
/// A client token was used for a different request before.
pub const TOKEN_MISMATCH: &str = "The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with different requests, unless the requests are identical";

/// There is no such table; DescribeTable, DeleteTable and UpdateTable name it.
pub fn table_not_found(table: &TableName) -> String {
    format!("{TABLE_NOT_FOUND}: Table: {table} not found")
}

/// An attribute that is part of a key or index has the wrong type.
pub fn type_mismatch(attribute: &str, expected: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Type mismatch for key {attribute} expected: {expected} actual: {actual}"
    )
}

/// A value is nested too deeply.
pub const NESTED_TOO_DEEP: &str = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";

/// Units for an on-demand table: in CreateTable the request says so, in UpdateTable the table may be on-demand already.
pub const PROVISIONED_UNITS_ON_DEMAND: &str = "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
/// A provisioned table has no units.
pub const PROVISIONED_UNITS_MISSING: &str = "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED";
/// A request that creates or deletes several indexes, or one while another is still being backfilled.
pub const ONE_INDEX_AT_A_TIME: &str =
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
/// Too many tags in a request, or on a table after it.
pub const TOO_MANY_TAGS: &str = "Number of Tags exceed the current limit for the provided ResourceArn";

/// UpdateTable requests less warm throughput than a table or an index has.
pub fn warm_decrease(member: &str, owner: &dyn std::fmt::Display) -> String {
    format!(
        "One or more parameter values were invalid: Requested {member} for WarmThroughput for {owner} is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
    )
}

/// UpdateTable adds an index with units to a table that is or becomes on-demand.
pub fn index_units_on_demand(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

/// UpdateTable adds an index without units to a provisioned table.
pub fn index_units_missing(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index}"
    )
}

/// There is no such stream; DescribeStream and GetShardIterator name it.
pub fn stream_not_found(arn: &str) -> String {
    format!("{TABLE_NOT_FOUND}: Stream: {arn} not found")
}

/// There is no such shard.
pub const SHARD_NOT_FOUND: &str = "Requested resource not found: Shard does not exist";
/// A stream ARN is malformed.
pub const INVALID_STREAM_ARN: &str = "Invalid StreamArn";
/// A shard iterator is malformed.
pub const INVALID_SHARD_ITERATOR: &str = "Invalid ShardIterator";
/// A sequence number is malformed, or no record of the shard can have it.
pub const INVALID_SEQUENCE_NUMBER: &str = "Invalid SequenceNumber";
/// A shard iterator is too old.
pub const EXPIRED_ITERATOR: &str = "The provided iterator exceeds the maximum age allowed";
/// The record of a shard iterator was trimmed.
pub const TRIMMED_DATA: &str = "The data you are trying to access has been trimmed";

/// A token of a page is malformed.
pub const INVALID_NEXT_TOKEN: &str = "Invalid NextToken";

/// One statement of ExecuteTransaction is invalid.
pub fn in_transact_statement(index: usize, problem: &str) -> String {
    format!("Validation failed in TransactStatements[{index}]: {problem}")
}

/// An INSERT of an item that exists: unlike PutItem, it replaces nothing.
pub const DUPLICATE_ITEM: &str = "Duplicate primary key exists in table";

/// Two reads or writes of a batch name the same item.
pub const DUPLICATE_KEYS: &str = "Provided list of item keys contains duplicates";
