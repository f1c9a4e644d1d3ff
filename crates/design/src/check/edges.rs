//! Rules about relationships: readable from both ends, stored once, and named in the direction they point.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::model::each_once::each_once;
use crate::model::value_type::ValueType;
use crate::model::{Entity, IndexKey, Model};
use crate::name_hints;
use crate::repair::{Edit, Repair, quoted_list};
use crate::template::{FieldTypes, Format, Part, Template};
use std::collections::HashSet;

/// Verbs that relate people to people and have no other meaning.
const VERBS: [&str; 8] = ["follow", "own", "manage", "mentor", "block", "employ", "supervise", "invite"];

/// The role of an attribute in a relationship.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Who acts: the follower.
    Actor,
    /// Who is acted upon: the followed.
    Target,
}

impl<'m> Checker<'m> {
    pub fn edges(&mut self) {
        let model = self.model;
        let followed = model.patterns.iter().flat_map(|pattern| &pattern.via);
        let followed: HashSet<&str> = followed.map(|via| via.entity.as_str()).collect();
        for entity in &model.entities {
            self.direction(entity);
            self.single(entity, followed.contains(entity.name.as_str()));
            self.refers(entity);
            self.stored_in_one_end(entity);
            if entity.edge.len() == 2 && entity.copies.is_none() {
                self.both_ends(entity);
            }
        }
    }

    /// Checks that prefix and attribute agree: `FOLLOWED_BY#{followerId}`.
    fn direction(&mut self, entity: &Entity) {
        let (model, delimiter) = (self.model, entity.delimiter());
        // `EMPLOYEE#` is the name of an entity and not a role where there are employees.
        let is_entity = |word: &str| {
            let meant = model.entity_in_any_case(&word.replace('_', ""));
            meant.is_some_and(|other| other.edge.is_empty() && other.name != entity.name)
        };
        let indexed = entity.indexes.iter().flat_map(|index_key| &index_key.key);
        for template in entity.key.iter().chain(indexed) {
            for (word, field) in named_fields(template, delimiter) {
                let Some((stem, wanted)) = role_of_word(&word) else { continue };
                let Some((other, found)) = role_of_attribute(&field) else { continue };
                if stem != other || wanted == found || is_entity(&word) {
                    continue;
                }
                let finding = self.about_entity("P215", Severity::Warning, entity);
                let meaning = match wanted {
                    Role::Actor => format!("the identifier of the one that {stem}s"),
                    Role::Target => format!("the identifier of the {stem}ed"),
                };
                self.report(
                    finding
                        .with_message(format!(
                            "{word}{delimiter} is followed by {field}, but must be followed by {meaning}"
                        ))
                        .with_help("swap the two attributes of the key, or rename the prefix"),
                );
            }
        }
    }

    /// The key of a relationship must hold its two ends and nothing else, so that it exists once and can be deleted.
    fn single(&mut self, entity: &Entity, is_followed: bool) {
        let ends = ends(self.model, entity, is_followed);
        let id = entity.id_of_edge();
        let has_ends = ends.iter().all(|end| entity.has_key_field(end));
        if ends.len() != 2 || !entity.identity.is_empty() || !(has_ends || id.is_some()) {
            return;
        }
        let more = varying(entity, &ends);
        let Some(first) = more.first() else { return };
        let name = &entity.name;
        let key = quoted_list(&key_of_ends(entity, &ends, &more));
        let help = match id {
            Some(id) => {
                format!(
                    "write key = {key}, or declare identity = \"{id}\" in place of edge if a pair may exist several times"
                )
            }
            None => format!(
                "write key = {key}, and put {first} into the sort key of an index: \"{}#{{{first}}}#{{{}}}\"",
                name.to_uppercase(),
                ends[1]
            ),
        };
        let finding = Finding::new("P225", Severity::Warning, entity.subject(), &entity.key_span);
        let message = format!(
            "{name} connects {}, but its key also holds {}: the same pair can exist twice, and cannot be deleted without knowing {first}",
            list(&ends),
            list(&more)
        );
        let edits = vec![Edit::set(&["entity", name, "key"], key.clone())];
        let repair = Repair { help: format!("write key = {key}"), edits };
        self.report(finding.with_message(message).with_help(help).with_proposals(vec![repair]));
    }

