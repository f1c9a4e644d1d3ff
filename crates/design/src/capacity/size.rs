//! The size of items and index entries, counted as DynamoDB does: names and values in UTF-8, keys as their templates write them.

use crate::audit::MARKER;
use crate::capacity::basis::{Basis, Estimate};
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model, Projection, Shard};
use crate::template::{Part, SHARD, Template};
use std::collections::BTreeMap;

/// What the storage of every item and of every index entry is billed in addition.
pub const STORAGE_OVERHEAD: f64 = 100.0;

/// Returns the average size of an entity's items: as declared, or computed from its attributes and keys.
pub fn item(model: &Model, entity: &Entity) -> Estimate {
    if let Some(bytes) = entity.expect.bytes {
        return Estimate::declared(bytes as f64);
    }
    let attributes = entity.attributes.iter().map(attribute);
    let type_name = model.table.type_attribute.as_ref();
    let type_bytes = type_name.map_or(0, |name| name.len() + entity.type_value.len()) as f64;
    let mut generated: BTreeMap<&str, Estimate> = table_keys(model, entity).collect();
    // Items outside a sparse index lack its keys.
    for own in entity.indexes.iter().filter(|own| own.when.is_empty()) {
        let Some(index) = model.index(&own.index) else { continue };
        let shard = own.shard.as_ref().or(entity.shard.as_ref());
        generated.extend(keys(model, entity, TableOrIndex { index: Some(index) }, &own.key, shard));
    }
    let generated = generated.into_iter().filter(|(name, _)| entity.attribute(name).is_none());
    attributes.chain(generated.map(|(_, bytes)| bytes)).sum::<Estimate>() + Estimate::derived(type_bytes)
}

/// Returns the largest size of an entity's items: as declared, or the average.
pub fn largest_item(model: &Model, entity: &Entity) -> Estimate {
    let average = item(model, entity);
    match entity.expect.max_bytes {
        Some(most) if most as f64 >= average.value => Estimate::declared(most as f64),
        _ => average,
    }
}

/// Returns the average size of an entity's items in the table or an index.
pub fn entry<'m>(model: &'m Model, mapping: &KeyMapping<'m>) -> Estimate {
    let whole = item(model, mapping.entity);
    let projected: &[String] = match mapping.location.index.map(|index| &index.project) {
        None | Some(Projection::All) => return whole,
        Some(Projection::KeysOnly) => &[],
        Some(Projection::Include(names)) => names,
    };
    let mut parts: BTreeMap<&str, Estimate> = table_keys(model, mapping.entity).collect();
    parts.extend(keys(model, mapping.entity, mapping.location, mapping.key, mapping.shard));
    let included = projected.iter().filter_map(|name| mapping.entity.attribute(name));
    parts.extend(included.map(|one| (one.name.as_str(), attribute(one))));
    let bytes: Estimate = parts.into_values().sum();
    if bytes.value < whole.value { bytes } else { whole }
}

/// Returns the average size of an entity's items with their entries in local indexes, which belong to the same item collection.
pub fn in_collection(model: &Model, entity: &Entity) -> Estimate {
    let local = model.indexes.iter().filter(|index| index.local);
    let mappings = local.filter_map(|index| TableOrIndex { index: Some(index) }.mapping(entity));
    let entries = mappings.filter(|mapping| !mapping.is_sparse()).map(|mapping| entry(model, &mapping));
    item(model, entity) + entries.sum::<Estimate>()
}

/// Returns the sizes of the items that keep an entity's values unique, one for each of its uniqueness rules.
pub fn markers(model: &Model, entity: &Entity) -> impl Iterator<Item = Estimate> {
    let names: usize = model.table.keys.iter().map(String::len).sum();
    let keys = model.table.keys.len() as f64;
    entity.unique.iter().map(move |unique| {
        // Values and the text before them are separated.
        let text = MARKER.len() + entity.name.len() + unique.join(",").len() + unique.len() + 1;
        let values = unique.iter().filter_map(|name| entity.attribute(name)).map(value_bytes);
        let key = values.sum::<Estimate>() + Estimate::derived(text as f64);
        key.map(|bytes| bytes * keys) + Estimate::derived(names as f64)
    })
}

