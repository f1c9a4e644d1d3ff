//! Rules about data that is stored more than once: it must be declared, and written together.

mod writes;

use super::Checker;
use crate::audit::copying::Copying;
use crate::finding::Severity;
use crate::formatting::list;
use crate::model::decimal::Decimal;
use crate::model::{Action, Entity, Write};
use crate::name_hints;
use crate::repair::{Edit, Repair};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// The number of other entities with its identifier in their keys that an entity is compared with.
const MAX_COMPARED: usize = 50;

impl Checker<'_> {
    pub fn copies(&mut self) {
        let model = self.model;
        for copy in &model.entities {
            let Some(original) = copy.copies.as_deref().and_then(|name| model.entity(name)) else { continue };
            let writes = self.usage.writes_of(&original.name).to_vec();
            let is_written = !writes.is_empty() || !self.usage.writes_of(&copy.name).is_empty();
            for write in writes {
                self.original_written(write, original, copy);
            }
            if !copy.latest {
                for write in self.usage.writes_of(&copy.name).to_vec() {
                    self.copy_written(write, original, copy);
                }
            }
            self.comparable(original, copy);
            if !is_written {
                let finding = self.about_entity("P503", Severity::Warning, copy);
                self.report(
                    finding
                        .with_message(format!(
                            "{} copies {}, but no write keeps them in sync",
                            copy.name, original.name
                        ))
                        .with_help(format!(
                            "add a write that creates {} and {} in one transaction",
                            original.name, copy.name
                        ))
                        .with_proposals(vec![written_together(original, copy)]),
                );
            }
        }
        self.undeclared();
        self.first_versions();
    }

    /// Versions are numbered from 1.
    fn first_versions(&mut self) {
        for entity in &self.model.entities {
            let attribute = entity.versions.as_deref().and_then(|name| entity.attribute(name));
            let Some(attribute) = attribute else { continue };
            let (limits, name, first) = (&attribute.limits, &attribute.name, Decimal::one());
            let is_barred = [(&limits.min, Ordering::Greater), (&limits.max, Ordering::Less)]
                .into_iter()
                .any(|(limit, order)| limit.as_ref().is_some_and(|limit| limit.cmp(&first) == order));
            let is_early = limits.min.as_ref().is_some_and(|min| *min < first);
            let (severity, message) = match (is_barred, is_early) {
                (true, _) => {
                    (Severity::Error, format!("the first version has {name} 1, which its type excludes"))
                }
                (_, true) => {
                    (Severity::Warning, format!("versions are numbered from 1, and {name} may be less"))
                }
                _ => continue,
            };
            let finding = self.about_entity("P504", severity, entity).with_message(message);
            self.report(finding.with_help(format!("write {name} = {{ type = \"int\", min = 1 }}")));
        }
    }

    /// A copy can be found from its original, or the original from the copy.
    fn comparable(&mut self, original: &Entity, copy: &Entity) {
        let own = Copying::of_entity(self.model, copy).into_iter().find(|own| own.copy.name == copy.name);
        let Some(own) = own.filter(|own| !own.is_comparable()) else { return };
        let lacking = list(&own.lacking());
        let finding = self.about_entity("P518", Severity::Warning, copy);
        let message = format!(
            "nothing leads from {} to its original {}, or back: they cannot be compared",
            copy.name, original.name
        );
        self.report(
            finding.with_message(message).with_help(format!("give {} the attributes {lacking}", copy.name)),
        );
    }

    /// Finds two entities with the same data about the same thing.
    fn undeclared(&mut self) {
        let model = self.model;
        let mut keyed_by: HashMap<&str, Vec<&Entity>> = HashMap::new();
        for entity in &model.entities {
            let fields: BTreeSet<&str> = entity.key_fields().collect();
            fields.into_iter().for_each(|field| keyed_by.entry(field).or_default().push(entity));
        }
        for original in &model.entities {
            let Some(id) = original.identity() else { continue };
            let others = keyed_by.get(id).into_iter().flatten().take(MAX_COMPARED);
            for other in others.copied() {
                let related =
                    other.copies.is_some() || original.copies.is_some() || other.name == original.name;
                let same = other.identity().is_none_or(|own| own == id);
                // A field that only the other's key has makes its items distinct: lines, comments, members.
                let only = other.key_fields().all(|name| original.attribute(name).is_some());
                if related || !same || !only || !original.has_key_field(id) || !other.edge.is_empty() {
                    continue;
                }
                let key = |name: &str| original.has_key_field(name) || other.has_key_field(name);
                let data = |name: &str| !key(name) && !name_hints::is_bookkeeping(name);
                let shared: Vec<&str> = other
                    .attributes
                    .iter()
                    .map(|attribute| attribute.name.as_str())
                    .filter(|name| data(name) && original.attribute(name).is_some())
                    .collect();
                if !shared.is_empty() {
                    // A single one may mean something else of each.
                    let severity = if shared.len() > 1 { Severity::Warning } else { Severity::Note };
                    let finding = self.about_entity("P502", severity, other);
                    self.report(
                        finding
                            .with_message(format!(
                                "{} and {} both hold {} of one {id}",
                                other.name,
                                original.name,
                                list(&shared)
                            ))
                            .with_help(format!(
                                "add copies = \"{}\" to [entity.{}], and write both in one transaction",
                                original.name, other.name
                            ))
                            .with_proposals(declared_copy(original, other)),
                    );
                }
            }
        }
    }
}

