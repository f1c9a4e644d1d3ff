//! `partita model …`: single-table models from the command line.
//!
//! Exit codes: 0, success; 1, the check found something (or `diff` found that the new version is worse);
//! 2, the command failed: no such file, not a model, no endpoint.

pub mod arguments;
mod attach;
mod audit;
mod check;
mod cost;
mod diff;
mod explain;
mod explain_code;
mod file;
mod import_export;
mod infer;
mod items;
mod migrate;
mod seed;

use arguments::{Model, Task};
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

pub fn run(command: Model) -> ExitCode {
    let outcome = match command.task {
        Task::Check(arguments) => check::run(&arguments),
        Task::Explain(arguments) => explain::run(&arguments),
        Task::ExplainCode(arguments) => explain_code::run(&arguments),
        Task::Cost(arguments) => cost::run(&arguments),
        Task::Diff(arguments) => diff::run(&arguments),
        Task::Migrate(arguments) => migrate::run(&arguments),
        Task::Audit(arguments) => audit::run(&arguments),
        Task::Attach(arguments) => attach::attach(&arguments),
        Task::Detach(arguments) => attach::detach(&arguments),
        Task::Watch(arguments) => attach::watch(&arguments),
        Task::Seed(arguments) => seed::run(&arguments),
        Task::Infer(arguments) => infer::run(&arguments),
        Task::Import(arguments) => import_export::import(&arguments),
        Task::Export(arguments) => import_export::export(&arguments),
        Task::Schema => import_export::schema(),
    };
    ExitCode::from(outcome.unwrap_or_else(|message| {
        eprintln!("partita: {}", message.trim_end());
        FAILED
    }))
}
