//! The table of operations: one line each, from which everything that lists operations follows.
//!
//! An operation is a file in three crates, in the folder that its line names (`api/src/item/put_item.rs`,
//! `wire/src/item/put_item.rs`, `engine/src/item/put_item.rs`), and a line here. The line yields the modules of these files
//! ([`operation_modules!`](crate::operation_modules)), a variant of [`Operation`], [`Request`](crate::Request) and
//! [`Response`](crate::Response), the calls that decode, execute and encode it, its target, the IAM actions it needs and its
//! entry in `docs/operations.md`.

/// Calls a macro with the table of operations: `operations!([callback] arguments)` becomes
/// `callback! { arguments line; line; … }`.
///
/// The columns are the folder, the operation as on the wire, its module, the type of its response, whether it reads or writes
/// (with the IAM actions it needs, unless that is the one of its own name), and what to say about it in `docs/operations.md`.
#[macro_export]
macro_rules! operations {
    ([$($callback:tt)+] $($arguments:tt)*) => { $($callback)+! { $($arguments)*
        item BatchGetItem batch_get_item BatchGetItemOutput reads "same as AWS; nothing is left unprocessed except beyond 16 MB";
        item BatchWriteItem batch_write_item BatchWriteItemOutput writes "same as AWS; a batch of more than 2 MB is written in several commits";
        item DeleteItem delete_item DeleteItemOutput writes "same as AWS";
        item GetItem get_item GetItemOutput reads "same as AWS";
        item PutItem put_item PutItemOutput writes "same as AWS";
        item Query query QueryOutput reads "same as AWS; an index that is being backfilled cannot be read";
        item Scan scan ScanOutput reads "same as AWS, with parallel segments; an index that is being backfilled cannot be read";
        item TransactGetItems transact_get_items TransactGetItemsOutput reads by [GetItem] "serializable across all tables";
        item TransactWriteItems transact_write_items TransactWriteItemsOutput writes by [ConditionCheckItem DeleteItem PutItem UpdateItem] "serializable across all tables; client tokens are valid for ten minutes, across restarts";
        item UpdateItem update_item UpdateItemOutput writes "same as AWS";

        statement BatchExecuteStatement batch_execute_statement BatchExecuteStatementOutput writes by [PartiQLDelete PartiQLInsert PartiQLSelect PartiQLUpdate] "up to 25 PartiQL statements that all read one item each, or all write";
        statement ExecuteStatement execute_statement ExecuteStatementOutput writes by [PartiQLDelete PartiQLInsert PartiQLSelect PartiQLUpdate] "PartiQL: SELECT, INSERT, UPDATE, DELETE; pages by NextToken; costs the same as the equivalent operation";
        statement ExecuteTransaction execute_transaction ExecuteTransactionOutput writes by [PartiQLDelete PartiQLInsert PartiQLSelect PartiQLUpdate] "up to 100 PartiQL statements that all read, or all write, with EXISTS; client tokens as in TransactWriteItems";

        table CreateTable create_table CreateTableOutput writes "same as AWS; up to 20 GSIs with one to four attributes in each part of the key, 5 LSIs";
        table DeleteTable delete_table DeleteTableOutput writes "immediate; the space is reclaimed in the background";
        table DescribeTable describe_table DescribeTableOutput reads "counts and sizes are exact";
        table ListTables list_tables ListTablesOutput reads "same as AWS";
        table UpdateTable update_table UpdateTableOutput writes "settings; a GSI is added with an online backfill that resumes after a restart, or removed; no replicas";

        time_to_live DescribeTimeToLive describe_time_to_live DescribeTimeToLiveOutput reads "same as AWS";
        time_to_live UpdateTimeToLive update_time_to_live UpdateTimeToLiveOutput writes "same as AWS; items expire within seconds";

        tag ListTagsOfResource list_tags_of_resource ListTagsOfResourceOutput reads "tables only";
        tag TagResource tag_resource TagResourceOutput writes "tables only";
        tag UntagResource untag_resource UntagResourceOutput writes "tables only";

        stream DescribeStream describe_stream DescribeStreamOutput reads "same as AWS, with ShardFilter; a stream stays readable for a day (`--stream-retention`) after it ends";
        stream GetRecords get_records GetRecordsOutput reads "up to 1,000 records or a megabyte; a record commits with the change it describes";
        stream GetShardIterator get_shard_iterator GetShardIteratorOutput reads "TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP; iterators are valid for 15 minutes, across restarts";
        stream ListStreams list_streams ListStreamsOutput reads "same as AWS";

        backup CreateBackup create_backup CreateBackupOutput writes "immediate and without a copy; a backup outlives its table";
        backup DeleteBackup delete_backup DeleteBackupOutput writes "same as AWS";
        backup DescribeBackup describe_backup DescribeBackupOutput reads "same as AWS";
        backup DescribeContinuousBackups describe_continuous_backups DescribeContinuousBackupsOutput reads "same as AWS; recovery reaches the present moment";
        backup ListBackups list_backups ListBackupsOutput reads "same as AWS; there are no backups made by AWS Backup";
        backup RestoreTableFromBackup restore_table_from_backup RestoreTableFromBackupOutput writes "same as AWS, with overrides of indexes, billing and encryption; resumes after a restart";
        backup RestoreTableToPointInTime restore_table_to_point_in_time RestoreTableToPointInTimeOutput writes "same as AWS, with overrides of indexes, billing and encryption; resumes after a restart";
        backup UpdateContinuousBackups update_continuous_backups UpdateContinuousBackupsOutput writes "same as AWS; recovery periods of 1 to 35 days";

        export DescribeExport describe_export DescribeExportOutput reads "same as AWS; an export is deleted 90 days after it ends";
        export ExportTableToPointInTime export_table_to_point_in_time ExportTableToPointInTimeOutput writes "full as of a time or incremental, filtered, DynamoDB JSON or Ion, into a bucket: a folder (`--s3-root`) or one at an S3 endpoint (`--s3-endpoint`); resumes after a restart";
        export ListExports list_exports ListExportsOutput reads "same as AWS";

        import DescribeImport describe_import DescribeImportOutput reads "same as AWS, with progress; an import is deleted 90 days after it ends";
        import ImportTable import_table ImportTableOutput writes "DynamoDB JSON, Ion text, CSV; plain, gzip, zstd; from a bucket, like exports; resumes after a restart";
        import ListImports list_imports ListImportsOutput reads "same as AWS";

        bulk_operation CancelBulkOperation cancel_bulk_operation CancelBulkOperationOutput writes "immediate, even while an operation is being paced";
        bulk_operation DescribeBulkOperation describe_bulk_operation DescribeBulkOperationOutput reads "same as AWS, with progress and usage; a bulk operation is deleted 90 days after it ends";
        bulk_operation ListBulkOperations list_bulk_operations ListBulkOperationsOutput reads "same as AWS";
        bulk_operation StartBulkPutItems start_bulk_put_items StartBulkPutItemsOutput writes "DynamoDB JSON, Ion text; plain, gzip, zstd; conditions; from and to buckets, like exports; paced by MaxWriteRequestUnits; resumes after a restart";

        account DescribeEndpoints describe_endpoints DescribeEndpointsOutput reads "this server";
        account DescribeLimits describe_limits DescribeLimitsOutput reads "AWS's defaults; nothing is throttled by them";
    } };
}

