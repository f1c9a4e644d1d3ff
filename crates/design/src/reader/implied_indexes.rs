//! The indexes that hold the items of an entity although it does not mention them, and conditions that keep nothing out of an index.

use crate::finding::{Finding, Severity};
use crate::keys::key_sources::KeySources;
use crate::model::{Entity, IndexKey, Model};

/// Adds the keys in indexes that no entity declares: other attributes and keys of its items are those of the index.
pub(super) fn add_implied_indexes(model: &mut Model) {
    let implied = |entity: &Entity| -> Vec<IndexKey> {
        let sources = KeySources::new(model, entity);
        let others = model.indexes.iter().filter(|index| entity.index_key(&index.name).is_none());
        others.filter_map(|index| sources.implied_key(index)).collect()
    };
    let all: Vec<Vec<IndexKey>> = model.entities.iter().map(implied).collect();
    model.entities.iter_mut().zip(all).for_each(|(entity, own)| entity.indexes.extend(own));
}

/// Reports the conditions of index entries that keep nothing out, since the keys are there anyway.
pub(super) fn leaking_conditions(model: &Model, findings: &mut Vec<Finding>) {
    for entity in &model.entities {
        let sources = KeySources::new(model, entity);
        for entry in entity.declared_indexes() {
            let Some(index) = model.index(&entry.index) else { continue };
            let Some(key) = sources.leak(entry, index) else { continue };
            let (name, when) = (&index.name, &entry.when);
            let (message, own_key) = match sources.also_for(key, entry) {
                Some(other) => (
                    format!(
                        "`when` does not keep items out of {name}: {} has {key} for {other} too, and an item that has all keys of {name} is in it, whether {when} or not",
                        entity.name
                    ),
                    format!("give {name} a key attribute that no other index has"),
                ),
                None => (
                    format!(
                        "`when` has no effect: the keys of {name} are attributes that items have anyway, and an item that has them is in the index"
                    ),
                    "make a key of the index from a template of its own".to_owned(),
                ),
            };
            let help = format!("leave it out and test it in the `where` of patterns, or {own_key}");
            let finding = Finding::new("P002", Severity::Error, entity.subject(), &entry.span);
            findings.push(finding.with_message(message).with_help(help));
        }
    }
}