/// Returns the size of an entity's text in a key.
pub fn key_text(entity: &Entity, template: &Template, shards: u64) -> Estimate {
    template.parts.iter().map(|part| part_text(entity, part, shards)).sum()
}

fn table_keys<'m>(model: &'m Model, entity: &'m Entity) -> impl Iterator<Item = (&'m str, Estimate)> {
    keys(model, entity, TableOrIndex { index: None }, &entity.key, entity.shard.as_ref())
}

/// The key attributes of an entity in the table or an index, with the size of name and value.
fn keys<'m>(
    model: &'m Model,
    entity: &'m Entity,
    location: TableOrIndex<'m>,
    key: &'m [Template],
    shard: Option<&Shard>,
) -> impl Iterator<Item = (&'m str, Estimate)> + use<'m> {
    let shards = shard.map_or(1, |shard| shard.count);
    let names = location.key_names(model).iter().enumerate();
    names.zip(key).map(move |((position, name), template)| {
        let value = match template.bare_field().and_then(|field| entity.attribute(field)) {
            Some(own) if location.key_is_number(model, position) => value_bytes(own),
            _ => key_text(entity, template, shards),
        };
        (name.as_str(), value + Estimate::derived(name.len() as f64))
    })
}

/// Returns the size of an attribute: its name and its value.
pub fn attribute(attribute: &Attribute) -> Estimate {
    value_bytes(attribute) + Estimate::derived(attribute.name.len() as f64)
}

fn value_bytes(attribute: &Attribute) -> Estimate {
    let kind = &attribute.kind;
    let exact =
        !attribute.optional && (kind.has_fixed_width() || kind.distinct().is_some() || kind.is_time());
    let basis = if exact { Basis::Derived } else { Basis::Assumed };
    Estimate::new(kind.typical_bytes() as f64, basis)
}

fn part_text(entity: &Entity, part: &Part, shards: u64) -> Estimate {
    let (name, format) = match part {
        Part::Text(text) => return Estimate::derived(text.len() as f64),
        Part::Field { name, format } => (name, format),
    };
    if let Some(length) = format.length() {
        return Estimate::derived(length as f64);
    }
    match entity.attribute(name) {
        None if name == SHARD => Estimate::derived((shards.max(1) - 1).to_string().len() as f64),
        Some(own) if own.kind == ValueType::Bool => Estimate::derived("false".len() as f64),
        Some(own) => value_bytes(own),
        None => Estimate::assumed(ValueType::String.typical_bytes() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.G]
keys = ["GPK"]
project = "KEYS_ONLY"
[entity.Order]
attributes = { orderId = "ulid", day = "date", paid = "bool" }
key = ["ORDER#{orderId}", "DAY#{day:month}#{shard}"]
shard = { count = 100 }
index.G = { key = ["DAY#{day}#{paid}"] }
"#;

    #[test]
    fn prefixes_and_names_are_counted_exactly() {
        let model = read(&Source::new("t.toml", MODEL)).unwrap();
        let order = &model.entities[0];
        let keys = (2 + 6 + 26) + (2 + 4 + 7 + 1 + 2);
        let index = 3 + 4 + 10 + 1 + 5;
        let attributes = (7 + 26) + (3 + 10) + (4 + 1);
        let total = keys + index + attributes + 4 + 5;
        assert_eq!(item(&model, order), Estimate::derived(f64::from(total)));
        let mapping = TableOrIndex { index: model.index("G") }.mapping(order).unwrap();
        assert_eq!(entry(&model, &mapping), Estimate::derived(f64::from(keys + index)));
    }

    #[test]
    fn free_text_has_an_assumed_size_unless_it_is_declared() {
        let text = MODEL.replace("paid = \"bool\"", "paid = \"bool\", note = \"string\"");
        let model = read(&Source::new("t.toml", text.clone())).unwrap();
        assert!(item(&model, &model.entities[0]).basis.is_assumed());
        let declared = format!("{text}expect = {{ bytes = 300 }}\n");
        let model = read(&Source::new("t.toml", declared)).unwrap();
        assert_eq!(item(&model, &model.entities[0]), Estimate::declared(300.0));
    }
}
