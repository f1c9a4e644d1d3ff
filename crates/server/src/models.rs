//! Single-table models attached to tables: writes are checked against them, requests attributed to their patterns.
//!
//! A server without models checks one flag per request and is otherwise unaffected. With a model, a request is checked before
//! it runs (`model_watch`), measured afterwards (`statistics`), and `/_partita/model` attaches, detaches and shows models (`admin`).

mod admin;
mod capacity;
mod hot_keys;
mod latency_histogram;
mod model_watch;
mod partiql;
mod read_attribution;
mod statistics;
mod write_check;

pub use admin::PATH as MODEL_PATH;
pub use model_watch::{Mode, ModelWatch};

use model_watch::AttributedRequest;
use partita_api::{Exception, Request, Response};
use partita_design::audit::Attributes;
use partita_engine::offload::heavy_work::elsewhere;
use partita_value::{Item, ValueRef};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// How many models may be attached: every request is checked against all of them.
const MAX_MODELS: usize = 256;

/// How many parts the key templates of an attached model may have together.
const MAX_PARTS: usize = 20_000;
/// Checks that may take more steps run on another thread.
const HEAVY_WORK: usize = 2_000_000;

/// The attached models, at most one per table.
#[derive(Default)]
pub struct Models {
    /// Whether there are any: all that a request checks on a server without models.
    any: AtomicBool,
    /// The number of parts in all their key templates.
    parts: AtomicUsize,
    watches: RwLock<BTreeMap<String, Arc<ModelWatch>>>,
}

/// A request that is measured once it has run.
pub struct WatchedRequest {
    watches: Vec<(Arc<ModelWatch>, AttributedRequest)>,
    /// The client did not request the consumed capacity.
    hide_capacity: bool,
}

impl Models {
    /// Attaches a model to its table, in place of any other.
    pub fn attach(&self, watch: ModelWatch) -> Result<(), Exception> {
        let mut watches = self.watches.write().unwrap_or_else(PoisonError::into_inner);
        if watches.len() >= MAX_MODELS && !watches.contains_key(watch.table()) {
            return Err(Exception::validation(format!("{MAX_MODELS} models are attached: detach one first")));
        }
        if watch.parts() > MAX_PARTS {
            return Err(Exception::validation(format!(
                "The model's key templates have {} parts together; a model to be attached has {MAX_PARTS} at most",
                watch.parts()
            )));
        }
        watches.insert(watch.table().to_owned(), Arc::new(watch));
        self.count(&watches);
        Ok(())
    }

    fn count(&self, watches: &BTreeMap<String, Arc<ModelWatch>>) {
        self.parts.store(watches.values().map(|watch| watch.parts()).sum(), Ordering::Relaxed);
        self.any.store(!watches.is_empty(), Ordering::Release);
    }

    /// Returns whether a model was attached.
    pub fn detach(&self, table: &str) -> bool {
        let mut watches = self.watches.write().unwrap_or_else(PoisonError::into_inner);
        let found = watches.remove(table).is_some();
        self.count(&watches);
        found
    }

    fn all(&self) -> Vec<Arc<ModelWatch>> {
        let watches = self.watches.read().unwrap_or_else(PoisonError::into_inner);
        watches.values().cloned().collect()
    }

    /// Checks a request of so many bytes before it runs, on another thread if that may take long.
    pub async fn check(
        self: Arc<Self>,
        mut request: Request,
        bytes: usize,
    ) -> Result<(Request, Option<WatchedRequest>), Exception> {
        if !self.any.load(Ordering::Acquire) {
            return Ok((request, None));
        }
        // Every key may be matched against every part of every template.
        let work = self.parts.load(Ordering::Relaxed).saturating_mul(bytes);
        let check = move || self.check_now(&mut request).map(|watched| (request, watched));
        if work > HEAVY_WORK { elsewhere(work, check).await? } else { check() }
    }

    /// Refuses or reports writes that violate a model, and attributes the request to patterns.
    fn check_now(&self, request: &mut Request) -> Result<Option<WatchedRequest>, Exception> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut watches = Vec::new();
        for watch in self.all() {
            let attributed = watch.check(request)?;
            watches.extend(attributed.map(|attributed| (watch, attributed)));
        }
        if watches.is_empty() {
            return Ok(None);
        }
        Ok(Some(WatchedRequest { watches, hide_capacity: capacity::request_total(request) }))
    }

    /// Measures a request that has run.
    pub fn measure(&self, watched: Option<WatchedRequest>, response: &mut Response) {
        let Some(WatchedRequest { watches, hide_capacity }) = watched else { return };
        for (watch, attributed) in watches {
            watch.measure(attributed, response);
        }
        if hide_capacity {
            capacity::hide(response);
        }
    }
}

/// An item's attributes as text.
fn attributes(item: &Item) -> Attributes {
    let entries = item.view().attributes().into_iter();
    entries.map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), text(value))).collect()
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::S(bytes) | ValueRef::N(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Bool(flag) => flag.to_string(),
        _ => String::new(),
    }
}
