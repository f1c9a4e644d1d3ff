//! Index keys that become stale: an update changes what they are made of, and leaves them as they were.

use crate::keys::key_mapping::{is_natural, optional_fields};
use crate::keys::key_sources::KeySources;
use crate::model::{Entity, Model};
use crate::template::SHARD;
use std::collections::BTreeSet;

/// An index key that an update should have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleKey<'m> {
    /// The index.
    pub index: &'m str,
    /// The key attribute.
    pub key: &'m str,
    /// Its template.
    pub template: String,
    /// The changed attributes that it is made of, or that decide whether it exists.
    pub causes: Vec<&'m str>,
}

/// Returns the index keys that are made of attributes that an update touches, and that it does not touch.
pub fn stale_keys<'m>(model: &'m Model, entity: &'m Entity, touched: &BTreeSet<&str>) -> Vec<StaleKey<'m>> {
    let mut stale: Vec<StaleKey<'m>> = Vec::new();
    let sources = KeySources::new(model, entity);
    for index_key in entity.declared_indexes() {
        let Some(index) = model.index(&index_key.index) else { continue };
        // What decides whether an item is in the index decides whether it has the keys.
        let tested = index_key.when.attributes().into_iter().chain(optional_fields(entity, index_key));
        let conditional: Vec<&str> = tested.filter(|name| touched.contains(name)).collect();
        let shard = index_key.shard.as_ref().or(entity.shard.as_ref());
        let hashed = shard.and_then(|shard| shard.by.as_deref()).filter(|by| touched.contains(by));
        for (key, template) in index.keys.iter().zip(&index_key.key) {
            if is_natural(model, key, template) || touched.contains(key.as_str()) {
                continue;
            }
            let made_of = template.fields().filter(|field| touched.contains(field));
            let hashed = hashed.filter(|_| template.has_field(SHARD));
            let conditional = conditional.iter().copied().filter(|_| !sources.is_always_generated(key));
            let causes: BTreeSet<&str> = made_of.chain(hashed).chain(conditional).collect();
            let known = stale.iter_mut().find(|known| known.key == key);
            match known {
                _ if causes.is_empty() => {}
                // Indexes may share a key attribute, which an update sets once.
                Some(known) => {
                    let new = causes.into_iter().filter(|cause| !known.causes.contains(cause));
                    known.causes.extend(new.collect::<Vec<_>>());
                }
                None => {
                    let causes = causes.into_iter().collect();
                    stale.push(StaleKey { index: &index.name, key, template: template.to_string(), causes });
                }
            }
        }
    }
    stale
}
