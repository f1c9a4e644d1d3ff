//! Changes that may serve a pattern: an entry in an index that the entity does not use yet, or in a new one.

mod ranges;

use super::value_types::fitting_format;
use crate::capacity::estimate::write_units;
use crate::capacity::size;
use crate::formatting::list;
use crate::keys::key_mapping::KeyMapping;
use crate::model::condition::{Comparison, Condition, Test};
use crate::model::each_once::each_once;
use crate::model::value_type::ValueType;
use crate::model::{Entity, Index, Model, Pattern, Projection};
use crate::plan::requirement::Requirement;
use crate::plan::{Step, Unserved};
use crate::repair::{Edit, Repair, quoted, quoted_list};
use crate::template::{Format, Part, Template};
use ranges::as_range;
pub use ranges::bounded_by_where;
use std::collections::BTreeSet;

/// The pattern without its declared request, which another one may serve.
pub fn without_request(pattern: &Pattern) -> Repair {
    let help = format!(
        "leave the declared request out, and send the one that serves {}, which `partita model explain` shows",
        pattern.name
    );
    Repair { help, edits: vec![Edit::remove(&["pattern", &pattern.name, "request"])] }
}

/// The number of new indexes that are considered.
const NEW_INDEXES: usize = 3;

/// Entries that may serve a pattern, the simplest first. A search is served by none: its words are those of an example. Times are bounded by a range,
/// never by the condition of an index, which would hold what was asked for once.
pub fn indexes_for(model: &Model, pattern: &Pattern, entity: &Entity) -> Vec<Repair> {
    if searched(pattern).is_some() {
        return Vec::new();
    }
    let is_time = |name: &str| entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time());
    let ranged = as_range(pattern).filter(|(ranged, _)| ranged.range.iter().any(|range| is_time(&range.by)));
    let Some((ranged, own)) = ranged else { return entries_for(model, pattern, entity) };
    let mut repairs = entries_for(model, &ranged, entity);
    for repair in &mut repairs {
        repair.help = format!("{}, and {}", own.help, repair.help);
        repair.edits.extend(own.edits.iter().cloned());
    }
    repairs
}

fn entries_for(model: &Model, pattern: &Pattern, entity: &Entity) -> Vec<Repair> {
    let entities: Vec<&Entity> = match pattern.targets.as_slice() {
        [_] => vec![entity],
        several => several.iter().filter_map(|target| model.entity(&target.entity)).collect(),
    };
    // A key attribute that is an attribute of an entity, or a key of the table, holds its value and no template.
    let is_taken = |key: &String| {
        model.table.keys.contains(key) || entities.iter().any(|entity| entity.attribute(key).is_some())
    };
    let plain = |index: &&crate::model::Index| {
        !index.local && index.keys.len() == 2 && !index.keys.iter().any(is_taken)
    };
    let is_free = |name: &str| entities.iter().all(|entity| entity.index_key(name).is_none());
    let used = model.indexes.iter().filter(plain).map(|index| (index.name.clone(), false));
    let first = model.indexes.len() + 1;
    let new = (first..first + NEW_INDEXES).map(|number| (format!("GSI{number}"), true));
    let slots: Vec<(String, bool)> = used
        .chain(new.filter(|(name, _)| model.index(name).is_none()))
        .filter(|(name, _)| is_free(name))
        .collect();
    let texts =
        |entity: &Entity| entity.attributes.iter().any(|attribute| attribute.kind == ValueType::String);
    let escapes: &[bool] =
        if entities.iter().any(|entity| texts(entity)) { &[false, true] } else { &[false] };
    let is_shared = entities.len() > 1;
    let entries = |escaped: &bool| -> Vec<(&Entity, String)> {
        entities.iter().map(|own| (*own, entry(model, pattern, own, is_shared, *escaped))).collect()
    };
    let written: Vec<Vec<(&Entity, String)>> = escapes.iter().map(entries).collect();
    let of_slot = |(name, is_new): &(String, bool)| {
        written.iter().map(|entries| repair(name, *is_new, entries)).collect::<Vec<_>>()
    };
    slots.iter().flat_map(of_slot).collect()
}

