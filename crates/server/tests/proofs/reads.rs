//! `reads = "enforce"` lets through what the patterns of a model read, as it is planned or narrower, and refuses what none of them reads.

use super::Trial;
use partita_api::Operation;
use partita_design::exchange::item_json;
use partita_design::item::{Attributes, Item, attributes};
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::{Pattern, ReadRule};
use partita_design::plan::trial::{Call, Page, PreparedPlan, calls, known};
use partita_design::plan::{Plan, plan};
use partita_design::template::{Format, Part};
use partita_design::{Model, Source, read};
use partita_server::models::{Mode, ModelWatch, Origin};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How many requests were let through, and how many refused.
#[derive(Default)]
pub struct Tried {
    pub accepted: usize,
    pub refused: usize,
}

/// A condition on the sort key of a read: an operator and its operands.
type Comparison<'a> = (&'static str, Vec<&'a Value>);

/// A read of the table or of an index, by the key of an item.
struct KeyedRead<'a> {
    index: Option<&'a str>,
    /// The attributes that are equal to those of the item, and the comparison of another one.
    equal: &'a [String],
    compared: Option<(&'a str, Comparison<'a>)>,
}

impl KeyedRead<'_> {
    /// The conditions, and the values of their placeholders.
    fn conditions(
        &self,
        item: &Value,
        named: impl Fn(&str) -> String,
        placeholder: impl Fn(usize) -> String,
    ) -> (String, Vec<Value>) {
        let (mut texts, mut values) = (Vec::new(), Vec::new());
        let mut add = |value: &Value| {
            values.push(value.clone());
            placeholder(values.len() - 1)
        };
        for name in self.equal {
            texts.push(format!("{} = {}", named(name), add(&item[name])));
        }
        if let Some((name, (operator, operands))) = &self.compared {
            let name = named(name);
            let operands: Vec<String> = operands.iter().map(|value| add(value)).collect();
            texts.push(match *operator {
                "BETWEEN" => format!("{name} BETWEEN {} AND {}", operands[0], operands[1]),
                "begins_with" => format!("begins_with({name}, {})", operands[0]),
                _ => format!("{name} {operator} {}", operands[0]),
            });
        }
        (texts.join(" AND "), values)
    }

    fn query(&self, table: &str, item: &Value) -> Value {
        let (condition, values) =
            self.conditions(item, |name| format!("#{name}"), |number| format!(":v{number}"));
        let values: serde_json::Map<String, Value> =
            values.into_iter().enumerate().map(|(number, value)| (format!(":v{number}"), value)).collect();
        let names =
            self.equal.iter().map(String::as_str).chain(self.compared.as_ref().map(|(name, _)| *name));
        let names: serde_json::Map<String, Value> =
            names.map(|name| (format!("#{name}"), name.into())).collect();
        let mut body = json!({
            "TableName": table, "KeyConditionExpression": condition, "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        });
        if let Some(index) = self.index {
            body["IndexName"] = json!(index);
        }
        body
    }

    fn statement(&self, table: &str, item: &Value) -> Value {
        let (condition, values) = self.conditions(item, |name| format!("\"{name}\""), |_| "?".to_owned());
        let place = self.index.map(|index| format!(".\"{index}\"")).unwrap_or_default();
        json!({ "Statement": format!("SELECT * FROM \"{table}\"{place} WHERE {condition}"), "Parameters": values })
    }
}

struct ReadTrial<'m> {
    trial: &'m Trial<'m>,
    watch: ModelWatch,
    tried: Tried,
}

