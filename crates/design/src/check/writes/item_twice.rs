//! Rules about requests with several actions: DynamoDB takes only one action on an item, in a transaction as in a batch.

use crate::audit::copying::Copying;
use crate::check::Checker;
use crate::finding::Severity;
use crate::model::each_once::each_once;
use crate::model::{Action, Entity, Verb, Write};
use std::collections::BTreeMap;

/// The actions of a write on each entity.
type Actions<'w> = BTreeMap<&'w str, Vec<&'w Action>>;

impl Checker<'_> {
    pub(super) fn items_twice(&mut self) {
        let model = self.model;
        for write in model.writes.iter().filter(|write| write.transact || write.batch) {
            let mut all = Actions::new();
            for action in &write.actions {
                all.entry(&action.entity).or_default().push(action);
            }
            let is_known = self.has("P520", &write.subject());
            for (name, actions) in &all {
                let Some(entity) = model.entity(name) else { continue };
                let certain = marker_twice(write, entity, actions)
                    .or_else(|| only_item_twice(entity, actions))
                    .or_else(|| self.copy_twice(entity, &all));
                let found = match certain {
                    Some((message, help)) => Some((Severity::Error, message, help)),
                    None if is_known => None,
                    None => {
                        perhaps_twice(entity, actions).map(|(message, help)| (Severity::Note, message, help))
                    }
                };
                if let Some((severity, message, help)) = found {
                    let finding = self.about_write("P520", severity, write);
                    self.report(finding.with_message(message).with_help(help));
                }
            }
        }
    }

    /// An original has one copy.
    fn copy_twice(&self, copy: &Entity, all: &Actions<'_>) -> Option<(String, String)> {
        let copying = Copying::of_copy(self.model, copy).filter(|own| !own.copy_moves())?;
        let (original, copy) = (copying.original.name.as_str(), copy.name.as_str());
        let is_one = all.get(original).is_some_and(|own| own.len() == 1 && !own[0].many);
        let message = format!("one {original} has one {copy}, and this request writes it more than once");
        let puts = all[copy].iter().any(|action| matches!(action.verb, Verb::Create | Verb::Put));
        let help =
            if puts { format!("write only \"put {copy}\"") } else { format!("write one action on {copy}") };
        (is_one && all[copy].len() > 1).then_some((message, help))
    }
}

/// One item has one marker for each of its unique values.
fn marker_twice(write: &Write, entity: &Entity, actions: &[&Action]) -> Option<(String, String)> {
    let mut counted: BTreeMap<(&str, &[String]), usize> = BTreeMap::new();
    for marker in write.markers.iter().filter(|marker| marker.entity == entity.name) {
        *counted.entry((marker.verb.name(), &marker.unique)).or_default() += 1;
    }
    let is_open = actions.iter().any(|action| action.many);
    let ((verb, unique), _) = counted.into_iter().find(|(_, count)| !is_open && *count > actions.len())?;
    let marker = format!("{verb} marker {}.{}", entity.name, unique.join(","));
    let message = format!("\"{marker}\" is listed more often than {} is written", entity.name);
    Some((message, "list it once for each item".to_owned()))
}

/// Every action on an entity of which there is a single item is about this one.
fn only_item_twice(entity: &Entity, actions: &[&Action]) -> Option<(String, String)> {
    let are_several = actions.len() > 1 || actions.iter().any(|action| action.many);
    let name = &entity.name;
    let message = format!("there is only one {name}, and this request writes it more than once");
    let help = format!("write one action on {name}, or put into its key what tells its items apart");
    (are_several && entity.key_fields().next().is_none()).then_some((message, help))
}

/// Actions that may be about one item or about several.
fn perhaps_twice(entity: &Entity, actions: &[&Action]) -> Option<(String, String)> {
    let count = |verb: Verb| actions.iter().filter(|action| action.verb == verb).count();
    let (created, updated) = (count(Verb::Create), count(Verb::Update));
    let others = actions.len() - created - updated;
    // What is created does not exist yet, and what is updated does.
    if updated + others < 2 && (created == 0 || others == 0) {
        return None;
    }
    let is_one_update = updated == actions.len() && !actions.iter().any(|action| action.many);
    let help = match is_one_update {
        true => format!("if they always are, write one: \"{}\"", joined(actions)),
        false => "send it only where their keys differ".to_owned(),
    };
    let message = format!(
        "DynamoDB refuses this request if two of its actions on {} are about the same item",
        entity.name
    );
    Some((message, help))
}

/// One update in place of several.
pub(in crate::check) fn joined(updates: &[&Action]) -> Action {
    let set = each_once(updates.iter().flat_map(|update| &update.set)).cloned().collect();
    Action { set, ..Action::new(Verb::Update, &updates[0].entity) }
}