    /// A key that refers to another entity needs an attribute that this entity has.
    fn refers(&mut self, entity: &Entity) {
        let own = entity.key_fields().map(|field| (field, None));
        let of_indexes = entity.declared_indexes().flat_map(|index_key| {
            let fields = index_key.key.iter().flat_map(Template::fields);
            fields.map(move |field| (field, Some(index_key)))
        });
        let Some((field, index_key, other)) = own
            .chain(of_indexes)
            .find_map(|(field, index_key)| Some((field, index_key, self.lacking(entity, field)?)))
        else {
            return;
        };
        let (key, span) = match index_key {
            Some(own) => (format!("the key of {} in {}", entity.name, own.index), &own.span),
            None => (format!("the key of {}", entity.name), &entity.key_span),
        };
        let templates: Vec<String> = other.key.iter().map(Template::to_string).collect();
        let finding = Finding::new("P226", Severity::Warning, entity.subject(), span);
        self.report(
            finding
                .with_message(format!(
                    "{key} refers to a {} by {field}, but {} has no {field}; its key is {}",
                    other.name,
                    other.name,
                    templates.join(" / ")
                ))
                .with_help(format!(
                    "add {field} to the attributes and the key of {}, or name the attribute that identifies it",
                    other.name
                )),
        );
    }

    /// The other entity that a field of a key is named after, if it has no such attribute.
    fn lacking(&self, entity: &Entity, field: &str) -> Option<&'m Entity> {
        let stem = field.strip_suffix("Id").or_else(|| field.strip_suffix("_id"))?;
        let meant = self.model.entity_in_any_case(stem).filter(|other| other.name != entity.name)?;
        let is_known = meant.attribute(field).is_some() || meant.is_identified_by_id();
        (!is_known && self.model.owner_of(field).is_none()).then_some(meant)
    }

    /// A role of a user in something else is a relationship; as an attribute, there is one for each item.
    fn stored_in_one_end(&mut self, entity: &Entity) {
        let identifying = entity.identifying();
        let Some(id) = identifying.last().filter(|_| entity.edge.is_empty() && entity.copies.is_none())
        else {
            return;
        };
        for index_key in &entity.indexes {
            let Some((person, role)) = person_and_role(index_key, &identifying) else { continue };
            let (name, index) = (&entity.name, &index_key.index);
            let finding = Finding::new("P227", Severity::Warning, entity.subject(), &index_key.span);
            self.report(
                finding
                    .with_message(format!(
                        "{index} finds {name} by {person} and {role}, but one {name} holds a single {person} and {role}"
                    ))
                    .with_help(format!(
                        "if several can have access to it, make the relationship an entity, [entity.{name}Access] with edge = [\"{person}\", \"{id}\"] and {role}, and follow it with via"
                    )),
            );
        }
    }

    /// Checks that each end of a relationship is a partition key somewhere.
    fn both_ends(&mut self, entity: &Entity) {
        let model = self.model;
        let copies = model.copies_of(&entity.name);
        let locations = TableOrIndex::all(model);
        let edges = std::iter::once(entity).chain(copies);
        let mappings =
            edges.flat_map(|edge| locations.iter().filter_map(move |location| location.mapping(edge)));
        let mappings: Vec<KeyMapping<'_>> = mappings.collect();
        let is_closed = |(end, other): &(&str, &str)| !mappings.iter().any(|own| is_read_by(own, end, other));
        let [first, second] = entity.edge.as_slice() else { return };
        let ends = [(first.as_str(), second.as_str()), (second.as_str(), first.as_str())];
        let closed: Vec<&str> = ends.into_iter().filter(is_closed).map(|(end, _)| end).collect();
        let Some(end) = closed.first() else { return };
        let other = if *end == first { second } else { first };
        let finding = self.about_entity("P216", Severity::Warning, entity);
        self.report(
            finding.with_message(format!("{} cannot be read by {}", entity.name, list(&closed))).with_help(
                format!(
                    "add an index entry that starts with {end}: key = [\"{}\", \"{}\"]; if nothing asks for it, declare identity = [\"{first}\", \"{second}\"] in place of edge",
                    prefixed(entity, end),
                    prefixed(entity, other)
                ),
            ),
        );
    }
}

