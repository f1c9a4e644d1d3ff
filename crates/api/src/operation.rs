//! The registry: one line per operation that is answered. Its name is its address in every stage.

macro_rules! operations {
    ($($name:ident),* $(,)?) => {
        /// An operation of the DynamoDB API, named as on the wire and in IAM (`dynamodb:Name`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($name),*
        }

        impl Operation {
            pub const ALL: &'static [Operation] = &[$(Operation::$name),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Operation::$name => stringify!($name)),*
                }
            }

            pub fn from_name(name: &str) -> Option<Operation> {
                match name {
                    $(stringify!($name) => Some(Operation::$name),)*
                    _ => None,
                }
            }
        }
    };
}

impl Operation {
    /// What stands before the name in the target header: streams are a service of their own.
    pub fn target_prefix(self) -> &'static str {
        match self {
            Operation::DescribeStream
            | Operation::GetRecords
            | Operation::GetShardIterator
            | Operation::ListStreams => "DynamoDBStreams_20120810",
            _ => "DynamoDB_20120810",
        }
    }
}

operations! {
    BatchExecuteStatement,
    BatchGetItem,
    BatchWriteItem,
    CancelBulkOperation,
    CreateBackup,
    CreateTable,
    DeleteBackup,
    DeleteItem,
    DeleteTable,
    DescribeBulkOperation,
    DescribeBackup,
    DescribeContinuousBackups,
    DescribeEndpoints,
    DescribeExport,
    DescribeImport,
    DescribeLimits,
    DescribeStream,
    DescribeTable,
    DescribeTimeToLive,
    ExecuteStatement,
    ExecuteTransaction,
    ExportTableToPointInTime,
    GetItem,
    GetRecords,
    GetShardIterator,
    ListBulkOperations,
    ListStreams,
    ImportTable,
    ListBackups,
    ListExports,
    ListImports,
    ListTables,
    ListTagsOfResource,
    PutItem,
    Query,
    RestoreTableFromBackup,
    RestoreTableToPointInTime,
    Scan,
    StartBulkPutItems,
    TagResource,
    TransactGetItems,
    TransactWriteItems,
    UntagResource,
    UpdateContinuousBackups,
    UpdateItem,
    UpdateTable,
    UpdateTimeToLive,
}
