//! Carries out a plan: sends its requests, pages through their results, and does what the plan leaves to the caller.

use super::call::{Call, Known, Sortable};
use super::meaning::is_within;
use super::request_values::{Existing, RequestValues, existing};
use crate::audit::recognise;
use crate::exchange::filter_expression::{FilterExpression, Given};
use crate::exchange::item_json;
use crate::exchange::request_json::{KeyTexts, batch_json, get_json, key_json, query_json, scan_json};
use crate::item::{Attributes, Item, attributes};
use crate::keys::key_mapping::TableOrIndex;
use crate::model::limits::End;
use crate::model::{Entity, Model, Pattern, Target};
use crate::plan::afterwards::Afterwards;
use crate::plan::requirement::Requirement;
use crate::plan::{Operation, Plan, Step};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The most keys of a BatchGetItem.
const MAX_KEYS: usize = 100;

/// One response.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The items.
    pub items: Vec<Item>,
    /// How many items were read, with those that a filter dropped.
    pub read: u64,
    /// Where the next page starts, `LastEvaluatedKey`, or what a batch has left out, `UnprocessedKeys`.
    pub next: Option<Value>,
    /// The read units.
    pub units: f64,
}

impl Page {
    /// Reads the response of an operation, which was asked for the consumed capacity; `None` if it is not DynamoDB JSON.
    pub fn decode(operation: &str, response: &Value) -> Option<Page> {
        let found: Vec<&Value> = match operation {
            "GetItem" => response.get("Item").into_iter().collect(),
            "BatchGetItem" => {
                let tables = response["Responses"].as_object().into_iter().flatten();
                tables.flat_map(|(_, items)| items.as_array().into_iter().flatten()).collect()
            }
            _ => response["Items"].as_array().into_iter().flatten().collect(),
        };
        let items: Option<Vec<Item>> = found.into_iter().map(item_json::decode).collect();
        let left_out = response.get("UnprocessedKeys");
        let left_out = left_out.filter(|keys| keys.as_object().is_some_and(|tables| !tables.is_empty()));
        let consumed = &response["ConsumedCapacity"];
        let consumed = if consumed.is_array() { &consumed[0] } else { consumed };
        let units = consumed["CapacityUnits"].as_f64().unwrap_or_default();
        let items = items?;
        let read = response["ScannedCount"].as_u64().unwrap_or(items.len() as u64);
        Some(Page { items, read, next: response.get("LastEvaluatedKey").or(left_out).cloned(), units })
    }
}

/// What a call returned, and what that took.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The items that the pattern returns.
    pub items: Vec<Item>,
    /// What each step took.
    pub steps: Vec<Taken>,
}

/// What requests took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// The number of requests, without further pages.
    pub requests: u64,
    /// The number of responses: requests and further pages.
    pub pages: u64,
    /// The number of items that were read.
    pub read: u64,
    /// The read units.
    pub units: f64,
}

impl Answer {
    /// Returns what all steps took.
    pub fn taken(&self) -> Taken {
        let add = |sum: Taken, one: &Taken| Taken {
            requests: sum.requests + one.requests,
            pages: sum.pages + one.pages,
            read: sum.read + one.read,
            units: sum.units + one.units,
        };
        self.steps.iter().fold(Taken::default(), add)
    }
}

/// A plan that is being carried out; `send` takes the name of an operation and its request.
pub struct Execution<'a, 'm, S> {
    model: &'m Model,
    pattern: &'a Pattern,
    call: &'a Call,
    /// What the step that is being carried out knows from existing items.
    existing: &'a Existing,
    /// What the requests of the last search knew: the inputs, and the values of each item that it followed.
    searched: Vec<Attributes>,
    send: S,
    taken: Taken,
}

/// The items of one step.
struct Stage<'m> {
    entities: Vec<&'m Entity>,
    items: Vec<Item>,
}

/// A plan that is ready to be carried out, any number of times.
pub struct PreparedPlan<'a, 'm> {
    model: &'m Model,
    pattern: &'a Pattern,
    plan: &'a Plan<'m>,
    /// What each step knows from existing items.
    existing: Vec<Existing>,
}

