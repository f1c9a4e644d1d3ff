//! Migrates indexes: missing ones are added first, unneeded ones removed last.

use super::Migration;
use crate::model::items;
use partita_design::Model;
use partita_design::definition::{create_table, from_description};
use partita_design::model::Index;
use serde_json::{Value, json};
use std::time::Duration;

impl Migration<'_> {
    /// Adds the new model's missing global indexes, one after another.
    pub(super) fn add_indexes(&mut self) -> Result<(), String> {
        let wanted = create_table(&self.new);
        for index in wanted["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default() {
            let table = self.wait_until_active()?;
            let has = |other: &Value| other["IndexName"] == index["IndexName"];
            if table["GlobalSecondaryIndexes"].as_array().is_some_and(|indexes| indexes.iter().any(has)) {
                continue;
            }
            println!("adding index {}", index["IndexName"].as_str().unwrap_or_default());
            let request = json!({
                "TableName": self.table,
                "AttributeDefinitions": wanted["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": [{ "Create": index }],
            });
            self.call("UpdateTable", &request)?;
        }
        self.wait_until_active().map(|_| ())
    }

    /// Global indexes of the table that the new model does not have.
    pub(super) fn unneeded_indexes(&mut self) -> Result<Vec<String>, String> {
        let description = items::describe(&mut self.client, &self.table)?;
        let (_, indexes) = from_description(&description);
        let unneeded =
            indexes.into_iter().filter(|index| !index.local && self.new.index(&index.name).is_none());
        Ok(unneeded.map(|index| index.name).collect())
    }

    pub(super) fn remove_indexes(&mut self) -> Result<(), String> {
        for name in self.unneeded_indexes()? {
            println!("removing index {name}");
            let update = json!([{ "Delete": { "IndexName": name } }]);
            self.call(
                "UpdateTable",
                &json!({ "TableName": self.table, "GlobalSecondaryIndexUpdates": update }),
            )?;
            self.wait_until_active()?;
        }
        Ok(())
    }

    /// Waits until the table and its indexes are active.
    fn wait_until_active(&mut self) -> Result<Value, String> {
        loop {
            let table = items::describe(&mut self.client, &self.table)?;
            let indexes = table["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
            if table["TableStatus"] == "ACTIVE"
                && indexes.iter().all(|index| index["IndexStatus"] == "ACTIVE")
            {
                return Ok(table);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Why the table cannot be migrated in place, if so.
pub fn obstacle(old: &Model, new: &Model) -> Option<String> {
    if old.table.keys != new.table.keys {
        return Some(format!(
            "the table's keys change from {} to {}, and a table's keys cannot be changed",
            old.table.keys.join(", "),
            new.table.keys.join(", ")
        ));
    }
    let differs = |index: &&Index| {
        old.index(&index.name)
            .is_some_and(|before| before.halves() != index.halves() || before.project != index.project)
    };
    if let Some(index) = new.indexes.iter().filter(|index| !index.local).find(differs) {
        return Some(format!(
            "index {0} changes its keys or projection, and an index cannot be changed: call it {0}v2 in the new model, and it is \
             added next to the old one",
            index.name
        ));
    }
    let local = |model: &Model| -> Vec<(String, Vec<String>)> {
        let local = model.indexes.iter().filter(|index| index.local);
        local.map(|index| (index.name.clone(), index.keys.clone())).collect()
    };
    (local(old) != local(new))
        .then(|| "local indexes change, and they can only be created with the table".to_owned())
}
