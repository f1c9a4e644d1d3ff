//! The command line of `partita model`.

use crate::arguments::Endpoint;
use clap::{Arg, ArgAction, Args, Subcommand, ValueEnum};
use std::path::PathBuf;

mod migration;
mod relational;
pub use migration::{Consolidate, CopyOptions, Migrate, Split};
pub use relational::{Copy, Relations};

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
    /// Sizes and cost of the next twelve months, and the month in which a limit is first exceeded
    Growth(Cost),
    /// A card for each partition key: values, distribution, items, traffic and a verdict
    Keys(Keys),
    /// What changes from one version of a model to the next; exits with 1 if a finding appears
    #[command(after_help = EXIT_CODES)]
    Diff(Diff),
    /// Rewrite a table's items from one version of a model to the next
    #[command(after_help = EXIT_CODES)]
    Migrate(Migrate),
    /// Copy several tables into one, and verify it
    #[command(after_help = EXIT_CODES)]
    Consolidate(Consolidate),
    /// Copy a table into several, and verify it
    #[command(after_help = EXIT_CODES)]
    Split(Split),
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
    /// Try a design before there is an application: seed it, carry out every pattern, predicted beside measured
    #[command(after_help = EXIT_CODES)]
    Try(Try),
    /// Propose a model from the items of a table or of a file
    Infer(Infer),
    /// Convert another tool's file to a model
    Import(Import),
    /// Copy the rows of a relational database into a model's table, and compare both sides
    #[command(after_help = EXIT_CODES)]
    Copy(Copy),
    /// Write a table as typed relations: a CSV file for each entity, and the SQL that loads them
    Relations(Relations),
    /// Convert a model to another tool's file
    Export(Export),
    /// Serve an editor: findings, completion and plans while a model is written (language server protocol)
    #[command(arg = stdio())]
    Lsp,
    /// Print the JSON schema that editors use to complete and check models
    Schema,
}

/// What many editors pass to every language server.
fn stdio() -> Arg {
    let help = "Use standard input and output, as it does anyway: many editors pass this";
    Arg::new("stdio").long("stdio").action(ArgAction::SetTrue).help(help)
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Commands of the AWS CLI
    Cli,
    /// Python, with boto3
    Python,
    /// JavaScript, with version 3 of the SDK
    #[value(name = "javascript")]
    JavaScript,
    /// Operations and their inputs
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

    /// Write the proposed repairs into the files, then check them
    #[arg(long)]
    pub fix: bool,
}

#[derive(Args)]
pub struct Explain {
    /// A model file
    pub model: PathBuf,

    /// Only this pattern or write
    pub name: Option<String>,

    /// Print only the requests, ready to paste, with the items that `seed` generates
    #[arg(long = "as", value_enum, value_name = "LANGUAGE", conflicts_with = "format")]
    pub language: Option<Language>,

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
pub struct Keys {
    /// A model file
    pub model: PathBuf,

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
    #[arg(conflicts_with = "endpoint")]
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

    /// Replace an enforced model even if that lowers its rules
    #[arg(long)]
    pub force: bool,

    /// Log or refuse reads that no pattern declares, instead of what the model says
    #[arg(long, value_enum, value_name = "MODE")]
    pub reads: Option<crate::arguments::ModelMode>,

    /// The table, instead of the model's name
    #[arg(long)]
    pub table: Option<String>,

    /// Add indexes of the model that the table does not have
    #[arg(long)]
    pub add_indexes: bool,

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
pub struct Try {
    /// A model file
    pub model: PathBuf,

    /// About how many items, distributed as the model expects them
    #[arg(long, default_value_t = 1000)]
    pub items: u64,

    /// The same seed gives the same items
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Also drive the declared mix of patterns and writes
    #[arg(long, value_enum)]
    pub rate: Option<Rate>,

    /// Multiple of the declared rates
    #[arg(long, default_value_t = 1.0, requires = "rate")]
    pub scale: f64,

    /// How long to drive it: a number and s, m or h
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = seconds, requires = "rate")]
    pub duration: f64,

