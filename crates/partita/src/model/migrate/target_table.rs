//! The tables that a migration creates. A tag shows which migration fills a table, so that it can be repeated after any
//! interruption, and that no other table is ever overwritten.

use super::Migration;
use super::tables::ModelTable;
use crate::model::{items, table_check};
use partita_design::exchange::table_definition::create_table;
use partita_design::formatting::list;
use serde_json::{Value, json};

/// The tag of a table that is being filled; its value is the migration.
const TAG: &str = "partita:migration";
/// The start of its value once the migration has been verified.
const DONE: &str = "done-";

/// What a target table is to this migration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TargetState {
    /// It is being filled.
    Filling,
    /// It was filled and verified; the application may use it.
    Done,
}

impl Migration<'_> {
    /// Finds out what the target tables are, and fails if one of them belongs to somebody else.
    pub(super) fn inspect_targets(&mut self) -> Result<TargetState, String> {
        let (mut done, mut others) = (Vec::new(), Vec::new());
        for target in &self.tables.targets {
            match self.inspect_target(target)? {
                TargetState::Done => done.push(target.table.as_str()),
                TargetState::Filling => others.push(target.table.as_str()),
            }
        }
        match (done.is_empty(), others.is_empty()) {
            (true, _) => Ok(TargetState::Filling),
            (_, true) => Ok(TargetState::Done),
            _ => Err(format!(
                "of the new tables, {} filled and verified before, and {} not: --overwrite fills all of them again",
                list(&done) + if done.len() == 1 { " was" } else { " were" },
                list(&others) + if others.len() == 1 { " is" } else { " are" }
            )),
        }
    }

    fn inspect_target(&mut self, target: &ModelTable) -> Result<TargetState, String> {
        let id = self.tables.id();
        let description = match self.client.call("DescribeTable", &json!({ "TableName": target.table })) {
            Err(failure) if failure.is("ResourceNotFoundException") => {
                self.absent.insert(target.table.clone());
                return Ok(TargetState::Filling);
            }
            outcome => outcome.map_err(|failure| failure.to_string())?["Table"].clone(),
        };
        table_check::require(&mut self.client, &target.named_model(), &description)?;
        let tag = self.tag(&description, TAG);
        let done = format!("{DONE}{id}");
        if tag.as_ref() == Some(&done) && !self.options.overwrite {
            return Ok(TargetState::Done);
        }
        let is_own = tag.is_some_and(|tag| tag == id || tag == done);
        if !is_own && !items::page(&mut self.client, &target.table, &Value::Null)?.0.is_empty() {
            return Err(format!(
                "table {} has items that do not come from this migration, and they are never overwritten: choose a new table",
                target.table
            ));
        }
        Ok(TargetState::Filling)
    }

    /// Creates the target tables, and tags those that exist as filled by this migration.
    pub(super) fn create_targets(&mut self) -> Result<(), String> {
        let (tables, id) = (self.tables, self.tables.id());
        for target in &tables.targets {
            if self.absent.remove(&target.table) {
                let mut request = create_table(&target.named_model());
                request["Tags"] = json!([{ "Key": TAG, "Value": id }]);
                self.call("CreateTable", &request)?;
                table_check::wait_until_active(&mut self.client, &target.table)?;
                table_check::enable_expiry(&mut self.client, &target.named_model())?;
            } else {
                let description = items::describe(&mut self.client, &target.table)?;
                self.set_tag(&description, TAG, &id)?;
            }
        }
        self.require_own_targets()
    }

    /// Fails if another migration fills one of the tables too: where both find it empty, the last one to tag it has it.
    fn require_own_targets(&mut self) -> Result<(), String> {
        let (tables, id) = (self.tables, self.tables.id());
        for target in &tables.targets {
            let description = items::describe(&mut self.client, &target.table)?;
            if self.tag(&description, TAG).is_some_and(|tag| tag != id) {
                return Err(format!(
                    "another migration fills table {} too: choose another table for this one",
                    target.table
                ));
            }
        }
        Ok(())
    }

    /// Marks the target tables as verified: from now on they are only read.
    pub(super) fn finish_targets(&mut self) -> Result<(), String> {
        self.require_own_targets()?;
        let (tables, id) = (self.tables, self.tables.id());
        for target in &tables.targets {
            let description = items::describe(&mut self.client, &target.table)?;
            self.set_tag(&description, TAG, &format!("{DONE}{id}"))?;
        }
        Ok(())
    }
}
