//! The `partita` program: reads the command line and runs one command.

mod arguments;
mod buckets;
mod client;
mod compact;
mod connection;
mod credentials;
mod dump;
mod healthcheck;
mod load;
mod model;
mod progress;
mod salvage;
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
        Command::Serve(serve) => serve::run(serve).map(|()| ExitCode::SUCCESS),
        Command::Healthcheck(check) => healthcheck::run(&check).map(|()| ExitCode::SUCCESS),
        Command::Dump(dump) => dump::run(&dump).map(|()| ExitCode::SUCCESS),
        Command::Load(load) => load::run(&load).map(|()| ExitCode::SUCCESS),
        Command::Model(command) => return model::run(command),
        Command::Verify(verify) => verify::run(&verify),
        Command::Salvage(salvage) => salvage::run(&salvage).map(|()| ExitCode::SUCCESS),
        Command::Compact(compact) => compact::run(&compact).map(|()| ExitCode::SUCCESS),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("partita: {error}");
            ExitCode::FAILURE
        }
    }
}
