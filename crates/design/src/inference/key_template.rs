//! The template of a key: constant segments become text, others the field that has the same values.

use super::text_of;
use super::value_types::text_type;
use crate::item::Item;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Shard};
use crate::template::{Format, Part, SHARD, Template};
use std::collections::BTreeSet;

/// Larger numbers in a key are not shards.
const MAX_SHARDS: u64 = 200;

/// Infers the template of a key attribute. Values that no attribute has become a new attribute of the entity.
pub(super) fn infer(key: &str, items: &[&Item], entity: &mut Entity) -> Template {
    let segments: Vec<Vec<&str>> =
        items.iter().filter_map(|item| text_of(item, key)).map(|key| key.split('#').collect()).collect();
    let length = segments.iter().map(Vec::len).min().unwrap_or_default();
    if length == 0 {
        return Template::field(key);
    }
    let even = segments.iter().all(|parts| parts.len() == length);
    let mut parts: Vec<Part> = Vec::new();
    let mut literal = String::new();
    for position in 0..length {
        if position > 0 {
            literal.push('#');
        }
        // The last segment takes whatever longer keys have.
        let last = position + 1 == length && !even;
        let values: Vec<String> = segments
            .iter()
            .map(|parts| if last { parts[position..].join("#") } else { parts[position].to_owned() })
            .collect();
        let before = segments[0].get(position.wrapping_sub(1)).copied();
        match field(&values, items, entity, before) {
            None => literal.push_str(&values[0]),
            Some(part) => {
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(part);
            }
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Template { parts }
}

/// The field that has these values, or none if they are a constant.
fn field(values: &[String], items: &[&Item], entity: &mut Entity, before: Option<&str>) -> Option<Part> {
    let constant = values.iter().all(|value| value == &values[0]);
    let is_word =
        values[0].chars().all(|character| character.is_ascii_uppercase() || "_-".contains(character));
    if constant && (is_word || values[0].is_empty()) {
        return None;
    }
    if let Some(part) = existing_field(values, items, entity) {
        return Some(part);
    }
    if constant && before.is_none() {
        return None;
    }
    if let Some(shards) = shard_count(values) {
        let count = entity.shard.as_ref().map_or(shards, |shard| shard.count.max(shards));
        entity.shard = Some(Shard { by: None, count });
        return Some(Part::Field { name: SHARD.to_owned(), format: Format::Plain });
    }
    Some(new_field(values, entity, before))
}

/// The attribute that has these values, as they are or in a format.
fn existing_field(values: &[String], items: &[&Item], entity: &Entity) -> Option<Part> {
    if items.len() != values.len() {
        return None;
    }
    let widths: BTreeSet<usize> = values.iter().map(String::len).collect();
    let padded = widths.first().filter(|_| widths.len() == 1);
    let formats = [Format::Plain]
        .into_iter()
        .chain([4, 7, 10, 13, 16].map(Format::Bucket))
        .chain(padded.map(|width| Format::Padded { width: *width, decimals: 0 }));
    for format in formats {
        for attribute in entity.attributes.iter().filter(|attribute| is_applicable(format, &attribute.kind)) {
            let same = items.iter().zip(values).all(|(item, value)| {
                text_of(item, &attribute.name).and_then(|text| format.apply(text)).as_ref() == Some(value)
            });
            if same {
                return Some(Part::Field { name: attribute.name.clone(), format });
            }
        }
    }
    None
}

fn is_applicable(format: Format, kind: &ValueType) -> bool {
    match format {
        Format::Plain | Format::Escaped => true,
        Format::Bucket(_) => kind.is_time(),
        Format::Padded { .. } => kind.is_number(),
    }
}

/// A new attribute, named after the word before it in the key.
fn new_field(values: &[String], entity: &mut Entity, before: Option<&str>) -> Part {
    let word = before.map(str::to_lowercase).filter(|word| word.len() < 20).unwrap_or_default();
    let word: String = word.chars().filter(|character| character.is_alphanumeric()).collect();
    let kind = text_type(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let mut name = match (word.is_empty(), kind.is_time()) {
        (true, true) => "time".to_owned(),
        (true, false) => "part".to_owned(),
        (false, true) => format!("{word}Time"),
        (false, false) => format!("{word}Id"),
    };
    // A name that is taken belongs to other values.
    while entity.attribute(&name).is_some_and(|_| !entity.has_key_field(&name)) {
        name.push('2');
    }
    if entity.attribute(&name).is_none() {
        entity.attributes.push(Attribute::new(&name, kind));
    }
    Part::Field { name, format: Format::Plain }
}

/// Small numbers that no attribute has are shards; returns how many there are at least.
fn shard_count(values: &[String]) -> Option<u64> {
    let numbers: Option<Vec<u64>> =
        values.iter().map(|value| value.parse().ok().filter(|number| *number < MAX_SHARDS)).collect();
    let unpadded = values.iter().all(|value| value.len() == 1 || !value.starts_with('0'));
    numbers.filter(|_| unpadded).and_then(|numbers| numbers.into_iter().max()).map(|largest| largest + 1)
}
