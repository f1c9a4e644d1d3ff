//! The requests of a plan in DynamoDB JSON, with example values: an output format of `explain`.

use crate::exchange::filter_expression::{FilterExpression, Given};
use crate::generate::Generator;
use crate::item::Attributes;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::key_condition::{KeyClause, KeyOperator};
use crate::model::limits::End;
use crate::model::{Bounds, Entity, Model, Pattern, Request};
use crate::plan::text_range::wide_range_texts;
use crate::plan::{Operation, Plan, SortCondition, Step};
use crate::template::Template;
use serde_json::{Map, Value, json};

/// The values of a condition on one key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyTexts {
    /// The attribute has this text.
    Equals(String),
    /// It starts with this text.
    BeginsWith(String),
    /// It is between two texts, both included.
    Between(String, String),
}

/// Returns a request of a plan as it is sent, with example values.
pub fn sent_json(examples: &Generator<'_>, pattern: &Pattern, plan: &Plan<'_>, number: usize) -> Value {
    let step = &plan.steps[number];
    match plan.declared(pattern, number) {
        Some(request) => {
            let mut body = declared_json(examples, pattern, request);
            add_options(&mut body, step);
            body
        }
        None => request_json(examples, pattern, step),
    }
}

/// Returns the request of a step with example values, as an SDK or the AWS CLI accepts it. The bounds of the range are those that the pattern declares.
pub fn request_json(examples: &Generator<'_>, pattern: &Pattern, step: &Step<'_>) -> Value {
    let model = examples.model;
    let texts = |step: &Step<'_>| key_texts(examples, pattern, step);
    let key = |step: &Step<'_>| key_json(model, step, &texts(step));
    match step.operation {
        Operation::Query => {
            let mut body = query_json(model, step, &texts(step));
            example_filter(examples, pattern, step).write_to(&mut body);
            body
        }
        Operation::Scan => {
            let mut body = scan_json(model, step);
            example_filter(examples, pattern, step).write_to(&mut body);
            body
        }
        Operation::Get => get_json(model, step, &key(step)),
        Operation::BatchGet => batch_json(model, step, step.by_key().iter().map(key).collect()),
    }
}

/// The example values of the conditions on key attributes, by position.
fn key_texts(examples: &Generator<'_>, pattern: &Pattern, step: &Step<'_>) -> Vec<(usize, KeyTexts)> {
    let texts = |sort: &SortCondition| example_texts(examples, step, sort, pattern.range.as_ref());
    let clauses = step.first_clauses().into_iter();
    clauses.filter_map(|(position, sort)| Some((position, texts(&sort)?))).collect()
}

fn example_filter(examples: &Generator<'_>, pattern: &Pattern, step: &Step<'_>) -> FilterExpression {
    let entity = step.targets[0];
    let values = examples.example_values(step.location, entity);
    let range = pattern.range.as_ref();
    let of_range = |range: &Bounds| {
        let owner = step.targets.iter().find(|entity| entity.attribute(&range.by).is_some());
        range_values(examples, owner.copied().unwrap_or(entity), &range.by, Some(range))
    };
    let (from, to) = range.map(of_range).unwrap_or_default();
    let given = Given { values: &values, from: from.as_deref(), to: to.as_deref() };
    FilterExpression::of_step(examples.model, step, &given)
}

fn example_texts(
    examples: &Generator<'_>,
    step: &Step<'_>,
    sort: &SortCondition,
    range: Option<&Bounds>,
) -> Option<KeyTexts> {
    let entity = step.targets[0];
    // A time bucket of the key is one of the range.
    let filled = |template: &Template| {
        let range = range.filter(|range| template.truncates(&range.by));
        let Some((by, from)) = range.and_then(|range| Some((&range.by, range.from.as_ref()?))) else {
            return examples.example_key(step.location, entity, template);
        };
        let mut values = examples.example_values(step.location, entity);
        values.insert(by.clone(), from.clone());
        template.fill(&values).unwrap_or_else(|_| examples.example_key(step.location, entity, template))
    };
    Some(match sort {
        SortCondition::Any => return None,
        SortCondition::Equals(template) => KeyTexts::Equals(filled(template)),
        SortCondition::BeginsWith(template) => KeyTexts::BeginsWith(filled(template)),
        SortCondition::Between { by, .. } => {
            let model = examples.model;
            let mut known = examples.example_values(step.location, entity);
            let first =
                |(name, values): (&String, &Vec<String>)| Some((name.clone(), values.first()?.clone()));
            known.extend(step.alternatives.iter().filter_map(first));
            let (from, to) = range_values(examples, entity, by, range);
            let texts = wide_range_texts(model, step, &known, from.as_deref(), to.as_deref());
            let (from, to) = texts.or_else(|| wide_range_texts(model, step, &known, None, None))?;
            KeyTexts::Between(from, to)
        }
        SortCondition::Range { from, to } => KeyTexts::Between(from.clone(), to.clone()),
    })
}

