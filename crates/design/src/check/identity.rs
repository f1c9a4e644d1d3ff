//! Rules about the identity of items: no two items, of one entity or of two, may have the same primary key.

mod alike;
mod markers;

use super::Checker;
use super::edges::edge_once;
use crate::audit::copying::Copying;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::key_tree::KeyTree;
use crate::keys::keyspace::{MAX_NAMED, key_tokens};
use crate::model::each_once::each_once;
use crate::model::limits::Precision;
use crate::model::{Entity, Model};
use crate::plan::{Operation, Step};
use crate::repair::{Edit, Repair, quoted_list};
use crate::template::{FieldTypes, Format, Part, SHARD, Template};
use std::collections::BTreeSet;

impl<'m> Checker<'m> {
    pub fn identity(&mut self) {
        self.distinct_entities();
        self.identified();
        self.storable_markers();
    }

    /// Two entities must not be able to produce the same primary key.
    fn distinct_entities(&mut self) {
        let mappings = self.keys.mappings(TableOrIndex { index: None }).to_vec();
        let mut earlier = KeyTree::default();
        for (number, right) in mappings.iter().enumerate() {
            let key = key_tokens(right, true);
            let (mut visited, mut same) = (BTreeSet::new(), BTreeSet::new());
            earlier.find_overlapping(&key, false, |left| {
                if visited.insert(left) && same_key(&mappings[left], right, true) {
                    same.insert(left);
                }
                same.len() < MAX_NAMED
            });
            earlier.insert(&key, number);
            if same.len() == MAX_NAMED {
                let finding = self.about_mapping("P202", Severity::Error, right);
                let message = format!("{} can have the same key as many other entities", right.entity.name);
                self.report(finding.with_message(message).with_help("give each entity its own prefix"));
            }
            for left in same {
                self.same_key(&mappings[left], right);
            }
        }
    }

    fn same_key(&mut self, left: &KeyMapping<'m>, right: &KeyMapping<'m>) {
        let (severity, why) = if same_key(left, right, false) {
            (Severity::Error, "one overwrites the other")
        } else {
            (Severity::Warning, "a value that contains the delimiter is enough")
        };
        let (a, b) = (&left.entity.name, &right.entity.name);
        let finding = self.about_mapping("P202", severity, right);
        self.report(
            finding.with_message(format!("{b} and {a} can have the same key: {why}")).with_help(
                "give each entity its own prefix, and declare identifiers as \"id\", ulid or uuid",
            ),
        );
    }

