//! Typed operations on a store. The life of a request here:
//!
//! 1. [`Engine::execute`] takes a valid [`Request`] and calls the method of the operation's own file.
//! 2. Reads (`get_item.rs`, `query.rs`, `scan.rs`, …) find the table in the [`catalog`], turn keys into
//!    stored keys ([`key::stored_key`]), and read points or a page of one snapshot ([`read`]).
//! 3. Writes (`put_item.rs`, `update_item.rs`, `transact_write_items.rs`, …) make a list of item writes
//!    and hand it to the one writer ([`write`]), which decides inside the store what changes: the item,
//!    its index entries ([`index::index_entry`]), counters, the stream's record ([`stream::stream_record`]). All of it
//!    commits together.
//! 4. Background work ([`maintenance`]) goes the same way, in small steps.
//!
//! Knows nothing of HTTP, JSON requests, or which store runs.

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
use exchange::exchange_upkeep::TokenCursor;
use exchange::open_ids::OpenIds;
use exchange::workplace::Workplaces;
use maintenance::pauses::Pauses;
use partita_api::{Exception, Request, Response};
use partita_store::{Health, Store, StoreError};
use random::IdGenerator;
pub use read::slices::let_others;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stream::stream_options::StreamOptions;

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
}

macro_rules! dispatch {
    ($($folder:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        impl<S: Store> Engine<S> {
            /// Executes any request.
            pub async fn execute(&self, request: Request) -> Result<Response, Exception> {
                Ok(match request {
                    $(Request::$name(request) => Response::$name(self.$module(request).await?)),*
                })
            }
        }
    };
}

partita_api::operations! { [dispatch] }

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
