//! Rules about declared writes: what an update must change together, what its condition must say, and which markers, copies and aggregates
//! belong to it.

pub(super) mod item_twice;

use super::Checker;
use crate::audit::copying::Copying;
use crate::finding::{Finding, Severity};
use crate::formatting::list;
use crate::model::expression::{Clause, Test};
use crate::model::{Action, Entity, Verb, Write};
use crate::repair::{Edit, Repair, quoted};

impl<'m> Checker<'m> {
    pub fn writes(&mut self) {
        let model = self.model;
        for write in &model.writes {
            for action in &write.actions {
                let Some(entity) = model.entity(&action.entity) else { continue };
                self.expression(write, action, entity);
                self.lock(write, action, entity);
                self.existence(write, action, entity);
                self.markers(write, action, entity);
            }
            self.lone_markers(write);
            self.batch(write);
        }
        self.latest_copies();
        self.aggregates();
        self.items_twice();
    }

    pub(super) fn about_write(&self, code: &'static str, severity: Severity, write: &Write) -> Finding {
        Finding::new(code, severity, write.subject(), &write.span)
    }

    /// A BatchWriteItem has neither updates nor conditions.
    fn batch(&mut self, write: &Write) {
        let of = |wanted: fn(&Action) -> bool| -> Vec<&str> {
            let actions = write.actions.iter().filter(|action| write.batch && wanted(action));
            actions.map(|action| action.entity.as_str()).collect()
        };
        let updated = of(|action| action.verb == Verb::Update);
        let created = of(|action| action.verb == Verb::Create || action.condition.is_some());
        let (severity, message) = if !updated.is_empty() {
            let message =
                format!("a BatchWriteItem puts and deletes whole items: it cannot update {}", list(&updated));
            (Severity::Error, message)
        } else if !created.is_empty() {
            let message = format!(
                "a BatchWriteItem has no conditions: existing items of {} are replaced",
                list(&created)
            );
            (Severity::Warning, message)
        } else {
            return;
        };
        let is_locked = |name: &&str| self.model.entity(name).is_some_and(|entity| entity.lock.is_some());
        // A put of a locked entity needs a condition too.
        let help = match updated.iter().chain(&created).any(is_locked) {
            true => "use transact, or send these actions one by one",
            false => "use transact, send these actions one by one, or put whole items",
        };
        let finding = self.about_write("P517", severity, write).with_message(message);
        self.report(finding.with_help(help));
    }

    /// What an update expression changes, and what it leaves as it was.
    fn expression(&mut self, write: &Write, action: &Action, entity: &'m Entity) {
        let Some(expression) = &action.expression else { return };
        let model = self.model;
        let touched = expression.touched();
        for key in model.table.keys.iter().filter(|key| touched.contains(key.as_str())) {
            let finding = self.about_write("P510", Severity::Error, write);
            self.report(
                finding
                    .with_message(format!("{key} is a key of the table, which no update can change"))
                    .with_help("delete the item and put the new one, in one transaction"),
            );
        }
        for change in expression.changes.iter().filter(|change| change.is_whole()) {
            let name = &change.path.attribute;
            let is_type = model.table.type_attribute.as_ref() == Some(name);
            let required = entity.attribute(name).filter(|attribute| !attribute.optional && change.removes());
            let (what, help) = if is_type && change.clause == Clause::Remove {
                let what = "is the type attribute, without which no reader recognises the item";
                (what, "leave it in the item".to_owned())
            } else if let Some(attribute) = required {
                let help = format!("set it, or declare it as optional: \"{}?\"", attribute.kind.print());
                ("is removed, but every item must have it", help)
            } else {
                continue;
            };
            let message = format!("{name} of {} {what}", entity.name);
            let finding = self.about_write("P510", Severity::Error, write);
            self.report(finding.with_message(message).with_help(help));
        }
        self.index_entries(write, action, expression, entity);
    }

    /// A locked entity is updated only if the version matches, and the version grows.
    fn lock(&mut self, write: &Write, action: &Action, entity: &Entity) {
        let Some(lock) = &entity.lock else { return };
        let sent = action.expression.is_some() || action.condition.is_some();
        if !sent || !matches!(action.verb, Verb::Update | Verb::Put) {
            return;
        }
        let matched = action.condition.as_ref().is_some_and(|condition| condition.requires_value(lock));
        let compared = action.condition.as_ref().and_then(|condition| condition.required_value(lock));
        let grows = action.expression.as_ref().is_none_or(|expression| {
            expression.changes.iter().any(|change| {
                let stays = change.clause == Clause::Set && change.value.as_ref() == compared;
                change.path.attribute == *lock && change.can_grow() && !stays
            })
        });
        let (message, help) = match (matched, grows) {
            (true, true) => return,
            (false, _) => (
                format!(
                    "{} is locked by {lock}, but the condition does not compare it: changes can be lost",
                    entity.name
                ),
                format!("add to the condition: {lock} = :{lock}"),
            ),
            (true, false) => (
                format!(
                    "{lock} of {} is compared and does not grow: a second update would also match",
                    entity.name
                ),
                format!("add to SET: {lock} = {lock} + :one"),
            ),
        };
        let finding = self.about_write("P509", Severity::Error, write);
        let proposals =
            if matched { Vec::new() } else { with_condition(write, action, &format!("{lock} = :{lock}")) };
        self.report(finding.with_message(message).with_help(help).with_proposals(proposals));
    }

