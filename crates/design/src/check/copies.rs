//! Rules about data that is stored more than once: it must be declared, and written together.

use super::Checker;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::{Entity, Verb, Write};
use crate::name_hints;
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
                self.check_copy_is_written(write, original, copy);
            }
            if !is_written {
                let finding = self.about_entity("P503", Severity::Warning, copy);
                self.report(
                    finding
                        .with_message(format!(
                            "{} copies {}, but no write keeps them in sync",
                            copy.name, original.name
                        ))
                        .with_help(format!(
                            "add to [write]: create{0} = {{ transact = [\"create {0}\", \"create {1}\"] }}",
                            original.name, copy.name
                        )),
                );
            }
        }
        self.undeclared();
    }

    /// Checks that a write of the original also writes the copy, in the same transaction.
    fn check_copy_is_written(&mut self, write: &Write, original: &Entity, copy: &Entity) {
        let Some(action) = write.actions.iter().find(|action| action.entity == original.name) else { return };
        let concerns = match action.verb {
            Verb::Update => action.set.iter().any(|name| copy.attribute(name).is_some()),
            // Adding an edge or a version always concerns the copy.
            Verb::Create | Verb::Put | Verb::Delete => true,
        };
        let together = write.transact && write.actions.iter().any(|other| other.entity == copy.name);
        if !concerns || together {
            return;
        }
        let finding = Finding::new("P501", Severity::Error, write.subject(), &write.span);
        let set =
            if action.set.is_empty() { String::new() } else { format!(" set {}", action.set.join(", ")) };
        let verb = action.verb.name();
        self.report(
            finding
                .with_message(format!(
                    "{} {}s {} without its copy {} in one transaction: they drift apart",
                    write.name, verb, original.name, copy.name
                ))
                .with_help(format!(
                    "write transact = [\"{verb} {}{set}\", \"{verb} {}{set}\"]",
                    original.name, copy.name
                )),
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
                if shared.len() >= 2 {
                    let finding = self.about_entity("P502", Severity::Warning, other);
                    self.report(
                        finding
                            .with_message(format!(
                                "{} and {} both hold {} of one {id}",
                                other.name,
                                original.name,
                                list(&shared)
                            ))
                            .with_help(format!(
                                "add copies = \"{}\" to [entity.{}]",
                                original.name, other.name
                            )),
                    );
                }
            }
        }
    }
}
