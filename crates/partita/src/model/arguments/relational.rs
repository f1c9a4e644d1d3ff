//! The command line of `partita model copy` and `relations`.

use crate::arguments::Endpoint;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct Copy {
    /// A model file
    pub model: PathBuf,

    /// The database: sqlite:FILE or postgres://…, read by the programs sqlite3 and psql
    #[arg(long, value_name = "DATABASE", required_unless_present = "rows", conflicts_with = "rows")]
    pub from: Option<String>,

    /// A folder with the rows of each table, as TABLE.csv with a header, or as TABLE.jsonl
    #[arg(long, value_name = "FOLDER")]
    pub rows: Option<PathBuf>,

    /// Write; without this, the table is only compared
    #[arg(long)]
    pub apply: bool,

    /// The table, instead of the model's name; created if it does not exist
    #[arg(long)]
    pub table: Option<String>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Relations {
    /// A model file
    pub model: PathBuf,

    /// A file of items, in the format of `infer`, instead of a table
    #[arg(conflicts_with = "endpoint")]
    pub items: Option<PathBuf>,

    /// The folder for the files; files of the same names are replaced
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,

    /// The table, instead of the model's name
    #[arg(long)]
    pub table: Option<String>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}
