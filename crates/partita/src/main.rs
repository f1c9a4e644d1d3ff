//! The `partita` program: reads the command line and runs one command.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

#[macro_use]
mod output;

mod allocator;
mod arguments;
mod client;
mod clock;
mod compact;
mod dump;
mod healthcheck;
mod load;
mod model;
mod progress_bar;
mod salvage;
mod secrets;
mod serve;
mod transfer;
mod verify;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// The exit code for a wrong command line, as clap's.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    if let Some(refusal) = secrets::refuse_on_command_line(std::env::args_os().skip(1)) {
        eprintln!("partita: {refusal}");
        return ExitCode::from(USAGE_ERROR);
    }
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Serve(serve) => return serve::run(&serve).unwrap_or_else(failed),
        Command::Healthcheck(check) => healthcheck::run(&check),
        Command::Dump(dump) => return dump::run(&dump).unwrap_or_else(failed),
        Command::Load(load) => load::run(&load),
        Command::Model(command) => return model::run(command),
        Command::Verify(verify) => return verify::run(&verify),
        Command::Salvage(salvage) => return salvage::run(&salvage).unwrap_or_else(failed),
        Command::Compact(compact) => compact::run(&compact),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(error),
    }
}

fn failed(error: Box<dyn std::error::Error>) -> ExitCode {
    eprintln!("partita: {error}");
    ExitCode::FAILURE
}
