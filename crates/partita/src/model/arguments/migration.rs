//! The command line of `partita model migrate`, `consolidate` and `split`.

use crate::arguments::Endpoint;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Migrate {
    /// The model that the items follow now
    pub old: PathBuf,

    /// The model that they are to follow
    pub new: PathBuf,

    /// Write; without this, the items are only read and counted
    #[arg(long)]
    pub apply: bool,

    /// Checkpoint file that lets an interrupted migration resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// The table, instead of the old model's name
    #[arg(long)]
    pub table: Option<String>,

    /// Copy everything into this table, which is created: for changes that cannot be made in place
    #[arg(long, value_name = "TABLE")]
    pub into: Option<String>,

    /// With --into: copy again into a table that was filled and verified before
    #[arg(long, requires = "into")]
    pub overwrite: bool,

    /// Carry over what the application changes, by the table's stream, until this command is stopped (Ctrl-C)
    #[arg(long, visible_alias = "live", requires = "apply")]
    pub follow: bool,

    /// Remove indexes that the new model does not have, after verification
    #[arg(long)]
    pub remove_indexes: bool,

    /// Delete items of types that the new model does not have
    #[arg(long)]
    pub delete_removed: bool,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Consolidate {
    /// The model of the new table
    pub new: PathBuf,

    /// A model and its table; the table can be omitted if it has the model's name
    #[arg(long, required = true, value_name = "OLD.toml[:TABLE]")]
    pub from: Vec<String>,

    /// The new table, instead of the new model's name; it is created
    #[arg(long, value_name = "TABLE")]
    pub into: Option<String>,

    #[command(flatten)]
    pub copy: CopyOptions,
}

#[derive(Args)]
pub struct Split {
    /// The model that the items follow now
    pub old: PathBuf,

    /// The table, instead of the old model's name
    #[arg(long)]
    pub table: Option<String>,

    /// The models of the new tables and, if they are not the models' names, the tables' names; they are created
    #[arg(long, required = true, num_args = 1.., value_name = "NEW.toml[:TABLE]")]
    pub into: Vec<String>,

    #[command(flatten)]
    pub copy: CopyOptions,
}

#[derive(Args)]
pub struct CopyOptions {
    /// Write; without this, the items are only read and counted
    #[arg(long)]
    pub apply: bool,

    /// Checkpoint file that lets an interrupted copy resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Copy again into tables that were filled and verified before
    #[arg(long)]
    pub overwrite: bool,

    /// Carry over what the application changes, by the table's stream, until this command is stopped (Ctrl-C)
    #[arg(long, visible_alias = "live", requires = "apply")]
    pub follow: bool,

    #[command(flatten)]
    pub endpoint: Endpoint,
}