impl<'a, 'm> PreparedPlan<'a, 'm> {
    /// Prepares the plan of a pattern; an application knows the time buckets of these items.
    pub fn new(
        model: &'m Model,
        pattern: &'a Pattern,
        plan: &'a Plan<'m>,
        all: &[Known<'_>],
    ) -> PreparedPlan<'a, 'm> {
        let existing = plan.steps.iter().map(|step| existing(pattern, step, all)).collect();
        PreparedPlan { model, pattern, plan, existing }
    }

    /// Returns how many requests a step sends at most for a call, or for one of the items that it follows.
    pub fn most_requests(&self, call: &Call) -> u64 {
        let steps = self.plan.steps.iter().zip(&self.existing);
        let of_step = |(step, existing): (&Step<'m>, &Existing)| {
            let mut known = call.values.clone();
            // Whatever value an item has there.
            let links = step.follow.iter().flat_map(|follow| &follow.links);
            known.extend(links.map(|link| (link.to.clone(), String::new())));
            let (model, pattern, range) = (self.model, self.pattern, call.range.as_ref());
            RequestValues { model, pattern, step, range, existing }.number(&known)
        };
        steps.map(of_step).max().unwrap_or_default()
    }

    /// Carries out the plan for one call.
    ///
    /// # Errors
    ///
    /// Returns the error of the first request that fails.
    pub fn execute<E>(
        &self,
        call: &Call,
        send: impl FnMut(&'static str, &Value) -> Result<Page, E>,
    ) -> Result<Answer, E> {
        execute(self, call, send)
    }
}

fn execute<'m, E>(
    prepared: &PreparedPlan<'_, 'm>,
    call: &Call,
    send: impl FnMut(&'static str, &Value) -> Result<Page, E>,
) -> Result<Answer, E> {
    let PreparedPlan { model, pattern, plan, existing } = prepared;
    let nothing = Existing::new();
    let mut execution = Execution {
        model,
        pattern,
        call,
        existing: &nothing,
        searched: Vec::new(),
        send,
        taken: Taken::default(),
    };
    let mut taken = Vec::new();
    let mut stages: Vec<Stage<'m>> = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        execution.existing = &existing[number];
        let before = number.checked_sub(1).map(|before| &plan.steps[before]);
        let items = match (&step.follow, before) {
            (None, Some(before)) if step.completes(before) => {
                let incomplete = stages.pop().map(|stage| stage.items).unwrap_or_default();
                execution.complete(step, &incomplete)?
            }
            (None, _) => {
                execution.searched = vec![call.values.clone()];
                execution.read(step, &call.values)?
            }
            (Some(follow), _) => {
                let origins = stages.iter().filter(|stage| stage.has(follow.from));
                let origins: Vec<Item> = origins.flat_map(|stage| stage.items.clone()).collect();
                execution.follow(step, &origins)?
            }
        };
        let items = execution.finish(step, items);
        stages.push(Stage { entities: step.targets.clone(), items });
        taken.push(std::mem::take(&mut execution.taken));
    }
    let items = stages.into_iter().flat_map(|stage| stage.items);
    let mut wanted: Vec<Item> = items.filter(|item| execution.target_of(item).is_some()).collect();
    let works = plan.steps.iter().flat_map(|step| &step.afterwards);
    for most in
        works.filter_map(|work| if let Afterwards::KeepOfAll(most) = work { Some(*most) } else { None })
    {
        let mut kept = 0;
        wanted.retain(|item| {
            kept += u64::from(execution.is_of_list(item));
            kept <= most || !execution.is_of_list(item)
        });
    }
    Ok(Answer { items: wanted, steps: taken })
}

impl Stage<'_> {
    fn has(&self, entity: &Entity) -> bool {
        self.entities.iter().any(|own| own.name == entity.name)
    }
}

impl<'m, E, S: FnMut(&'static str, &Value) -> Result<Page, E>> Execution<'_, 'm, S> {
    /// Returns the target of the pattern that an item belongs to.
    fn target_of(&self, item: &Item) -> Option<&Target> {
        let entity = recognise(self.model, &attributes(item))?;
        self.pattern.targets.iter().find(|target| target.entity == entity.name)
    }

    fn is_of_list(&self, item: &Item) -> bool {
        self.target_of(item).is_some_and(|target| target.many)
    }

    fn request(&mut self, operation: Operation, body: &Value) -> Result<Page, E> {
        let is_further = body.get("ExclusiveStartKey").is_some();
        let page = (self.send)(operation.name(), body)?;
        self.taken.requests += u64::from(!is_further);
        self.taken.pages += 1;
        self.taken.read += page.read;
        self.taken.units += page.units;
        Ok(page)
    }

    /// All requests of a step for one set of known values: every shard, time bucket and alternative. Time buckets that are read in turn are read
    /// until enough is found.
    fn read(&mut self, step: &Step<'m>, values: &Attributes) -> Result<Vec<Item>, E> {
        let range = self.call.range.as_ref();
        let requests =
            RequestValues { model: self.model, pattern: self.pattern, step, range, existing: self.existing };
        let enough = step.afterwards.iter().find_map(|work| match work {
            Afterwards::InTurn { wanted, .. } => usize::try_from(*wanted).ok(),
            _ => None,
        });
        let mut found = Vec::new();
        for round in requests.rounds(values) {
            for texts in round {
                found.extend(self.read_one(step, values, &texts)?);
            }
            if enough.is_some_and(|enough| found.len() >= enough) {
                break;
            }
        }
        Ok(found)
    }

