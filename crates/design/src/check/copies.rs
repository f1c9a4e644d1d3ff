//! Rules about data that is stored more than once: it must be declared, and written together.

use super::Checker;
use crate::audit::copying::Copying;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::{Action, Entity, Verb, Write};
use crate::name_hints;
use crate::repair::{Edit, Repair};
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
            if !copy.latest {
                self.changed_alone(original, copy);
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
        let verb = action.verb.name();
        let other = Action { set: action.set.clone(), ..Action::new(action.verb, &copy.name) };
        let (copy_verb, proposals) = match (copy.latest, action.verb) {
            // The copy of the newest version is there from the second version on, and stays while there are others.
            (true, Verb::Create | Verb::Put) => {
                ("put", in_transaction(write, Action::new(Verb::Put, &copy.name)))
            }
            (true, _) => ("show or change", Vec::new()),
            (false, _) => (verb, in_transaction(write, other)),
        };
        self.report(
            finding
                .with_message(format!(
                    "{} {}s {} without its copy {} in one transaction: they drift apart",
                    write.name, verb, original.name, copy.name
                ))
                .with_help(format!("{copy_verb} {} in the same transaction", copy.name))
                .with_proposals(proposals),
        );
    }

    /// A copy comes, goes and changes only with its original.
    fn changed_alone(&mut self, original: &Entity, copy: &Entity) {
        for write in self.usage.writes_of(&copy.name).to_vec() {
            self.written_alone(write, original, copy);
            let updates = |action: &&Action| action.entity == copy.name && action.verb == Verb::Update;
            let set = write.actions.iter().filter(updates).flat_map(|action| &action.set);
            let shared: Vec<String> =
                set.filter(|name| original.attribute(name).is_some()).cloned().collect();
            if shared.is_empty() || write.actions.iter().any(|action| action.entity == original.name) {
                continue;
            }
            let finding = Finding::new("P501", Severity::Error, write.subject(), &write.span);
            let other = Action { set: shared.clone(), ..Action::new(Verb::Update, &original.name) };
            self.report(
                finding
                    .with_message(format!(
                        "{} changes {} of {} without its original {}: they drift apart",
                        write.name,
                        list(&shared),
                        copy.name,
                        original.name
                    ))
                    .with_help(format!("update {} in the same transaction", original.name))
                    .with_proposals(in_transaction(write, other)),
            );
        }
    }

    fn written_alone(&mut self, write: &Write, original: &Entity, copy: &Entity) {
        let whole = |action: &&Action| action.entity == copy.name && action.verb != Verb::Update;
        let Some(action) = write.actions.iter().find(whole) else { return };
        if write.actions.iter().any(|action| action.entity == original.name) {
            return;
        }
        let verb = action.verb.name();
        let finding = Finding::new("P501", Severity::Error, write.subject(), &write.span);
        self.report(
            finding
                .with_message(format!(
                    "{} {verb}s {} without its original {}: they drift apart",
                    write.name, copy.name, original.name
                ))
                .with_help(format!("{verb} {} in the same transaction", original.name))
                .with_proposals(in_transaction(write, Action::new(action.verb, &original.name))),
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
