//! The requests of a declared write in DynamoDB JSON, with the items that `seed` generates: an output format of `explain`.
//!
//! What is created does not exist after `seed`, what is updated or deleted does, so that the requests can be sent to a seeded table.

mod companions;
mod examples;
mod placeholders;
mod versions;

use crate::audit::{marker, marker_item, marker_of, stale_keys};
use crate::exchange::item_json::{decode, encode, encode_value};
use crate::generate::{Generator, typed_value};
use crate::item::{Attributes, Item, Value as ItemValue};
use crate::model::expression::{Clause, Operand};
use crate::model::{Action, Entity, Model, Verb, Write};
pub use examples::items_shown;
use examples::{Example, Examples};
use placeholders::meeting;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A request with the name of its operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The operation: `PutItem`.
    pub operation: &'static str,
    /// Its input.
    pub input: Value,
}

/// Returns the requests of a write: one, or one for each action that is not part of a transaction or a batch.
pub fn write_requests(generator: &Generator<'_>, write: &Write) -> Vec<Request> {
    let model = generator.model;
    let single = write.is_of_one_item();
    let mut parts = Parts { model, generator, parts: Vec::new() };
    parts.add_all(&Examples::of(generator, write), write.transact || single);
    let parts = parts.parts;
    if write.transact || (single && parts.len() > 1) {
        let items: Vec<Value> = parts.into_iter().map(|(kind, part)| json!({ kind: part })).collect();
        return vec![Request { operation: "TransactWriteItems", input: json!({ "TransactItems": items }) }];
    }
    let fits_batch =
        |(kind, part): &(&str, Value)| *kind != "Update" && part.get("ConditionExpression").is_none();
    if write.batch && parts.iter().all(fits_batch) {
        return vec![batch(&model.table.name, &parts)];
    }
    let operation = |kind: &str| match kind {
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        _ => "DeleteItem",
    };
    parts.into_iter().map(|(kind, input)| Request { operation: operation(kind), input }).collect()
}

/// The BatchWriteItem of some puts and deletes.
fn batch(table: &str, parts: &[(&str, Value)]) -> Request {
    let one = |(kind, part): &(&str, Value)| match *kind {
        "Put" => json!({ "PutRequest": { "Item": part["Item"] } }),
        _ => json!({ "DeleteRequest": { "Key": part["Key"] } }),
    };
    let requests: Vec<Value> = parts.iter().map(one).collect();
    Request { operation: "BatchWriteItem", input: json!({ "RequestItems": { table: requests } }) }
}

/// The parts of a write's requests: what a transaction holds of each item.
struct Parts<'a, 'm> {
    model: &'m Model,
    generator: &'a Generator<'m>,
    parts: Vec<(&'static str, Value)>,
}

impl<'m> Parts<'_, 'm> {
    fn add_all(&mut self, examples: &Examples<'_, '_, 'm>, is_one_decision: bool) {
        let chosen = &examples.chosen;
        let is_put = |verb: Verb| matches!(verb, Verb::Create | Verb::Put);
        let key =
            |entity: &'m Entity, values: &Attributes| Value::Object(self.key(entity, values)).to_string();
        let put =
            chosen.iter().filter(|example| example.entity.copies.is_some() && is_put(example.action.verb));
        let put: BTreeSet<String> = put.map(|example| key(example.entity, &example.new)).collect();
        // A copy that is put in its own place is not deleted.
        let stays = |one: &Example<'_, 'm>| {
            one.action.verb == Verb::Delete && put.contains(&key(one.entity, &one.old))
        };
        let sent: Vec<&Example<'_, 'm>> = chosen.iter().filter(|example| !stays(example)).collect();
        sent.iter().for_each(|example| self.add(examples.write, example));
        if is_one_decision {
            self.add_moved(&sent);
            self.add_checks(examples);
        }
    }

