//! Index keys that become stale: an update changes what they are made of, and leaves them as they were.

use super::keys::is_natural;
use crate::model::{Entity, Model};
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
    let mut stale = Vec::new();
    for index_key in &entity.indexes {
        let Some(index) = model.index(&index_key.index) else { continue };
        let tested = index_key.when.attributes().into_iter();
        let conditional: Vec<&str> = tested.filter(|name| touched.contains(name)).collect();
        for (key, template) in index.keys.iter().zip(&index_key.key) {
            if is_natural(model, key, template) || touched.contains(key.as_str()) {
                continue;
            }
            let made_of = template.fields().filter(|field| touched.contains(field));
            let causes: BTreeSet<&str> = made_of.chain(conditional.iter().copied()).collect();
            if !causes.is_empty() {
                let causes = causes.into_iter().collect();
                stale.push(StaleKey { index: &index.name, key, template: template.to_string(), causes });
            }
        }
    }
    stale
}