    /// The primary key must contain what identifies an item.
    fn identified(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let missing: Vec<&str> =
                needed(model, entity).into_iter().filter(|name| !entity.has_key_field(name)).collect();
            // What is unique among the originals is unique among their copies.
            let original = entity.copies.as_deref().and_then(|name| model.entity(name));
            let mut owners = original.into_iter().chain([entity]);
            let otherwise = owners.any(|owner| owner.is_unique_by(|name| entity.has_key_field(name)));
            if missing.is_empty() || otherwise {
                continue;
            }
            let key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
            let finding = Finding::new("P203", Severity::Error, entity.subject(), &entity.key_span);
            let certain = in_braces(entity, &missing).or_else(|| edge_once(entity));
            let certain =
                certain.or_else(|| (!is_identified_by_name(entity)).then(|| appended(entity, &missing)));
            let help = certain
                .as_ref()
                .map_or_else(|| either_key_or_identity(entity, &missing), |one| one.help.clone());
            self.report(
                finding
                    .with_message(format!(
                        "the key {} does not contain {}: two different {} items can overwrite each other",
                        key.join(" / "),
                        list(&missing),
                        entity.name
                    ))
                    .with_help(help)
                    .with_proposals(certain.into_iter().collect()),
            );
        }
        self.lowered();
        self.shortened();
        self.several_a_day();
        self.several_at_once();
        self.several_equal();
        self.one_for_many();
        for entity in &model.entities {
            let Some(versions) = &entity.versions else { continue };
            let in_sort = entity.key.get(1).is_some_and(|sort| sort.has_field(versions));
            let padded = entity.key.get(1).is_some_and(|sort| sort_keeps(sort, entity, versions));
            let (code, message) = match (in_sort, padded) {
                (true, true) => continue,
                (false, _) => {
                    ("P504", format!("{versions} numbers the versions, but is not in the sort key"))
                }
                (true, false) => {
                    ("P105", format!("{versions} is not padded: version 10 sorts before version 2"))
                }
            };
            let finding = Finding::new(code, Severity::Error, entity.subject(), &entity.key_span);
            self.report(
                finding.with_message(message).with_help(format!("write V#{{{versions}:08}} in the sort key")),
            );
        }
    }

    /// Identifiers in lower case: two that differ only in case have one key.
    fn lowered(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(mapping) = (TableOrIndex { index: None }).mapping(entity) else { continue };
            let needed = needed(model, entity);
            let merged = mapping.parts().find_map(|part| match part {
                Part::Field { name, format } => {
                    let kind = &entity.attribute(name)?.kind;
                    (needed.contains(&name.as_str()) && !format.tells_apart(kind)).then_some(name)
                }
                Part::Text(_) => None,
            });
            let Some(name) = merged.filter(|name| !mapping.holds_whole(name)) else { continue };
            let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
            let message = format!("values of {name} that differ only in case have one key, {{{name}:lower}}");
            let help = format!(
                "write {{{name}}} if all are in lower case, or accept it if case never tells two apart"
            );
            self.report(finding.with_message(message).with_help(help));
        }
    }

    /// A time that identifies items, of which the key holds only the start. What the key of an original holds of it identifies its copy.
    fn shortened(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let Some(mapping) = (TableOrIndex { index: None }).mapping(entity) else { continue };
            let mut identity = kept_whole(model, entity).into_iter();
            let shortened = identity.find_map(|name| Some((name, only_start(&mapping, name)?)));
            let Some((name, part)) = shortened else { continue };
            let finding = Finding::new("P203", Severity::Error, entity.subject(), &entity.key_span);
            let message = format!(
                "{name} identifies items, and the key holds only its start, {part}: the second of them overwrites the first"
            );
            self.report(finding.with_message(message).with_help(format!("write {{{name}}} in the key")));
        }
    }

    /// A pattern returns a list where the key permits a single item.
    fn one_for_many(&mut self) {
        let model = self.model;
        for pattern in &model.patterns {
            let Some(Ok(plan)) = self.plans.get(pattern.name.as_str()) else { continue };
            let lists =
                pattern.targets.iter().filter(|target| target.many).map(|target| target.entity.as_str());
            let wanted: Vec<&str> = lists.collect();
            let read =
                |step: &&Step<'m>| step.location.index.is_none() && step.operation != Operation::BatchGet;
            let whole = |entity: &&Entity| entity.key_fields().all(|name| pattern.is_fixed(name));
            let targets = plan.steps.iter().filter(read).flat_map(|step| step.targets.iter().copied());
            let found: Vec<&'m Entity> = targets.filter(whole).collect();
            for entity in found.into_iter().filter(|entity| wanted.contains(&entity.name.as_str())) {
                if self.has("P203", &entity.subject()) {
                    continue;
                }
                // An identifier that belongs to no other entity and is not in the key is what the key lacks.
                let own = |name: &str| name.ends_with("Id") && model.owner_of(name).is_none();
                let missing = entity.attributes.iter().map(|attribute| attribute.name.as_str());
                let missing = missing.filter(|name| own(name)).find(|name| !entity.has_key_field(name));
                let several = entity.expect.average.is_some_and(|average| average > 1.0);
                let severity = if missing.is_some() || several { Severity::Error } else { Severity::Warning };
                let finding = Finding::new("P203", severity, entity.subject(), &entity.key_span);
                let key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
                self.report(
                    finding
                        .with_message(format!(
                            "{} returns several {}, but the key {} permits only one: the second overwrites the first",
                            pattern.name,
                            entity.name,
                            key.join(" / ")
                        ))
                        .with_help(format!("append what distinguishes them: #{{{}}}", missing.unwrap_or("…"))),
                );
            }
        }
    }
}

/// The key with fields in braces, where other tools have `<userId>`.
fn in_braces(entity: &Entity, missing: &[&str]) -> Option<Repair> {
    let braced = |text: String, name: &&str| text.replace(&format!("<{name}>"), &format!("{{{name}}}"));
    let old: Vec<String> = entity.key.iter().map(Template::to_string).collect();
    let new: Vec<String> = old.iter().map(|text| missing.iter().fold(text.clone(), braced)).collect();
    let value = quoted_list(&new);
    let edit = Edit::set(&["entity", &entity.name, "key"], value.clone());
    let help = format!("fields stand in braces: key = {value}");
    (new != old).then(|| Repair { help, edits: vec![edit] })
}

/// Whether only the name of an attribute says that it identifies the items: each key may be meant for one item.
fn is_identified_by_name(entity: &Entity) -> bool {
    let is_inferred = entity.edge.is_empty() || entity.id_of_edge().is_some();
    entity.identity.is_empty() && entity.copies.is_none() && is_inferred
}

