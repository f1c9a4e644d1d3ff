//! Single-table models attached to tables: writes are held against them, requests attributed to their patterns.
//!
//! A server without models asks one flag per request and is otherwise exactly as it is. With a model, a request is judged before
//! it runs (`watch`), measured after it ran (`figures`), and `/_partita/model` attaches, detaches and shows (`admin`).

mod admin;
mod capacity;
mod figures;
mod hot_keys;
mod latency;
mod reads;
mod statements;
mod watch;
mod writes;

pub use admin::PATH as MODEL_PATH;
pub use watch::{Mode, ModelWatch};

use partita_api::{Exception, Request, Response};
use partita_design::item::Attributes;
use partita_engine::heavy_work::elsewhere;
use partita_value::{Item, ValueRef};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use watch::Sighting;

/// Models that may be attached: every request is held against all of them.
const MOST_MODELS: usize = 256;

/// The parts that the templates of an attached model may have together.
const MOST_PARTS: usize = 20_000;
/// What may take more steps to hold against the models is done aside.
const HEAVY_WORK: usize = 2_000_000;

/// The attached models, one a table at most.
#[derive(Default)]
pub struct Models {
    /// Whether there are any: all that a request asks on a server without models.
    any: AtomicBool,
    /// The parts of all their templates.
    parts: AtomicUsize,
    watches: RwLock<BTreeMap<String, Arc<ModelWatch>>>,
}

/// What is to be measured once the request has run.
pub struct UnderWay {
    seen: Vec<(Arc<ModelWatch>, Sighting)>,
    /// The client did not ask for the units.
    hide_capacity: bool,
}

impl Models {
    /// Watches a table by a model, instead of another it may have had.
    pub fn attach(&self, watch: ModelWatch) -> Result<(), Exception> {
        let mut watches = self.watches.write().unwrap_or_else(PoisonError::into_inner);
        if watches.len() >= MOST_MODELS && !watches.contains_key(watch.table()) {
            return Err(Exception::validation(format!(
                "{MOST_MODELS} models are attached: detach one first"
            )));
        }
        if watch.parts() > MOST_PARTS {
            return Err(Exception::validation(format!(
                "The model's key templates have {} parts together; a model to be attached has {MOST_PARTS} at most",
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

    /// Whether there was one.
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

    /// Before a request of so many bytes runs, beside the threads that serve if that may take long.
    pub async fn hold_against(
        self: Arc<Self>,
        mut request: Request,
        bytes: usize,
    ) -> Result<(Request, Option<UnderWay>), Exception> {
        if !self.any.load(Ordering::Acquire) {
            return Ok((request, None));
        }
        // Every key may be taken apart by every part of every template.
        let work = self.parts.load(Ordering::Relaxed).saturating_mul(bytes);
        let hold = move || self.before(&mut request).map(|under_way| (request, under_way));
        if work > HEAVY_WORK { elsewhere(work, hold).await? } else { hold() }
    }

    /// Before a request runs: refuses or reports writes that break a model, recognises what is asked.
    pub fn before(&self, request: &mut Request) -> Result<Option<UnderWay>, Exception> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut seen = Vec::new();
        for watch in self.all() {
            let sighting = watch.before(request)?;
            seen.extend(sighting.map(|sighting| (watch, sighting)));
        }
        if seen.is_empty() {
            return Ok(None);
        }
        Ok(Some(UnderWay { seen, hide_capacity: capacity::ask(request) }))
    }

    /// After it ran.
    pub fn after(&self, under_way: Option<UnderWay>, response: &mut Response) {
        let Some(UnderWay { seen, hide_capacity }) = under_way else { return };
        for (watch, sighting) in seen {
            watch.after(sighting, response);
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
