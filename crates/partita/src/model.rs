//! `partita model …`: single-table models from the command line.
//!
//! Exit codes: 0, success; 1, the check found something (or `diff` found that the new version is worse);
//! 2, the command failed: no such file, not a model, no endpoint.

pub mod arguments;
mod attach;
mod audit;
mod check;
mod copy;
mod cost;
mod diff;
mod explain;
mod explain_code;
mod export;
mod file;
mod growth;
mod import;
mod infer;
mod items;
mod keys;
mod lsp;
mod migrate;
mod questions;
mod relations;
mod seed;
mod table_check;
mod try_design;

use arguments::{Model, Task};
use partita_design::formatting::printable_lines;
use std::process::ExitCode;

/// The exit code if nothing was found.
const FINE: u8 = 0;
/// The exit code if something was found.
const FOUND: u8 = 1;
/// The exit code if the command failed.
const FAILED: u8 = 2;

/// An exit code, or an error message.
type Outcome = Result<u8, String>;

pub use file::model as load;

/// Prints text with names and values of a model, which may be another's: none of them moves the cursor.
fn show(text: &str) {
    print!("{}", printable_lines(text));
}

pub fn run(command: Model) -> ExitCode {
    let outcome = match command.task {
        Task::Check(arguments) => check::run(&arguments),
        Task::Explain(arguments) => explain::run(&arguments),
        Task::ExplainCode(arguments) => explain_code::run(&arguments),
        Task::Cost(arguments) => cost::run(&arguments),
        Task::Growth(arguments) => growth::run(&arguments),
        Task::Keys(arguments) => keys::run(&arguments),
        Task::Diff(arguments) => diff::run(&arguments),
        Task::Migrate(arguments) => migrate::migrate(&arguments),
        Task::Consolidate(arguments) => migrate::consolidate(&arguments),
        Task::Split(arguments) => migrate::split(&arguments),
        Task::Audit(arguments) => audit::run(&arguments),
        Task::Attach(arguments) => attach::attach(&arguments),
        Task::Detach(arguments) => attach::detach(&arguments),
        Task::Watch(arguments) => attach::watch(&arguments),
        Task::Seed(arguments) => seed::run(&arguments),
        Task::Try(arguments) => try_design::run(&arguments),
        Task::Infer(arguments) => infer::run(&arguments),
        Task::Copy(arguments) => copy::run(&arguments),
        Task::Relations(arguments) => relations::run(&arguments),
        Task::Import(arguments) => import::run(&arguments),
        Task::Export(arguments) => export::run(&arguments),
        Task::Lsp => lsp::run(),
        Task::Schema => export::schema(),
    };
    ExitCode::from(outcome.unwrap_or_else(|message| {
        eprintln!("partita: {}", printable_lines(message.trim_end()));
        FAILED
    }))
}
