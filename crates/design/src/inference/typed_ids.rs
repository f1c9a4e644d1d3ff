//! Identifiers with their type inside: `cus_2265b1`. Where only they tell the items of entities apart, the word in them is a part of the key, and
//! what follows it an attribute of its own.

use super::explain::with_text_before;
use super::group::{Group, GroupKey};
use super::pieces::pieces;
use super::style::is_word;
use super::values::Summary;
use crate::draft::{Asked, Draft};
use crate::item::Value;
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity};
use crate::template::{Format, Part, Template};
use std::collections::BTreeSet;

/// Splits the identifiers that alone tell entities apart, in the keys of all entities.
pub(super) fn split(groups: &[(GroupKey, Group)], draft: &mut Draft) {
    if groups.len() < 2 {
        return;
    }
    let entities = || groups.iter().zip(&draft.model.entities);
    let telling =
        entities().filter_map(|((key, group), entity)| telling(key, group, entity, &draft.model.table.keys));
    // What only the key of an entity contains is cut there already.
    let written = entities().flat_map(|(_, entity)| entity.key.iter().filter_map(written_start));
    let starts: BTreeSet<String> = telling.chain(written.map(str::to_owned)).collect();
    for (number, (_, group)) in groups.iter().enumerate() {
        let names: BTreeSet<String> =
            draft.model.entities[number].key.iter().flat_map(Template::fields).map(str::to_owned).collect();
        for name in names {
            // What refers to an item has its identifier under another name.
            let Some(start) = start_of(group, &name).filter(|start| starts.contains(start)) else { continue };
            let rest = cut(number, group, &name, &start, draft);
            rename_others(groups, &name, &start, number, &rest, draft);
        }
    }
}

/// The word and the separator that a template starts with, before a field.
fn written_start(template: &Template) -> Option<&str> {
    let [Part::Text(text), Part::Field { format: Format::Plain, .. }, ..] = template.parts.as_slice() else {
        return None;
    };
    let pieces = pieces(text);
    (pieces.len() == 2 && pieces[1].text.is_empty() && is_word(pieces[0].text)).then_some(text)
}

/// Gives the rest of an identifier the same name where other entities have the identifier in their keys alone.
fn rename_others(
    groups: &[(GroupKey, Group)],
    name: &str,
    start: &str,
    owner: usize,
    rest: &str,
    draft: &mut Draft,
) {
    let values = |number: usize, name: &str| -> BTreeSet<&str> {
        let group: &Group = &groups[number].1;
        group.sample.iter().filter_map(|item| item.get(name)?.as_text()).collect()
    };
    let own = values(owner, name);
    let keys = draft.model.table.keys.clone();
    for number in (0..groups.len()).filter(|number| *number != owner) {
        let entity = &draft.model.entities[number];
        let is_same = |(template, key): (&Template, &String)| {
            let field = template.parts.get(1).filter(|_| written_start(template) == Some(start))?;
            let Part::Field { name, .. } = field else { return None };
            let is_in_key = groups[number].1.having(name) == 0 && !own.is_disjoint(&values(number, key));
            is_in_key.then(|| name.clone())
        };
        let Some(field) = entity.key.iter().zip(&keys).find_map(is_same) else { continue };
        let entity = entity.name.clone();
        draft.rename_attribute(&entity, &field, rest);
        let asked = Asked::AttributeName { entity, attribute: rest.to_owned() };
        if !draft.questions.iter().any(|question| question.asked == asked) {
            let text = format!(
                "It is that of {}, after {start}: what is it called?",
                draft.model.entities[owner].name
            );
            draft.ask(asked, text, rest);
        }
    }
}

/// What the identifier in a key starts with, if it has the word of its entity inside and no key of the entity has a word of its own.
fn telling(key: &GroupKey, group: &Group, entity: &Entity, keys: &[String]) -> Option<String> {
    if entity.key.iter().any(|template| !template.prefix().is_empty()) {
        return None;
    }
    entity.key.iter().zip(&key.shape).rev().find_map(|(template, shape)| {
        let word = shape.split('#').next().filter(|word| is_word(word))?;
        let Some(Part::Field { name, format: Format::Plain }) = template.parts.first() else { return None };
        let start = start_of(group, name).filter(|start| start.starts_with(word))?;
        (!keys.contains(name)).then_some(start)
    })
}

/// The word and the separator that all values of an attribute start with, before something else.
fn start_of(group: &Group, name: &str) -> Option<String> {
    let mut common: Option<&str> = None;
    for item in &group.sample {
        let Some(Value::String(text)) = item.get(name) else { return None };
        let pieces = pieces(text);
        let length = pieces.first()?.text.len() + pieces.get(1)?.mark.len();
        let start = text.get(..length).filter(|start| start.len() < text.len())?;
        if !is_word(pieces[0].text) || common.is_some_and(|common| common != start) {
            return None;
        }
        common = Some(start);
    }
    common.map(str::to_owned)
}

/// Puts the start of an attribute into the keys of an entity, and the rest into an attribute of its own; asks for its name, and returns the one that it has.
pub(super) fn cut(number: usize, group: &Group, name: &str, start: &str, draft: &mut Draft) -> String {
    let entity = &mut draft.model.entities[number];
    let mut rest = format!("{name}Rest");
    while entity.attribute(&rest).is_some() {
        rest.push('2');
    }
    let mut summary = Summary::default();
    let texts = group.sample.iter().filter_map(|item| item.get(name)?.as_text()?.strip_prefix(start));
    texts.for_each(|text| summary.add_text(text));
    for template in &mut entity.key {
        *template = with_text_before(template, name, start, &rest);
    }
    // What ends the word may be the delimiter, which identifiers do not contain.
    for own in entity.attributes.iter_mut().filter(|own| own.name == name && own.kind == ValueType::Id) {
        own.kind = ValueType::String;
    }
    entity
        .attributes
        .push(Attribute { limits: summary.limits(), ..Attribute::new(&rest, summary.text_type()) });
    entity.numbers = Default::default();
    entity.identity.clear();
    entity.identify_by_key();
    let text = format!("{name} is {start} and this, which tells items apart: what is it called?");
    let asked = Asked::AttributeName { entity: entity.name.clone(), attribute: rest.clone() };
    draft.ask(asked, text, rest.clone());
    rest
}
