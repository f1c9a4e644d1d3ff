//! The query plan of each pattern and the effects of each write: the request to send, keys filled in, units.

use crate::estimate::{amount, figure, size};
use crate::finding::{counted, list};
use crate::generate::example_key;
use crate::keyspace::Keyspace;
use crate::model::{Model, Pattern, Verb, Write};
use crate::plan::{Operation, Plan, Sort, Step, plan};
use crate::template::Template;
use crate::write_plan::{amplification, effects, units};
use serde_json::{Map, Value, json};

/// All patterns and writes, or those whose name is `only`.
pub fn text(model: &Model, only: Option<&str>) -> String {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut text = String::new();
    let keys = Keyspace::new(model);
    for pattern in model.patterns.iter().filter(|pattern| wanted(&pattern.name)) {
        text.push_str(&pattern_text(&keys, pattern));
        text.push('\n');
    }
    for write in model.writes.iter().filter(|write| wanted(&write.name)) {
        text.push_str(&write_text(model, write));
        text.push('\n');
    }
    text
}

/// The same for programs.
pub fn json(model: &Model, only: Option<&str>) -> Value {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let keys = Keyspace::new(model);
    let patterns = model.patterns.iter().filter(|pattern| wanted(&pattern.name)).map(|pattern| {
        let steps = match plan(&keys, pattern) {
            Ok(plan) => plan.steps.iter().map(|step| step_json(model, pattern, step)).collect(),
            Err(_) => Vec::new(),
        };
        json!({ "pattern": pattern.name, "served": !steps.is_empty(), "steps": steps })
    });
    let writes = model.writes.iter().filter(|write| wanted(&write.name)).map(|write| {
        let touched: Vec<Value> = effects(model, write)
            .iter()
            .map(|effect| json!({ "entity": effect.entity, "index": effect.index, "what": effect.kind.to_string(), "times": effect.times, "writeUnits": effect.units }))
            .collect();
        json!({
            "write": write.name, "effects": touched,
            "writeUnits": units(model, write), "amplification": amplification(model, write),
        })
    });
    json!({ "patterns": patterns.collect::<Vec<_>>(), "writes": writes.collect::<Vec<_>>() })
}

fn step_json(model: &Model, pattern: &Pattern, step: &Step<'_>) -> Value {
    json!({
        "operation": operation(step),
        "request": request(model, pattern, step),
        "requests": step.fan_out,
        "items": step.items.average,
        "readUnits": step.units(),
        "pagesAtMost": step.pages(),
        "filter": step.filter,
    })
}

fn pattern_text<'m>(keys: &Keyspace<'m>, pattern: &'m Pattern) -> String {
    let model = keys.model;
    let targets: Vec<String> = pattern
        .targets
        .iter()
        .map(|target| format!("{}{}", target.entity, if target.many { "*" } else { "" }))
        .collect();
    let inputs =
        if pattern.inputs.is_empty() { String::new() } else { format!("{} → ", pattern.inputs.join(", ")) };
    let mut text = format!("pattern {}: {inputs}{}\n", pattern.name, targets.join(", "));
    if !pattern.about.is_empty() {
        text.push_str(&format!("  {}\n", pattern.about));
    }
    match plan(keys, pattern) {
        Ok(plan) => text.push_str(&plan_text(model, pattern, &plan)),
        Err(unserved) => text.push_str(&format!(
            "  not served: {} cannot be reached in {}; `partita model check` says why\n",
            unserved.entity.name,
            unserved.place.name()
        )),
    }
    text
}

fn plan_text(model: &Model, pattern: &Pattern, plan: &Plan<'_>) -> String {
    let mut text = String::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let place = step.place.index.map_or("the table", |index| index.name.as_str());
        text.push_str(&format!("  {}. {} on {place}\n", number + 1, operation(step)));
        for line in step_lines(model, pattern, step) {
            text.push_str(&format!("     {line}\n"));
        }
    }
    let rate = pattern
        .rps
        .map(|rps| format!(", {} a second at {rps} requests a second", figure(plan.units() * rps)));
    let requests = counted(plan.requests(), "request");
    text.push_str(&format!(
        "  {requests}, {} a call{}\n",
        amount(plan.units(), "read unit"),
        rate.unwrap_or_default()
    ));
    text
}

