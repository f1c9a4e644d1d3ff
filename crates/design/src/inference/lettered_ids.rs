//! Identifiers of letters and digits without a separator: `P12`, `INV00000017`. Where only their letters tell the keys of entities apart, they are
//! text of the keys.

use super::explain::{form, with_text_before};
use super::group::{Group, GroupKey};
use super::style::lettered_start;
use super::typed_ids;
use crate::draft::Draft;
use crate::item::{Item, Value};
use crate::model::{Entity, Model};
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

/// Puts the letters that alone tell entities apart into the keys of all entities.
pub(super) fn split(groups: &[(GroupKey, Group)], draft: &mut Draft) {
    let entities = draft.model.entities.iter().zip(groups);
    let starts: Vec<BTreeMap<String, String>> =
        entities.map(|(entity, (_, group))| starts(entity, group, &draft.model)).collect();
    let telling = telling(&draft.model.entities, &starts);
    for (number, starts) in starts.into_iter().enumerate() {
        let group = &groups[number].1;
        for (name, start) in starts.into_iter().filter(|(_, start)| telling.contains(start)) {
            if group.having(&name) > 0 {
                typed_ids::cut(number, group, &name, &start, draft);
            } else {
                put_before(&mut draft.model.entities[number], &name, &start);
            }
        }
    }
}

/// The letters that all values of a field start with, before digits, by the name of the field.
fn starts(entity: &Entity, group: &Group, model: &Model) -> BTreeMap<String, String> {
    let mut starts: BTreeMap<String, BTreeSet<Option<&str>>> = BTreeMap::new();
    let mut keys: Vec<(&String, &Template)> = model.table.keys.iter().zip(&entity.key).collect();
    for own in &entity.indexes {
        let names = model.index(&own.index).map(|index| index.keys.as_slice()).unwrap_or_default();
        keys.extend(names.iter().zip(&own.key));
    }
    let texts: Vec<(&str, &Template)> = group
        .sample
        .iter()
        .flat_map(|item| keys.iter().filter_map(|(name, template)| Some((text(item, name)?, *template))))
        .collect();
    let values: Vec<(String, String)> = texts
        .iter()
        .flat_map(|(text, template)| template.matches(text, entity).unwrap_or_default())
        .collect();
    for (name, value) in &values {
        starts.entry(name.clone()).or_default().insert(lettered_start(value));
    }
    let only = |own: &BTreeSet<Option<&str>>| match Vec::from_iter(own).as_slice() {
        [Some(start)] => Some((*start).to_owned()),
        _ => None,
    };
    starts.iter().filter_map(|(name, own)| Some((name.clone(), only(own)?))).collect()
}

fn text<'i>(item: &'i Item, name: &str) -> Option<&'i str> {
    item.get(name).and_then(Value::as_text)
}

/// The starts at which two entities differ whose keys are the same otherwise.
fn telling(entities: &[Entity], starts: &[BTreeMap<String, String>]) -> BTreeSet<String> {
    let mut alike: BTreeMap<Vec<String>, Vec<Vec<Option<&String>>>> = BTreeMap::new();
    for (entity, starts) in entities.iter().zip(starts) {
        let form = entity.key.iter().map(form).collect();
        let fields = entity.key.iter().flat_map(Template::fields);
        alike.entry(form).or_default().push(fields.map(|field| starts.get(field)).collect());
    }
    let pairs = alike.values().flat_map(|rows| {
        rows.iter().enumerate().flat_map(|(at, one)| rows[..at].iter().map(move |other| (one, other)))
    });
    let differing = pairs.flat_map(|(one, other)| one.iter().zip(other).filter(|(one, other)| one != other));
    differing.filter_map(|(one, other)| Some([(*one)?.clone(), (*other)?.clone()])).flatten().collect()
}

/// Puts a text before a field of all keys.
fn put_before(entity: &mut Entity, name: &str, text: &str) {
    let indexes = entity.indexes.iter_mut().flat_map(|index_key| &mut index_key.key);
    for template in entity.key.iter_mut().chain(indexes) {
        *template = with_text_before(template, name, text, name);
    }
}
