//! `partita model migrate`: a table from one version of a model to the next.
//!
//! Without `--apply` nothing is written: the plan is shown, the items are read and counted. With it, missing indexes are added,
//! items are rewritten page by page, and the whole is read again to verify it; then indexes that nobody needs are removed, if that is
//! asked for. Every step may be repeated: what is done is left alone, and the checkpoint says where to go on. The way back is the
//! same command with the models exchanged. What cannot be done in place goes into a new table (`--into`).

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
use summary::Tally;

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
        Some(into) => migration.move_over(into),
        None => migration.in_place(),
    }
}

impl Migration<'_> {
    fn in_place(&mut self) -> Outcome {
        let deletes = self.arguments.delete_removed;
        let needless = self.needless()?;
        if !self.arguments.apply {
            let tally = self.pass(false)?;
            println!("dry run: nothing was written; --apply does it");
            for index in self.new.indexes.iter().filter(|index| self.old.index(&index.name).is_none()) {
                println!("           index {} is added", index.name);
            }
            self.say_needless(&needless);
            return Ok(tally.print(deletes));
        }
        self.add_indexes()?;
        self.pass(true)?.print(deletes);
        let tally = self.pass(false)?;
        let left = tally.put + tally.moved;
        println!("verified: {} items are as the new model wants them, {left} are not", tally.kept);
        if left > 0 || !tally.unknown.is_empty() || !tally.gone.is_empty() {
            return Ok(FOUND);
        }
        if self.arguments.remove_indexes {
            self.remove_indexes()?;
        } else {
            self.say_needless(&needless);
        }
        Ok(FINE)
    }

    fn say_needless(&self, names: &[String]) {
        let fate = if self.arguments.remove_indexes {
            "is removed at the end"
        } else {
            "is left; --remove-indexes removes it"
        };
        names
            .iter()
            .for_each(|name| println!("           index {name}, which the new model does not have, {fate}"));
    }

    /// A new table with the new keys, and a copy of every item in it.
    fn move_over(&mut self, into: &str) -> Outcome {
        if !self.arguments.apply {
            let tally = self.pass(false)?;
            println!("dry run: nothing was written; --apply makes table {into} and copies the items into it");
            return Ok(tally.print(false));
        }
        let mut target = self.new.clone();
        into.clone_into(&mut target.table.name);
        seed::ensure_table(&self.arguments.endpoint, &target)?;
        let tally = self.copy(into)?;
        let code = tally.print(false);
        if code == FINE {
            println!("table {into} has them; table {} is as it was, and is yours to delete", self.table);
        } else {
            println!(
                "table {into} does not have them all: table {} is as it was, and is still needed",
                self.table
            );
        }
        Ok(code)
    }

    fn call(&mut self, operation: &str, request: &Value) -> Result<Value, String> {
        self.client.call(operation, request).map_err(|failure| failure.to_string())
    }
}