/// The person by whom an index finds items, and what the person may do with them. A person can be named by what the key calls it: `USER#{ownerId}`.
fn person_and_role<'a>(index_key: &'a IndexKey, identifying: &[&str]) -> Option<(&'a str, &'a str)> {
    let partition = index_key.key.first()?;
    let is_called_person = |field: &str| {
        let mut called = partition.field_prefixes().filter(|(own, _)| *own == field);
        called.any(|(_, word)| name_hints::is_person(&format!("{word}Id")))
    };
    let is_person = |field: &&str| name_hints::is_person(field) || is_called_person(field);
    let person = partition.fields().filter(|field| !identifying.contains(field)).find(is_person)?;
    let mut fields = index_key.key.iter().flat_map(Template::fields);
    Some((person, fields.find(|field| name_hints::is_role(field))?))
}

/// Returns whether all relationships of one end can be queried without knowing the other, or an instant.
fn is_read_by(mapping: &KeyMapping<'_>, end: &str, other: &str) -> bool {
    let is_instant = |part: &Part| match part {
        Part::Field { name, format: Format::Plain } => {
            mapping.entity.attribute(name).is_some_and(|attribute| attribute.kind.is_time())
        }
        _ => false,
    };
    let partition = &mapping.partition;
    if partition.has_field(other) || partition.parts.iter().any(is_instant) {
        return false;
    }
    let sorted = mapping.sort.iter().flat_map(Template::fields);
    let mut unknown = sorted.filter(|name| !partition.has_field(name));
    partition.has_field(end) || unknown.next() == Some(end)
}

/// An end of a relationship with the prefix that its key has: `USER#{userId}`.
fn prefixed(entity: &Entity, end: &str) -> String {
    let delimiter = entity.delimiter();
    let mut named = entity.key.iter().flat_map(|template| named_fields(template, delimiter));
    let word = named.find(|(_, field)| field == end).map(|(word, _)| word);
    format!("{}{delimiter}{{{end}}}", word.unwrap_or_else(|| entity.name.to_uppercase()))
}

/// The two attributes that an entity connects: as declared, or those of an entity that is named after a relationship, or followed as one
/// and has its beginning in the key.
fn ends<'m>(model: &'m Model, entity: &'m Entity, is_followed: bool) -> Vec<&'m str> {
    if !entity.edge.is_empty() {
        return entity.edge.iter().map(String::as_str).collect();
    }
    let is_beginning = |name: &str| match name_hints::is_lasting(&entity.name) {
        true => name_hints::is_time_of_beginning(name) || name_hints::is_creation_time(name),
        false => name_hints::is_time_of_beginning(name) && !name_hints::is_event(&entity.name),
    };
    let begins = || entity.key_fields().any(is_beginning);
    let is_edge = name_hints::is_relationship(&entity.name) || (is_followed && begins());
    let named = is_edge && entity.identity().is_none();
    let foreign = |name: &&str| model.owner_of(name).is_some_and(|owner| owner.name != entity.name);
    let mut ends: Vec<&str> = entity.key_fields().filter(|_| named).filter(foreign).collect();
    ends.dedup();
    ends
}

/// The fields of a relationship's key that let the same pair exist twice. Other identifiers belong to an end: the project of a task, the owner
/// of a repository.
fn varying<'e>(entity: &'e Entity, ends: &[&str]) -> Vec<&'e str> {
    let id = entity.id_of_edge();
    let varies = |name: &&str| {
        let kind = entity.attribute(name).map(|attribute| &attribute.kind);
        kind.is_some_and(|kind| kind.is_time() || matches!(kind, ValueType::Choice(_) | ValueType::Bool))
            || name_hints::is_role(name)
            || id == Some(*name)
    };
    each_once(entity.key_fields().filter(|name| !ends.contains(name)).filter(varies)).collect()
}

