//! Bodies in which one known member of an operation is long. All are rejected, most of them for their length.

use partita_api::Operation;

pub fn long_members(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::BatchExecuteStatement => BATCH_EXECUTE_STATEMENT,
        Operation::BatchGetItem => BATCH_GET_ITEM,
        Operation::BatchWriteItem => BATCH_WRITE_ITEM,
        Operation::CancelBulkOperation | Operation::DescribeBulkOperation => BULK_OPERATION,
        Operation::CreateBackup => CREATE_BACKUP,
        Operation::CreateTable => CREATE_TABLE,
        Operation::DeleteBackup | Operation::DescribeBackup => BACKUP,
        Operation::DeleteItem => DELETE_ITEM,
        Operation::DeleteTable
        | Operation::DescribeContinuousBackups
        | Operation::DescribeTable
        | Operation::DescribeTimeToLive => TABLE,
        // They have no members.
        Operation::DescribeEndpoints | Operation::DescribeLimits => NO_MEMBERS,
        Operation::DescribeExport => DESCRIBE_EXPORT,
        Operation::DescribeImport => DESCRIBE_IMPORT,
        Operation::DescribeStream => DESCRIBE_STREAM,
        Operation::ExecuteStatement => EXECUTE_STATEMENT,
        Operation::ExecuteTransaction => EXECUTE_TRANSACTION,
        Operation::ExportTableToPointInTime => EXPORT,
        Operation::GetItem => GET_ITEM,
        Operation::GetRecords => GET_RECORDS,
        Operation::GetShardIterator => GET_SHARD_ITERATOR,
        Operation::ImportTable => IMPORT,
        Operation::ListBackups => LIST_BACKUPS,
        Operation::ListBulkOperations | Operation::ListExports | Operation::ListImports => LIST,
        Operation::ListStreams => LIST_STREAMS,
        Operation::ListTables => LIST_TABLES,
        Operation::ListTagsOfResource => LIST_TAGS_OF_RESOURCE,
        Operation::PutItem => PUT_ITEM,
        Operation::Query => QUERY,
        Operation::RestoreTableFromBackup | Operation::RestoreTableToPointInTime => RESTORE,
        Operation::Scan => SCAN,
        Operation::StartBulkPutItems => START_BULK_PUT_ITEMS,
        Operation::TagResource => TAG_RESOURCE,
        Operation::TransactGetItems => TRANSACT_GET_ITEMS,
        Operation::TransactWriteItems => TRANSACT_WRITE_ITEMS,
        Operation::UntagResource => UNTAG_RESOURCE,
        Operation::UpdateContinuousBackups => UPDATE_CONTINUOUS_BACKUPS,
        Operation::UpdateItem => UPDATE_ITEM,
        Operation::UpdateTable => UPDATE_TABLE,
        Operation::UpdateTimeToLive => UPDATE_TIME_TO_LIVE,
        // A new operation compiles without its worst case, but CI does not pass.
        #[allow(unreachable_patterns, reason = "every operation has one")]
        other => panic!("{} has no worst-case input: add one to long_members.rs", other.name()),
    }
}

const BATCH_EXECUTE_STATEMENT: &[&str] = &[
    r#"{"Statements":[<<{}>>]}"#,
    r#"{"Statements":[<<{"Statement":""}>>]}"#,
    r#"{"Statements":[{"Parameters":[<<{}>>]}]}"#,
];

const BATCH_GET_ITEM: &[&str] = &[
    r#"{"RequestItems":{<<"t%":{}>>}}"#,
    r#"{"RequestItems":{"Table":{"AttributesToGet":[<<"a%">>],"Keys":[]}}}"#,
    r#"{"RequestItems":{"@text":{"Keys":[<<{}>>]}}}"#,
];

