//! What the keys of some entities say about those of others: what follows a word is an identifier where it is one elsewhere.

use super::explain::merged;
use super::group::{Group, GroupKey};
use super::key_template::MAX_SHARDS;
use super::names::FieldNames;
use super::pieces::{STRONG, is_mark, pieces};
use super::style::{is_singleton, is_upper_word, is_word};
use crate::draft::{Answers, Asked, Draft, Question};
use crate::model::{Attribute, Model};
use crate::relational::naming;
use crate::template::{Format, Part, SHARD, Template};
use std::collections::BTreeSet;

/// A template of the table's key or of an index's.
struct Key {
    entity: usize,
    index: Option<String>,
    position: usize,
    /// The attribute that it is the template of.
    attribute: String,
    template: Template,
}

/// Settles what other entities tell, and asks where they only suggest it.
///
/// # Errors
///
/// Returns a message if an answer does not fit.
pub(super) fn settle(
    groups: &[(GroupKey, Group)],
    names: &FieldNames,
    draft: &mut Draft,
) -> Result<(), String> {
    join_identifiers(groups, draft);
    let keys = keys(&draft.model);
    let asked = draft.questions.iter().filter(|question| is_identified(question, &keys, groups));
    let mut answers: Answers =
        asked.map(|question| (question.id.clone(), question.choices[0].clone())).collect();
    for key in &keys {
        let Some((start, value, is_known)) = value_in(key, &keys, groups) else { continue };
        let question = question(key, start, value, names, &draft.model);
        if draft.questions.iter().all(|other| other.id != question.id) {
            answers.extend(is_known.then(|| (question.id.clone(), question.choices[0].clone())));
            draft.questions.push(question);
        }
    }
    draft.answer(&answers)
}

/// The templates of all keys, without those of the table that an index has too.
fn keys(model: &Model) -> Vec<Key> {
    let mut keys = Vec::new();
    for (number, entity) in model.entities.iter().enumerate() {
        let mut add = |index: Option<&str>, names: &[String], templates: &[Template]| {
            for (position, (name, template)) in names.iter().zip(templates).enumerate() {
                if index.is_none() || !model.table.keys.contains(name) {
                    keys.push(Key {
                        entity: number,
                        index: index.map(str::to_owned),
                        position,
                        attribute: name.clone(),
                        template: template.clone(),
                    });
                }
            }
        };
        add(None, &model.table.keys, &entity.key);
        for own in &entity.indexes {
            let names = model.index(&own.index).map(|index| index.keys.as_slice()).unwrap_or_default();
            add(Some(&own.index), names, &own.key);
        }
    }
    keys
}

/// Joins a word before an identifier with it where another entity has both as one attribute: `ACCT#acc_{acctId}` beside `ACCT#{accountId}`.
fn join_identifiers(groups: &[(GroupKey, Group)], draft: &mut Draft) {
    let keys = keys(&draft.model);
    for key in &keys {
        let found = keys.iter().find_map(|other| Some((other, split_identifier(key, other, groups)?)));
        let Some((other, (word, field, name))) = found else { continue };
        let whole = draft.model.entities[other.entity].attribute(name).cloned();
        if let Some(whole) = whole {
            join(key.entity, (word, field), &whole, draft);
        }
    }
}

/// The word and the field behind it in a key, and the attribute that is both of them in another key.
fn split_identifier<'k>(
    key: &'k Key,
    other: &'k Key,
    groups: &[(GroupKey, Group)],
) -> Option<(&'k str, &'k str, &'k str)> {
    let (text, field) = started(&key.template)?;
    let (start, name) = started(&other.template).filter(|(start, _)| ends_with_word(start))?;
    let word = text.strip_prefix(start).filter(|word| !word.is_empty() && !word.contains(STRONG))?;
    let [group, owner] = [key, other].map(|key| &groups[key.entity].1);
    let [own, whole] =
        [(key, group), (other, owner)].map(|(key, group)| values_after(start, &key.attribute, group));
    let is_same = !own.is_disjoint(&whole) && whole.iter().all(|value| value.starts_with(word));
    (is_same && group.having(field) == 0 && owner.having(name) > 0).then_some((word, field, name))
}

/// The text that a template starts with, and the field behind it.
fn started(template: &Template) -> Option<(&str, &str)> {
    match template.parts.as_slice() {
        [Part::Text(text), Part::Field { name, format: Format::Plain }, ..] => Some((text, name)),
        _ => None,
    }
}

/// Replaces a word and a field by an attribute of another entity, if they belong together in all keys of the entity.
fn join(number: usize, (word, field): (&str, &str), whole: &Attribute, draft: &mut Draft) {
    let entity = &mut draft.model.entities[number];
    let is_taken = whole.name != field && entity.attribute(&whole.name).is_some();
    let templates = || entity.indexes.iter().map(|own| &own.key).chain([&entity.key]).flatten();
    if is_taken || templates().any(|template| joined(template, word, field).is_none()) {
        return;
    }
    for template in entity.indexes.iter_mut().map(|own| &mut own.key).chain([&mut entity.key]).flatten() {
        if let Some(joined) = joined(template, word, field) {
            *template = joined;
        }
    }
    for own in entity.attributes.iter_mut().filter(|own| own.name == field) {
        *own = Attribute { name: field.to_owned(), ..whole.clone() };
    }
    entity.numbers = Default::default();
    let entity = entity.name.clone();
    draft.rename_attribute(&entity, field, &whole.name);
    // What the other entity calls it is no guess.
    let named = Asked::AttributeName { entity, attribute: whole.name.clone() };
    draft.questions.retain(|question| question.asked != named);
}

