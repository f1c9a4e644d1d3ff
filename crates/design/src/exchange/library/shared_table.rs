//! What the models of a schema declare about one table, taken together.

use super::{text, texts};
use serde_json::Value;
use std::collections::BTreeSet;

/// A table that one model declares, or several.
pub(super) struct SharedTable<'a> {
    pub name: String,
    pub keys: Vec<String>,
    /// The attribute that tells the entities apart.
    pub type_attribute: Option<String>,
    pub ttl: Option<String>,
    pub indexes: Vec<&'a Value>,
    pub entities: Vec<&'a Value>,
}

impl<'a> SharedTable<'a> {
    /// The tables by name, in the order of the schema.
    pub fn all(tables: &'a [Value]) -> Result<Vec<SharedTable<'a>>, String> {
        let mut all: Vec<SharedTable<'a>> = Vec::new();
        for table in tables {
            let name = text(&table["name"]).ok_or("a table has no `name`")?;
            let keys = texts(&table["keys"]);
            if !(1..=2).contains(&keys.len()) {
                return Err(format!("table {name} needs one or two `keys`"));
            }
            let position = all.iter().position(|own| own.name == name).unwrap_or_else(|| {
                let (type_attribute, ttl, indexes, entities) = (None, None, Vec::new(), Vec::new());
                all.push(SharedTable { name, keys: keys.clone(), type_attribute, ttl, indexes, entities });
                all.len() - 1
            });
            all[position].add(table, &keys)?;
        }
        all.iter_mut().for_each(SharedTable::find_type_attribute);
        Ok(all)
    }

    fn add(&mut self, table: &'a Value, keys: &[String]) -> Result<(), String> {
        if self.keys != keys {
            return Err(format!("table {} has the keys {:?} and {keys:?}", self.name, self.keys));
        }
        self.type_attribute = self.type_attribute.take().or(text(&table["type_attribute"]));
        self.ttl = self.ttl.take().or(text(&table["ttl"]));
        for index in table["indexes"].as_array().into_iter().flatten() {
            if !self.indexes.iter().any(|own| own["name"] == index["name"]) {
                self.indexes.push(index);
            }
        }
        // A module may export an entity, and a service of it besides.
        for entity in table["entities"].as_array().into_iter().flatten() {
            if !self.entities.contains(&entity) {
                self.entities.push(entity);
            }
        }
        Ok(())
    }

    /// An attribute that has one value in each entity, and another in each, tells them apart.
    fn find_type_attribute(&mut self) {
        let Some(first) = self.entities.first().and_then(|own| own["attributes"].as_object()) else { return };
        if self.type_attribute.is_some() || self.entities.len() < 2 {
            return;
        }
        let tells_apart = |name: &&String| {
            let values: BTreeSet<&str> = self
                .entities
                .iter()
                .filter_map(|own| own["attributes"][name.as_str()]["only"].as_str())
                .collect();
            values.len() == self.entities.len()
        };
        self.type_attribute = first.keys().find(tells_apart).cloned();
    }
}