    /// The table to create, instead of the model's name and -try
    #[arg(long)]
    pub table: Option<String>,

    /// Keep the table at the endpoint
    #[arg(long)]
    pub keep: bool,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rate {
    /// The rates that the model declares
    Declared,
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

    /// Add indexes of the model that the table does not have
    #[arg(long)]
    pub add_indexes: bool,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Infer {
    /// Items in DynamoDB JSON: a list, the output of `aws dynamodb scan`, or one item per line; `-` reads standard input
    #[arg(conflicts_with = "endpoint")]
    pub items: Option<PathBuf>,

    /// The table to read, with --endpoint, or its name in the model
    #[arg(long, default_value = "Table")]
    pub table: String,

    /// The table's key attributes, if they are not PK and SK
    #[arg(long, value_delimiter = ',', value_name = "PK,SK")]
    pub keys: Vec<String>,

    /// How many items to read at most; all by default
    #[arg(long)]
    pub limit: Option<usize>,

    #[command(flatten)]
    pub questions: Questions,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

/// What to do with the questions of a proposed model.
#[derive(Args)]
pub struct Questions {
    /// Print the questions instead of the model
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub questions: Option<PlainFormat>,

    /// A JSON object of answers, by the id of the question
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,

    /// Ask on the terminal
    #[arg(long)]
    pub ask: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Origin {
    /// A NoSQL Workbench model
    Workbench,
    /// A OneTable schema as JSON
    Onetable,
    /// A relational schema: the DDL of PostgreSQL, MySQL or SQLite
    Sql,
    /// A sheet of access patterns: a Markdown table or CSV
    Sheet,
    /// Recorded requests, one JSON line each, as `partita serve --log-requests` writes them
    Requests,
    /// A CloudFormation or SAM template, as JSON or YAML
    Cloudformation,
    /// A template that CDK wrote: cdk.out/*.template.json
    Cdk,
    /// The output of `terraform show -json`, or HCL
    Terraform,
    /// Entities of ElectroDB, as integrations/schemas/electrodb_schema.mjs prints them
    Electrodb,
    /// Entities of DynamoDB-Toolbox, as integrations/schemas/toolbox_schema.mjs prints them
    Toolbox,
    /// Models of Dynamoose, as integrations/schemas/dynamoose_schema.mjs prints them
    Dynamoose,
    /// Models of PynamoDB, as integrations/schemas/pynamodb_schema.py prints them
    Pynamodb,
}

#[derive(Args)]
pub struct Import {
    /// The tool that wrote the file
    #[arg(long, value_enum)]
    pub from: Origin,

    /// The file
    pub file: PathBuf,

    /// The table's name, if the file does not have it; if it has several tables, the one to print
    #[arg(long)]
    pub table: Option<String>,

    /// With several tables in the file, write a model for each to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "questions")]
    pub out: Option<PathBuf>,

    /// With requests: the model whose patterns and writes get rates; what it lacks is added
    #[arg(long, value_name = "MODEL", conflicts_with = "items")]
    pub model: Option<PathBuf>,

    /// With requests, cloudformation, cdk and terraform: items in the format of `infer`, from which the entities are learned
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,

    /// With sql: a log of queries, as pg_stat_statements in CSV, PostgreSQL's log, MySQL's general log, or statements
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,

    /// With sql: a table for each entity instead of one for all; with --out FOLDER, or --table ENTITY to print one
    #[arg(long)]
    pub table_per_entity: bool,

    /// The time that a log covers, as in 90s, 15m, 1h or 7d, for the rates of patterns and writes
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub over: Option<f64>,

    #[command(flatten)]
    pub questions: Questions,
}

/// The seconds of a time such as `1h`.
fn seconds(text: &str) -> Result<f64, String> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3_600.0), ('d', 86_400.0)];
    let parsed = units
        .iter()
        .find_map(|(unit, seconds)| Some(text.strip_suffix(*unit)?.parse::<f64>().ok()? * seconds));
    let fine = parsed.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    fine.ok_or_else(|| "write a number with s, m, h or d behind it, as in 15m".to_owned())
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
