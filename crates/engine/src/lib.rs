//! Typed operations on a store. The life of a request here:
//!
//! 1. [`Engine::execute`] takes a valid [`Request`] and calls the method of the operation's own file.
//! 2. Reads (`get_item.rs`, `query.rs`, `scan.rs`, …) find the table in the [`catalog`], turn keys into
//!    stored keys ([`stored_key`]), and read points or a page of one snapshot ([`read`]).
//! 3. Writes (`put_item.rs`, `update_item.rs`, `transact_write_items.rs`, …) make a list of item writes
//!    and hand it to the one writer ([`write`]), which decides inside the store what changes: the item,
//!    its index entries ([`index_entry`]), counters, the stream's record ([`stream_record`]). All of it
//!    commits together.
//! 4. Background work ([`maintenance`]) goes the same way, in small steps.
//!
//! Knows nothing of HTTP, JSON requests, or which store runs.

mod aside;
mod backfill;
mod backup_record;
mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
pub mod bucket;
pub mod bucket_folder;
mod bucket_output;
mod bulk_record;
mod bulk_report;
mod bulk_run;
mod bulk_step;
mod cancel_bulk_operation;
mod capacity;
mod catalog;
mod catalog_mending;
mod catalog_rows;
mod change;
mod change_history;
mod change_table;
pub mod clock;
mod complaints;
mod create_backup;
mod create_table;
mod data_files;
mod delete_backup;
mod delete_item;
mod delete_table;
mod describe_backup;
mod describe_bulk_operation;
mod describe_continuous_backups;
mod describe_endpoints;
mod describe_export;
mod describe_import;
mod describe_limits;
mod describe_stream;
mod describe_table;
mod describe_time_to_live;
mod drafts;
mod exchange_record;
mod exchange_upkeep;
mod execute_statement;
mod execute_transaction;
mod expiry;
mod export_selection;
mod export_step;
mod export_table_to_point_in_time;
mod get_item;
mod get_records;
mod get_shard_iterator;
pub mod heavy_work;
mod history;
mod history_upkeep;
mod idempotency;
mod import_step;
mod import_table;
mod index_entry;
mod item_key;
mod key_range;
mod list_backups;
mod list_bulk_operations;
mod list_exports;
mod list_imports;
mod list_streams;
mod list_tables;
mod list_tags_of_resource;
mod lost_item;
pub mod maintenance;
mod object_source;
mod open_ids;
mod past;
mod pauses;
mod put_item;
mod query;
mod random;
mod read;
mod read_stream;
mod restore_step;
mod restore_table_from_backup;
mod restore_table_to_point_in_time;
mod restored_table;
pub mod salvage;
mod scalar_keys;
mod scan;
mod selection;
mod shard_iterator;
mod slices;
mod start_bulk_put_items;
mod statement_read;
mod statement_write;
mod stored_key;
mod stream;
pub mod stream_options;
mod stream_record;
mod stream_upkeep;
mod table;
mod table_consumption;
mod tag_resource;
mod throughput_record;
mod transact_get_items;
mod transact_write_items;
mod untag_resource;
mod update_continuous_backups;
mod update_item;
mod update_table;
mod update_time_to_live;
pub mod verify;
mod warm_throughput;
mod workplace;
mod write;
mod write_batch;
mod write_draft;
mod write_plan;
mod write_report;

use bucket::Buckets;
use catalog::Catalog;
use clock::Clock;
use exchange_upkeep::TokenCursor;
use open_ids::OpenIds;
use partita_api::{Exception, Request, Response};
use partita_store::{Health, Store, StoreError};
use pauses::Pauses;
use random::IdGenerator;
pub use slices::let_others;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stream_options::StreamOptions;
use workplace::Workplaces;