/// The declared bounds of a range; examples if none is declared.
fn range_values(
    examples: &Generator<'_>,
    entity: &Entity,
    by: &str,
    range: Option<&Bounds>,
) -> (Option<String>, Option<String>) {
    let declared = range.filter(|range| range.by == by && range.is_declared());
    let written = |bound: &Option<String>, end: End| {
        let (bound, attribute) = (bound.as_ref()?, entity.attribute(by));
        Some(attribute.map_or_else(|| bound.clone(), |attribute| attribute.limits.bound(bound, end)))
    };
    match declared {
        Some(range) => (written(&range.from, End::Lower), written(&range.to, End::Upper)),
        None => examples.example_bounds(entity, by).unzip(),
    }
}

/// Returns a declared request as it is sent, with example values and the declared bounds.
pub fn declared_json(examples: &Generator<'_>, pattern: &Pattern, request: &Request) -> Value {
    let model = examples.model;
    let mut body = json!({ "TableName": model.table.name });
    if let Some(index) = &request.index {
        body["IndexName"] = json!(index);
    }
    let index = request.index.as_deref().and_then(|name| model.index(name));
    let location = TableOrIndex { index };
    let entity = pattern.targets.first().and_then(|target| model.entity(&target.entity));
    let known = |name: &str, end: End| {
        let fields = std::iter::once(name);
        declared_values(examples, pattern, location, entity?, fields, end).remove(name)
    };
    let filter = FilterExpression::of_declared(&request.filter.filled(&known), entity);
    if request.scan || request.clauses.is_empty() {
        filter.write_to(&mut body);
        return body;
    }
    let keys = location.key_names(model);
    let (mut values, mut names) = (Map::new(), Map::new());
    let clauses = request.clauses.iter().enumerate().map(|(number, clause)| {
        let position = keys.iter().position(|key| *key == clause.key).unwrap_or(keys.len());
        let kind = if location.key_is_number(model, position) { "N" } else { "S" };
        let name = alias(&clause.key, &format!("k{number}"), &mut names);
        let texts = declared_texts(examples, pattern, location, clause);
        for (end, text) in texts.iter().enumerate() {
            values.insert(format!(":k{number}{}", ["", "to"][end.min(1)]), json!({ kind: text }));
        }
        match clause.operator {
            KeyOperator::BeginsWith => format!("begins_with({name}, :k{number})"),
            KeyOperator::Between => format!("{name} BETWEEN :k{number} AND :k{number}to"),
            other => format!("{name} {} :k{number}", other.symbol().unwrap_or_default()),
        }
    });
    body["KeyConditionExpression"] = json!(clauses.collect::<Vec<_>>().join(" AND "));
    body["ExpressionAttributeValues"] = json!(values);
    if !names.is_empty() {
        body["ExpressionAttributeNames"] = json!(names);
    }
    filter.write_to(&mut body);
    body
}

/// The values of a declared comparison: the last of a range takes the upper bound.
fn declared_texts(
    examples: &Generator<'_>,
    pattern: &Pattern,
    location: TableOrIndex<'_>,
    clause: &KeyClause,
) -> Vec<String> {
    let Some(entity) = pattern.targets.first().and_then(|target| examples.model.entity(&target.entity))
    else {
        return Vec::new();
    };
    let text = |(number, template): (usize, &Template)| {
        let end = if clause.is_upper(number) { End::Upper } else { End::Lower };
        let values = declared_values(examples, pattern, location, entity, template.fields(), end);
        template.fill(&values).unwrap_or_default()
    };
    clause.values.iter().enumerate().map(text).collect()
}

