//! The smallest change that serves a pattern: an entry in an index that the entity does not use yet, or a new index.

use crate::model::value_type::ValueType;
use crate::model::{Entity, Model, Pattern};

/// The line to add to the model.
pub fn index_for(model: &Model, pattern: &Pattern, entity: &Entity) -> String {
    let known: Vec<&str> = pattern
        .inputs
        .iter()
        .map(String::as_str)
        .chain(pattern.filter.tests.iter().map(crate::model::condition::Test::attribute))
        .filter(|name| entity.attribute(name).is_some())
        .collect();
    let partition = if known.is_empty() {
        format!("{}S#{{shard}}", entity.name.to_uppercase())
    } else {
        let parts: Vec<String> =
            known.iter().map(|name| format!("{}#{{{name}}}", prefix(model, name))).collect();
        parts.join("#")
    };
    let sort = sort_for(pattern, entity);
    let free = model.indexes.iter().find(|index| !index.local && entity.index_key(&index.name).is_none());
    let name = free.map_or_else(|| format!("GSI{}", model.indexes.len() + 1), |index| index.name.clone());
    let when =
        if pattern.filter.is_empty() { String::new() } else { format!(", when = \"{}\"", pattern.filter) };
    let shard = if known.is_empty() { ", shard = { count = 4 }" } else { "" };
    let entry = format!("index.{name} = {{ key = [\"{partition}\", \"{sort}\"]{when}{shard} }}");
    let hint = if free.is_some() {
        format!("the existing index {name} can hold it")
    } else {
        format!("with a new [index.{name}] keys = [\"{name}PK\", \"{name}SK\"]")
    };
    format!("add to [entity.{}]: {entry} ({hint})", entity.name)
}

/// The attribute of the order or the range, then the identity of the item.
fn sort_for(pattern: &Pattern, entity: &Entity) -> String {
    let order = pattern.order.as_ref().map(|order| order.by.as_str());
    let range = pattern.range.as_ref().map(|range| range.by.as_str());
    let first = range.or(order).filter(|name| !pattern.is_fixed(name));
    let identity: Vec<&str> = match entity.identity() {
        Some(id) => vec![id],
        None => entity.key_fields().filter(|field| *field != crate::template::SHARD).collect(),
    };
    let mut parts: Vec<String> = Vec::new();
    for name in first.into_iter().chain(identity) {
        let part = padded(entity, name);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    format!("{}#{}", entity.name.to_uppercase(), parts.join("#"))
}

/// A field as a sort key needs it: numbers padded.
pub fn padded(entity: &Entity, name: &str) -> String {
    match entity.attribute(name).map(|attribute| &attribute.kind) {
        Some(ValueType::Int) => format!("{{{name}:012}}"),
        Some(ValueType::Decimal) => format!("{{{name}:012.2}}"),
        _ => format!("{{{name}}}"),
    }
}

/// The prefix that the table uses for an attribute, or one derived from its name.
fn prefix(model: &Model, attribute: &str) -> String {
    let used = model.lookup().prefix(model, attribute);
    used.filter(|prefix| !prefix.is_empty()).unwrap_or_else(|| {
        let name = attribute.strip_suffix("Id").or(attribute.strip_suffix("_id")).unwrap_or(attribute);
        name.to_uppercase()
    })
}
