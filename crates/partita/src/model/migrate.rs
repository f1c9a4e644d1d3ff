//! `partita model migrate`, `consolidate` and `split`: items from one model to another, in place or into other tables.
//!
//! Without `--apply` nothing is written: the items are read, and what would be written, and what stands against it, is counted
//! (`pass`, `ledger`). With it, every item is written in its new form, in one transaction with the markers of its unique values and
//! its copies (`plan`, `actions`), and aggregates are counted (`aggregates`); then the result is audited against the new model, and compared with the sources if these
//! are other tables (`verify`). Changes of the application are carried over from the tables' streams (`follow`). Every step is idempotent, so that a migration that is interrupted anywhere is simply repeated. The way back
//! is the same command with the models exchanged.

mod actions;
mod aggregates;
mod attached_model;
mod blocked;
mod both_forms;
mod follow;
mod foreseen;
mod indexes;
mod ledger;
mod own_writes;
mod pass;
mod plan;
mod progress;
mod run;
mod successors;
mod summary;
mod tables;
mod tags;
mod target_table;
mod verify;

pub use run::{consolidate, migrate, split};

use crate::arguments::Endpoint;
use crate::client::Client;
use own_writes::OwnWrites;
use plan::NewestVersions;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use successors::Successors;
use tables::Tables;

/// What the user wants.
#[derive(Clone)]
pub struct Options<'a> {
    pub apply: bool,
    pub checkpoint: Option<PathBuf>,
    pub delete_removed: bool,
    pub remove_indexes: bool,
    /// Copy again into tables that were filled and verified.
    pub overwrite: bool,
    /// Carry over what the application changes, until the user stops it.
    pub follow: bool,
    pub endpoint: &'a Endpoint,
}

struct Migration<'t> {
    tables: &'t Tables,
    options: Options<'t>,
    client: Client,
    /// The newest versions of the last preview, and of what has changed since.
    newest: NewestVersions,
    /// Markers and copies that belong to no item and are removed by this pass, by the hash of their key.
    orphans: HashSet<u128>,
    /// Names of attributes that items have: the first of them.
    names: BTreeSet<String>,
    /// Writes that the stream has not shown yet, while it is followed.
    own_writes: Option<OwnWrites>,
    /// Where items are whose old key does not tell what they have become.
    successors: Option<Successors<'t>>,
    /// Target tables that do not exist yet.
    absent: HashSet<String>,
    /// Markers stay that only the old model needs.
    keeps_old_markers: bool,
    /// Changes of the application are being carried over.
    is_carrying: bool,
    /// How many writes or transactions have succeeded.
    written: u64,
    /// How many changes of the application were carried over.
    carried: u64,
}

impl<'t> Migration<'t> {
    fn new(tables: &'t Tables, options: Options<'t>) -> Result<Migration<'t>, String> {
        Ok(Migration {
            tables,
            client: Client::for_migration(options.endpoint)?,
            options,
            newest: NewestVersions::new(),
            orphans: HashSet::new(),
            names: BTreeSet::new(),
            own_writes: None,
            successors: Successors::new(tables),
            absent: HashSet::new(),
            keeps_old_markers: false,
            is_carrying: false,
            written: 0,
            carried: 0,
        })
    }

    fn call(&mut self, operation: &str, request: &Value) -> Result<Value, String> {
        self.client.call(operation, request).map_err(|failure| failure.to_string())
    }
}