    /// Whether the item may, or must not, exist.
    fn existence(&mut self, write: &Write, action: &Action, entity: &Entity) {
        let key = self.model.table.keys.first().map_or("PK", String::as_str);
        let names = self.model.table.keys.iter();
        let absent = |condition: &crate::model::expression::ConditionExpression| {
            names.clone().any(|name| condition.requires_absence(name))
        };
        let finding = match (action.verb, &action.condition) {
            (Verb::Create, Some(condition)) if condition.requires_item() => self
                .about_write("P514", Severity::Warning, write)
                .with_message(format!(
                    "{} is created, but the condition requires an existing item, which it would replace",
                    entity.name
                ))
                .with_help(format!(
                    "write condition = \"attribute_not_exists({key})\", or declare it as put or update"
                )),
            (Verb::Create, Some(condition)) if !absent(condition) => self
                .about_write("P514", Severity::Warning, write)
                .with_message(format!(
                    "{} is created, but the condition lets an existing item be replaced",
                    entity.name
                ))
                .with_help(format!("add attribute_not_exists({key}) to the condition, or declare it as put"))
                .with_proposals(with_condition(write, action, &format!("attribute_not_exists({key})"))),
            (Verb::Update, condition)
                if action.expression.is_some()
                    && !condition.as_ref().is_some_and(|condition| condition.requires_item()) =>
            {
                self.about_write("P512", Severity::Note, write)
                    .with_message(format!(
                        "if the {} does not exist, this creates an item with only these attributes",
                        entity.name
                    ))
                    .with_help(format!("add condition = \"attribute_exists({key})\""))
                    .with_proposals(with_condition(write, action, &format!("attribute_exists({key})")))
            }
            (Verb::Put, None) if entity.lock.is_some() => self
                .about_write("P515", Severity::Warning, write)
                .with_message(format!(
                    "{} is locked, and this put replaces it whatever its version is",
                    entity.name
                ))
                .with_help(match write.batch {
                    true => {
                        let name = &entity.name;
                        format!(
                            "a batch has no conditions: write transact = [\"update {name} set …\"], or [\"create {name}\"] for a new one"
                        )
                    }
                    false => "update it, create it, or declare the condition that the put has".to_owned(),
                }),
            _ => return,
        };
        self.report(finding);
    }

    /// A request that is declared as it is sent must have the markers of the unique values that it changes.
    fn markers(&mut self, write: &Write, action: &Action, entity: &Entity) {
        let listed = write.lists_markers() || action.expression.is_some();
        // A put does not know which value it replaces, and a batch has no conditions for markers.
        let leaves_markers = match action.verb {
            Verb::Put => action.condition.is_none(),
            Verb::Delete => write.batch,
            Verb::Create | Verb::Update => false,
        };
        if !listed && !entity.unique.is_empty() && leaves_markers {
            let (unique, name) = (list(&entity.unique.concat()), &entity.name);
            let finding = self.about_write("P513", Severity::Warning, write);
            let message = format!(
                "this write leaves the markers of {unique} as they are, also if {name} gets other values"
            );
            let help =
                format!("create, update or delete the {name}: its markers then are in the same transaction");
            self.report(finding.with_message(message).with_help(help));
        }
        for unique in entity.unique.iter().filter(|_| listed) {
            let changes = action.verb != Verb::Update || unique.iter().any(|name| action.set.contains(name));
            let removed = action.expression.iter().flat_map(|expression| &expression.changes);
            let is_removed = removed
                .filter(|change| change.removes())
                .any(|change| unique.contains(&change.path.attribute));
            let wanted: &[Verb] = match action.verb {
                _ if !changes => &[],
                Verb::Create | Verb::Put => &[Verb::Create],
                Verb::Delete => &[Verb::Delete],
                // A value that is removed has no marker any more.
                Verb::Update if is_removed => &[Verb::Delete],
                Verb::Update => &[Verb::Delete, Verb::Create],
            };
            let has = |verb: &&Verb| write.has_marker(**verb, entity, unique);
            let text = |verb: &Verb| marker_text(*verb, entity, unique);
            let missing: Vec<String> = wanted.iter().filter(|verb| !has(verb)).map(text).collect();
            if missing.is_empty() {
                continue;
            }
            let finding = self.about_write("P513", Severity::Error, write);
            self.report(
                finding
                    .with_message(format!(
                        "{} of {} is unique, and this write changes it without its marker",
                        list(unique),
                        entity.name
                    ))
                    .with_help(format!("add {} to transact", list(&missing))),
            );
        }
    }

