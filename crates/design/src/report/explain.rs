//! Explains each pattern and write: the requests with keys filled in, the items and index entries, the units.

use crate::capacity::write_effects::{amplification, effects, units};
use crate::exchange::request_json::request_json;
use crate::formatting::{format_bytes, format_number, format_quantity, list, plural};
use crate::keys::keyspace::Keyspace;
use crate::model::{Model, Pattern, Verb, Write};
use crate::plan::{Operation, Plan, SortCondition, Step, plan};
use crate::template::Template;
use serde_json::{Value, json};

/// Explains all patterns and writes, or those named `only`, as text.
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

/// Explains all patterns and writes, or those named `only`, as JSON.
pub fn json(model: &Model, only: Option<&str>) -> Value {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let keys = Keyspace::new(model);
    let patterns = model.patterns.iter().filter(|pattern| wanted(&pattern.name)).map(|pattern| {
        let steps = match plan(&keys, pattern) {
            Ok(plan) => plan.steps.iter().map(|step| step_json(model, step)).collect(),
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

fn step_json(model: &Model, step: &Step<'_>) -> Value {
    json!({
        "operation": step.operation.name(),
        "request": request_json(model, step),
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
            "  not served: {} cannot be reached in {}; `partita model check` explains why\n",
            unserved.entity.name,
            unserved.location.name()
        )),
    }
    text
}

fn plan_text(model: &Model, pattern: &Pattern, plan: &Plan<'_>) -> String {
    let mut text = String::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let location = step.location.index.map_or("the table", |index| index.name.as_str());
        text.push_str(&format!("  {}. {} on {location}\n", number + 1, step.operation.name()));
        for line in step_lines(model, step) {
            text.push_str(&format!("     {line}\n"));
        }
    }
    let rate = pattern
        .rps
        .map(|rps| format!(", {} a second at {rps} requests a second", format_number(plan.units() * rps)));
    let requests = plural(plan.requests(), "request");
    text.push_str(&format!(
        "  {requests}, {} a call{}\n",
        format_quantity(plan.units(), "read unit"),
        rate.unwrap_or_default()
    ));
    text
}

fn step_lines(model: &Model, step: &Step<'_>) -> Vec<String> {
    let names = step.location.key_names(model);
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
            "sent    {} times (shards, time buckets or batches), with results merged",
            step.fan_out
        ));
    }
    if !step.filter.is_empty() {
        lines.push(format!("filter  {} (after the read, billed in full)", step.filter.join(" and ")));
    }
    if !step.extras.is_empty() {
        let extras: Vec<&str> = step.extras.iter().map(|entity| entity.name.as_str()).collect();
        lines.push(format!("also    returns {}", list(&extras)));
    }
    if step.targets.len() > 1 {
        let attribute = model.table.type_attribute.as_deref().unwrap_or("prefix");
        lines.push(format!("split   the items by {attribute}"));
    }
    let assumed = if step.items.known { "" } else { " (assumed)" };
    let pages = if step.pages() > 1.0 { format!(", at most {} pages", step.pages()) } else { String::new() };
    lines.push(format!(
        "reads   {}, {}{assumed}: {}{pages}",
        format_quantity(step.items.average, "item"),
        format_bytes(step.bytes),
        format_quantity(step.units(), "read unit")
    ));
    lines.push(format!("send    {}", request_json(model, step)));
    lines
}

fn condition_text(name: &str, sort: &SortCondition) -> String {
    match sort {
        SortCondition::Any => String::new(),
        SortCondition::Equals(template) => format!("{name} = \"{template}\""),
        SortCondition::BeginsWith(template) => format!("begins_with({name}, \"{template}\")"),
        SortCondition::Between { prefix, by } => {
            format!("{name} BETWEEN \"{prefix}{{{by} from}}\" AND \"{prefix}{{{by} to}}\"")
        }
        SortCondition::Range { from, to } => format!("{name} BETWEEN \"{from}\" AND \"{}\"", readable(to)),
    }
}

/// Shows the last Unicode character, which ends a range, as an ellipsis.
fn readable(text: &str) -> String {
    text.replace('\u{10FFFF}', "…")
}

fn write_text(model: &Model, write: &Write) -> String {
    let kind = if write.transact { " (one transaction)" } else { "" };
    let mut text = format!("write {}{kind}\n", write.name);
    for effect in effects(model, write) {
        let location = effect.index.as_deref().unwrap_or("table");
        let times =
            if effect.times == 1.0 { String::new() } else { format!("{} × ", format_number(effect.times)) };
        text.push_str(&format!(
            "  {location:6} {times}{}: {}, {}\n",
            effect.entity,
            effect.kind,
            format_quantity(effect.units, "write unit")
        ));
    }
    for action in write.actions.iter().filter(|action| action.verb == Verb::Update) {
        let Some(entity) = model.entity(&action.entity) else { continue };
        for index_key in &entity.indexes {
            let touched = |name: &str| action.set.iter().any(|set| set == name);
            let keys = index_key.key.iter().flat_map(Template::fields).any(touched);
            let sparse = index_key.when.tests.iter().any(|test| touched(test.attribute()));
            let names = model.index(&index_key.index).map(|index| list(&index.keys)).unwrap_or_default();
            if sparse {
                text.push_str(&format!(
                    "  also set or remove {names}: they exist only when {}\n",
                    index_key.when
                ));
            } else if keys {
                text.push_str(&format!("  also set {names}: they are built from what this changes\n"));
            }
        }
    }
    let rate = write
        .rps
        .map(|rps| format!(", {} a second", format_number(units(model, write) * rps)))
        .unwrap_or_default();
    text.push_str(&format!(
        "  {}{rate}; each item becomes {}\n",
        format_quantity(units(model, write), "write unit"),
        format_quantity(amplification(model, write), "write")
    ));
    text
}