fn step_lines(model: &Model, pattern: &Pattern, step: &Step<'_>) -> Vec<String> {
    let names = step.place.key_names(model);
    let mut lines = Vec::new();
    let clauses = step.clauses().into_iter();
    let conditions: Vec<String> = clauses
        .map(|(position, sort)| condition_text(names.get(position).map_or("", String::as_str), &sort))
        .collect();
    let joint = if step.operation == Operation::Query { " AND " } else { ", " };
    lines.push(format!("key     {}", conditions.join(joint)));
    let mut options = Vec::new();
    if step.operation == Operation::Query {
        options.push(if step.forward { "ascending" } else { "descending" }.to_owned());
        options.extend(step.limit.map(|limit| format!("Limit {limit}")));
    }
    options.push(if step.strong { "strongly consistent" } else { "eventually consistent" }.to_owned());
    lines.push(format!("options {}", options.join(", ")));
    if step.fan_out > 1 {
        lines.push(format!(
            "sent    {} times (shards, time buckets or batches), the answers merged",
            step.fan_out
        ));
    }
    if !step.filter.is_empty() {
        lines.push(format!("filter  {} (after the read, billed in full)", step.filter.join(" and ")));
    }
    if !step.extras.is_empty() {
        let extras: Vec<&str> = step.extras.iter().map(|entity| entity.name.as_str()).collect();
        lines.push(format!("also    {} come along", list(&extras)));
    }
    if step.targets.len() > 1 {
        let attribute = model.table.type_attribute.as_deref().unwrap_or("prefix");
        lines.push(format!("split   the items by {attribute}"));
    }
    let assumed = if step.items.known { "" } else { " (assumed)" };
    let pages = if step.pages() > 1.0 { format!(", at most {} pages", step.pages()) } else { String::new() };
    lines.push(format!(
        "reads   {}, {}{assumed}: {}{pages}",
        amount(step.items.average, "item"),
        size(step.bytes),
        amount(step.units(), "read unit")
    ));
    lines.push(format!("send    {}", request(model, pattern, step)));
    lines
}

fn condition_text(name: &str, sort: &Sort) -> String {
    match sort {
        Sort::Any => String::new(),
        Sort::Equals(template) => format!("{name} = \"{template}\""),
        Sort::BeginsWith(template) => format!("begins_with({name}, \"{template}\")"),
        Sort::Between { prefix, by } => {
            format!("{name} BETWEEN \"{prefix}{{{by} from}}\" AND \"{prefix}{{{by} to}}\"")
        }
        Sort::Span { from, to } => format!("{name} BETWEEN \"{from}\" AND \"{}\"", shown(to)),
    }
}

/// The last character there is, shown as what it means.
fn shown(text: &str) -> String {
    text.replace('\u{10FFFF}', "…")
}