/// Tries the reads of a model.
pub fn check(text: &str, seed: u64) -> Tried {
    // Large items only take longer.
    let text = ["700", "5000", "30_000", "130_000"]
        .iter()
        .fold(text.to_owned(), |text, size| text.replace(&format!(", bytes = {size}"), ""));
    let Ok(mut model) = read(&Source::new("random", &text)) else { return Tried::default() };
    // Which relationships a limit leaves to be followed depends on all items.
    model.patterns.retain(|pattern| pattern.via.is_empty() || pattern.limit.is_none());
    let trial = Trial::new(&model, 30);
    let watch = ModelWatch::new(model.clone(), Mode::Warn).with_reads(Some(ReadRule::Enforce));
    let mut reads = ReadTrial { trial: &trial, watch, tried: Tried::default() };
    let context = format!("seed {seed}\n{text}");
    let keys = Keyspace::new(&model);
    let planned = model.patterns.iter().filter_map(|pattern| Some((pattern, plan(&keys, pattern).ok()?)));
    let planned: Vec<_> = planned.collect();
    for (pattern, plan) in &planned {
        reads.check_planned(pattern, plan, &context);
    }
    reads.check_others(&planned, &context);
    reads.tried
}

impl<'m> ReadTrial<'m> {
    fn model(&self) -> &'m Model {
        self.trial.model
    }

    fn table(&self) -> &'m str {
        &self.trial.model.table.name
    }

    fn is_accepted(&mut self, operation: &str, body: &Value) -> Result<(), String> {
        let request =
            partita_wire::decode(Operation::from_name(operation).unwrap(), body.to_string().as_bytes());
        let request = request.unwrap_or_else(|_| panic!("{operation} is refused: {body}"));
        let answer = self.watch.attribute_request(&request, Origin::Application);
        *(if answer.is_ok() { &mut self.tried.accepted } else { &mut self.tried.refused }) += 1;
        answer.map(drop).map_err(|exception| exception.message)
    }

    fn demand(&mut self, operation: &str, body: &Value, context: &str) {
        if let Err(message) = self.is_accepted(operation, body) {
            panic!("{message}\n{operation} {body}\n{context}");
        }
    }

    /// Every request of a plan is accepted, and so is every narrower one.
    fn check_planned(&mut self, pattern: &Pattern, plan: &Plan<'m>, context: &str) {
        let trial = self.trial;
        let all = known(trial.model, &trial.items);
        let prepared = PreparedPlan::new(trial.model, pattern, plan, &all);
        for call in calls(pattern, &all, 2) {
            let mut sent: Vec<(&str, Value, Page)> = Vec::new();
            let send = |operation: &'static str, body: &Value| -> Result<Page, ()> {
                let page = trial.database.page(operation, body);
                sent.push((operation, body.clone(), page.clone()));
                Ok(page)
            };
            prepared.execute(&call, send).unwrap();
            for (operation, body, page) in sent {
                let context = format!("of {operation} {body}\n{} {call:?}\n{context}", pattern.name);
                self.demand(operation, &body, &context);
                let is_list = operation == "Query";
                if is_list {
                    self.check_attributes(&body, &context);
                }
                let wanted: Vec<Value> =
                    page.items.iter().filter(|item| self.is_wanted(pattern, item)).map(encoded).collect();
                self.check_narrower(body["IndexName"].as_str(), is_list, &wanted, &context);
            }
        }
    }

    fn is_wanted(&self, pattern: &Pattern, item: &Item) -> bool {
        let key = self.trial.key(item);
        let stored = self.trial.items.iter().find(|stored| self.trial.key(stored) == key);
        let entity = stored.and_then(|stored| stored.get("type")?.to_text());
        let mut names = pattern.targets.iter().map(|target| &target.entity);
        entity.is_some_and(|entity| names.any(|name| *name == entity))
    }

    /// Fewer items, fewer attributes, or a stronger read.
    fn check_attributes(&mut self, body: &Value, context: &str) {
        let mut less = body.clone();
        less["Limit"] = json!(1);
        self.demand("Query", &less, context);
        if body.get("ProjectionExpression").is_none() {
            less["ProjectionExpression"] = json!("PK");
            self.demand("Query", &less, context);
        }
        if body.get("IndexName").is_none() {
            less["ConsistentRead"] = json!(true);
            self.demand("Query", &less, context);
        }
    }

    /// One of the items that a request returns, or those between two of them.
    fn check_narrower(&mut self, index: Option<&str>, is_list: bool, found: &[Value], context: &str) {
        let Some(first) = found.first() else { return };
        let last = found.last().filter(|_| is_list).unwrap_or(first);
        let place = TableOrIndex { index: index.and_then(|name| self.model().index(name)) };
        let (partition, sort) = place.halves(self.model());
        let names = place.key_names(self.model());
        let mut reads = vec![KeyedRead { index, equal: names, compared: None }];
        if let [name] = sort {
            let (one, two) = (&first[name], &last[name]);
            let is_descending = one["S"].as_str() > two["S"].as_str();
            let (low, high) = if is_descending { (two, one) } else { (one, two) };
            let low_and_high = if one["N"].is_null() { vec![low, high] } else { vec![one, one] };
            let mut compared = vec![("BETWEEN", low_and_high)];
            // One item is not begun with.
            if is_list && low["S"].is_string() && low != high {
                compared.push(("begins_with", vec![low]));
            }
            let compared = compared.into_iter().map(|comparison| Some((name.as_str(), comparison)));
            reads.extend(compared.map(|compared| KeyedRead { index, equal: partition, compared }));
        }
        for one in reads {
            self.demand("Query", &one.query(self.table(), first), context);
            self.demand("ExecuteStatement", &one.statement(self.table(), first), context);
        }
        if index.is_none() {
            self.demand("GetItem", &self.get(last), context);
        }
    }

    fn get(&self, item: &Value) -> Value {
        let key: serde_json::Map<String, Value> =
            self.model().table.keys.iter().map(|name| (name.clone(), item[name].clone())).collect();
        json!({ "TableName": self.table(), "Key": key })
    }

    /// What is let through returns nothing that no request of any pattern reads, whatever its inputs.
    fn check_others(&mut self, planned: &[(&Pattern, Plan<'m>)], context: &str) {
        let all = self.all_read(planned);
        for place in TableOrIndex::all(self.model()) {
            let index = place.index.map(|index| index.name.as_str());
            let names = place.key_names(self.model());
            let (partition, sort) = place.halves(self.model());
            let stored: Vec<Value> = self.trial.items.iter().map(encoded).collect();
            let here: Vec<&Value> =
                stored.iter().filter(|item| names.iter().all(|name| item.get(name).is_some())).collect();
            let ends = [json!({ "S": "A" }), json!({ "S": "P" }), json!({ "S": "Z" }), json!({ "S": "C" })];
            for (number, item) in here.iter().enumerate().step_by(3) {
                let mut reads = vec![
                    KeyedRead { index, equal: names, compared: None },
                    KeyedRead { index, equal: partition, compared: None },
                ];
                let head = sort.first().and_then(|name| item[name]["S"].as_str()).map(|text| {
                    let end = text.find('#').map_or(text.len(), |at| at + 1);
                    json!({ "S": text[..end] })
                });
                if let (Some(head), Some(name)) = (&head, sort.first()) {
                    let own = &item[name];
                    let end = &ends[number / 3 % ends.len()];
                    for comparison in [
                        ("begins_with", vec![head]),
                        ("begins_with", vec![end]),
                        (">=", vec![own]),
                        ("<", vec![end]),
                        ("BETWEEN", vec![&ends[0], &ends[2]]),
                        ("BETWEEN", vec![head, &ends[2]]),
                    ] {
                        reads.push(KeyedRead { index, equal: partition, compared: Some((name, comparison)) });
                    }
                }
                for one in reads {
                    self.check_returned("Query", &one.query(self.table(), item), &all, context);
                }
                if index.is_none() {
                    self.check_returned("GetItem", &self.get(item), &all, context);
                }
            }
        }
    }

    fn check_returned(
        &mut self,
        operation: &'static str,
        body: &Value,
        all: &BTreeSet<ReadKey>,
        context: &str,
    ) {
        let is_backwards =
            body["KeyConditionExpression"].as_str().is_some_and(|text| text.contains("BETWEEN"))
                && body["ExpressionAttributeValues"][":v1"]["S"].as_str()
                    > body["ExpressionAttributeValues"][":v2"]["S"].as_str();
        if is_backwards || self.is_accepted(operation, body).is_err() {
            return;
        }
        for item in self.trial.database.page(operation, body).items {
            let key = (body["IndexName"].as_str().map(str::to_owned), self.trial.key(&item));
            assert!(all.contains(&key), "{operation} {body} returns {key:?}\n{context}");
        }
    }

    /// What the requests of all patterns read, for all values that items have.
    fn all_read(&self, planned: &[(&Pattern, Plan<'m>)]) -> BTreeSet<ReadKey> {
        let (trial, mut all) = (self.trial, BTreeSet::new());
        let texts: Vec<Attributes> = trial.items.iter().map(attributes).collect();
        let items = known(trial.model, &trial.items);
        for (pattern, plan) in planned {
            let prepared = PreparedPlan::new(trial.model, pattern, plan, &items);
            let inputs = |texts: &Attributes| -> Option<Attributes> {
                pattern.inputs.iter().map(|name| Some((name.clone(), texts.get(name)?.clone()))).collect()
            };
            let values: BTreeSet<Attributes> = texts.iter().filter_map(inputs).collect();
            for values in values {
                let call = Call { values, range: range(pattern, plan, &texts) };
                let send = |operation: &'static str, body: &Value| -> Result<Page, ()> {
                    let mut body = body.clone();
                    let fields = body.as_object_mut().unwrap();
                    for name in ["Limit", "FilterExpression", "ProjectionExpression"] {
                        fields.remove(name);
                    }
                    keep_used(&mut body);
                    let page = trial.database.page(operation, &body);
                    let index = body["IndexName"].as_str().map(str::to_owned);
                    all.extend(page.items.iter().map(|item| (index.clone(), trial.key(item))));
                    Ok(page)
                };
                prepared.execute(&call, send).unwrap();
            }
        }
        all
    }
}

/// The index, if it is one, and the primary key of an item that was read there.
type ReadKey = (Option<String>, Vec<String>);

/// Removes the names and values that no expression of a request uses any more.
fn keep_used(body: &mut Value) {
    let condition = body["KeyConditionExpression"].as_str().unwrap_or_default().to_owned();
    let words: BTreeSet<&str> =
        condition.split(|letter: char| !(letter.is_alphanumeric() || "#:_".contains(letter))).collect();
    for field in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let Some(used) = body.get_mut(field).and_then(Value::as_object_mut) else { continue };
        used.retain(|name, _| words.contains(name.as_str()));
        if used.is_empty() {
            body.as_object_mut().unwrap().remove(field);
        }
    }
}

/// The widest range that a caller may ask for; where there is a request for each time bucket, that of the items.
fn range(pattern: &Pattern, plan: &Plan<'_>, texts: &[Attributes]) -> Option<(String, String)> {
    let bounds = pattern.range.as_ref()?;
    let is_bucket = |part: &Part| matches!(part, Part::Field { format: Format::Bucket(_), .. });
    let has_buckets = plan.steps.iter().any(|step| step.partition.parts.iter().any(is_bucket));
    let wide = match bounds.by.as_str() {
        "at" if !has_buckets => Some(("0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z")),
        "day" if !has_buckets => Some(("0000-01-01", "9999-12-31")),
        "rank" | "price" => Some(("0", "999999")),
        _ => None,
    };
    if let Some((from, to)) = wide {
        return Some((from.to_owned(), to.to_owned()));
    }
    let values: BTreeSet<&String> = texts.iter().filter_map(|texts| texts.get(&bounds.by)).collect();
    Some(((*values.first()?).clone(), (*values.last()?).clone()))
}

fn encoded(item: &Item) -> Value {
    item_json::encode(item).into()
}