/// A write that creates an original and its copy.
fn written_together(original: &Entity, copy: &Entity) -> Repair {
    let (name, created) = (format!("create{}", original.name), if copy.latest { "put" } else { "create" });
    let line = format!("{{ transact = [\"create {}\", \"{created} {}\"] }}", original.name, copy.name);
    Repair {
        help: format!("add to [write]: {name} = {line}"),
        edits: vec![Edit::set(&["write", &name], line)],
    }
}

/// The declaration of a copy, alone or with a write of both.
fn declared_copy(original: &Entity, copy: &Entity) -> Vec<Repair> {
    let edit = Edit::set(&["entity", &copy.name, "copies"], format!("\"{}\"", original.name));
    let help = format!("add copies = \"{}\" to [entity.{}]", original.name, copy.name);
    let write = written_together(original, copy);
    let both =
        Repair { help: format!("{help}; {}", write.help), edits: [vec![edit.clone()], write.edits].concat() };
    vec![Repair { help, edits: vec![edit] }, both]
}

/// The actions of a write and another one, in one transaction, which contains an item only once.
pub(super) fn in_transaction(write: &Write, other: Action) -> Vec<Repair> {
    let sends = |action: &Action| action.expression.is_some() || action.condition.is_some();
    if write.actions.iter().any(sends) || !write.markers.is_empty() {
        return Vec::new();
    }
    let mut actions = write.actions.clone();
    let same = |own: &&mut Action| own.verb == other.verb && own.entity == other.entity;
    match actions.iter_mut().find(same) {
        Some(own) => own.set.extend(other.set),
        None => actions.push(other),
    }
    let all: Vec<String> = actions.iter().map(|action| format!("\"{action}\"")).collect();
    let list = format!("[{}]", all.join(", "));
    let form = if write.transact { "transact" } else { "batch" };
    let mut edits = vec![Edit::set(&["write", &write.name, "transact"], list.clone())];
    if let [action] = write.actions.as_slice()
        && !write.transact
        && !action.many
    {
        edits.push(Edit::remove(&["write", &write.name, action.verb.name()]));
        if !action.set.is_empty() {
            edits.push(Edit::remove(&["write", &write.name, "set"]));
        }
    } else if form == "batch" {
        edits.push(Edit::remove(&["write", &write.name, "batch"]));
    }
    vec![Repair { help: format!("write transact = {list}"), edits }]
}