    /// Deletes copies whose key changes with what their originals become.
    fn add_moved(&mut self, examples: &[&Example<'_, 'm>]) {
        for example in examples {
            let Some(old) = &example.replaced else { continue };
            let key = Value::Object(self.key(example.entity, old));
            if !self.touches(&key) {
                self.parts.push(("Delete", json!({ "TableName": self.model.table.name, "Key": key })));
            }
        }
    }

    /// Checks what shows that versions may go.
    fn add_checks(&mut self, examples: &Examples<'_, '_, 'm>) {
        for check in examples.checks() {
            let key = Value::Object(self.key(check.entity, &check.values));
            if self.touches(&key) {
                continue;
            }
            let mut body = json!({ "TableName": self.model.table.name, "Key": key });
            let function = if check.exists { "attribute_exists" } else { "attribute_not_exists" };
            let name = aliased(&mut body, &self.model.table.keys[0]);
            body["ConditionExpression"] = json!(format!("{function}({name})"));
            self.parts.push(("ConditionCheck", body));
        }
    }

    /// Whether a part is about the item with this key.
    fn touches(&self, key: &Value) -> bool {
        let is_same = |part: &Value| {
            let own = part.get("Key").or(part.get("Item"));
            own.is_some_and(|own| self.model.table.keys.iter().all(|name| own[name] == key[name]))
        };
        self.parts.iter().any(|(_, part)| is_same(part))
    }

    fn add(&mut self, write: &Write, example: &Example<'_, 'm>) {
        let Example { action, entity, old, new, .. } = example;
        let part = match action.verb {
            Verb::Create | Verb::Put => ("Put", self.put(action, entity, new)),
            Verb::Delete => ("Delete", self.keyed(action, entity, old)),
            Verb::Update => ("Update", self.update(example)),
        };
        self.parts.push(part);
        self.markers(write, action, entity, old, new);
    }

    fn item(&self, entity: &'m Entity, values: &Attributes) -> Item {
        self.generator.item_of(entity, values.clone(), 0)
    }

    fn put(&self, action: &Action, entity: &'m Entity, values: &Attributes) -> Value {
        let mut body =
            json!({ "TableName": self.model.table.name, "Item": encode(&self.item(entity, values)) });
        let is_implied = action.verb == Verb::Create && action.condition.is_none();
        let implied = is_implied.then(|| self.absent(&mut body));
        self.add_condition(&mut body, action, entity, values, implied);
        body
    }

    fn absent(&self, body: &mut Value) -> String {
        format!("attribute_not_exists({})", aliased(body, &self.model.table.keys[0]))
    }

    fn key(&self, entity: &'m Entity, values: &Attributes) -> Map<String, Value> {
        let item = self.item(entity, values);
        let keys = self.model.table.keys.iter();
        encode(&keys.filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect())
    }

    fn keyed(&self, action: &Action, entity: &'m Entity, values: &Attributes) -> Value {
        let mut body = json!({ "TableName": self.model.table.name, "Key": self.key(entity, values) });
        self.add_condition(&mut body, action, entity, values, None);
        body
    }

    fn update(&self, example: &Example<'_, 'm>) -> Value {
        let Example { action, entity, old, new, .. } = example;
        let mut body = json!({ "TableName": self.model.table.name, "Key": self.key(entity, old) });
        let (before, after) = (self.item(entity, old), self.item(entity, new));
        match &action.expression {
            Some(expression) => {
                body["UpdateExpression"] = json!(expression.text);
                for change in &expression.changes {
                    let name = &change.path.attribute;
                    let whole = after.get(name).map(encode_value);
                    change.value.iter().for_each(|value| {
                        add_values(&mut body, (action, entity), name, change.clause, value, whole.as_ref())
                    });
                }
                add_aliases(&mut body, action, &expression.text);
            }
            None => implied_update(self.model, &mut body, example, &before, &after),
        }
        let is_implied = action.expression.is_none() && action.condition.is_none();
        let implied = is_implied.then(|| match &entity.lock {
            Some(lock) => {
                body["ExpressionAttributeValues"][":lock"] =
                    before.get(lock).map_or_else(|| encode_number("0"), encode_value);
                format!("{} = :lock", aliased(&mut body, lock))
            }
            None => format!("attribute_exists({})", aliased(&mut body, &self.model.table.keys[0])),
        });
        self.add_condition(&mut body, action, entity, old, implied);
        body
    }