pub fn operation(step: &Step<'_>) -> &'static str {
    match step.operation {
        Operation::Get => "GetItem",
        Operation::Query => "Query",
        Operation::BatchGet => "BatchGetItem",
    }
}

/// The request with example values, as an SDK or the AWS CLI takes it.
pub fn request(model: &Model, _pattern: &Pattern, step: &Step<'_>) -> Value {
    if step.operation != Operation::Query {
        return item_request(model, step);
    }
    let (mut values, mut names) = (Map::new(), Map::new());
    let partition = step.place.halves(model).0.len();
    let clauses = step.clauses().into_iter().map(|(position, sort)| {
        let number = if position < partition { position } else { position - partition };
        let half = if position < partition { "pk" } else { "sk" };
        let count = if number == 0 { String::new() } else { (number + 1).to_string() };
        let placeholder = format!("{half}{count}");
        let name = alias(step.place.key_names(model), position, &placeholder, &mut names);
        key_clause(model, step, position, &sort, (&name, &format!(":{placeholder}")), &mut values)
    });
    let condition = clauses.collect::<Vec<_>>().join(" AND ");
    let mut body = json!({
        "TableName": model.table.name,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
    });
    if !names.is_empty() {
        body["ExpressionAttributeNames"] = json!(names);
    }
    if let Some(index) = step.place.index {
        body["IndexName"] = json!(index.name);
    }
    if !step.forward {
        body["ScanIndexForward"] = json!(false);
    }
    if let Some(limit) = step.limit {
        body["Limit"] = json!(limit);
    }
    if step.strong {
        body["ConsistentRead"] = json!(true);
    }
    body
}

/// A value of a key attribute with its type.
fn wire(model: &Model, step: &Step<'_>, position: usize, text: String) -> Value {
    let kind = if step.place.key_is_number(model, position) { "N" } else { "S" };
    json!({ kind: text })
}

/// GetItem, or BatchGetItem of one key.
fn item_request(model: &Model, step: &Step<'_>) -> Value {
    let names = step.place.key_names(model);
    let mut key = Map::new();
    for (position, sort) in step.clauses() {
        if let (Sort::Equals(template), Some(name)) = (sort, names.get(position)) {
            key.insert(name.clone(), wire(model, step, position, example_key(step.targets[0], &template)));
        }
    }
    match step.operation {
        Operation::Get if step.strong => {
            json!({ "TableName": model.table.name, "Key": key, "ConsistentRead": true })
        }
        Operation::Get => json!({ "TableName": model.table.name, "Key": key }),
        _ => json!({ "RequestItems": { model.table.name.clone(): { "Keys": [key] } } }),
    }
}

/// A key attribute's name as an expression may write it: words of the language, and odd letters, need another one.
fn alias(keys: &[String], position: usize, placeholder: &str, names: &mut Map<String, Value>) -> String {
    let name = keys.get(position).map_or("", String::as_str);
    let usual = name.eq_ignore_ascii_case("pk") || name.eq_ignore_ascii_case("sk");
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let numbered =
        name.chars().any(|letter| letter.is_ascii_digit()) && !name.starts_with(|c: char| c.is_ascii_digit());
    if usual || (plain && numbered) {
        return name.to_owned();
    }
    let alias = format!("#{placeholder}");
    names.insert(alias.clone(), json!(name));
    alias
}

/// One condition of a Query; its values are added to `values`.
fn key_clause(
    model: &Model,
    step: &Step<'_>,
    position: usize,
    sort: &Sort,
    (name, placeholder): (&str, &str),
    values: &mut Map<String, Value>,
) -> String {
    let entity = step.targets[0];
    let mut put = |key: &str, text: String| {
        values.insert(key.to_owned(), wire(model, step, position, text));
    };
    match sort {
        Sort::Any => String::new(),
        Sort::Equals(template) => {
            put(placeholder, example_key(entity, template));
            format!("{name} = {placeholder}")
        }
        Sort::BeginsWith(template) => {
            put(placeholder, example_key(entity, template));
            format!("begins_with({name}, {placeholder})")
        }
        Sort::Between { prefix, by } => {
            let time = entity.attribute(by).is_some_and(|attribute| attribute.kind.is_time());
            for (key, end) in [(":from", "2026-04-01T00:00:00Z"), (":to", "2026-04-30T23:59:59Z")] {
                put(key, format!("{}{}", example_key(entity, prefix), if time { end } else { "0" }));
            }
            format!("{name} BETWEEN :from AND :to")
        }
        Sort::Span { from, to } => {
            put(":from", from.clone());
            put(":to", to.clone());
            format!("{name} BETWEEN :from AND :to")
        }
    }
}

fn write_text(model: &Model, write: &Write) -> String {
    let kind = if write.transact { " (one transaction)" } else { "" };
    let mut text = format!("write {}{kind}\n", write.name);
    for effect in effects(model, write) {
        let place = effect.index.as_deref().unwrap_or("table");
        let times = if effect.times == 1.0 { String::new() } else { format!("{} × ", figure(effect.times)) };
        text.push_str(&format!(
            "  {place:6} {times}{}: {}, {}\n",
            effect.entity,
            effect.kind,
            amount(effect.units, "write unit")
        ));
    }
    for action in write.actions.iter().filter(|action| action.verb == Verb::Update) {
        let Some(entity) = model.entity(&action.entity) else { continue };
        for indexed in &entity.indexes {
            let touched = |name: &str| action.set.iter().any(|set| set == name);
            let keys = indexed.key.iter().flat_map(Template::fields).any(touched);
            let sparse = indexed.when.tests.iter().any(|test| touched(test.attribute()));
            let names = model.index(&indexed.index).map(|index| list(&index.keys)).unwrap_or_default();
            if sparse {
                text.push_str(&format!(
                    "  also set or remove {names}: they exist only when {}\n",
                    indexed.when
                ));
            } else if keys {
                text.push_str(&format!("  also set {names}: they are made of what this changes\n"));
            }
        }
    }
    let rate =
        write.rps.map(|rps| format!(", {} a second", figure(units(model, write) * rps))).unwrap_or_default();
    text.push_str(&format!(
        "  {}{rate}; each item becomes {}\n",
        amount(units(model, write), "write unit"),
        amount(amplification(model, write), "write")
    ));
    text
}
