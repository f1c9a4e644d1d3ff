//! Migrates indexes: missing ones are added first, unneeded ones removed last.

use super::Migration;
use crate::model::{items, table_check};
use partita_design::Model;
use partita_design::exchange::table_definition::from_description;
use partita_design::model::Index;
use serde_json::json;

impl Migration<'_> {
    /// Global indexes of the table that the new model does not have.
    pub(super) fn unneeded_indexes(&mut self) -> Result<Vec<String>, String> {
        let target = &self.tables.targets[0];
        let description = items::describe(&mut self.client, &target.table)?;
        let (_, indexes) = from_description(&description);
        let unneeded =
            indexes.into_iter().filter(|index| !index.local && target.model.index(&index.name).is_none());
        Ok(unneeded.map(|index| index.name).collect())
    }

    pub(super) fn remove_indexes(&mut self) -> Result<(), String> {
        let table = &self.tables.targets[0].table;
        for name in self.unneeded_indexes()? {
            println!("removing index {name}");
            let update = json!([{ "Delete": { "IndexName": name } }]);
            self.call("UpdateTable", &json!({ "TableName": table, "GlobalSecondaryIndexUpdates": update }))?;
            table_check::wait_until_active(&mut self.client, table)?;
        }
        Ok(())
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