/// The key of a declared relationship with its two ends in place of what lets the same pair exist twice.
pub(super) fn edge_once(entity: &Entity) -> Option<Repair> {
    let ends: Vec<&str> = entity.edge.iter().map(String::as_str).collect();
    let more = varying(entity, &ends);
    if entity.edge.is_empty() || more.is_empty() {
        return None;
    }
    let key = quoted_list(&key_of_ends(entity, &ends, &more));
    let edits = vec![Edit::set(&["entity", &entity.name, "key"], key.clone())];
    Some(Repair { help: format!("write key = {key}"), edits })
}

/// A key without some of its fields, and with the ends that it lacks.
fn key_of_ends(entity: &Entity, ends: &[&str], fields: &[&str]) -> Vec<String> {
    let delimiter = entity.delimiter();
    let mut key: Vec<String> = entity.key.iter().map(|own| without(own, fields, delimiter)).collect();
    let missing = ends.iter().filter(|end| !entity.has_key_field(end));
    let missing: String = missing.map(|end| format!("{delimiter}{{{end}}}")).collect();
    if let Some(last) = key.last_mut() {
        last.push_str(&missing);
    }
    key
}

/// A template without some fields, each with the delimiter before it, or else the one behind it.
pub(super) fn without(template: &Template, fields: &[&str], delimiter: char) -> String {
    let mut text = String::new();
    for part in &template.parts {
        let own = Template { parts: vec![part.clone()] }.to_string();
        match part {
            Part::Field { name, .. } if fields.contains(&name.as_str()) => {
                text.truncate(text.trim_end_matches(delimiter).len());
            }
            _ if text.is_empty() => text.push_str(own.trim_start_matches(delimiter)),
            _ => text.push_str(&own),
        }
    }
    text
}

/// Fields with the words before them: `FOLLOWS#USER#{id}` yields FOLLOWS and USER.
fn named_fields(template: &Template, delimiter: char) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for pair in template.parts.windows(2) {
        let (Part::Text(text), Part::Field { name, .. }) = (&pair[0], &pair[1]) else { continue };
        for word in text.split(delimiter).filter(|word| !word.is_empty()) {
            found.push((word.to_owned(), name.clone()));
        }
    }
    found
}

/// `FOLLOWED_BY`, `FOLLOWER`: the one who follows. `FOLLOWS`, `FOLLOWING`: the one who is followed.
fn role_of_word(word: &str) -> Option<(String, Role)> {
    let word = word.to_lowercase();
    if let Some(verb) = word.strip_suffix("_by").or(word.strip_suffix("by")) {
        return verb.strip_suffix("ed").map(|stem| (stem.to_owned(), Role::Actor));
    }
    let word = word.trim_end_matches("_");
    // Other words ending in -s and -ing are mostly nouns: VOTES#, BOOKING#.
    let target =
        ["ing", "s"].into_iter().find_map(|end| word.strip_suffix(end)).filter(|stem| VERBS.contains(stem));
    let person = word.strip_suffix('s').unwrap_or(word);
    if let Some(stem) = person.strip_suffix("er") {
        return Some((stem.to_owned(), Role::Actor));
    }
    if let Some(stem) = person.strip_suffix("ee").or(person.strip_suffix("ed")) {
        return Some((stem.to_owned(), Role::Target));
    }
    target.map(|stem| (stem.to_owned(), Role::Target))
}

/// `followerId`: the one who follows. `followedId`, `followeeId`: the other.
fn role_of_attribute(name: &str) -> Option<(String, Role)> {
    let name = name.to_lowercase();
    let name = name.trim_end_matches("id").trim_end_matches('_');
    if let Some(stem) = name.strip_suffix("er") {
        return Some((stem.to_owned(), Role::Actor));
    }
    let stem = name.strip_suffix("ed").or(name.strip_suffix("ee")).or(name.strip_suffix("ing"))?;
    Some((stem.to_owned(), Role::Target))
}