/// Where the attributes that an index lacks may come from: the index itself, or a second read. As long as an entry stays within the same write
/// units, only a rare pattern reads twice.
pub fn attributes_for(
    model: &Model,
    pattern: &Pattern,
    unserved: &Unserved<'_>,
    missing: &[String],
) -> Vec<Repair> {
    let edit = Edit::set(&["pattern", &pattern.name, "hydrate"], "true");
    let hydrated = Repair { help: format!("set hydrate = true on {}", pattern.name), edits: vec![edit] };
    let Some(index) = unserved.location.index else { return vec![hydrated] };
    let projected = projected(index, missing);
    let units = unserved.location.mapping(unserved.entity).map(|mapping| {
        let bytes = size::entry(model, &mapping).value;
        let added = unserved.entity.attributes.iter().filter(|own| missing.contains(&own.name));
        let more: f64 = added.clone().map(|own| size::attribute(own).value).sum();
        // A list, a map or a set may be most of the item.
        let is_scalar = added.clone().all(|own| own.kind.is_scalar());
        let then = if is_scalar { bytes + more } else { size::item(model, unserved.entity).value };
        (write_units(bytes as u64), write_units(then as u64))
    });
    let is_free = units.is_some_and(|(now, then)| now == then);
    if is_free && !pattern.is_rare() { vec![projected, hydrated] } else { vec![hydrated, projected] }
}

/// An index that also holds these attributes.
fn projected(index: &Index, missing: &[String]) -> Repair {
    let own: &[String] = match &index.project {
        Projection::Include(names) => names,
        Projection::All | Projection::KeysOnly => &[],
    };
    let names: Vec<String> = each_once(own.iter().chain(missing)).cloned().collect();
    let value = quoted_list(&names);
    let help = format!("write project = {value} in [index.{}]", index.name);
    Repair { help, edits: vec![Edit::set(&["index", &index.name, "project"], value)] }
}

/// The key in which the fields have changed places, where the entity has it.
pub fn moved_first(unserved: &Unserved<'_>, by: &str, before: &str) -> Option<Repair> {
    let mapping = unserved.location.mapping(unserved.entity)?;
    let position = mapping.key.iter().position(|template| template.has_field(before))?;
    let mut key = mapping.key.to_vec();
    let parts = &mut key[position].parts;
    let place = |wanted: &str| {
        parts.iter().position(|part| matches!(part, Part::Field { name, .. } if name == wanted))
    };
    let (first, second) = (place(before)?, place(by)?);
    parts.swap(first, second);
    let texts: Vec<String> = key.iter().map(Template::to_string).collect();
    let help = format!("put {{{by}}} before {{{before}}} in the sort key: key = {}", quoted_list(&texts));
    Some(Repair { help, edits: vec![with_key(&mapping, &texts)?] })
}

/// The edit that gives an entity another key in the table or in an index, where it is declared as one list.
pub fn with_key(mapping: &KeyMapping<'_>, key: &[String]) -> Option<Edit> {
    let (entity, value) = (mapping.entity.name.as_str(), quoted_list(key));
    match mapping.location.index {
        None => Some(Edit::set(&["entity", entity, "key"], value)),
        Some(index) if index.local || index.is_composite() => None,
        Some(index) => Some(Edit::set(&["entity", entity, "index", &index.name, "key"], value)),
    }
}

/// The partition key written as a text, in the keys of all entities that share it.
pub fn with_partition(keys: &[KeyMapping<'_>], partition: &Template, text: &str) -> Option<Repair> {
    let shared = keys.iter().filter(|mapping| mapping.partition == *partition && !mapping.is_implied);
    let edit = |mapping: &KeyMapping<'_>| {
        let mut key: Vec<String> = mapping.key.iter().map(Template::to_string).collect();
        *key.first_mut()? = text.to_owned();
        with_key(mapping, &key)
    };
    let edits: Vec<Edit> = shared.map(edit).collect::<Option<_>>()?;
    Some(Repair { help: format!("write {text}"), edits })
}

