//! Any request and any response: what travels between the wire and the engine.

use crate::*;

/// A decoded, valid request. The variant's name is the operation's.
#[derive(Debug)]
pub enum Request {
    BatchExecuteStatement(batch_execute_statement::BatchExecuteStatement),
    BatchGetItem(batch_get_item::BatchGetItem),
    BatchWriteItem(batch_write_item::BatchWriteItem),
    CreateTable(create_table::CreateTable),
    DeleteItem(delete_item::DeleteItem),
    DeleteTable(delete_table::DeleteTable),
    DescribeEndpoints,
    DescribeLimits,
    DescribeStream(describe_stream::DescribeStream),
    DescribeTable(describe_table::DescribeTable),
    DescribeTimeToLive(describe_time_to_live::DescribeTimeToLive),
    ExecuteStatement(execute_statement::ExecuteStatement),
    ExecuteTransaction(execute_transaction::ExecuteTransaction),
    GetItem(get_item::GetItem),
    GetRecords(get_records::GetRecords),
    GetShardIterator(get_shard_iterator::GetShardIterator),
    ListStreams(list_streams::ListStreams),
    ListTables(list_tables::ListTables),
    ListTagsOfResource(list_tags_of_resource::ListTagsOfResource),
    PutItem(put_item::PutItem),
    Query(query::Query),
    Scan(scan::Scan),
    TagResource(tag_resource::TagResource),
    TransactGetItems(transact_get_items::TransactGetItems),
    TransactWriteItems(transact_write_items::TransactWriteItems),
    UntagResource(untag_resource::UntagResource),
    UpdateItem(update_item::UpdateItem),
    UpdateTable(update_table::UpdateTable),
    UpdateTimeToLive(update_time_to_live::UpdateTimeToLive),
}

/// What a request that succeeded is answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    BatchExecuteStatement(batch_execute_statement::BatchExecuteStatementOutput),
    BatchGetItem(batch_get_item::BatchGetItemOutput),
    BatchWriteItem(batch_write_item::BatchWriteItemOutput),
    CreateTable(create_table::CreateTableOutput),
    DeleteItem(delete_item::DeleteItemOutput),
    DeleteTable(delete_table::DeleteTableOutput),
    DescribeEndpoints(describe_endpoints::DescribeEndpointsOutput),
    DescribeLimits(describe_limits::DescribeLimitsOutput),
    DescribeStream(describe_stream::DescribeStreamOutput),
    DescribeTable(describe_table::DescribeTableOutput),
    DescribeTimeToLive(describe_time_to_live::DescribeTimeToLiveOutput),
    ExecuteStatement(execute_statement::ExecuteStatementOutput),
    ExecuteTransaction(execute_transaction::ExecuteTransactionOutput),
    GetItem(get_item::GetItemOutput),
    GetRecords(get_records::GetRecordsOutput),
    GetShardIterator(get_shard_iterator::GetShardIteratorOutput),
    ListStreams(list_streams::ListStreamsOutput),
    ListTables(list_tables::ListTablesOutput),
    ListTagsOfResource(list_tags_of_resource::ListTagsOfResourceOutput),
    PutItem(put_item::PutItemOutput),
    Query(query::QueryOutput),
    Scan(scan::ScanOutput),
    /// TagResource and UntagResource answer nothing.
    Empty,
    TransactGetItems(transact_get_items::TransactGetItemsOutput),
    TransactWriteItems(transact_write_items::TransactWriteItemsOutput),
    UpdateItem(update_item::UpdateItemOutput),
    UpdateTable(update_table::UpdateTableOutput),
    UpdateTimeToLive(update_time_to_live::UpdateTimeToLiveOutput),
}
