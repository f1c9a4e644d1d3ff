//! The engine: executes typed requests on a store. The life of a request:
//!
//! 1. [`Engine::execute`] takes a valid [`Request`] and calls the method in the operation's own file
//!    (`item/put_item.rs`, `table/create_table.rs`, …). The table of operations, `api/src/operation.rs`, names its folder.
//! 2. A read (`item/get_item.rs`, `item/query.rs`, …) looks up the table in the `catalog`, turns keys into stored keys
//!    (`key/stored_key.rs`), and reads single items or a page (`read`).
//! 3. A write (`item/put_item.rs`, `item/transact_write_items.rs`, …) becomes a list of item writes
//!    (`item/planned_write.rs`) for the writer (`write`), which decides inside the store what changes: the item, its index
//!    entries (`index/index_entry.rs`), counters, the stream record (`stream/stream_record.rs`). All of it commits together.
//! 4. Background tasks ([`maintenance`]) do the same in small steps.
//!
//! Each folder is about one subject, which its `mod.rs` describes. The engine knows nothing of HTTP, JSON requests, or the
//! kind of store.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bucket;
pub mod clock;
pub mod maintenance;
pub mod offload;
pub mod salvage;
pub mod stream;
pub mod verify;

mod account;
mod backup;
mod bulk_operation;
mod capacity;
mod catalog;
mod exchange;
mod export;
mod history;
mod import;
mod index;
mod item;
mod key;
mod random;
mod read;
mod statement;
mod table;
mod tag;
mod time_to_live;
mod write;

use bucket::Buckets;
use catalog::Catalog;
use clock::Clock;
use exchange::exchange_retention::TokenCursor;
use exchange::open_ids::OpenIds;
use exchange::step_state::StepState;
use maintenance::backoff::Backoffs;
use partita_api::{Exception, Request, Response};
use partita_store::{Health, Store, StoreError};
use random::IdGenerator;
pub use read::work_budget::yield_now;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stream::stream_options::StreamOptions;
pub use write::judge::{Breach, JudgedWrite, Judgement, WriteJudge};

/// The database: a store, and the catalog of its tables.
pub struct Engine<S> {
    store: S,
    catalog: Catalog,
    clock: Clock,
    stream_options: StreamOptions,
    /// The shortest time that an incremental export may cover.
    shortest_export: Duration,
    /// The region that ARNs name.
    region: String,
    /// Host and port that DescribeEndpoints returns, once they are known.
    endpoint: OnceLock<String>,
    /// The buckets of exports, imports and bulk operations, if there are any.
    buckets: OnceLock<Arc<dyn Buckets>>,
    /// Who may refuse writes, if anyone.
    judge: OnceLock<Arc<dyn WriteJudge>>,
    /// Whether exports, imports and bulk operations were stopped; they resume after a restart.
    exchanges_stopped: AtomicBool,
    open_exports: OpenIds,
    open_imports: OpenIds,
    open_restores: OpenIds,
    open_bulk_operations: OpenIds,
    token_cursor: TokenCursor,
    /// The time in the last id of an export, import, bulk operation, backup or restore.
    last_exchange_millis: AtomicU64,
    /// The state that imports and bulk operations keep between steps.
    step_state: StepState,
    /// Background tasks that failed and are retried later.
    backoffs: Backoffs,
    ids: IdGenerator,
    /// Whether new tables hash keys without a secret, for tests that compare rows.
    fixed_tokens: bool,
    /// The callback for new background work.
    waker: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl<S: Store> Engine<S> {
    /// Opens the database in a store. `region` is the region in ARNs.
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
            judge: OnceLock::new(),
            exchanges_stopped: AtomicBool::new(false),
            last_exchange_millis: AtomicU64::new(0),
            open_exports: OpenIds::default(),
            open_imports: OpenIds::default(),
            open_restores: OpenIds::default(),
            open_bulk_operations: OpenIds::default(),
            token_cursor: TokenCursor::default(),
            step_state: StepState::default(),
            backoffs: Backoffs::default(),
            ids: IdGenerator::new().map_err(|error| StoreError::Io(error.to_string()))?,
            fixed_tokens: false,
            waker: OnceLock::new(),
        })
    }

    /// Sets options of streams that differ from AWS's.
    pub fn with_streams(self, stream_options: StreamOptions) -> Engine<S> {
        Engine { stream_options, ..self }
    }

    /// Sets the shortest period of an incremental export, which is 15 minutes on AWS.
    pub fn with_shortest_export(self, shortest_export: Duration) -> Engine<S> {
        Engine { shortest_export, ..self }
    }

    /// Whether the store accepts writes, and if not, why.
    pub fn health(&self) -> Health {
        self.store.health()
    }

    /// Makes new tables hash keys without a secret, so that their stored keys are predictable.
    pub fn with_fixed_tokens(self) -> Engine<S> {
        Engine { fixed_tokens: true, ..self }
    }

    /// Sets the address that DescribeEndpoints returns.
    pub fn set_endpoint(&self, host_and_port: String) {
        let _ = self.endpoint.set(host_and_port);
    }

    /// Sets the buckets of exports, imports and bulk operations.
    pub fn set_buckets(&self, buckets: Arc<dyn Buckets>) {
        let _ = self.buckets.set(buckets);
    }

    /// Sets the judge that may refuse writes.
    pub fn set_judge(&self, judge: Arc<dyn WriteJudge>) {
        let _ = self.judge.set(judge);
    }

    /// Stops waiting for buckets; exports, imports and bulk operations resume after a restart.
    pub fn stop_exchanges(&self) {
        self.exchanges_stopped.store(true, Ordering::Relaxed);
        if let Some(buckets) = self.buckets.get() {
            buckets.stop();
        }
    }

    /// If so, a failed step means nothing: stopping may have caused it.
    fn has_stopped_exchanges(&self) -> bool {
        self.exchanges_stopped.load(Ordering::Relaxed)
    }

    fn endpoint(&self) -> String {
        self.endpoint.get().cloned().unwrap_or_else(|| format!("dynamodb.{}.amazonaws.com", self.region))
    }

    /// Sets the callback for new background work, so that the work starts immediately.
    pub fn on_maintenance_due(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.waker.set(Box::new(wake));
    }

    fn wake_maintenance(&self) {
        if let Some(wake) = self.waker.get() {
            wake();
        }
    }

    /// The key that a new table's tokens are hashed with: random bytes from the operating system.
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
}

macro_rules! dispatch {
    ($($folder:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        impl<S: Store> Engine<S> {
            /// Executes a request.
            pub async fn execute(&self, request: Request) -> Result<Response, Exception> {
                Ok(match request {
                    $(Request::$name(request) => Response::$name(self.$module(request).await?)),*
                })
            }
        }
    };
}

partita_api::operations! { [dispatch] }

/// The exception for a store that fails: an internal error. The message says what an operator can fix; the rest goes to
/// the log.
fn storage_failed(error: StoreError) -> Exception {
    tracing::error!(%error, "the store failed");
    Exception::internal(match error {
        StoreError::Full(_) => "Internal server error: the disk is full, so nothing can be added",
        StoreError::ReadOnly(_) => "Internal server error: the data folder is read-only",
        StoreError::LogFailed(_) => "Internal server error: the commit log could not be written",
        StoreError::Io(_) | StoreError::Damaged(_) | StoreError::Closed => "Internal server error",
    })
}