    fn read_one(
        &mut self,
        step: &Step<'m>,
        values: &Attributes,
        texts: &[(usize, KeyTexts)],
    ) -> Result<Vec<Item>, E> {
        match step.operation {
            Operation::Query => self.pages(step, query_json(self.model, step, texts), values),
            Operation::Scan => self.pages(step, scan_json(self.model, step), values),
            Operation::Get | Operation::BatchGet => {
                let body = get_json(self.model, step, &key_json(self.model, step, texts));
                Ok(self.request(Operation::Get, &body)?.items)
            }
        }
    }

    fn filter(&self, step: &Step<'m>, values: &Attributes) -> FilterExpression {
        let by = self.pattern.range.as_ref().map(|range| &range.by);
        let attribute = by.and_then(|by| step.targets.iter().find_map(|entity| entity.attribute(by)));
        let bounds = attribute.zip(self.call.range.as_ref()).map(|(attribute, (from, to))| {
            (attribute.limits.bound(from, End::Lower), attribute.limits.bound(to, End::Upper))
        });
        let (from, to) = bounds.as_ref().map(|(from, to)| (from.as_str(), to.as_str())).unzip();
        FilterExpression::of_step(self.model, step, &Given { values, from, to })
    }

    /// Reads pages until the limit or the end is reached.
    fn pages(&mut self, step: &Step<'m>, mut body: Value, values: &Attributes) -> Result<Vec<Item>, E> {
        self.filter(step, values).write_to(&mut body);
        let most = step.wanted().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let mut kept = Vec::new();
        loop {
            let page = self.request(step.operation, &body)?;
            kept.extend(page.items.into_iter().filter(|item| self.keeps(step, item, values)));
            let is_done = kept.len() >= most || self.pattern.first_page_only;
            match page.next.filter(|_| !is_done) {
                Some(next) => body["ExclusiveStartKey"] = next,
                None => break,
            }
        }
        kept.truncate(most);
        Ok(kept)
    }

    /// Returns whether an item is of a wanted entity and meets what neither the key condition nor the filter can test: key attributes as such.
    fn keeps(&self, step: &Step<'m>, item: &Item, values: &Attributes) -> bool {
        let texts = attributes(item);
        let Some(entity) = recognise(self.model, &texts) else { return false };
        let is_wanted = step.targets.iter().any(|target| target.name == entity.name);
        let left = step.unsent_requirements(self.model);
        is_wanted && self.meets(&left, (item, &texts), values)
    }

    /// Returns whether an item meets those requirements that concern its entity.
    fn meets(
        &self,
        requirements: &[Requirement],
        (item, texts): (&Item, &Attributes),
        values: &Attributes,
    ) -> bool {
        let Some(entity) = recognise(self.model, texts) else { return false };
        let has = |name: &str| entity.attribute(name).is_some();
        let concerned = requirements.iter().filter(|one| one.attributes().into_iter().any(has));
        concerned.into_iter().all(|requirement| match requirement {
            Requirement::Input(name) => values.get(name).is_none_or(|value| texts.get(name) == Some(value)),
            Requirement::Condition(part) => part.holds_for_known(item, texts),
            Requirement::Range(by) => {
                entity.attribute(by).is_none_or(|attribute| is_within(attribute, texts, self.call))
            }
        })
    }