/// The database: a store and what is known about its tables.
pub struct Engine<S> {
    store: S,
    catalog: Catalog,
    clock: Clock,
    stream_options: StreamOptions,
    /// The shortest time that an incremental export may cover.
    shortest_export: Duration,
    /// The region that ARNs name.
    region: String,
    /// Host and port that clients are told, once they are known.
    endpoint: OnceLock<String>,
    /// Where buckets are, if there are any.
    buckets: OnceLock<Arc<dyn Buckets>>,
    /// Exports and imports are to stop, to go on after a restart.
    exchanges_stopped: AtomicBool,
    open_exports: OpenIds,
    open_imports: OpenIds,
    open_restores: OpenIds,
    open_bulk_operations: OpenIds,
    token_cursor: TokenCursor,
    /// The time in the last id of any of these.
    last_exchange_millis: AtomicU64,
    /// What imports and bulk operations keep from step to step.
    workplaces: Workplaces,
    /// Background work that has failed and is tried again later.
    pauses: Pauses,
    ids: IdGenerator,
    /// New tables have no secret of their own: for tests that compare rows.
    fixed_tokens: bool,
    /// Called when there is new background work.
    waker: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl<S: Store> Engine<S> {
    pub fn open(store: S, region: &str, clock: Clock) -> Result<Engine<S>, StoreError> {
        let catalog = Catalog::load(&store)?;
        Ok(Engine {
            store,
            catalog,
            clock,
            stream_options: StreamOptions::default(),
            shortest_export: Duration::from_secs(15 * 60),
            region: region.to_owned(),
            endpoint: OnceLock::new(),
            buckets: OnceLock::new(),
            exchanges_stopped: AtomicBool::new(false),
            last_exchange_millis: AtomicU64::new(0),
            open_exports: OpenIds::default(),
            open_imports: OpenIds::default(),
            open_restores: OpenIds::default(),
            open_bulk_operations: OpenIds::default(),
            token_cursor: TokenCursor::default(),
            workplaces: Workplaces::default(),
            pauses: Pauses::default(),
            ids: IdGenerator::new().map_err(|error| StoreError::Io(error.to_string()))?,
            fixed_tokens: false,
            waker: OnceLock::new(),
        })
    }

    /// The same, with streams kept otherwise than AWS keeps them.
    pub fn with_streams(self, stream_options: StreamOptions) -> Engine<S> {
        Engine { stream_options, ..self }
    }

    /// The same, with incremental exports that may cover another time than AWS's.
    pub fn with_shortest_export(self, shortest_export: Duration) -> Engine<S> {
        Engine { shortest_export, ..self }
    }

    /// Whether writes are taken, and if not, why.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// The same, with tables whose rows lie where everybody can tell.
    pub fn with_fixed_tokens(self) -> Engine<S> {
        Engine { fixed_tokens: true, ..self }
    }

    /// Tells the engine where it is reached.
    pub fn set_endpoint(&self, host_and_port: String) {
        let _ = self.endpoint.set(host_and_port);
    }

    /// Tells the engine where the buckets of exports, imports and bulk operations are.
    pub fn set_buckets(&self, buckets: Arc<dyn Buckets>) {
        let _ = self.buckets.set(buckets);
    }

    /// Ends the waiting for a bucket; what was waiting goes on after a restart.
    pub fn stop_exchanges(&self) {
        self.exchanges_stopped.store(true, Ordering::Relaxed);
        if let Some(buckets) = self.buckets.get() {
            buckets.stop();
        }
    }

    /// A failure of a step means nothing then: it may come from stopping.
    fn has_stopped_exchanges(&self) -> bool {
        self.exchanges_stopped.load(Ordering::Relaxed)
    }

    fn endpoint(&self) -> String {
        self.endpoint.get().cloned().unwrap_or_else(|| format!("dynamodb.{}.amazonaws.com", self.region))
    }

    /// Sets what is called when background work appears, so that it need not wait for its turn.
    pub fn on_maintenance_due(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.waker.set(Box::new(wake));
    }

    fn wake_maintenance(&self) {
        if let Some(wake) = self.waker.get() {
            wake();
        }
    }

    /// What a new table's tokens are made with: the operating system's random bytes.
    fn new_token_key(&self) -> Result<Option<[u64; 2]>, Exception> {
        if self.fixed_tokens {
            return Ok(None);
        }
        random::hash_key().map(Some).map_err(|error| storage_failed(StoreError::Io(error.to_string())))
    }

    /// An id in the form of a UUID, unique in this database.
    fn new_id(&self) -> String {
        self.ids.next_uuid()
    }

    /// Runs any request.
    #[allow(clippy::too_many_lines, reason = "one line per operation")]
    pub async fn execute(&self, request: Request) -> Result<Response, Exception> {
        use {Request as Q, Response as A};
        Ok(match request {
            Q::BatchExecuteStatement(q) => A::BatchExecuteStatement(self.batch_execute_statement(q).await?),
            Q::BatchGetItem(q) => A::BatchGetItem(self.batch_get_item(&q).await?),
            Q::BatchWriteItem(q) => A::BatchWriteItem(self.batch_write_item(q).await?),
            Q::CancelBulkOperation(q) => A::CancelBulkOperation(self.cancel_bulk_operation(q).await?),
            Q::CreateBackup(q) => A::CreateBackup(self.create_backup(q).await?),
            Q::CreateTable(q) => A::CreateTable(self.create_table(q).await?),
            Q::DeleteBackup(q) => A::DeleteBackup(self.delete_backup(q).await?),
            Q::DeleteItem(q) => A::DeleteItem(self.delete_item(q).await?),
            Q::DeleteTable(q) => A::DeleteTable(self.delete_table(q).await?),
            Q::DescribeBackup(q) => A::DescribeBackup(self.describe_backup(&q)?),
            Q::DescribeBulkOperation(q) => A::DescribeBulkOperation(self.describe_bulk_operation(&q)?),
            Q::DescribeContinuousBackups(q) => {
                A::DescribeContinuousBackups(self.describe_continuous_backups(&q)?)
            }
            Q::DescribeEndpoints => A::DescribeEndpoints(self.describe_endpoints()),
            Q::DescribeExport(q) => A::DescribeExport(self.describe_export(&q)?),
            Q::DescribeImport(q) => A::DescribeImport(self.describe_import(&q)?),
            Q::DescribeLimits => A::DescribeLimits(self.describe_limits()),
            Q::DescribeStream(q) => A::DescribeStream(self.describe_stream(&q)?),
            Q::DescribeTable(q) => A::DescribeTable(self.describe_table(&q)?),
            Q::DescribeTimeToLive(q) => A::DescribeTimeToLive(self.describe_time_to_live(&q)?),
            Q::ExecuteStatement(q) => A::ExecuteStatement(self.execute_statement(q).await?),
            Q::ExecuteTransaction(q) => A::ExecuteTransaction(self.execute_transaction(q).await?),
            Q::ExportTableToPointInTime(q) => {
                A::ExportTableToPointInTime(self.export_table_to_point_in_time(q).await?)
            }
            Q::GetItem(q) => A::GetItem(self.get_item(&q)?),
            Q::GetRecords(q) => A::GetRecords(self.get_records(&q)?),
            Q::GetShardIterator(q) => A::GetShardIterator(self.get_shard_iterator(&q)?),
            Q::ListStreams(q) => A::ListStreams(self.list_streams(&q)),
            Q::ImportTable(q) => A::ImportTable(self.import_table(q).await?),
            Q::ListBackups(q) => A::ListBackups(self.list_backups(&q)?),
            Q::ListBulkOperations(q) => A::ListBulkOperations(self.list_bulk_operations(&q)?),
            Q::ListExports(q) => A::ListExports(self.list_exports(&q)?),
            Q::ListImports(q) => A::ListImports(self.list_imports(&q)?),
            Q::ListTables(q) => A::ListTables(self.list_tables(&q)),
            Q::ListTagsOfResource(q) => A::ListTagsOfResource(self.list_tags_of_resource(&q)?),
            Q::PutItem(q) => A::PutItem(self.put_item(q).await?),
            Q::Query(q) => A::Query(self.query(&q).await?),
            Q::RestoreTableFromBackup(q) => {
                A::RestoreTableFromBackup(self.restore_table_from_backup(q).await?)
            }
            Q::RestoreTableToPointInTime(q) => {
                A::RestoreTableToPointInTime(self.restore_table_to_point_in_time(q).await?)
            }
            Q::Scan(q) => A::Scan(self.scan(&q).await?),
            Q::StartBulkPutItems(q) => A::StartBulkPutItems(self.start_bulk_put_items(q).await?),
            Q::TagResource(q) => self.tag_resource(q).await.map(|()| A::Empty)?,
            Q::TransactGetItems(q) => A::TransactGetItems(self.transact_get_items(&q)?),
            Q::TransactWriteItems(q) => A::TransactWriteItems(self.transact_write_items(q).await?),
            Q::UntagResource(q) => self.untag_resource(q).await.map(|()| A::Empty)?,
            Q::UpdateContinuousBackups(q) => {
                A::UpdateContinuousBackups(self.update_continuous_backups(q).await?)
            }
            Q::UpdateItem(q) => A::UpdateItem(self.update_item(q).await?),
            Q::UpdateTable(q) => A::UpdateTable(self.update_table(q).await?),
            Q::UpdateTimeToLive(q) => A::UpdateTimeToLive(self.update_time_to_live(q).await?),
        })
    }
}

/// A store that fails is an internal error to the client. The client is told what an operator can mend; the rest is
/// for the log.
fn storage_failed(error: StoreError) -> Exception {
    tracing::error!(%error, "the store failed");
    Exception::internal(match error {
        StoreError::Full(_) => "Internal server error: the disk is full, so nothing can be added",
        StoreError::ReadOnly(_) => "Internal server error: the data folder is read-only",
        StoreError::LogFailed(_) => "Internal server error: the commit log could not be written",
        StoreError::Io(_) | StoreError::Damaged(_) | StoreError::Closed => "Internal server error",
    })
}
