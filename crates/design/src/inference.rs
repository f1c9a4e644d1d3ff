//! Infers a model from items: entities from the type attribute or key prefixes, templates from what keys and attributes have in
//! common.
//!
//! The result is a proposal to be read, corrected and completed.

mod entity;
mod key_template;
mod patterns;
mod value_types;

use crate::audit::MARKER;
use crate::item::{Item, Value};
use crate::model::{Index, Model, Projection, Table};
use std::collections::{BTreeMap, BTreeSet};

/// What is known about a table besides its items. Empty fields are guessed.
#[derive(Clone, Debug, Default)]
pub struct KnownSchema {
    /// The name of the table.
    pub table: String,
    /// The attributes of the primary key.
    pub keys: Vec<String>,
    /// The indexes of the table.
    pub indexes: Vec<Index>,
}

/// Infers a model from items.
///
/// # Errors
///
/// Returns a message if there are no items, or if the key attributes are neither known nor called `PK` and `SK`.
pub fn infer(items: &[Item], known: &KnownSchema) -> Result<Model, String> {
    let first = items.first().ok_or("there are no items to learn from")?;
    let mut known = known.clone();
    if known.keys.is_empty() {
        known.keys =
            guess_keys(first).ok_or("the items have no PK and SK; name the key attributes with --keys")?;
    }
    // Markers of unique values are not an entity.
    let is_marker = |item: &Item| text_of(item, &known.keys[0]).is_some_and(|key| key.starts_with(MARKER));
    let items: Vec<&Item> = items.iter().filter(|item| !is_marker(item)).collect();
    if known.indexes.is_empty() {
        known.indexes = guess_indexes(&items, &known.keys);
    }
    let type_attribute = guess_type_attribute(&items, &known);
    let mut groups: BTreeMap<Group, Vec<&Item>> = BTreeMap::new();
    for item in items {
        groups.entry(Group::of(item, type_attribute.as_deref(), &known.keys)).or_default().push(item);
    }
    let table = Table { name: known.table, keys: known.keys, type_attribute, ..Table::default() };
    let mut model = Model { table, indexes: known.indexes, ..Model::default() };
    for (group, items) in &groups {
        let entity = entity::infer(group, items, &model);
        model.entities.push(entity);
    }
    remove_unused_indexes(&mut model);
    model.patterns = patterns::infer(&model);
    Ok(model)
}

/// Items that become one entity. One type stored under several key shapes is several entities: a copy has keys of its own.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    /// The value of the type attribute, if there is one.
    type_value: Option<String>,
    /// The leading words of the key attributes: `USER/ORDER`.
    key_shape: String,
}

impl Group {
    fn of(item: &Item, type_attribute: Option<&str>, keys: &[String]) -> Group {
        let words: Vec<String> =
            keys.iter().map(|key| leading_word(text_of(item, key).unwrap_or_default())).collect();
        let type_value = type_attribute.and_then(|name| text_of(item, name)).map(str::to_owned);
        Group { type_value, key_shape: words.join("/") }
    }
}

fn guess_keys(item: &Item) -> Option<Vec<String>> {
    let find = |wanted: &str| item.keys().find(|name| name.eq_ignore_ascii_case(wanted)).cloned();
    let partition = find("PK")?;
    Some(std::iter::once(partition).chain(find("SK")).collect())
}

/// `GSI1PK` and `GSI1SK` are the keys of GSI1.
fn guess_indexes(items: &[&Item], keys: &[String]) -> Vec<Index> {
    let names: BTreeSet<&String> =
        items.iter().flat_map(|item| item.keys()).filter(|name| !keys.contains(name)).collect();
    let mut indexes = Vec::new();
    for name in &names {
        let Some(stem) = name.strip_suffix("PK").or(name.strip_suffix("pk")).filter(|stem| !stem.is_empty())
        else {
            continue;
        };
        let sort = names.iter().find(|other| other.eq_ignore_ascii_case(&format!("{stem}SK")));
        let keys = std::iter::once((*name).clone()).chain(sort.map(|sort| (*sort).clone())).collect();
        indexes.push(Index {
            name: stem.trim_end_matches(['_', '-']).to_owned(),
            local: false,
            keys,
            partition_keys: 1,
            project: Projection::All,
            span: 0..0,
        });
    }
    indexes
}

/// An attribute that every item has and whose name says type.
fn guess_type_attribute(items: &[&Item], known: &KnownSchema) -> Option<String> {
    let is_key = |name: &str| known.keys.iter().any(|key| key == name);
    let named = |name: &str| {
        let lower = name.to_lowercase();
        ["type", "entitytype", "_type", "entity", "kind", "__typename", "_et", "entity_type", "__edb_e__"]
            .contains(&lower.as_str())
    };
    let everywhere = |name: &&String| items.iter().all(|item| text_of(item, name).is_some());
    let name = items.first()?.keys().filter(|name| named(name) && !is_key(name)).find(everywhere)?;
    Some(name.clone())
}

/// The first segment of a key if it looks constant, or `*`: `ORDER#2026-04-05#o1` gives `ORDER`.
fn leading_word(key: &str) -> String {
    let first = key.split('#').next().unwrap_or_default();
    let constant = first.chars().all(|character| character.is_ascii_uppercase() || character == '_')
        && !first.is_empty();
    if constant || key.contains('#') { first.to_owned() } else { "*".to_owned() }
}

fn remove_unused_indexes(model: &mut Model) {
    let used: BTreeSet<String> = model
        .entities
        .iter()
        .flat_map(|entity| entity.indexes.iter().map(|index_key| index_key.index.clone()))
        .collect();
    model.indexes.retain(|index| used.contains(&index.name));
}

/// The text of a string or number attribute.
fn text_of<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.get(name).and_then(Value::as_text)
}
