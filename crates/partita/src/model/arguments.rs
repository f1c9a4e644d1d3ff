//! The command line of `partita model`.

use crate::arguments::Endpoint;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 success, 1 something was found, 2 the command failed.";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub struct Model {
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Subcommand)]
pub enum Task {
    /// Prove that every access pattern is served, and apply the design rules
    #[command(after_help = EXIT_CODES)]
    Check(Check),
    /// Show the requests of each pattern and the effects of each write
    Explain(Explain),
    /// Explain a finding's code, or list all codes
    ExplainCode(ExplainCode),
    /// Monthly cost: on demand and provisioned, one table and a table per entity
    Cost(Cost),
    /// What changes from one version of a model to the next; exits with 1 if a finding appears
    #[command(after_help = EXIT_CODES)]
    Diff(Diff),
    /// Rewrite a table's items from one version of a model to the next
    #[command(after_help = EXIT_CODES)]
    Migrate(Migrate),
    /// Check a table's items against a model: templates, index keys, types, uniqueness, copies
    #[command(after_help = EXIT_CODES)]
    Audit(Audit),
    /// Attach a model to a table of a running server
    Attach(Attach),
    /// Detach a model from a table of a running server
    Detach(Detach),
    /// Show the request statistics of a running server: patterns, writes, undeclared requests, hot keys
    Watch(Watch),
    /// Generate realistic items and load them into a table, or print them
    Seed(Seed),
    /// Propose a model from the items of a table or of a file
    Infer(Infer),
    /// Convert another tool's file to a model
    Import(Import),
    /// Convert a model to another tool's file
    Export(Export),
    /// Print the JSON schema that editors use to complete and check models
    Schema,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlainFormat {
    Text,
    Json,
}

#[derive(Args)]
pub struct Check {
    /// Model files
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,

    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Warnings fail the check as errors do
    #[arg(long)]
    pub deny_warnings: bool,

    /// Show notes and allowed findings too
    #[arg(long)]
    pub notes: bool,
}

#[derive(Args)]
pub struct Explain {
    /// A model file
    pub model: PathBuf,

    /// Only this pattern or write
    pub name: Option<String>,

    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
}

#[derive(Args)]
pub struct ExplainCode {
    /// A code such as P101; without it, all codes are listed
    pub code: Option<String>,

    /// Print the pages of all codes as one Markdown document
    #[arg(long, conflicts_with = "code")]
    pub all: bool,
}

#[derive(Args)]
pub struct Cost {
    /// A model file
    pub model: PathBuf,

    /// A price file instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,

    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
}

#[derive(Args)]
pub struct Diff {
    /// The model as it was
    pub old: PathBuf,

    /// The model as it will be
    pub new: PathBuf,

    /// A price file instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,

    /// Exit with 1 if the monthly on-demand cost rises by more than this percentage
    #[arg(long, value_name = "PERCENT")]
    pub max_increase: Option<f64>,

    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
}

#[derive(Args)]
pub struct Audit {
    /// A model file
    pub model: PathBuf,

    /// A file of items, in the format of `infer`, instead of a table
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    pub items: Option<PathBuf>,

    /// The table, instead of the model's name
    #[arg(long)]
    pub table: Option<String>,

    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Attach {
    /// A model file
    pub model: PathBuf,

    /// Refuse violations of the model instead of logging them
    #[arg(long)]
    pub enforce: bool,

    /// The table, instead of the model's name
    #[arg(long)]
    pub table: Option<String>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Detach {
    /// The table
    pub table: String,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Watch {
    /// Only this table's model
    pub table: Option<String>,

    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

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
pub struct Seed {
    /// A model file
    pub model: PathBuf,

    /// About how many items, distributed as the model expects them
    #[arg(long, default_value_t = 1000)]
    pub items: u64,

    /// The same seed gives the same items
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Connections that load at the same time
    #[arg(long, default_value_t = 4)]
    pub parallel: u64,

    /// The table to fill, instead of the model's name; created if it does not exist
    #[arg(long)]
    pub table: Option<String>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Infer {
    /// Items in DynamoDB JSON: a list, the output of `aws dynamodb scan`, or one item per line; `-` reads standard input
    #[arg(required_unless_present = "endpoint", conflicts_with = "endpoint")]
    pub items: Option<PathBuf>,

    /// The table to read, with --endpoint, or its name in the model
    #[arg(long, default_value = "Table")]
    pub table: String,

    /// The table's key attributes, if they are not PK and SK
    #[arg(long, value_delimiter = ',', value_name = "PK,SK")]
    pub keys: Vec<String>,

    /// How many items to read at most
    #[arg(long, default_value_t = 10_000)]
    pub limit: usize,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Origin {
    /// A NoSQL Workbench model
    Workbench,
    /// A OneTable schema as JSON
    Onetable,
}

#[derive(Args)]
pub struct Import {
    /// The tool that wrote the file
    #[arg(long, value_enum)]
    pub from: Origin,

    /// The file
    pub file: PathBuf,

    /// The table's name, if the file does not have it
    #[arg(long, default_value = "Table")]
    pub table: String,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Destination {
    /// A NoSQL Workbench model
    Workbench,
    /// A OneTable schema as JSON
    Onetable,
    /// The input of `aws dynamodb create-table --cli-input-json`
    CreateTable,
}

#[derive(Args)]
pub struct Export {
    /// What to write
    #[arg(long, value_enum)]
    pub to: Destination,

    /// A model file
    pub model: PathBuf,
}