const BATCH_WRITE_ITEM: &[&str] =
    &[r#"{"RequestItems":{<<"t%":[{}]>>}}"#, r#"{"RequestItems":{"@text":[<<{}>>]}}"#];

const BULK_OPERATION: &[&str] = &[r#"{"OperationId":"@text"}"#, r#"{<<"x%":{}>>}"#];

const CREATE_BACKUP: &[&str] = &[r#"{"TableName":"@text"}"#, r#"{"BackupName":"@text"}"#];

const BACKUP: &[&str] = &[r#"{"BackupArn":"@text"}"#];

const DELETE_ITEM: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"Key":{<<"a%":{}>>}}"#,
    r#"{"Expected":{<<"a%":{}>>}}"#,
    r#"{"ExpressionAttributeNames":{<<"a%":"">>}}"#,
    r#"{"ExpressionAttributeValues":{<<"a%":{}>>}}"#,
];

const TABLE: &[&str] = &[r#"{"TableName":"@text"}"#, r#"{<<"x%":{}>>}"#];

const NO_MEMBERS: &[&str] = &[r#"[<<{}>>]"#];

const DESCRIBE_EXPORT: &[&str] = &[r#"{"ExportArn":"@text"}"#];

const DESCRIBE_IMPORT: &[&str] = &[r#"{"ImportArn":"@text"}"#];

const DESCRIBE_STREAM: &[&str] = &[
    r#"{"StreamArn":"@text"}"#,
    r#"{"ExclusiveStartShardId":"@text"}"#,
    r#"{"ShardFilter":{"ShardId":"@text"}}"#,
    r#"{"ShardFilter":{<<"x%":1>>}}"#,
];

const EXECUTE_STATEMENT: &[&str] = &[
    r#"{"Statement":"@text"}"#,
    r#"{"NextToken":"@text"}"#,
    r#"{"Parameters":[<<{}>>]}"#,
    r#"{"Parameters":[<<{"S":"x"},{}>>]}"#,
];

const EXECUTE_TRANSACTION: &[&str] = &[
    r#"{"TransactStatements":[<<{}>>]}"#,
    r#"{"TransactStatements":[<<{"Statement":"SELECT"}>>],"ClientRequestToken":"@text"}"#,
];

const GET_ITEM: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"Key":{<<"a%":{}>>}}"#,
    r#"{"AttributesToGet":[<<"">>]}"#,
    r#"{"ProjectionExpression":"@text"}"#,
    r#"{"ExpressionAttributeNames":{<<"a%":"">>}}"#,
];

const GET_RECORDS: &[&str] = &[r#"{"ShardIterator":"@text"}"#];

const GET_SHARD_ITERATOR: &[&str] = &[
    r#"{"StreamArn":"@text"}"#,
    r#"{"ShardId":"@text"}"#,
    r#"{"ShardIteratorType":"@text"}"#,
    r#"{"SequenceNumber":"@text"}"#,
];

const LIST_BACKUPS: &[&str] =
    &[r#"{"TableName":"@text"}"#, r#"{"ExclusiveStartBackupArn":"@text"}"#, r#"{"BackupType":"@text"}"#];

const LIST: &[&str] = &[r#"{"NextToken":"@text","TableArn":"@text","MaxResults":0}"#];

const LIST_STREAMS: &[&str] = &[r#"{"TableName":"@text"}"#, r#"{"ExclusiveStartStreamArn":"@text"}"#];

const LIST_TABLES: &[&str] = &[r#"{"ExclusiveStartTableName":"@text"}"#];

const LIST_TAGS_OF_RESOURCE: &[&str] = &[r#"{"ResourceArn":"@text"}"#, r#"{"NextToken":"@text"}"#];

const PUT_ITEM: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"Item":{<<"a%":{}>>}}"#,
    r#"{"Expected":{<<"a%":{"ComparisonOperator":"x"}>>}}"#,
    r#"{"ConditionExpression":"@text"}"#,
    r#"{"ReturnValues":"@text"}"#,
];

const QUERY: &[&str] = &[
    r#"{"IndexName":"@text"}"#,
    r#"{"KeyConditions":{<<"a%":{}>>}}"#,
    r#"{"QueryFilter":{<<"a%":{"AttributeValueList":[{}]}>>}}"#,
    r#"{"KeyConditionExpression":"@text"}"#,
    r#"{"ExclusiveStartKey":{<<"a%":{}>>}}"#,
];

const RESTORE: &[&str] = &[
    r#"{"TargetTableName":"@text"}"#,
    r#"{"BackupArn":"@text","SourceTableArn":"@text"}"#,
    r#"{"GlobalSecondaryIndexOverride":[<<{}>>]}"#,
    r#"{"LocalSecondaryIndexOverride":[<<{"IndexName":"a%"}>>]}"#,
    r#"{"SSESpecificationOverride":{"KMSMasterKeyId":"@text"}}"#,
];

const SCAN: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"ScanFilter":{<<"a%":{}>>}}"#,
    r#"{"Select":"@text"}"#,
    r#"{"FilterExpression":"@text"}"#,
];

const START_BULK_PUT_ITEMS: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"InputS3Configuration":{"S3Bucket":"@text","S3KeyPrefix":"@text"}}"#,
    r#"{"OutputS3Configuration":{"OutputType":[<<"a%">>]}}"#,
];

const TAG_RESOURCE: &[&str] =
    &[r#"{"ResourceArn":"@text"}"#, r#"{"Tags":[<<{}>>]}"#, r#"{"Tags":[<<{"Key":"k%"}>>]}"#];

const TRANSACT_GET_ITEMS: &[&str] = &[
    r#"{"TransactItems":[<<{}>>]}"#,
    r#"{"TransactItems":[<<{"Get":{"TableName":"a%"}}>>]}"#,
    r#"{"TransactItems":[{"Get":{"Key":{<<"a%":{}>>}}}]}"#,
];

const TRANSACT_WRITE_ITEMS: &[&str] = &[
    r#"{"TransactItems":[<<{}>>]}"#,
    r#"{"TransactItems":[<<{"Put":{},"Update":{}}>>]}"#,
    r#"{"TransactItems":[{"Put":{"Item":{<<"a%":{}>>}}}]}"#,
    r#"{"ClientRequestToken":"@text"}"#,
];

const UNTAG_RESOURCE: &[&str] = &[r#"{"ResourceArn":"@text"}"#, r#"{"TagKeys":[<<"">>]}"#];

const UPDATE_CONTINUOUS_BACKUPS: &[&str] =
    &[r#"{"TableName":"@text"}"#, r#"{"PointInTimeRecoverySpecification":{<<"x%":1>>}}"#];

const UPDATE_ITEM: &[&str] = &[
    r#"{"AttributeUpdates":{<<"a%":{}>>}}"#,
    r#"{"AttributeUpdates":{<<"a%":{"Action":"x"}>>}}"#,
    r#"{"UpdateExpression":"@text"}"#,
    r#"{"Key":{<<"a%":{}>>}}"#,
];

const UPDATE_TABLE: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"AttributeDefinitions":[<<{}>>]}"#,
    r#"{"GlobalSecondaryIndexUpdates":[<<{}>>]}"#,
    r#"{"GlobalSecondaryIndexUpdates":[<<{"Create":{"IndexName":"a%"}}>>]}"#,
    r#"{"GlobalSecondaryIndexUpdates":[<<{"Update":{"IndexName":"a%"},"Delete":{}}>>]}"#,
    r#"{"ReplicaUpdates":[<<{}>>]}"#,
    r#"{"GlobalTableWitnessUpdates":[<<{}>>]}"#,
];

const UPDATE_TIME_TO_LIVE: &[&str] =
    &[r#"{"TableName":"@text"}"#, r#"{"TimeToLiveSpecification":{"AttributeName":"@text"}}"#];

const CREATE_TABLE: &[&str] = &[
    r#"{"TableName":"@text"}"#,
    r#"{"AttributeDefinitions":[<<{}>>]}"#,
    r#"{"KeySchema":[<<{"AttributeName":"a%"}>>]}"#,
    r#"{"LocalSecondaryIndexes":[<<{}>>]}"#,
    r#"{"GlobalSecondaryIndexes":[<<{"IndexName":"a%"}>>]}"#,
    r#"{"GlobalSecondaryIndexes":[{"KeySchema":[<<{}>>]}]}"#,
    r#"{"Tags":[<<{"Key":"a%"}>>]}"#,
    r#"{"ResourcePolicy":"@text"}"#,
    r#"{"SSESpecification":{"KMSMasterKeyId":"@text"}}"#,
];

const EXPORT: &[&str] = &[
    r#"{"TableArn":"@text"}"#,
    r#"{"S3Bucket":"@text"}"#,
    r#"{"S3Prefix":"@text"}"#,
    r#"{"FilterSpecification":{"FilterExpression":"@text"}}"#,
    r#"{"FilterSpecification":{"ExpressionAttributeValues":{<<":v%":{"S":"x"}>>}}}"#,
    r#"{"IncrementalExportSpecification":{<<"x%":1>>}}"#,
];

const IMPORT: &[&str] = &[
    r#"{"S3BucketSource":{"S3Bucket":"@text"}}"#,
    r#"{"S3BucketSource":{"S3KeyPrefix":"@text"}}"#,
    r#"{"InputFormatOptions":{"Csv":{"HeaderList":[<<"\u0001">>]}}}"#,
    r#"{"InputFormatOptions":{"Csv":{"Delimiter":"@text"}}}"#,
    r#"{"TableCreationParameters":{"KeySchema":[<<{}>>]}}"#,
    r#"{"TableCreationParameters":{<<"x%":{}>>}}"#,
];
