//! Declared requests, sent as they are: what the check finds nothing wrong with returns all that its pattern means.

use super::Trial;
use partita_design::item::{Attributes, Item, Value};
use partita_design::model::key_condition::KeyOperator;
use partita_design::model::{Model, Pattern, Request};
use partita_design::plan::trial::{Call, calls, expected, known};
use partita_design::template::SHARD;
use partita_design::{Severity, Source, check, read};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The number of shards of the models here.
const SHARDS: u64 = 3;

/// Sends the declared requests of a model and compares; returns how many calls were compared, and how many patterns the check refuses.
pub fn compare(text: &str) -> (usize, usize) {
    let model =
        read(&Source::new("declared", text)).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"));
    let report = check(&model);
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors: BTreeSet<&str> = errors.map(|finding| finding.subject.as_str()).collect();
    let trial = Trial::new(&model, 160);
    let (mut compared, mut refused) = (0, 0);
    for pattern in &model.patterns {
        let request = pattern.request.as_ref().unwrap();
        if errors.contains(pattern.subject().as_str()) {
            refused += 1;
            continue;
        }
        // The value that a filter compares an input with is only an example.
        if pattern.inputs.iter().any(|input| request.filter.fixed(input).is_some()) {
            continue;
        }
        // There is a request for each of several values that `where` lists: that is not what is tried here.
        let is_given = |name: &str| {
            name == SHARD
                || pattern.inputs.iter().any(|input| input == name)
                || pattern.filter.fixed(name).is_some()
        };
        let mut fields = request.clauses.iter().flat_map(|clause| &clause.fields);
        if !fields.all(|(name, _)| is_given(name)) {
            continue;
        }
        let calls = calls(pattern, &known(&model, &trial.items), 6);
        let is_whole = |call: &&Call| {
            let found: BTreeSet<Vec<String>> =
                send(&trial, pattern, request, call).iter().map(|item| trial.key(item)).collect();
            expected(&model, pattern, call, &known(&model, &trial.items)).keys.is_subset(&found)
        };
        if let Some(order) = pattern.order.as_ref().filter(|_| !is_sharded(request)) {
            for call in &calls {
                let found = send(&trial, pattern, request, call);
                let meant = expected(&model, pattern, call, &known(&model, &trial.items)).keys;
                let own = found.iter().filter(|item| meant.contains(&trial.key(item)));
                let values: Vec<_> = own.filter_map(|item| sortable(item.get(&order.by)?)).collect();
                assert!(values.is_sorted(), "{} is not in order: {values:?}\n{text}", pattern.name);
            }
        }
        let whole = calls.iter().filter(is_whole).count();
        assert_eq!(whole, calls.len(), "{} does not return all that it means\n{text}", pattern.name);
        compared += calls.len();
    }
    (compared, refused)
}

/// What a value sorts by: the number that it is, or its text.
fn sortable(value: &Value) -> Option<(i64, String)> {
    let text = value.to_text()?;
    match value {
        Value::Number(_) => Some(((text.parse::<f64>().ok()? * 1e6) as i64, String::new())),
        _ => Some((0, text)),
    }
}

fn is_sharded(request: &Request) -> bool {
    request.clauses.iter().any(|clause| clause.values.iter().any(|value| value.has_field(SHARD)))
}

/// All pages of a declared request, for every shard.
fn send(trial: &Trial<'_>, pattern: &Pattern, request: &Request, call: &Call) -> Vec<Item> {
    let mut found = Vec::new();
    for shard in 0..if is_sharded(request) { SHARDS } else { 1 } {
        let mut values = call.values.clone();
        values.extend(
            pattern
                .filter
                .attributes()
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), pattern.filter.fixed(name)?.to_owned()))),
        );
        values.insert(SHARD.to_owned(), shard.to_string());
        let mut body = query(trial.model, request, &values);
        loop {
            let page = trial.database.page("Query", &body);
            found.extend(page.items.into_iter().filter(|item| request.filter.holds_for(item)));
            let Some(next) = page.next else { break };
            body["ExclusiveStartKey"] = next;
        }
    }
    found
}

fn query(model: &Model, request: &Request, known: &Attributes) -> serde_json::Value {
    let (mut values, mut names, mut clauses) = (Map::new(), Map::new(), Vec::new());
    for (number, clause) in request.clauses.iter().enumerate() {
        names.insert(format!("#k{number}"), json!(clause.key));
        for (end, value) in clause.values.iter().enumerate() {
            values.insert(format!(":k{number}v{end}"), json!({ "S": value.fill(known).unwrap() }));
        }
        clauses.push(match clause.operator {
            KeyOperator::BeginsWith => format!("begins_with(#k{number}, :k{number}v0)"),
            KeyOperator::Between => format!("#k{number} BETWEEN :k{number}v0 AND :k{number}v1"),
            other => format!("#k{number} {} :k{number}v0", other.symbol().unwrap()),
        });
    }
    let mut body = json!({
        "TableName": model.table.name, "KeyConditionExpression": clauses.join(" AND "),
        "ExpressionAttributeNames": names, "ExpressionAttributeValues": values,
    });
    if let Some(index) = &request.index {
        body["IndexName"] = json!(index);
    }
    body
}
