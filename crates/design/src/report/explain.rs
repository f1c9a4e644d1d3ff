//! Explains each pattern and write: the requests with keys filled in, the items and index entries, the units.

use crate::audit::stale_keys;
use crate::capacity::basis::Estimate;
use crate::capacity::write_effects::{amplification, basis, effects, items_of_action, units};
use crate::check::aggregates::may_lose;
use crate::exchange::request_json::{declared_json, sent_json};
use crate::exchange::write_requests::{items_shown, write_requests};
use crate::formatting::{format_bytes, format_number, format_quantity, list, plural};
use crate::generate::Generator;
use crate::keys::key_sources::{KeySources, Presence};
use crate::keys::keyspace::Keyspace;
use crate::model::{Aggregate, Entity, Function, Importance, Model, Pattern, Verb, Write};
use crate::plan::bounds::{BoundedField, LAST};
use crate::plan::follow::Follow;
use crate::plan::requirement::all_of;
use crate::plan::text_range::{late_delimiter, of_each_target, upper_value};
use crate::plan::{Operation, Plan, SortCondition, Step, plan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Explains all patterns and writes, or those named `only`, as text.
pub fn text(model: &Model, only: Option<&str>) -> String {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut text = String::new();
    let (keys, examples) = (Keyspace::new(model), Generator::of_examples(model));
    for pattern in model.patterns.iter().filter(|pattern| wanted(&pattern.name)) {
        text.push_str(&pattern_text(&keys, &examples, pattern));
        text.push('\n');
    }
    for write in model.writes.iter().filter(|write| wanted(&write.name)) {
        text.push_str(&write_text(&examples, write));
        text.push('\n');
    }
    text
}

/// Explains all patterns and writes, or those named `only`, as JSON.
pub fn json(model: &Model, only: Option<&str>) -> Value {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let (keys, examples) = (Keyspace::new(model), Generator::of_examples(model));
    let patterns = model.patterns.iter().filter(|pattern| wanted(&pattern.name)).map(|pattern| {
        let steps = match plan(&keys, pattern) {
            Ok(plan) => {
                (0..plan.steps.len()).map(|number| step_json(&examples, pattern, &plan, number)).collect()
            }
            Err(_) => Vec::new(),
        };
        let declared = pattern.request.as_ref().map(|request| declared_json(&examples, pattern, request));
        json!({ "pattern": pattern.name, "served": !steps.is_empty(), "steps": steps, "declared": declared })
    });
    let writes = model.writes.iter().filter(|write| wanted(&write.name)).map(|write| {
        let touched: Vec<Value> = effects(model, write)
            .iter()
            .map(|effect| json!({ "entity": effect.entity, "index": effect.index, "what": effect.kind.to_string(), "times": effect.times, "writeUnits": effect.units, "basis": effect.basis.name() }))
            .collect();
        json!({
            "write": write.name, "effects": touched,
            "writeUnits": units(model, write), "basis": basis(model, write).name(), "amplification": amplification(model, write),
        })
    });
    json!({ "patterns": patterns.collect::<Vec<_>>(), "writes": writes.collect::<Vec<_>>() })
}

fn step_json(examples: &Generator<'_>, pattern: &Pattern, plan: &Plan<'_>, number: usize) -> Value {
    let (model, step) = (examples.model, &plan.steps[number]);
    json!({
        "operation": step.operation.name(),
        "request": sent_json(examples, pattern, plan, number),
        "requests": step.fan_out,
        "items": step.items.average,
        "readUnits": step.units(),
        "pagesAtMost": step.pages(),
        "basis": {
            "requests": step.fan_out_basis.name(), "items": step.items.basis.name(), "readUnits": step.basis(model).name(),
            "pagesAtMost": step.basis(model).and(step.items.max_basis).name(),
        },
        "filter": step.filter_texts(),
        "follows": step.follow.as_ref().map(Follow::describe),
        "afterwards": step.afterwards.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn pattern_text<'m>(keys: &Keyspace<'m>, examples: &Generator<'_>, pattern: &'m Pattern) -> String {
    let targets: Vec<String> = pattern
        .targets
        .iter()
        .map(|target| format!("{}{}", target.entity, if target.many { "*" } else { "" }))
        .collect();
    let inputs =
        if pattern.inputs.is_empty() { String::new() } else { format!("{} → ", pattern.inputs.join(", ")) };
    let via: String = pattern.via.iter().map(|via| format!("{} → ", via.entity)).collect();
    let importance = match pattern.importance {
        Importance::Normal => String::new(),
        other => format!(" ({})", other.name()),
    };
    let mut text = format!("pattern {}{importance}: {inputs}{via}{}\n", pattern.name, targets.join(", "));
    if !pattern.about.is_empty() {
        text.push_str(&format!("  {}\n", pattern.about));
    }
    let plan = plan(keys, pattern);
    if !plan.as_ref().is_ok_and(|plan| plan.declared(pattern, 0).is_some()) {
        text.extend(declared_text(examples, pattern));
    }
    match plan {
        Ok(plan) => text.push_str(&plan_text(examples, pattern, &plan)),
        Err(unserved) => text.push_str(&format!(
            "  not served: {} cannot be reached in {}; `partita model check` explains why\n",
            unserved.entity.name,
            unserved.location.name()
        )),
    }
    text
}

fn plan_text(examples: &Generator<'_>, pattern: &Pattern, plan: &Plan<'_>) -> String {
    let mut text = String::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let location = step.location.index.map_or("the table", |index| index.name.as_str());
        let declared = plan.declared(pattern, number).map_or("", |_| ", as declared");
        text.push_str(&format!("  {}. {} on {location}{declared}\n", number + 1, step.operation.name()));
        for line in step_lines(examples, pattern, plan, number) {
            text.push_str(&format!("     {line}\n"));
        }
    }
    let rate = pattern.rps.map(|rps| {
        format!(
            ", {} a second at {} a second",
            format_number(plan.units() * rps),
            format_quantity(rps, "request")
        )
    });
    let requests = format_quantity(plan.requests(), "request");
    text.push_str(&format!(
        "  {requests}, {} a call{}\n",
        Estimate::new(plan.units(), plan.basis(examples.model)).text("read unit"),
        rate.unwrap_or_default()
    ));
    text
}

fn step_lines(examples: &Generator<'_>, pattern: &Pattern, plan: &Plan<'_>, number: usize) -> Vec<String> {
    let (model, step) = (examples.model, &plan.steps[number]);
    let declared = plan.declared(pattern, number);
    let mut lines: Vec<String> = match declared {
        // A Scan has none.
        Some(request) if request.condition.is_empty() => Vec::new(),
        Some(request) => vec![format!("key     {}", request.condition)],
        None => {
            step.by_key().iter().map(|step| format!("key     {}", key_text(model, pattern, step))).collect()
        }
    };
    let open = pattern.range.as_ref().filter(|range| range.to.is_none() && declared.is_none());
    if let Some((range, delimiter)) = open.zip(late_delimiter(step)) {
        let by = &range.by;
        lines.push(format!(
            "bound   end {by} to before its first character that is {delimiter} or sorts before it"
        ));
    }
    let mut options = Vec::new();
    if step.operation == Operation::Query {
        options.push(if step.forward { "ascending" } else { "descending" }.to_owned());
    }
    let takes_limit = matches!(step.operation, Operation::Query | Operation::Scan);
    options.extend(step.limit.filter(|_| takes_limit).map(|limit| format!("Limit {limit}")));
    options.push(if step.strong { "strongly consistent" } else { "eventually consistent" }.to_owned());
    lines.push(format!("options {}", options.join(", ")));
    if let Some(follow) = &step.follow {
        lines.push(format!("from    {}", follow.describe()));
    }
    if step.fan_out > 1.0 {
        let mark = step.fan_out_basis.mark();
        let times = format_quantity(step.fan_out, "time");
        lines.push(format!("sent    {times}{mark}: {}", repetition(step)));
    }
    let filter = declared.map_or_else(|| sent_filter(model, step), |request| request.filter.to_string());
    if !filter.is_empty() {
        lines.push(format!("filter  {filter} (after the read, billed in full)"));
    }
    let is_lookup = matches!(step.sort, SortCondition::Equals(_)) && step.items.max <= 1.0;
    if is_lookup && step.operation == Operation::Query && step.location.index.is_some() {
        lines.push(
            "unique  only as far as the application ensures it: an index can hold a key several times"
                .to_owned(),
        );
    }
    lines.extend(returned_beside(step));
    lines.extend(split(model, step));
    let pages = if step.pages_of_one() > 1.0 {
        format!(", at most {} pages{}", step.pages(), step.items.max_basis.mark())
    } else {
        String::new()
    };
    lines.push(format!(
        "reads   {}, {}: {}{pages}",
        step.items.average().text("item"),
        format_bytes(step.bytes),
        Estimate::new(step.units(), step.basis(model)).text("read unit")
    ));
    lines.extend(step.afterwards.iter().map(|work| format!("then    {work}")));
    lines.push(format!("send    {}", sent_json(examples, pattern, plan, number)));
    lines.extend(empty_range(examples, pattern, step));
    lines
}

/// What is said of a request with declared bounds that finds none of the items of `seed`.
fn empty_range(examples: &Generator<'_>, pattern: &Pattern, step: &Step<'_>) -> Option<String> {
    let range = pattern.range.as_ref().filter(|range| range.is_declared() && step.follow.is_none())?;
    let bounded = || step.targets.iter().filter(|entity| entity.attribute(&range.by).is_some());
    let mut inputs = examples.example_values(step.location, step.targets.first()?);
    inputs.retain(|name, _| pattern.inputs.contains(name));
    let is_empty = bounded().all(|entity| !examples.has_within(entity, range, &inputs));
    (is_empty && bounded().next().is_some())
        .then(|| format!("        no item of `seed` with these inputs has a {} in this range", range.by))
}

/// The filter of a Query as text.
fn sent_filter(model: &Model, step: &Step<'_>) -> String {
    let unsent = step.unsent_requirements(model);
    let sent = step.filter.iter().filter(|requirement| !unsent.contains(requirement)).cloned();
    all_of(&sent.collect::<Vec<_>>())
}

/// The conditions on the key attributes.
fn key_text(model: &Model, pattern: &Pattern, step: &Step<'_>) -> String {
    let names = step.location.key_names(model);
    let conditions = step.clauses().into_iter().map(|(position, sort)| {
        let name = names.get(position).map_or("", String::as_str);
        condition_text(name, &sort, |by| bounds_text(model, pattern, step, by))
    });
    let joint = if step.operation == Operation::Query { " AND " } else { ", " };
    conditions.collect::<Vec<_>>().join(joint)
}

/// What a request returns beside what is wanted.
fn returned_beside(step: &Step<'_>) -> Vec<String> {
    let names = |entities: &[&Entity]| {
        let names: Vec<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
        list(&names)
    };
    let mut lines = Vec::new();
    if !step.extras.is_empty() {
        lines.push(format!("also    returns {}", names(&step.extras)));
    }
    if !step.strays.is_empty() {
        let strays = names(&step.strays);
        lines.push(format!(
            "also    returns items of {strays} if a text in their keys contains the delimiter"
        ));
    }
    lines
}

/// How the caller tells several entities apart.
fn split(model: &Model, step: &Step<'_>) -> Option<String> {
    let mapping = step.location.mapping(step.targets.first().filter(|_| step.targets.len() > 1)?);
    let is_here = |name: &&str| mapping.as_ref().is_some_and(|mapping| mapping.has_attribute(model, name));
    let types: BTreeSet<&str> = step.targets.iter().map(|entity| entity.type_value.as_str()).collect();
    let is_telling = types.len() == step.targets.len();
    let by = model.table.type_attribute.as_deref().filter(is_here).filter(|_| is_telling);
    Some(format!("split   the items by {}", by.unwrap_or("their keys")))
}

/// Why a request is sent several times.
fn repetition(step: &Step<'_>) -> String {
    let each = |(name, values): (&String, &Vec<String>)| format!("{name} = {}", values.join(", "));
    let mut reasons: Vec<String> = step.alternatives.iter().map(each).collect();
    let product: f64 = step.alternatives.values().map(|values| values.len() as f64).product();
    let other = match (step.operation, &step.follow) {
        (Operation::BatchGet, _) => "at most 100 keys each",
        (_, Some(_)) => "once for each item that is followed",
        (_, None) => "once for each shard or time bucket",
    };
    reasons.extend((product < step.fan_out).then(|| other.to_owned()));
    reasons.join("; ")
}

/// Returns the condition on a key attribute; `bounds` are those of an attribute's range.
pub fn condition_text(name: &str, sort: &SortCondition, bounds: impl Fn(&str) -> [String; 2]) -> String {
    match sort {
        SortCondition::Any => String::new(),
        SortCondition::Equals(template) => format!("{name} = \"{template}\""),
        SortCondition::BeginsWith(template) => format!("begins_with({name}, \"{template}\")"),
        SortCondition::Between { prefix, by, .. } => {
            let [from, to] = bounds(by);
            format!("{name} BETWEEN \"{prefix}{from}\" AND \"{prefix}{to}\"")
        }
        SortCondition::Range { from, to } => format!("{name} BETWEEN \"{from}\" AND \"{}\"", readable(to)),
    }
}

/// The bounds of a range as the key holds them: those that are declared, or the name of the attribute with its format.
fn bounds_text(model: &Model, pattern: &Pattern, step: &Step<'_>, by: &str) -> [String; 2] {
    let field = BoundedField::new(model, step);
    let (range, field) = (pattern.range.as_ref(), field.as_ref());
    let from = range.and_then(|range| field?.lower(range.from.as_ref()?));
    let upper = |to: &String| {
        let fields = of_each_target(step).filter_map(|step| BoundedField::new(model, &step));
        fields.filter_map(|field| field.upper(upper_value(step, to))).max()
    };
    let to = range.and_then(|range| upper(range.to.as_ref()?));
    let more = if field.is_some_and(BoundedField::is_followed) { "…" } else { "" };
    let name = field.map_or_else(|| by.to_owned(), BoundedField::described);
    let from = from.unwrap_or_else(|| format!("{{{name} from}}"));
    [from, to.map_or_else(|| format!("{{{name} to}}{more}"), |to| readable(&to))]
}

/// The request that the pattern declares, as it is sent.
fn declared_text(examples: &Generator<'_>, pattern: &Pattern) -> Option<String> {
    let request = pattern.request.as_ref()?;
    let operation = if request.scan { "Scan" } else { "Query" };
    let location = request.index.as_deref().unwrap_or("the table");
    let mut text = format!("  declared: {operation} on {location}\n");
    if !request.condition.is_empty() {
        text.push_str(&format!("     key     {}\n", request.condition));
    }
    let filter = request.filter.to_string();
    if !filter.is_empty() {
        text.push_str(&format!("     filter  {filter} (after the read, billed in full)\n"));
    }
    text.push_str(&format!("     send    {}\n", declared_json(examples, pattern, request)));
    Some(text)
}

/// Shows the last Unicode character, which ends a range, as an ellipsis.
fn readable(text: &str) -> String {
    text.replace(LAST, "…")
}

/// What the caller does before a write: an enforced model accepts it only then.
pub(super) fn work_before(model: &Model, write: &Write) -> Vec<String> {
    counted_first(model, write).into_iter().chain(remaining_first(model, write)).collect()
}

/// What must be read where the least or greatest value of an aggregate may leave.
fn remaining_first(model: &Model, write: &Write) -> Vec<String> {
    let mut first = Vec::new();
    for parent in &model.entities {
        let sets = |aggregate: &&Aggregate| {
            let mut actions = write.actions.iter().filter(|action| action.entity == parent.name);
            actions.any(|action| action.verb != Verb::Delete && action.set.contains(&aggregate.name))
        };
        for aggregate in parent.aggregates.iter().filter(sets) {
            let Some(child) = model.entity(&aggregate.of) else { continue };
            if !write.actions.iter().any(|action| may_lose(action, aggregate, child)) {
                continue;
            }
            let best = if aggregate.function == Function::Min { "least" } else { "greatest" };
            let is_counted = parent.aggregates.iter().any(|own| own.counts_for(aggregate));
            let unless = if is_counted {
                ""
            } else {
                "; an enforced model accepts that only with a count of the same items"
            };
            first.push(format!(
                "read all other {} of that {}: if the {best} {} leaves, {} is theirs, and the transaction checks each of them{unless}",
                child.name, parent.name, aggregate.attribute, aggregate.name
            ));
        }
    }
    first
}

/// What must go before an item that summarises it.
fn counted_first(model: &Model, write: &Write) -> Vec<String> {
    let deleted = |entity: &str| {
        write.actions.iter().any(|action| action.verb == Verb::Delete && action.entity == entity)
    };
    let mut first = Vec::new();
    for entity in model.entities.iter().filter(|entity| deleted(&entity.name)) {
        let mut left: Vec<&str> = entity.aggregates.iter().map(|own| own.of.as_str()).collect();
        left.retain(|of| !deleted(of));
        left.sort_unstable();
        left.dedup();
        if !left.is_empty() {
            first.push(format!("delete its items of {}, which it summarises", list(&left)));
        }
    }
    first
}

fn write_text(examples: &Generator<'_>, write: &Write) -> String {
    let model = examples.model;
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
            Estimate::new(effect.units, effect.basis).text("write unit")
        ));
    }
    work_before(model, write).iter().for_each(|work| text.push_str(&format!("  first {work}\n")));
    for action in write.actions.iter().filter(|action| action.verb == Verb::Update) {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let touched = |name: &str| action.set.iter().any(|set| set == name);
        let stale = stale_keys(model, entity, &action.set.iter().map(String::as_str).collect());
        let is_stale = |name: &str| stale.iter().any(|stale| stale.key == name);
        for Presence { keys, when, .. } in KeySources::new(model, entity).presences(is_stale) {
            if when.attributes().into_iter().any(touched) {
                let exist = if keys.len() == 1 { "it exists" } else { "they exist" };
                text.push_str(&format!("  also set or remove {}: {exist} only when {when}\n", list(&keys)));
            } else {
                let are = if keys.len() == 1 { "it is" } else { "they are" };
                text.push_str(&format!("  also set {}: {are} built from what this changes\n", list(&keys)));
            }
        }
    }
    let rate = write
        .rps
        .map(|rps| format!(", {} a second", format_number(units(model, write) * rps)))
        .unwrap_or_default();
    for request in write_requests(examples, write) {
        text.push_str(&format!("  send   {} {}\n", request.operation, request.input));
    }
    for action in write.actions.iter().filter(|action| action.many) {
        let Some(entity) = model.entity(&action.entity) else { continue };
        let (shown, expected) =
            (items_shown(model, write, action, entity), items_of_action(model, write, action, entity));
        if expected.average.round() as u64 != shown {
            text.push_str(&format!(
                "         {} stand for {}\n",
                plural(shown, &entity.name),
                expected.average().text("item")
            ));
        }
    }
    text.push_str(&format!(
        "  {}{rate}; each item becomes {}\n",
        Estimate::new(units(model, write), basis(model, write)).text("write unit"),
        format_quantity(amplification(model, write), "write")
    ));
    text
}
