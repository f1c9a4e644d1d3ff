//! Items whose texts are chosen to break proofs: they contain delimiters, prefixes of other keys and control characters, or differ only in case.

use super::{Trial, promised};
use partita_design::audit::check_item;
use partita_design::generate::Generator;
use partita_design::item::{Attributes, Item, attributes};
use partita_design::model::value_type::ValueType;
use partita_design::model::{Entity, Model};
use partita_design::template::{FieldTypes, Part};
use partita_design::{Source, read};
use std::collections::{BTreeMap, BTreeSet};

/// How many levels of parents the generator computes.
const DEPTH: u32 = 6;

/// Checks every served pattern of a model over hostile items; returns the number of patterns and of items.
pub fn check(text: &str, seed: u64) -> (usize, usize) {
    let Ok(model) = read(&Source::new("hostile", text)) else { return (0, 0) };
    let trial = Trial::with(&model, items(&model, seed));
    let promised = promised(&model);
    let context = format!("seed {seed}\n{text}");
    let compared = promised.iter().map(|(pattern, plan)| trial.check(pattern, plan, &context)).sum();
    (promised.len(), compared)
}

/// Items that the model admits, of which those with equal keys replace each other.
fn items(model: &Model, seed: u64) -> Vec<Item> {
    let generator = Generator::new(model, seed, 240);
    let (words, names) = (words(model), names(model));
    let mut items = BTreeMap::new();
    for entity in &model.entities {
        for number in generator.numbers(entity) {
            let mut values = generator.values(entity, number, DEPTH);
            spoil(entity, &mut values, (&words, &names), seed.wrapping_mul(31).wrapping_add(number));
            let item = generator.item_of(entity, values, number);
            let has_keys =
                attributes(&item).iter().all(|(name, text)| !is_key(model, name) || !text.is_empty());
            if has_keys && check_item(model, &item).is_empty() {
                let key: Vec<_> = model.table.keys.iter().map(|name| item.get(name).cloned()).collect();
                items.insert(format!("{key:?}"), item);
            }
        }
    }
    items.into_values().collect()
}

fn is_key(model: &Model, name: &str) -> bool {
    let mut keys = model.table.keys.iter().chain(model.indexes.iter().flat_map(|index| &index.keys));
    keys.any(|key| key == name)
}

/// Texts of the keys of all entities, and what joins them.
fn words(model: &Model) -> Vec<String> {
    let templates = model
        .entities
        .iter()
        .flat_map(|entity| entity.key.iter().chain(entity.indexes.iter().flat_map(|own| &own.key)));
    let texts = templates.flat_map(|template| &template.parts).filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Field { .. } => None,
    });
    let delimiter = model.entities.first().map_or('#', FieldTypes::delimiter);
    let own = ["a", "A", "b", "a b", "a\tb", "é"].map(str::to_owned);
    let joined = ["a", "A", "b"].map(|text| format!("{text}{delimiter}b"));
    let begun: BTreeSet<String> = texts.map(|text| format!("{text}a")).collect();
    begun.into_iter().chain(own).chain(joined).collect()
}

/// Identifiers of others, which contain what follows fields in the keys of the model. The delimiter is not among it.
fn names(model: &Model) -> Vec<String> {
    let templates = model
        .entities
        .iter()
        .flat_map(|entity| entity.key.iter().chain(entity.indexes.iter().flat_map(|own| &own.key)));
    let delimiter = model.entities.first().map_or('#', FieldTypes::delimiter);
    let following = templates.flat_map(|template| template.parts.windows(2)).filter_map(|pair| match pair {
        [Part::Field { .. }, Part::Text(text)] => text.split(delimiter).next().map(str::to_owned),
        _ => None,
    });
    let following: BTreeSet<String> = following.chain([String::new()]).collect();
    let joined = following
        .iter()
        .flat_map(|text| [format!("p{text}q"), format!("p{text}"), format!("q{text}p{text}")]);
    let names: BTreeSet<String> = ["p", "P", "q"].map(str::to_owned).into_iter().chain(joined).collect();
    names.into_iter().collect()
}

/// Replaces texts and references, so that a few values recur in many items.
fn spoil(entity: &Entity, values: &mut Attributes, (words, names): (&[String], &[String]), seed: u64) {
    let own = entity.identifying();
    for (number, attribute) in entity.attributes.iter().enumerate() {
        let is_own = own.contains(&attribute.name.as_str());
        let drawn = seed.wrapping_add(number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let Some(value) = values.get_mut(&attribute.name) else { continue };
        match attribute.kind {
            ValueType::String => *value = words[drawn as usize % words.len()].clone(),
            ValueType::Id if !is_own => *value = names[drawn as usize % names.len()].clone(),
            ValueType::Int if !is_own && attribute.limits.max.is_some() => *value = (drawn % 13).to_string(),
            ValueType::Id | ValueType::Uuid if drawn.is_multiple_of(2) => *value = value.to_uppercase(),
            _ => {}
        }
    }
}
