//! Single-table models attached to tables: writes are judged by them, requests attributed to their patterns.
//!
//! A server without models checks one flag per request and is otherwise unaffected. With a model, a request is attributed before
//! it runs (`model_watch`) and measured afterwards (`statistics`); the engine asks about every write before it commits (`write_judge`);
//! and `/_partita/model` attaches, detaches and shows models (`admin`).

mod admin;
mod capacity;
mod hot_keys;
mod judging_effort;
mod kept_models;
mod latency_histogram;
mod model_watch;
mod partiql;
mod read_attribution;
mod statistics;
mod violation_log;
mod write_attribution;
mod write_judge;

pub use admin::PATH as MODEL_PATH;
pub use model_watch::{Mode, ModelWatch, Origin};
pub use write_judge::execute_for;

use kept_models::KeptModels;
use model_watch::AttributedRequest;
use partita_api::{Exception, Request, Response};
use partita_design::Model;
use partita_design::audit::effort;
use partita_design::audit::observed_read::request_shapes_within;
use partita_design::item::Attributes;
use partita_engine::offload::heavy_work::offload;
use partita_value::{Item, ValueRef};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many models may be attached: every request is checked against all of them.
const MAX_MODELS: usize = 256;

/// How many parts the key templates of an attached model may have together.
const MAX_PARTS: usize = 20_000;
/// How many of them the keys of one item may be matched against.
const MAX_PARTS_PER_ITEM: usize = 1_000;
/// How many parts of templates the keys of one read may be matched against.
const MAX_PARTS_PER_READ: usize = 2_000;
/// How many tests one item may have to pass.
const MAX_TESTS_PER_ITEM: usize = 2_000;
/// Checks that may take more steps run on another thread.
const HEAVY_WORK: usize = 2_000_000;

/// The attached models, at most one per table.
#[derive(Default)]
pub struct Models {
    /// Whether there are any: all that a request checks on a server without models.
    any: AtomicBool,
    /// The number of parts in all their key templates, and in the requests of their patterns.
    parts: AtomicUsize,
    attached: RwLock<Attached>,
    /// Where models stay that are attached while the server runs.
    kept: Option<KeptModels>,
}

#[derive(Default)]
struct Attached {
    /// The models by their table.
    watches: BTreeMap<String, Arc<ModelWatch>>,
    /// The number of the last change of each table that has or had a model; each change has a greater one than all before.
    changes: BTreeMap<String, u64>,
}

impl Attached {
    fn record_change(&mut self, table: &str) {
        let last = self.changes.values().max().copied().unwrap_or_default();
        self.changes.insert(table.to_owned(), last + 1);
    }
}

/// A request that is measured once it has run.
pub struct WatchedRequest {
    watches: Vec<(Arc<ModelWatch>, AttributedRequest)>,
    /// The client did not request the consumed capacity.
    hide_capacity: bool,
}

impl Models {
    /// Attaches the models that are kept in a folder, and keeps there what is attached from now on.
    pub fn kept_in(folder: PathBuf) -> Result<Models, String> {
        let kept = KeptModels::new(folder);
        let watches = kept.load()?;
        let models = Models { kept: Some(kept), ..Models::default() };
        for watch in watches {
            models.attach(watch, true).map_err(|exception| exception.message)?;
        }
        Ok(models)
    }

    /// Keeps what is attached to a table for the next start. Returns whether that is, or was, anything.
    fn keep(&self, table: &str) -> Result<bool, Exception> {
        let Some(kept) = &self.kept else { return Ok(false) };
        let attached = || self.watch(table).map(|watch| watch.kept());
        kept.keep(table, attached).map_err(|error| {
            Exception::internal(format!(
                "The change holds until the server stops: it cannot be stored: {error}"
            ))
        })
    }