/// Declares the modules of one folder's operations: `operation_modules!(item);` in `item/mod.rs`.
#[macro_export]
macro_rules! operation_modules {
    ($folder:ident) => {
        $crate::operations! { [$crate::operation_modules] in $folder: }
    };
    (in $folder:ident: $($of:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        $($crate::operation_module! { $folder $of $module })*
    };
}

/// Declares a module if its operation belongs in the folder: if the first two words are the same.
#[doc(hidden)]
#[macro_export]
macro_rules! operation_module {
    (item item $module:ident) => {
        pub mod $module;
    };
    (statement statement $module:ident) => {
        pub mod $module;
    };
    (table table $module:ident) => {
        pub mod $module;
    };
    (time_to_live time_to_live $module:ident) => {
        pub mod $module;
    };
    (tag tag $module:ident) => {
        pub mod $module;
    };
    (stream stream $module:ident) => {
        pub mod $module;
    };
    (backup backup $module:ident) => {
        pub mod $module;
    };
    (export export $module:ident) => {
        pub mod $module;
    };
    (import import $module:ident) => {
        pub mod $module;
    };
    (bulk_operation bulk_operation $module:ident) => {
        pub mod $module;
    };
    (account account $module:ident) => {
        pub mod $module;
    };
    ($folder:ident $of:ident $module:ident) => {};
}

/// Whether an operation only reads, or may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It changes nothing.
    Read,
    /// It may change something.
    Write,
}

macro_rules! enumerate {
    ($($folder:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        /// An operation of the DynamoDB API, named as on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is described in its own module")]
        pub enum Operation {
            $($name),*
        }

        impl Operation {
            /// All operations, in the order of the table.
            pub const ALL: &'static [Operation] = &[$(Operation::$name),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Operation::$name => stringify!($name)),*
                }
            }

            /// The operation of a name on the wire.
            pub fn from_name(name: &str) -> Option<Operation> {
                match name {
                    $(stringify!($name) => Some(Operation::$name),)*
                    _ => None,
                }
            }

            /// The part of the target header before the name: streams are a service of their own.
            pub fn target_prefix(self) -> &'static str {
                match self {
                    $(Operation::$name => target_prefix!($folder)),*
                }
            }

            /// The folder that holds the operation's file in each crate.
            pub fn folder(self) -> &'static str {
                match self {
                    $(Operation::$name => stringify!($folder)),*
                }
            }

            /// Whether the operation only reads.
            pub fn access(self) -> Access {
                match self {
                    $(Operation::$name => access!($access)),*
                }
            }

            /// The IAM actions that the operation may need, without `dynamodb:`.
            pub fn actions(self) -> &'static [&'static str] {
                match self {
                    $(Operation::$name => actions!($name $($($action)+)?)),*
                }
            }

            /// What `docs/operations.md` says about the operation.
            pub fn remark(self) -> &'static str {
                match self {
                    $(Operation::$name => $remark),*
                }
            }
        }
    };
}

macro_rules! target_prefix {
    (stream) => {
        "DynamoDBStreams_20120810"
    };
    ($folder:ident) => {
        "DynamoDB_20120810"
    };
}

macro_rules! access {
    (reads) => {
        Access::Read
    };
    (writes) => {
        Access::Write
    };
}

macro_rules! actions {
    ($name:ident) => {
        &[stringify!($name)]
    };
    ($name:ident $($action:ident)+) => {
        &[$(stringify!($action)),+]
    };
}

crate::operations! { [enumerate] }
