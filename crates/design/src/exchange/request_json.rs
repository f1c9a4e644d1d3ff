//! The requests of a plan in DynamoDB JSON, with example values: an output format of `explain`.

use crate::generate::example_key;
use crate::model::Model;
use crate::plan::{Operation, SortCondition, Step};
use serde_json::{Map, Value, json};

/// Returns the request of a step with example values, as an SDK or the AWS CLI accepts it.
pub fn request_json(model: &Model, step: &Step<'_>) -> Value {
    if step.operation != Operation::Query {
        return item_request(model, step);
    }
    let (mut values, mut names) = (Map::new(), Map::new());
    let partition = step.location.halves(model).0.len();
    let clauses = step.clauses().into_iter().map(|(position, sort)| {
        let number = if position < partition { position } else { position - partition };
        let half = if position < partition { "pk" } else { "sk" };
        let count = if number == 0 { String::new() } else { (number + 1).to_string() };
        let placeholder = format!("{half}{count}");
        let name = alias(step.location.key_names(model), position, &placeholder, &mut names);
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
    if let Some(index) = step.location.index {
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

/// A key value with its type tag.
fn tagged(model: &Model, step: &Step<'_>, position: usize, text: String) -> Value {
    let kind = if step.location.key_is_number(model, position) { "N" } else { "S" };
    json!({ kind: text })
}

/// A GetItem, or a BatchGetItem of one key.
fn item_request(model: &Model, step: &Step<'_>) -> Value {
    let names = step.location.key_names(model);
    let mut key = Map::new();
    for (position, sort) in step.clauses() {
        if let (SortCondition::Equals(template), Some(name)) = (sort, names.get(position)) {
            key.insert(name.clone(), tagged(model, step, position, example_key(step.targets[0], &template)));
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

/// The name of a key attribute in an expression: reserved words and special characters need an alias.
fn alias(keys: &[String], position: usize, placeholder: &str, names: &mut Map<String, Value>) -> String {
    let name = keys.get(position).map_or("", String::as_str);
    let usual = name.eq_ignore_ascii_case("pk") || name.eq_ignore_ascii_case("sk");
    let plain = name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    let numbered = name.chars().any(|character| character.is_ascii_digit())
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if usual || (plain && numbered) {
        return name.to_owned();
    }
    let alias = format!("#{placeholder}");
    names.insert(alias.clone(), json!(name));
    alias
}

/// One condition of a Query; adds its values to `values`.
fn key_clause(
    model: &Model,
    step: &Step<'_>,
    position: usize,
    sort: &SortCondition,
    (name, placeholder): (&str, &str),
    values: &mut Map<String, Value>,
) -> String {
    let entity = step.targets[0];
    let mut put = |key: &str, text: String| {
        values.insert(key.to_owned(), tagged(model, step, position, text));
    };
    match sort {
        SortCondition::Any => String::new(),
        SortCondition::Equals(template) => {
            put(placeholder, example_key(entity, template));
            format!("{name} = {placeholder}")
        }
        SortCondition::BeginsWith(template) => {
            put(placeholder, example_key(entity, template));
            format!("begins_with({name}, {placeholder})")
        }
        SortCondition::Between { prefix, by } => {
            let time = entity.attribute(by).is_some_and(|attribute| attribute.kind.is_time());
            for (key, end) in [(":from", "2026-04-01T00:00:00Z"), (":to", "2026-04-30T23:59:59Z")] {
                put(key, format!("{}{}", example_key(entity, prefix), if time { end } else { "0" }));
            }
            format!("{name} BETWEEN :from AND :to")
        }
        SortCondition::Range { from, to } => {
            put(":from", from.clone());
            put(":to", to.clone());
            format!("{name} BETWEEN :from AND :to")
        }
    }
}