/// What to do about a key without an identifier: it lacks the identifier, or there is only one item for each key, as with a lock.
fn either_key_or_identity(entity: &Entity, missing: &[&str]) -> String {
    let help = appended(entity, missing).help;
    let Some(mapping) = (TableOrIndex { index: None }).mapping(entity) else { return help };
    let fields: Vec<&str> = each_once(entity.key_fields().filter(|field| *field != SHARD)).collect();
    if fields.is_empty() || !fields.iter().all(|field| mapping.holds_whole(field)) {
        return help;
    }
    let names: Vec<String> = fields.into_iter().map(str::to_owned).collect();
    format!(
        "{help}, or, if there is only one {} for each key, declare identity = {}",
        entity.name,
        quoted_list(&names)
    )
}

/// The key with attributes appended to its last part.
fn appended(entity: &Entity, missing: &[&str]) -> Repair {
    let delimiter = entity.delimiter();
    let mut key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
    let rest: String = missing.iter().map(|name| format!("{delimiter}{{{name}}}")).collect();
    let last = format!("{}{rest}", key.pop().unwrap_or_default());
    key.push(last.clone());
    let edit = Edit::set(&["entity", &entity.name, "key"], quoted_list(&key));
    Repair { help: format!("append it: \"{last}\""), edits: vec![edit] }
}

fn same_key(left: &KeyMapping<'_>, right: &KeyMapping<'_>, strict: bool) -> bool {
    let overlaps = |a: &Template, b: &Template| a.overlaps(left.entity, b, right.entity, strict, false);
    let sorts = match (&left.sort, &right.sort) {
        (Some(a), Some(b)) => overlaps(a, b),
        _ => true,
    };
    overlaps(&left.partition, &right.partition) && sorts
}

/// The attributes without which an entity's key is not unique.
fn needed<'m>(model: &'m Model, entity: &'m Entity) -> Vec<&'m str> {
    if !entity.identity.is_empty() {
        return entity.identity.iter().map(String::as_str).collect();
    }
    if let Some(id) = entity.id_of_edge() {
        return vec![id];
    }
    if !entity.edge.is_empty() {
        return entity.edge.iter().map(String::as_str).collect();
    }
    if let Some(original) = entity.copies.as_deref().and_then(|name| model.entity(name)) {
        let version = original.versions.as_deref();
        let fields = match original.identity() {
            Some(id) => vec![id],
            None => original.key_fields().filter(|name| *name != SHARD).collect(),
        };
        let is_shared = |name: &&str| entity.attribute(name).is_some() && Some(*name) != version;
        return fields.into_iter().filter(is_shared).collect();
    }
    entity.identity().into_iter().collect()
}

/// The attributes of which a key must not hold a part only: those that are declared to identify items, and for a copy those of which the
/// key of its original holds more.
fn kept_whole<'m>(model: &'m Model, entity: &'m Entity) -> Vec<&'m str> {
    let declared = || entity.identity.iter().map(String::as_str).collect();
    let Some(copying) = Copying::of_copy(model, entity).filter(|_| entity.identity.is_empty()) else {
        return declared();
    };
    if copying.original.is_unique_by(|name| entity.has_key_field(name)) {
        return Vec::new();
    }
    needed(model, entity).into_iter().filter(|name| !copying.copy_shows(name)).collect()
}

/// The part of a key that holds the start of a time, if nothing in the key holds all of it.
fn only_start(mapping: &KeyMapping<'_>, name: &str) -> Option<Template> {
    let entity = mapping.entity;
    let is_own = |part: &&Part| matches!(part, Part::Field { name: own, .. } if own == name);
    let part = mapping.parts().find(is_own)?;
    let minutes = entity.attribute(name)?.limits.precision == Some(Precision::Minute);
    let holds = |part: &Part| {
        part.holds_whole(name, entity)
            || (minutes && matches!(part, Part::Field { format: Format::MINUTE, .. }))
    };
    let is_bucket =
        mapping.partition.truncates(name) || mapping.sort.as_ref().is_some_and(|sort| sort.truncates(name));
    let is_held = mapping.parts().filter(is_own).any(holds);
    (is_bucket && !is_held).then(|| Template { parts: vec![part.clone()] })
}

fn sort_keeps(sort: &Template, entity: &Entity, name: &str) -> bool {
    let kind = entity.attribute(name).map(|attribute| &attribute.kind);
    sort.parts.iter().any(|part| match part {
        Part::Field { name: field, format } => {
            field == name && kind.is_some_and(|kind| format.keeps_order(kind))
        }
        Part::Text(_) => false,
    }) || sort.bare_field() == Some(name)
}