    fn add_condition(
        &self,
        body: &mut Value,
        action: &Action,
        entity: &'m Entity,
        values: &Attributes,
        implied: Option<String>,
    ) {
        let Some(condition) = &action.condition else {
            body.as_object_mut().into_iter().for_each(|body| {
                body.extend(implied.clone().map(|text| ("ConditionExpression".to_owned(), json!(text))));
            });
            return;
        };
        body["ConditionExpression"] = json!(condition.text);
        let mut given = body["ExpressionAttributeValues"].as_object().cloned().unwrap_or_default();
        given.retain(|placeholder, _| action.assigns(placeholder));
        let given = decode(&Value::Object(given)).unwrap_or_default();
        let others = |name: &str| examples::other_values(self.generator, entity, name);
        let item = self.item(entity, values);
        let values = meeting(condition, action, entity, &item, given, &others);
        for (placeholder, value) in values {
            body["ExpressionAttributeValues"][placeholder] = encode_value(&value);
        }
        add_aliases(body, action, &condition.text);
    }

    /// Gives a marker the expiry of its item.
    fn prolong(&mut self, entity: &'m Entity, values: &Attributes, key: &str) {
        let Some(ttl) = &entity.ttl else { return };
        let marker = marker_of(self.model, entity, &self.item(entity, values), key);
        let own = encode(&marker_item(self.model, key));
        let mut body = json!({ "TableName": self.model.table.name, "Key": own });
        let name = aliased(&mut body, ttl);
        body["UpdateExpression"] = match marker.get(ttl) {
            Some(value) => {
                body["ExpressionAttributeValues"][":expiry"] = encode_value(value);
                json!(format!("SET {name} = :expiry"))
            }
            None => json!(format!("REMOVE {name}")),
        };
        let exists = aliased(&mut body, &self.model.table.keys[0]);
        body["ConditionExpression"] = json!(format!("attribute_exists({exists})"));
        self.parts.push(("Update", body));
    }

    /// The markers of unique values, listed or implied.
    fn markers(
        &mut self,
        write: &Write,
        action: &Action,
        entity: &'m Entity,
        old: &Attributes,
        new: &Attributes,
    ) {
        for unique in &entity.unique {
            let listed = |verb: Verb| !write.lists_markers() || write.has_marker(verb, entity, unique);
            let before =
                marker(entity, unique, old).filter(|_| matches!(action.verb, Verb::Update | Verb::Delete));
            let after = marker(entity, unique, new).filter(|_| action.verb != Verb::Delete);
            if let Some(key) = after.as_ref().filter(|_| action.prolongs(entity, unique)) {
                self.prolong(entity, new, key);
            }
            if before == after || action.verb == Verb::Put {
                continue;
            }
            if let Some(key) = before.filter(|_| listed(Verb::Delete)) {
                let key = encode(&marker_item(self.model, &key));
                self.parts.push(("Delete", json!({ "TableName": self.model.table.name, "Key": key })));
            }
            if let Some(key) = after.filter(|_| listed(Verb::Create)) {
                let item = encode(&marker_of(self.model, entity, &self.item(entity, new), &key));
                let mut body = json!({ "TableName": self.model.table.name, "Item": item });
                body["ConditionExpression"] = json!(self.absent(&mut body));
                self.parts.push(("Put", body));
            }
        }
    }
}

