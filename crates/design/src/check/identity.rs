//! Rules about the identity of items: no two items, of one entity or of two, may have the same primary key.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::keys::key_mapping::{KeyMapping, TableOrIndex};
use crate::keys::key_tree::KeyTree;
use crate::keys::keyspace::{MAX_NAMED, key_tokens};
use crate::model::value_type::ValueType;
use crate::model::{Entity, Model};
use crate::name_hints;
use crate::plan::{Operation, Step};
use crate::template::{Part, SHARD, Template};
use std::collections::BTreeSet;

impl<'m> Checker<'m> {
    pub fn identity(&mut self) {
        self.distinct_entities();
        self.identified();
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
            let otherwise = entity.unique.iter().any(|name| entity.has_key_field(name));
            if missing.is_empty() || otherwise {
                continue;
            }
            let key: Vec<String> = entity.key.iter().map(Template::to_string).collect();
            let finding = Finding::new("P203", Severity::Error, entity.subject(), &entity.key_span);
            let last = key.last().cloned().unwrap_or_default();
            let rest: String = missing.iter().map(|name| format!("#{{{name}}}")).collect();
            self.report(
                finding
                    .with_message(format!(
                        "the key {} does not contain {}: two different {} items can overwrite each other",
                        key.join(" / "),
                        list(&missing),
                        entity.name
                    ))
                    .with_help(format!("append it: \"{last}{rest}\"")),
            );
        }
        self.several_a_day();
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

    /// A list whose items differ only in their date: the second of a day overwrites the first.
    fn several_a_day(&mut self) {
        let model = self.model;
        for entity in &model.entities {
            let declared =
                !entity.identity.is_empty() || !entity.edge.is_empty() || !entity.unique.is_empty();
            let copied = entity.copies.is_some() || entity.versions.is_some();
            let listed = self.usage.listed.contains(entity.name.as_str());
            if declared
                || copied
                || entity.identity().is_some()
                || !listed
                || name_hints::is_periodic(&entity.name)
            {
                continue;
            }
            let Some(date) = entity.key.get(1).and_then(|sort| sort.fields().last()) else { continue };
            let day = entity.attribute(date).is_some_and(|attribute| attribute.kind == ValueType::Date);
            let foreign =
                entity.key_fields().filter(|name| *name != date).all(|name| model.owner_of(name).is_some());
            if day && foreign {
                let finding = Finding::new("P203", Severity::Warning, entity.subject(), &entity.key_span);
                self.report(
                    finding
                        .with_message(format!(
                            "only {date} distinguishes one {} from another: the second of a day overwrites the first",
                            entity.name
                        ))
                        .with_help(format!(
                            "append an identifier, or declare that there is one a day: identity = [\"{date}\"]"
                        )),
                );
            }
        }
    }
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

fn sort_keeps(sort: &Template, entity: &Entity, name: &str) -> bool {
    let kind = entity.attribute(name).map(|attribute| &attribute.kind);
    sort.parts.iter().any(|part| match part {
        Part::Field { name: field, format } => {
            field == name && kind.is_some_and(|kind| format.keeps_order(kind))
        }
        Part::Text(_) => false,
    }) || sort.bare_field() == Some(name)
}