    /// A marker belongs to the item that has the value.
    fn lone_markers(&mut self, write: &Write) {
        for marker in &write.markers {
            if write.actions.iter().any(|action| action.entity == marker.entity) {
                continue;
            }
            let finding = self.about_write("P513", Severity::Error, write);
            self.report(
                finding
                    .with_message(format!(
                        "the marker of {} is written without the item",
                        marker.unique.join(", ")
                    ))
                    .with_help(format!("write the {} in the same transaction", marker.entity)),
            );
        }
    }

    /// The copy of the newest version changes only when a version is added or removed.
    fn latest_copies(&mut self) {
        let model = self.model;
        for copy in model.entities.iter().filter(|copy| copy.latest) {
            let Some(original) = copy.copies.as_deref().and_then(|name| model.entity(name)) else { continue };
            let moves = Copying::of_copy(model, copy).is_some_and(|copying| copying.copy_moves());
            for write in self.usage.writes_of(&copy.name).to_vec() {
                let own = || write.actions.iter().filter(|action| action.entity == copy.name);
                let mut kept = own().filter(|action| action.verb != Verb::Delete);
                let (kept, deleted) = (kept.next(), own().find(|action| action.verb == Verb::Delete));
                // A copy whose key changes is deleted under the old one; one that stays is written twice.
                let mistake = match (kept.or(deleted), kept.and(deleted)) {
                    (None, _) => continue,
                    (Some(_), Some(_)) if !moves => continue,
                    (Some(action), deleted) => {
                        self.latest_mistake(write, action, deleted.is_some(), original, copy)
                    }
                };
                if let Some((message, help)) = mistake {
                    let finding = self.about_write("P506", Severity::Error, write);
                    self.report(finding.with_message(message).with_help(help));
                }
            }
        }
    }

    fn latest_mistake(
        &self,
        write: &Write,
        action: &Action,
        is_replaced: bool,
        original: &Entity,
        copy: &Entity,
    ) -> Option<(String, String)> {
        let identity = copy.identifying();
        let shared = copy.attributes.iter().map(|attribute| attribute.name.as_str());
        let shared: Vec<&str> =
            shared.filter(|name| original.attribute(name).is_some() && !identity.contains(name)).collect();
        let sets = |name: &&str| action.set.iter().any(|set| set == name);
        if action.verb == Verb::Update && !shared.iter().any(sets) {
            return None;
        }
        // A version is added, or the newest removed, which makes the one before it the newest.
        let is_cause = |verb: Verb| match action.verb {
            Verb::Delete => verb != Verb::Create,
            _ => matches!(verb, Verb::Create | Verb::Delete),
        };
        let mut versions = write.actions.iter().filter(|other| other.entity == original.name);
        let with_version = write.transact && versions.any(|other| is_cause(other.verb));
        let (version, latest) = (&original.name, &copy.name);
        if !with_version {
            let message =
                format!("{latest} changes without a new {version}: it is no longer the newest version");
            let help = format!("write transact = [\"create {version}\", \"put {latest}\"]");
            return Some((message, help));
        }
        let replaced = || {
            self.usage.writes_of(latest).iter().any(|write| {
                let replaces = |verb: Verb| matches!(verb, Verb::Put | Verb::Update);
                write.actions.iter().any(|action| action.entity == *latest && replaces(action.verb))
            })
        };
        if action.verb == Verb::Create && !is_replaced && !replaced() {
            let message =
                format!("{latest} is created with every {version}, which fails from the second one on");
            return Some((message, format!("write \"put {latest}\"")));
        }
        let left: Vec<&str> = shared.iter().copied().filter(|name| !sets(name)).collect();
        if action.verb == Verb::Update && !left.is_empty() {
            let message = format!("{} of {latest} stays that of the version before", list(&left));
            return Some((message, format!("set it too, or write \"put {latest}\"")));
        }
        None
    }
}

/// The condition of the only action of a write, and another one.
fn with_condition(write: &Write, action: &Action, test: &str) -> Vec<Repair> {
    if write.transact || write.actions.len() != 1 {
        return Vec::new();
    }
    let condition = match &action.condition {
        None => test.to_owned(),
        Some(own) if matches!(own.test, Test::Any(_)) => format!("({}) AND {test}", own.text),
        Some(own) => format!("{} AND {test}", own.text),
    };
    let value = quoted(&condition).trim().to_owned();
    let help = format!("write condition = {value}");
    vec![Repair { help, edits: vec![Edit::set(&["write", &write.name, "condition"], value)] }]
}

/// An action on a marker as a write lists it.
pub fn marker_text(verb: Verb, entity: &Entity, unique: &[String]) -> String {
    format!("\"{} marker {}.{}\"", verb.name(), entity.name, unique.join(","))
}