    /// The inputs that concern what a step reads: those that the items it follows do not have.
    fn inputs_of(&self, step: &Step<'m>) -> Attributes {
        let from = step.follow.as_ref().map(|follow| follow.from);
        let concerns = |name: &str| from.is_none_or(|from| from.attribute(name).is_none());
        self.call
            .values
            .iter()
            .filter(|(name, _)| concerns(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// An item's attributes, and those that its keys contain: an index need not hold them otherwise.
    fn texts(&self, item: &Item) -> Attributes {
        let own = attributes(item);
        let Some(entity) = recognise(self.model, &own) else { return own };
        let mut texts = own.clone();
        for location in TableOrIndex::all(self.model) {
            let Some(mapping) = location.mapping(entity) else { continue };
            for (name, template) in location.key_names(self.model).iter().zip(mapping.key) {
                let fields = own.get(name).and_then(|key| template.matches(key, entity)).unwrap_or_default();
                let whole = fields.into_iter().filter(|(field, _)| !template.loses(field));
                whole.for_each(|(field, value)| _ = texts.entry(field).or_insert(value));
            }
        }
        texts
    }

    fn sort(&self, items: &mut [Item], by: &str, descending: bool) {
        let key = |item: &Item| {
            let texts = self.texts(item);
            let text = texts.get(by).map_or("", String::as_str);
            Sortable::of(recognise(self.model, &texts), by, text)
        };
        if descending {
            items.sort_by_cached_key(|item| Reverse(key(item)));
        } else {
            items.sort_by_cached_key(key);
        }
    }

    /// Follows the items of an earlier step.
    fn follow(&mut self, step: &Step<'m>, origins: &[Item]) -> Result<Vec<Item>, E> {
        let links = step.follow.as_ref().map(|follow| follow.links.as_slice()).unwrap_or_default();
        let mut sent = BTreeSet::new();
        let mut keys = Vec::new();
        let mut found = Vec::new();
        self.searched.clear();
        for origin in origins {
            let texts = self.texts(origin);
            let mut values = self.inputs_of(step);
            for link in links {
                values.extend(texts.get(&link.from).map(|value| (link.to.clone(), value.clone())));
            }
            if !sent.insert(values.clone()) {
                continue;
            }
            self.searched.push(values.clone());
            if step.operation == Operation::BatchGet {
                let requests = RequestValues {
                    model: self.model,
                    pattern: self.pattern,
                    step,
                    range: None,
                    existing: self.existing,
                };
                let texts = requests.rounds(&values).concat();
                keys.extend(texts.iter().map(|texts| key_json(self.model, step, texts)));
            } else {
                found.extend(self.read(step, &values)?);
            }
        }
        found.extend(self.batch(step, keys)?);
        Ok(found)
    }

    /// Reads the whole items of index entries.
    fn complete(&mut self, step: &Step<'m>, entries: &[Item]) -> Result<Vec<Item>, E> {
        let key = |entry: &Item| -> Map<String, Value> {
            let names = self.model.table.keys.iter();
            let one = |name: &String| Some((name.clone(), key_value(entry.get(name)?)));
            names.filter_map(one).collect()
        };
        let keys: Vec<Map<String, Value>> = entries.iter().map(key).collect();
        if step.operation == Operation::BatchGet {
            return self.batch(step, keys);
        }
        let mut found = Vec::new();
        for key in keys {
            found.extend(self.request(Operation::Get, &get_json(self.model, step, &key))?.items);
        }
        Ok(found)
    }

    /// Reads keys in batches, each once, and returns the items in the order of the keys.
    fn batch(&mut self, step: &Step<'m>, mut keys: Vec<Map<String, Value>>) -> Result<Vec<Item>, E> {
        let mut seen = BTreeSet::new();
        keys.retain(|key| seen.insert(Value::Object(key.clone()).to_string()));
        let mut found: HashMap<Vec<Option<String>>, Item> = HashMap::new();
        let (names, inputs) = (&self.model.table.keys, self.inputs_of(step));
        for part in keys.chunks(MAX_KEYS) {
            let mut body = batch_json(self.model, step, part.to_vec());
            loop {
                let page = self.request(Operation::BatchGet, &body)?;
                for item in page.items.into_iter().filter(|item| self.keeps(step, item, &inputs)) {
                    let key =
                        names.iter().map(|name| item.get(name).and_then(|value| value.to_text())).collect();
                    found.insert(key, item);
                }
                let Some(rest) = page.next else { break };
                body["RequestItems"] = rest;
            }
        }
        let text =
            |value: &Value| ["S", "N"].iter().find_map(|kind| value[*kind].as_str().map(str::to_owned));
        let in_order = keys.iter().filter_map(|key| {
            found.remove(&names.iter().map(|name| key.get(name).and_then(text)).collect::<Vec<_>>())
        });
        Ok(in_order.collect())
    }

    /// What the caller does with the items of a step.
    fn finish(&self, step: &Step<'m>, mut items: Vec<Item>) -> Vec<Item> {
        for work in &step.afterwards {
            match work {
                Afterwards::Merge { by: Some(by), descending } | Afterwards::Sort { by, descending } => {
                    self.sort(&mut items, by, *descending);
                }
                Afterwards::Keep(limit) => items.truncate(usize::try_from(*limit).unwrap_or(usize::MAX)),
                Afterwards::Drop(requirements) => {
                    items.retain(|item| {
                        let texts = self.texts(item);
                        self.searched.iter().any(|values| self.meets(requirements, (item, &texts), values))
                    });
                }
                // Done while the pages and batches were read.
                Afterwards::Continue(_)
                | Afterwards::InTurn { .. }
                | Afterwards::SendOnce
                | Afterwards::Merge { by: None, .. }
                | Afterwards::Arrange { .. }
                // Done with the items of all steps.
                | Afterwards::KeepOfAll(_) => {}
            }
        }
        items
    }
}

/// The tagged value of a key attribute: a string or a number.
fn key_value(value: &crate::item::Value) -> Value {
    let kind = if matches!(value, crate::item::Value::Number(_)) { "N" } else { "S" };
    serde_json::json!({ kind: value.as_text() })
}
