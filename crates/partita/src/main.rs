//! The `partita` program: reads the command line and runs one command.

mod arguments;
mod buckets;
mod client;
mod connection;
mod credentials;
mod dump;
mod healthcheck;
mod load;
mod model;
mod progress;
mod serve;
mod transfer;
mod verify;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// Requests allocate and free small pieces on several threads, which this allocator does best.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Serve(serve) => serve::run(serve),
        Command::Healthcheck(check) => healthcheck::run(&check),
        Command::Dump(dump) => dump::run(&dump),
        Command::Load(load) => load::run(&load),
        Command::Model(command) => return model::run(command),
        Command::Verify(verify) => return verify::run(&verify),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("partita: {error}");
            ExitCode::FAILURE
        }
    }
}