/// The sort key of an index with a time in full, of which it holds the start.
pub fn in_full(unserved: &Unserved<'_>, by: &str) -> Option<Repair> {
    let index = unserved.location.index.filter(|index| !index.local)?;
    let own = unserved.entity.index_key(&index.name)?;
    let mut key = own.key.clone();
    let parts = key.last_mut()?.parts.iter_mut();
    for part in parts {
        if let Part::Field { name, format: format @ Format::Bucket(_) } = part
            && name == by
        {
            *format = Format::Plain;
        }
    }
    let value = quoted_list(&key.iter().map(Template::to_string).collect::<Vec<_>>());
    let edit = Edit::set(&["entity", &unserved.entity.name, "index", &index.name, "key"], value.clone());
    (key != own.key)
        .then(|| Repair { help: format!("write {{{by}}} in full: key = {value}"), edits: vec![edit] })
}

/// The attribute that a pattern searches for a part.
fn searched(pattern: &Pattern) -> Option<&str> {
    let is_search = |test: &&Test| matches!(test.comparison, Comparison::Contains(_));
    pattern.filter.tests().into_iter().find(is_search).map(|test| test.attribute.as_str())
}

/// What to do about a search, which no key serves.
pub fn search_in_words(pattern: &Pattern, entity: &Entity) -> Option<String> {
    let name = searched(pattern)?;
    let is_text = entity.attribute(name).is_none_or(|attribute| attribute.kind.is_scalar());
    Some(if is_text {
        "DynamoDB has no text search: fill a search engine from the table's stream, or store words as items of their own".to_owned()
    } else {
        format!("no key holds {name}: store what is searched for as items of their own")
    })
}

/// What to do where no entry is known to serve a pattern.
pub fn in_words(pattern: &Pattern, entity: &Entity) -> String {
    if let Some(search) = search_in_words(pattern, entity) {
        return search;
    }
    let known = match pattern.inputs.as_slice() {
        [] => format!("a constant and {{shard}}, as in \"{}S#{{shard}}\"", entity.name.to_uppercase()),
        inputs => inputs.join(" and "),
    };
    let order =
        pattern.order.as_ref().map(|order| &order.by).or(pattern.range.as_ref().map(|range| &range.by));
    let others =
        pattern.targets.iter().map(|target| target.entity.as_str()).filter(|name| *name != entity.name);
    let others: Vec<&str> = others.collect();
    if let (Some(by), false) = (order, others.is_empty()) {
        return format!(
            "give {} and {} one partition of an index, made of {known}, in which the sort key of {0} starts with {by}",
            entity.name,
            list(&others)
        );
    }
    let sort = order.map(|by| format!(" and whose sort key starts with {by}")).unwrap_or_default();
    format!("give {} a key whose partition key is made of {known}{sort}", entity.name)
}

/// The attributes that the filter of a step tests, and the entity that has them.
pub fn filtered<'s, 'm>(step: &'s Step<'m>) -> (&'m Entity, Vec<&'s str>) {
    let tested: Vec<&str> = each_once(step.filter.iter().flat_map(Requirement::attributes)).collect();
    let has = |entity: &&&Entity| tested.iter().any(|name| entity.attribute(name).is_some());
    (step.targets.iter().find(has).copied().unwrap_or(step.targets[0]), tested)
}

/// The value of `unique` that declares what a pattern asks for: one attribute, or several together.
pub fn unique_by_inputs(pattern: &Pattern, entity: &Entity) -> String {
    let own = pattern.inputs.iter().filter(|input| entity.attribute(input).is_some());
    let names: Vec<String> = own.map(|input| format!("\"{input}\"")).collect();
    match names.as_slice() {
        [one] => format!("[{one}]"),
        several => format!("[[{}]]", several.join(", ")),
    }
}

fn repair(index: &str, is_new: bool, entries: &[(&Entity, String)]) -> Repair {
    let mut edits = Vec::new();
    let hint = if is_new {
        let keys = format!("[\"{index}PK\", \"{index}SK\"]");
        edits.push(Edit::set(&["index", index], format!("{{ keys = {keys} }}")));
        format!("with a new [index.{index}] keys = {keys}")
    } else {
        format!("the existing index {index} can hold it")
    };
    let mut parts = Vec::new();
    for (entity, entry) in entries {
        parts.push(format!("add to [entity.{}]: index.{index} = {entry}", entity.name));
        edits.push(Edit::set(&["entity", &entity.name, "index", index], entry.clone()));
    }
    Repair { help: format!("{} ({hint})", parts.join("; ")), edits }
}