    /// Attaches a model to its table, in place of any other. Returns which rules that lowers; if the other model is enforced, that
    /// requires `force`.
    pub fn attach(&self, watch: ModelWatch, force: bool) -> Result<Vec<String>, Exception> {
        let watch = Arc::new(watch);
        loop {
            // To compare two models takes long, and every request reads what is attached.
            let former = self.watch(watch.table());
            let lowered = former.as_ref().map(|former| former.lowered_by(&watch)).unwrap_or_default();
            if former.as_ref().is_some_and(|former| former.refuses()) && !lowered.is_empty() && !force {
                return Err(lowers_rules(watch.table(), &lowered));
            }
            if self.replace(former.as_ref(), &watch)? {
                return Ok(lowered);
            }
        }
    }

    /// Attaches a model in place of the former one. Returns whether that was still attached.
    fn replace(&self, former: Option<&Arc<ModelWatch>>, watch: &Arc<ModelWatch>) -> Result<bool, Exception> {
        let mut attached = self.attached_mut();
        let current = attached.watches.get(watch.table());
        if current.map(Arc::as_ptr) != former.map(Arc::as_ptr) {
            return Ok(false);
        }
        if attached.watches.len() >= MAX_MODELS && current.is_none() {
            return Err(Exception::validation(format!("{MAX_MODELS} models are attached: detach one first")));
        }
        attached.watches.insert(watch.table().to_owned(), Arc::clone(watch));
        attached.record_change(watch.table());
        self.count(&attached);
        Ok(true)
    }

    fn count(&self, attached: &Attached) {
        let watches = attached.watches.values();
        self.parts.store(watches.map(|watch| watch.parts()).sum(), Ordering::Relaxed);
        self.any.store(!attached.watches.is_empty(), Ordering::Release);
    }

    /// Returns whether a model was attached.
    pub fn detach(&self, table: &str) -> bool {
        let mut attached = self.attached_mut();
        let found = attached.watches.remove(table).is_some();
        if found {
            attached.record_change(table);
        }
        self.count(&attached);
        found
    }

    fn attached(&self) -> RwLockReadGuard<'_, Attached> {
        self.attached.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn attached_mut(&self) -> RwLockWriteGuard<'_, Attached> {
        self.attached.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, table: &str) -> Option<Arc<ModelWatch>> {
        self.attached().watches.get(table).cloned()
    }

    fn all(&self) -> Vec<Arc<ModelWatch>> {
        self.attached().watches.values().cloned().collect()
    }

    /// Attributes a request of so many bytes before it runs, on another thread if that may take long.
    pub async fn attribute(
        self: Arc<Self>,
        mut request: Request,
        bytes: usize,
        origin: Origin,
    ) -> Result<(Request, Option<WatchedRequest>), Exception> {
        if !self.any.load(Ordering::Acquire) {
            return Ok((request, None));
        }
        // Every key may be matched against every part of every template and request.
        let work = self.parts.load(Ordering::Relaxed).saturating_mul(bytes);
        let attribute = move || {
            let watched = self.attribute_now(&mut request, origin)?;
            Ok((request, watched))
        };
        if work > HEAVY_WORK { offload(work, attribute).await? } else { attribute() }
    }

    fn attribute_now(
        &self,
        request: &mut Request,
        origin: Origin,
    ) -> Result<Option<WatchedRequest>, Exception> {
        let mut watches = Vec::new();
        for watch in self.all() {
            let attributed = watch.attribute_request(request, origin)?;
            watches.extend(attributed.map(|attributed| (watch, attributed)));
        }
        let is_watched = !watches.is_empty();
        let hide_capacity = is_watched && capacity::request_total(request);
        Ok(is_watched.then_some(WatchedRequest { watches, hide_capacity }))
    }

    /// Counts a request that has failed.
    pub fn count_failure(&self, watched: Option<WatchedRequest>) {
        for (watch, attributed) in watched.into_iter().flat_map(|request| request.watches) {
            watch.measure(attributed, None);
        }
    }

    /// Measures a request that has run.
    pub fn measure(&self, watched: Option<WatchedRequest>, response: &mut Response) {
        let Some(WatchedRequest { watches, hide_capacity }) = watched else { return };
        for (watch, attributed) in watches {
            watch.measure(attributed, Some(response));
        }
        if hide_capacity {
            capacity::hide(response);
        }
    }
}