/// A template without the word before a field; `None` if something else is before it.
fn joined(template: &Template, word: &str, field: &str) -> Option<Template> {
    let mut parts: Vec<Part> = Vec::new();
    for part in &template.parts {
        if matches!(part, Part::Field { name, .. } if name == field) {
            let Some(Part::Text(text)) = parts.last_mut() else { return None };
            text.truncate(text.strip_suffix(word)?.len());
        }
        parts.push(part.clone());
    }
    Some(Template { parts: merged(parts) })
}

/// Whether a question is about a number that is no shard: at its place or after its word, another key has an identifier, or an attribute
/// refers to it.
fn is_identified(question: &Question, keys: &[Key], groups: &[(GroupKey, Group)]) -> bool {
    let Some((start, _)) = question.assumed.split_once(&format!("{{{SHARD}}}")) else { return false };
    let name = question.choices[0][start.len()..].split(['{', '}']).nth(1).unwrap_or_default();
    let word = name.strip_suffix("Id").unwrap_or(name);
    let names = [name.to_owned(), format!("{}Id", naming::entity(word))].map(|name| letters(&name));
    let mut attributes = groups.iter().flat_map(|(_, group)| group.attributes.keys());
    // Without a word before it, its name is made up.
    let refers = |attribute: &String| ends_with_word(start) && names.contains(&letters(attribute));
    let is_own = |key: &Key| has_number_after(start, key, &groups[key.entity].1);
    keys.iter().any(|key| has_identifier_after(start, &key.template) || is_own(key)) || attributes.any(refers)
}

/// Whether a key starts with the word at the end of `start`, and a number as small as that of a shard: `ROOM#7` beside `FLOOR#2#ROOM#7`.
fn has_number_after(start: &str, key: &Key, group: &Group) -> bool {
    let word = start.rsplit('}').next().unwrap_or_default().trim_start_matches(is_mark);
    let is_small = |text: &&str| text.parse().is_ok_and(|number: u64| number < MAX_SHARDS);
    ends_with_word(word)
        && has_identifier_after(word, &key.template)
        && values_after(word, &key.attribute, group).iter().any(is_small)
}

fn letters(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

/// Whether a template has an identifier after a start.
fn has_identifier_after(start: &str, template: &Template) -> bool {
    template.parts.iter().enumerate().any(|(place, part)| {
        let is_identifier =
            matches!(part, Part::Field { name, format: Format::Plain } if name != SHARD && !name.is_empty());
        is_identifier && Template { parts: template.parts[..place].to_vec() }.to_string() == start
    })
}

/// The text of a key that other keys have a value in place of: what precedes it, itself, and whether it is one of those values.
fn value_in<'k>(
    key: &'k Key,
    keys: &[Key],
    groups: &[(GroupKey, Group)],
) -> Option<(&'k str, &'k str, bool)> {
    let text = key.template.prefix();
    let found = keys.iter().filter_map(|other| {
        let [Part::Text(start), Part::Field { format: Format::Plain | Format::Lower, .. }, ..] =
            other.template.parts.as_slice()
        else {
            return None;
        };
        let value = text.strip_prefix(start.as_str()).filter(|_| ends_with_word(start))?;
        let value = value.split(STRONG).next().filter(|value| !value.is_empty())?;
        let values = values_after(start, &other.attribute, &groups[other.entity].1);
        let is_alike = |other: &&str| is_word(other) && is_upper_word(other) == is_upper_word(value);
        let is_known = values.contains(value);
        let may_be = is_known || (is_word(value) && !is_singleton(value) && values.iter().any(is_alike));
        may_be.then_some((&text[..start.len()], value, is_known))
    });
    found.max_by_key(|(start, _, is_known)| (*is_known, start.len()))
}

/// Whether a text ends with a word and a separator.
fn ends_with_word(text: &str) -> bool {
    let word = text.trim_end_matches(is_mark);
    word.len() < text.len() && pieces(word).last().is_some_and(|last| is_word(last.text))
}

/// The values that follow a start in a key attribute.
fn values_after<'g>(start: &str, attribute: &str, group: &'g Group) -> BTreeSet<&'g str> {
    let texts = group.sample.iter().filter_map(|item| item.get(attribute)?.as_text()?.strip_prefix(start));
    texts.filter_map(|text| text.split(STRONG).next()).collect()
}

/// Asks whether a text in a key is a value.
fn question(key: &Key, start: &str, value: &str, names: &FieldNames, model: &Model) -> Question {
    let entity = &model.entities[key.entity];
    let word = start.trim_end_matches(|last: char| !last.is_alphanumeric());
    let word = pieces(word).last().map_or(word, |last| last.text).to_owned();
    let name = naming::free_name(&names.identifier(&word), |name| entity.attribute(name).is_some());
    let assumed = key.template.to_string();
    let choice = assumed.replacen(&format!("{start}{value}"), &format!("{start}{{{name}}}"), 1);
    let asked =
        Asked::Template { entity: entity.name.clone(), index: key.index.clone(), position: key.position };
    let text = format!("Other keys have values after {start}: is {value} one, too?");
    Question::new(asked, text, assumed).with_choices([choice])
}