/// The expression that makes one item of another: what the write declares, and the lock and the index keys that change with it.
fn implied_update(model: &Model, body: &mut Value, example: &Example<'_, '_>, before: &Item, after: &Item) {
    let set: BTreeSet<&str> = example.action.set.iter().map(String::as_str).collect();
    // Keys that happen to stay, as in a shard of few, would change with other values.
    let keys: Vec<&str> = stale_keys(model, example.entity, &set).iter().map(|stale| stale.key).collect();
    let is_sent = |name: &str, value: &ItemValue| {
        before.get(name) != Some(value) || set.contains(name) || keys.contains(&name)
    };
    let (mut set, mut add, mut remove) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (name, value)) in after.iter().filter(|(name, value)| is_sent(name, value)).enumerate() {
        let (own, placeholder) = (aliased(body, name), format!(":v{number}"));
        let added = example.added.get(name).map(|amount| encode_number(&amount.to_string()));
        if added.is_some() {
            add.push(format!("{own} {placeholder}"));
        } else {
            set.push(format!("{own} = {placeholder}"));
        }
        body["ExpressionAttributeValues"][&placeholder] = added.unwrap_or_else(|| encode_value(value));
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        remove.push(aliased(body, name));
    }
    let clauses = [("SET", set), ("REMOVE", remove), ("ADD", add)];
    let clauses = clauses.iter().filter(|(_, parts)| !parts.is_empty());
    let text: Vec<String> = clauses.map(|(word, parts)| format!("{word} {}", parts.join(", "))).collect();
    if !text.is_empty() {
        body["UpdateExpression"] = json!(text.join(" "));
    }
}

/// The values of the placeholders in what an expression assigns.
fn add_values(
    body: &mut Value,
    (action, entity): (&Action, &Entity),
    name: &str,
    clause: Clause,
    value: &Operand,
    whole: Option<&Value>,
) {
    if let (Operand::Value(placeholder), Clause::Set) = (value, clause) {
        let missing = || encode_text("value");
        body["ExpressionAttributeValues"][placeholder] = whole.cloned().unwrap_or_else(missing);
        return;
    }
    let is_number = entity.attribute(name).is_none_or(|attribute| attribute.kind.is_number());
    let mut placeholders = Vec::new();
    value.visit(&mut |operand| {
        if let Operand::Value(placeholder) = operand {
            placeholders.push(placeholder.clone());
        }
    });
    for placeholder in placeholders {
        let kind = entity.attribute(name).map(|attribute| attribute.kind.clone());
        let declared = action.values.get(&placeholder).map(String::as_str);
        let one = if is_number {
            encode_number(declared.unwrap_or("1"))
        } else {
            let text = declared.unwrap_or("value");
            kind.map_or_else(|| encode_text(text), |kind| encode_value(&typed_value(&kind, text)))
        };
        body["ExpressionAttributeValues"][&placeholder] = one;
    }
}

fn encode_text(text: &str) -> Value {
    encode_value(&ItemValue::String(text.to_owned()))
}

fn encode_number(text: &str) -> Value {
    encode_value(&ItemValue::Number(text.to_owned()))
}

/// The aliases that occur in an expression.
fn add_aliases(body: &mut Value, action: &Action, text: &str) {
    let words =
        text.split(|character: char| !(character.is_ascii_alphanumeric() || "_#".contains(character)));
    for alias in words.filter(|word| word.len() > 1 && word.starts_with('#')) {
        let name = action.names.get(alias).map_or(&alias[1..], String::as_str);
        body["ExpressionAttributeNames"][alias] = json!(name);
    }
}

/// The name of an attribute in an expression, with an alias if it needs one.
fn aliased(body: &mut Value, name: &str) -> String {
    if !crate::model::expression::needs_alias(name) {
        return name.to_owned();
    }
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let alias = format!("#{plain}");
    body["ExpressionAttributeNames"][&alias] = json!(name);
    alias
}