/// Refuses a model whose keys take too long to match: other writes wait while one is judged.
fn check_effort(model: &Model) -> Result<(), Exception> {
    let all = effort::all_parts(model);
    if all > MAX_PARTS {
        return Err(Exception::validation(format!(
            "The model's key templates have {all} parts together; a model to be attached has {MAX_PARTS} at most"
        )));
    }
    let alike = effort::parts_per_item(model);
    if alike > MAX_PARTS_PER_ITEM {
        return Err(Exception::validation(format!(
            "The key templates that start alike have {alike} parts together; in a model to be attached they have {MAX_PARTS_PER_ITEM} at most: start the keys of each entity with a text of their own"
        )));
    }
    let tests = effort::tests_per_item(model);
    if tests > MAX_TESTS_PER_ITEM {
        return Err(Exception::validation(format!(
            "An item may have to pass {tests} tests of values, conditions, copies and aggregates; in a model to be attached there are {MAX_TESTS_PER_ITEM} at most"
        )));
    }
    check_reading_effort(model)
}

/// Refuses a model whose patterns take too long to compare with a read.
fn check_reading_effort(model: &Model) -> Result<(), Exception> {
    let shapes = request_shapes_within(model, MAX_PARTS).map_err(|_| {
        Exception::validation(format!(
            "The keys of the requests that serve the model's patterns, and the values that they list, have more than {MAX_PARTS} parts together; a model to be attached has {MAX_PARTS} at most"
        ))
    })?;
    let parts = shapes.parts_per_read();
    if parts > MAX_PARTS_PER_READ {
        return Err(Exception::validation(format!(
            "The key templates that a read of the table or of one index has to be compared with have {parts} parts together; in a model to be attached they have {MAX_PARTS_PER_READ} at most: start the keys of each entity with a text of their own"
        )));
    }
    Ok(())
}

fn lowers_rules(table: &str, lowered: &[String]) -> Exception {
    let lowered = lowered.join("; ");
    Exception::validation(format!(
        "Table {table} has an enforced model, whose rules this one would lower: {lowered}. If that is intended, attach it with --force (force=true)"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use partita_design::{Source, read};
    use partita_engine::WriteJudge;
    use partita_value::names::TableName;

    #[test]
    fn a_change_concerns_the_rules_of_one_table() {
        let models = Models::default();
        let attach = |table: &str| {
            let text = format!(
                "format = 1\n[table]\nname = \"{table}\"\nkeys = [\"PK\"]\n[entity.User]\n\
                 attributes = {{ userId = \"id\" }}\nkey = [\"USER#{{userId}}\"]\n"
            );
            let model = read(&Source::new("model", &text)).unwrap();
            models.attach(ModelWatch::new(model, Mode::Enforce), true).unwrap();
        };
        let [one, other] = ["One", "Other"].map(TableName::new);
        let rules = |tables: &[&TableName]| models.generation(&mut tables.iter().copied());
        let mut seen = vec![rules(&[&one])];
        attach("One");
        seen.push(rules(&[&one]));
        attach("Other");
        assert_eq!(rules(&[&one]), seen[1]);
        seen.push(rules(&[&one, &other]));
        attach("One");
        seen.push(rules(&[&one, &other]));
        assert!(models.detach("One") && !models.detach("One"));
        seen.push(rules(&[&one, &other]));
        attach("One");
        seen.push(rules(&[&one, &other]));
        assert!(seen.is_sorted_by(|before, after| before < after), "{seen:?}");
    }
}