/// Example values of what a declared request compares with, with the first ones that the condition lists of some fields.
fn declared_values<'a>(
    examples: &Generator<'_>,
    pattern: &Pattern,
    location: TableOrIndex<'_>,
    entity: &Entity,
    fields: impl Iterator<Item = &'a str>,
    end: End,
) -> Attributes {
    let mut values = examples.example_values(location, entity);
    let condition = pattern.condition();
    let asked = fields.filter(|field| !pattern.inputs.iter().any(|input| input == field));
    let first =
        |field: &str| Some((field.to_owned(), condition.values(field, entity)?.first()?.as_str().to_owned()));
    values.extend(asked.filter_map(first));
    if let Some(range) = &pattern.range {
        let (from, to) = range_values(examples, entity, &range.by, Some(range));
        let bound = if end == End::Upper { to } else { from };
        values.extend(bound.map(|bound| (range.by.clone(), bound)));
    }
    values
}

/// Returns the Query of a step with these conditions on the key attributes by position.
pub fn query_json(model: &Model, step: &Step<'_>, texts: &[(usize, KeyTexts)]) -> Value {
    let (mut values, mut names) = (Map::new(), Map::new());
    let partition = step.location.halves(model).0.len();
    let clauses = texts.iter().map(|(position, texts)| {
        let number = if *position < partition { *position } else { position - partition };
        let half = if *position < partition { "pk" } else { "sk" };
        let count = if number == 0 { String::new() } else { (number + 1).to_string() };
        let placeholder = format!("{half}{count}");
        let key = step.location.key_names(model).get(*position).map_or("", String::as_str);
        let name = alias(key, &placeholder, &mut names);
        let mut put = |key: &str, text: &str| {
            values.insert(key.to_owned(), tagged(model, step, *position, text.to_owned()));
        };
        let placeholder = format!(":{placeholder}");
        match texts {
            KeyTexts::Equals(text) => {
                put(&placeholder, text);
                format!("{name} = {placeholder}")
            }
            KeyTexts::BeginsWith(text) => {
                put(&placeholder, text);
                format!("begins_with({name}, {placeholder})")
            }
            KeyTexts::Between(from, to) => {
                put(":from", from);
                put(":to", to);
                format!("{name} BETWEEN :from AND :to")
            }
        }
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
    add_options(&mut body, step);
    body
}

/// Returns the Scan of a step.
pub fn scan_json(model: &Model, step: &Step<'_>) -> Value {
    let mut body = json!({ "TableName": model.table.name });
    if let Some(index) = step.location.index {
        body["IndexName"] = json!(index.name);
    }
    add_options(&mut body, step);
    body
}

/// Adds the order, the limit and the consistency of a step to its Query or Scan.
fn add_options(body: &mut Value, step: &Step<'_>) {
    if !step.forward {
        body["ScanIndexForward"] = json!(false);
    }
    if let Some(limit) = step.limit {
        body["Limit"] = json!(limit);
    }
    if step.strong {
        body["ConsistentRead"] = json!(true);
    }
}

/// A key value with its type tag.
fn tagged(model: &Model, step: &Step<'_>, position: usize, text: String) -> Value {
    let kind = if step.location.key_is_number(model, position) { "N" } else { "S" };
    json!({ kind: text })
}

/// Returns the primary key with these texts of the key attributes by position.
pub fn key_json(model: &Model, step: &Step<'_>, texts: &[(usize, KeyTexts)]) -> Map<String, Value> {
    let names = step.location.key_names(model);
    let mut key = Map::new();
    for (position, texts) in texts {
        if let (KeyTexts::Equals(text), Some(name)) = (texts, names.get(*position)) {
            key.insert(name.clone(), tagged(model, step, *position, text.clone()));
        }
    }
    key
}

/// Returns the GetItem of a key.
pub fn get_json(model: &Model, step: &Step<'_>, key: &Map<String, Value>) -> Value {
    let mut body = json!({ "TableName": model.table.name, "Key": key });
    if step.strong {
        body["ConsistentRead"] = json!(true);
    }
    body
}

/// Returns the BatchGetItem of several keys.
pub fn batch_json(model: &Model, step: &Step<'_>, keys: Vec<Map<String, Value>>) -> Value {
    let mut own = json!({ "Keys": keys });
    if step.strong {
        own["ConsistentRead"] = json!(true);
    }
    json!({ "RequestItems": { model.table.name.clone(): own } })
}

/// The name of a key attribute in an expression: reserved words and special characters need an alias.
fn alias(name: &str, placeholder: &str, names: &mut Map<String, Value>) -> String {
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
