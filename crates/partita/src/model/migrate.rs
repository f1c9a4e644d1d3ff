//! `partita model migrate`: migrates a table from one version of a model to the next.
//!
//! Without `--apply` nothing is written: the plan is shown, the items are read and counted. With it, missing indexes are added,
//! items are rewritten page by page, and everything is read again to verify it; then unneeded indexes are removed, if that is
//! requested. Every step is idempotent, and the checkpoint records where to resume. The way back is the same command with the
//! models exchanged. Changes that cannot be made in place go into a new table (`--into`).

mod copy_to_table;
mod indexes;
mod progress;
mod rewrite_in_place;
mod summary;

use super::arguments::Migrate;
use super::{FINE, FOUND, Outcome, file, seed};
use crate::client::Client;
use partita_design::Model;
use serde_json::Value;
use summary::MigrationSummary;

struct Migration<'a> {
    arguments: &'a Migrate,
    old: Model,
    new: Model,
    table: String,
    client: Client,
}

pub fn run(arguments: &Migrate) -> Outcome {
    let (old, new) = (file::model(&arguments.old)?, file::model(&arguments.new)?);
    let table = arguments.table.clone().unwrap_or_else(|| old.table.name.clone());
    let obstacle = indexes::obstacle(&old, &new);
    if let Some(obstacle) = obstacle.filter(|_| arguments.into.is_none()) {
        return Err(format!(
            "{obstacle}.\nOr copy everything into a new table: partita model migrate {} {} --table {table} --into NEW-TABLE --apply",
            arguments.old.display(),
            arguments.new.display()
        ));
    }
    let client = Client::new(&arguments.endpoint)?;
    let mut migration = Migration { arguments, old, new, table, client };
    match &arguments.into {
        Some(into) => migration.copy_to_new_table(into),
        None => migration.in_place(),
    }
}

impl Migration<'_> {
    fn in_place(&mut self) -> Outcome {
        let deletes = self.arguments.delete_removed;
        let unneeded = self.unneeded_indexes()?;
        if !self.arguments.apply {
            let summary = self.pass(false)?;
            println!("dry run: nothing was written; --apply does it");
            for index in self.new.indexes.iter().filter(|index| self.old.index(&index.name).is_none()) {
                println!("           index {} is added", index.name);
            }
            self.print_unneeded(&unneeded);
            return Ok(summary.print(deletes));
        }
        self.add_indexes()?;
        self.pass(true)?.print(deletes);
        let summary = self.pass(false)?;
        let left = summary.put + summary.moved;
        println!("verified: {} items conform to the new model, {left} do not", summary.kept);
        if left > 0 || !summary.unknown.is_empty() || !summary.gone.is_empty() {
            return Ok(FOUND);
        }
        if self.arguments.remove_indexes {
            self.remove_indexes()?;
        } else {
            self.print_unneeded(&unneeded);
        }
        Ok(FINE)
    }

    fn print_unneeded(&self, names: &[String]) {
        let fate = if self.arguments.remove_indexes {
            "is removed at the end"
        } else {
            "is left; --remove-indexes removes it"
        };
        names
            .iter()
            .for_each(|name| println!("           index {name}, which the new model does not have, {fate}"));
    }

    /// Creates a table with the new keys, and copies every item into it.
    fn copy_to_new_table(&mut self, into: &str) -> Outcome {
        if !self.arguments.apply {
            let summary = self.pass(false)?;
            println!(
                "dry run: nothing was written; --apply creates table {into} and copies the items into it"
            );
            return Ok(summary.print(false));
        }
        let mut target = self.new.clone();
        into.clone_into(&mut target.table.name);
        seed::ensure_table(&self.arguments.endpoint, &target)?;
        let summary = self.copy(into)?;
        let code = summary.print(false);
        if code == FINE {
            println!("table {into} has all items; table {} is unchanged and can be deleted", self.table);
        } else {
            println!(
                "table {into} does not have all items: table {} is unchanged and still needed",
                self.table
            );
        }
        Ok(code)
    }

    fn call(&mut self, operation: &str, request: &Value) -> Result<Value, String> {
        self.client.call(operation, request).map_err(|failure| failure.to_string())
    }
}