/// The keys of an entity in an index that serves a pattern.
fn entry(model: &Model, pattern: &Pattern, entity: &Entity, shared: bool, escaped: bool) -> String {
    // Only values that the caller knows can be in the partition key.
    let inputs: BTreeSet<&str> = pattern.inputs.iter().map(String::as_str).collect();
    let tested = pattern.filter.attributes();
    let is_known = |name: &&str| {
        inputs.contains(name) || tested.contains(name) && pattern.filter.values(name, entity).is_some()
    };
    let known: Vec<&str> =
        entity.attributes.iter().map(|attribute| attribute.name.as_str()).filter(is_known).collect();
    let field = |name: &str| field(entity, name, escaped);
    let parts: Vec<String> =
        known.iter().map(|name| format!("{}#{}", prefix(model, name), field(name))).collect();
    let partition = match parts.as_slice() {
        [] => format!("{}S#{{shard}}", entity.name.to_uppercase()),
        // A partition of its own holds nothing else.
        _ if shared => {
            let fields: Vec<String> = known.iter().map(|name| field(name)).collect();
            format!("{}#{}", pattern.name.to_uppercase(), fields.join("#"))
        }
        parts => parts.join("#"),
    };
    let when = lasting(pattern, entity);
    let when = match when.is_empty() {
        true => String::new(),
        false => format!(", when = {}", quoted(&when.to_string()).trim()),
    };
    let shard = if known.is_empty() { ", shard = { count = 4 }" } else { "" };
    format!("{{ key = [\"{partition}\", \"{}\"]{when}{shard} }}", sort_for(pattern, entity, shared, escaped))
}

/// The part of a pattern's condition that an index can rest on: times move on.
fn lasting(pattern: &Pattern, entity: &Entity) -> Condition {
    let is_time = |name: &str| entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time());
    let is_dated = |test: &Test| is_time(&test.attribute) && !test.comparison.constants().is_empty();
    let parts = pattern.filter.conjuncts().into_iter();
    Condition::All(parts.filter(|part| !part.tests().into_iter().any(is_dated)).cloned().collect())
}

/// The attribute of the order or the range, then the identity of the item. Entities that are read in one order have no prefix before it.
fn sort_for(pattern: &Pattern, entity: &Entity, shared: bool, escaped: bool) -> String {
    let order = pattern.order.as_ref().map(|order| order.by.as_str());
    let range = pattern.range.as_ref().map(|range| range.by.as_str());
    let wanted = range.or(order).filter(|name| !pattern.is_fixed(name));
    // Another entity may have its time under another name.
    let time = || entity.attributes.iter().find(|attribute| attribute.kind == ValueType::Timestamp);
    let first = wanted.map(|name| match entity.attribute(name) {
        Some(_) => name,
        None => time().map_or(name, |attribute| attribute.name.as_str()),
    });
    let identity: Vec<&str> = match entity.identity() {
        Some(id) => vec![id],
        None => entity.key_fields().filter(|field| *field != crate::template::SHARD).collect(),
    };
    let own = first.into_iter().chain(identity).filter(|name| entity.attribute(name).is_some());
    let mut parts: Vec<String> = each_once(own).map(|name| field(entity, name, escaped)).collect();
    if shared && first.is_some() {
        parts.insert(1.min(parts.len()), entity.name.to_uppercase());
    } else {
        parts.insert(0, entity.name.to_uppercase());
    }
    parts.join("#")
}

fn field(entity: &Entity, name: &str, escaped: bool) -> String {
    match entity.attribute(name).map(|attribute| &attribute.kind) {
        Some(ValueType::String) if escaped => format!("{{{name}:escaped}}"),
        _ => padded(entity, name),
    }
}

/// A field as a sort key needs it: numbers padded.
pub fn padded(entity: &Entity, name: &str) -> String {
    let format = entity.attribute(name).and_then(fitting_format);
    let parts = vec![Part::Field { name: name.to_owned(), format: format.unwrap_or(Format::Plain) }];
    Template { parts }.to_string()
}

/// The prefix that the table uses for an attribute, or one derived from its name.
pub fn prefix(model: &Model, attribute: &str) -> String {
    let used = model.lookup().prefix(model, attribute);
    used.filter(|prefix| !prefix.is_empty()).unwrap_or_else(|| {
        let name = attribute.strip_suffix("Id").or(attribute.strip_suffix("_id")).unwrap_or(attribute);
        name.to_uppercase()
    })
}
