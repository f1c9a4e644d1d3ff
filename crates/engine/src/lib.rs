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

mod backfill;
mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
pub mod bucket;
pub mod bucket_folder;
mod capacity;
mod catalog;
mod change;
mod change_table;
pub mod clock;
mod create_table;
mod delete_item;
mod delete_table;
mod describe_endpoints;
mod describe_export;
mod describe_import;
mod describe_limits;
mod describe_stream;
mod describe_table;
mod describe_time_to_live;
mod exchange_record;
mod exchange_upkeep;
mod execute_statement;
mod execute_transaction;
mod expiry;
mod export_step;
mod export_table_to_point_in_time;
mod get_item;
mod get_records;
mod get_shard_iterator;
mod idempotency;
mod import_source;
mod import_step;
mod import_table;
mod index_entry;
mod item_key;
mod key_range;
mod list_exports;
mod list_imports;
mod list_streams;
mod list_tables;
mod list_tags_of_resource;
pub mod maintenance;
mod put_item;
mod query;
mod read;
mod read_stream;
mod scalar_keys;
mod scan;
mod selection;
mod shard_iterator;
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
mod transact_get_items;
mod transact_write_items;
mod untag_resource;
mod update_item;
mod update_table;
mod update_time_to_live;
mod write;
mod write_report;

use bucket::Buckets;
use catalog::Catalog;
use clock::Clock;
use exchange_record::OpenIds;
use exchange_upkeep::TokenCursor;
use import_source::OpenObject;
use partita_api::{Exception, Request, Response};
use partita_store::{Store, StoreError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use stream_options::StreamOptions;

/// The database: a store and what is known about its tables.
pub struct Engine<S> {
    store: S,
    catalog: Catalog,
    clock: Clock,
    stream_options: StreamOptions,
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
    token_cursor: TokenCursor,
    /// The time in the last export's or import's id.
    last_exchange_millis: AtomicU64,
    /// The object that an import is reading.
    open_object: Mutex<Option<OpenObject>>,
    /// Makes ids of the same millisecond differ.
    ids: AtomicU64,
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
            region: region.to_owned(),
            endpoint: OnceLock::new(),
            buckets: OnceLock::new(),
            exchanges_stopped: AtomicBool::new(false),
            last_exchange_millis: AtomicU64::new(0),
            open_exports: OpenIds::default(),
            open_imports: OpenIds::default(),
            token_cursor: TokenCursor::default(),
            open_object: Mutex::new(None),
            ids: AtomicU64::new(0),
            waker: OnceLock::new(),
        })
    }

    /// The same, with streams kept otherwise than AWS keeps them.
    pub fn with_streams(self, stream_options: StreamOptions) -> Engine<S> {
        Engine { stream_options, ..self }
    }

    /// Tells the engine where it is reached.
    pub fn set_endpoint(&self, host_and_port: String) {
        let _ = self.endpoint.set(host_and_port);
    }

    /// Tells the engine where the buckets of exports and imports are.
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

    /// An id in the form of a UUID, unique in this database.
    fn new_id(&self) -> String {
        use siphasher::sip128::{Hasher128, SipHasher24};
        use std::hash::Hasher;
        let mut hasher = SipHasher24::new();
        hasher.write_u64(self.clock.now_millis());
        hasher.write_u64(self.ids.fetch_add(1, Ordering::Relaxed));
        hasher.write_usize(std::ptr::from_ref(self).addr());
        let id = hasher.finish128().as_u128();
        // Version 4, variant 1, as readers of UUIDs expect.
        let id = id & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
        let hex = format!("{id:032x}");
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }

    /// Runs any request.
    pub async fn execute(&self, request: Request) -> Result<Response, Exception> {
        Ok(match request {
            Request::BatchExecuteStatement(request) => {
                Response::BatchExecuteStatement(self.batch_execute_statement(request).await?)
            }
            Request::BatchGetItem(request) => Response::BatchGetItem(self.batch_get_item(&request)?),
            Request::BatchWriteItem(request) => {
                Response::BatchWriteItem(self.batch_write_item(request).await?)
            }
            Request::CreateTable(request) => Response::CreateTable(self.create_table(request).await?),
            Request::DeleteItem(request) => Response::DeleteItem(self.delete_item(request).await?),
            Request::DeleteTable(request) => Response::DeleteTable(self.delete_table(request).await?),
            Request::DescribeEndpoints => Response::DescribeEndpoints(self.describe_endpoints()),
            Request::DescribeExport(request) => Response::DescribeExport(self.describe_export(&request)?),
            Request::DescribeImport(request) => Response::DescribeImport(self.describe_import(&request)?),
            Request::DescribeLimits => Response::DescribeLimits(self.describe_limits()),
            Request::DescribeStream(request) => Response::DescribeStream(self.describe_stream(&request)?),
            Request::DescribeTable(request) => Response::DescribeTable(self.describe_table(&request)?),
            Request::DescribeTimeToLive(request) => {
                Response::DescribeTimeToLive(self.describe_time_to_live(&request)?)
            }
            Request::ExecuteStatement(request) => {
                Response::ExecuteStatement(self.execute_statement(request).await?)
            }
            Request::ExecuteTransaction(request) => {
                Response::ExecuteTransaction(self.execute_transaction(request).await?)
            }
            Request::ExportTableToPointInTime(request) => {
                Response::ExportTableToPointInTime(self.export_table_to_point_in_time(request).await?)
            }
            Request::GetItem(request) => Response::GetItem(self.get_item(&request)?),
            Request::GetRecords(request) => Response::GetRecords(self.get_records(&request)?),
            Request::GetShardIterator(request) => {
                Response::GetShardIterator(self.get_shard_iterator(&request)?)
            }
            Request::ListStreams(request) => Response::ListStreams(self.list_streams(&request)),
            Request::ImportTable(request) => Response::ImportTable(self.import_table(request).await?),
            Request::ListExports(request) => Response::ListExports(self.list_exports(&request)?),
            Request::ListImports(request) => Response::ListImports(self.list_imports(&request)?),
            Request::ListTables(request) => Response::ListTables(self.list_tables(&request)),
            Request::ListTagsOfResource(request) => {
                Response::ListTagsOfResource(self.list_tags_of_resource(&request)?)
            }
            Request::PutItem(request) => Response::PutItem(self.put_item(request).await?),
            Request::Query(request) => Response::Query(self.query(&request)?),
            Request::Scan(request) => Response::Scan(self.scan(&request)?),
            Request::TagResource(request) => self.tag_resource(request).await.map(|()| Response::Empty)?,
            Request::TransactGetItems(request) => {
                Response::TransactGetItems(self.transact_get_items(&request)?)
            }
            Request::TransactWriteItems(request) => {
                Response::TransactWriteItems(self.transact_write_items(request).await?)
            }
            Request::UntagResource(request) => {
                self.untag_resource(request).await.map(|()| Response::Empty)?
            }
            Request::UpdateItem(request) => Response::UpdateItem(self.update_item(request).await?),
            Request::UpdateTable(request) => Response::UpdateTable(self.update_table(request).await?),
            Request::UpdateTimeToLive(request) => {
                Response::UpdateTimeToLive(self.update_time_to_live(request).await?)
            }
        })
    }
}

/// A store that fails is an internal error to the client; what failed is for the log.
fn storage_failed(error: StoreError) -> Exception {
    tracing::error!(%error, "the store failed");
    Exception::internal("Internal server error")
}
