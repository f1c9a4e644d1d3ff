//! The load benchmark. `cargo xtask bench` builds everything and runs it.
//!
//! Partita and a bare hyper server that answers as many bytes are measured one after the other, workload by
//! workload, with the same requests from the same client: machines are noisy, ratios of one run are not.

mod bare_server;
mod certificate;
mod connection;
mod disk;
mod growth;
mod load;
mod overload;
mod past;
mod process;
mod report;
mod run;
mod workload;

use clap::{Parser, Subcommand};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// Measures Partita beside a bare hyper server.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the workloads and print a table of ratios
    Run(RunArguments),
    /// Load tables of growing size and measure at each
    Growth(GrowthArguments),
    /// Measure what streams, backups and point-in-time recovery cost
    Past(PastArguments),
    /// Offer more than can be answered, and measure what is answered in time
    Overload(OverloadArguments),
    /// Serve the same bytes to every request: the yardstick
    Bare {
        /// Bytes of each answer
        #[arg(long)]
        bytes: usize,
    },
}

#[derive(clap::Args)]
pub struct RunArguments {
    /// The program to measure
    #[arg(long, default_value = "target/release/partita")]
    binary: PathBuf,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Items in the table
    #[arg(long, default_value_t = 20_000)]
    items: u64,
    /// Where to put the data folder; the disk that is measured
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Only the workloads whose names contain this
    #[arg(long)]
    only: Option<String>,
    /// Write the table to this file too
    #[arg(long)]
    write: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct GrowthArguments {
    /// The program to measure
    #[arg(long, default_value = "target/release/partita")]
    binary: PathBuf,
    /// Numbers of items, growing
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000, 10_000_000])]
    sizes: Vec<u64>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Where to put the data folder
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Write the results behind those of the benchmark in this file
    #[arg(long)]
    append: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct PastArguments {
    /// The program to measure
    #[arg(long, default_value = "target/release/partita")]
    binary: PathBuf,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Items in each table
    #[arg(long, default_value_t = 100_000)]
    items: u64,
    /// Where to put the data folders
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Write the results behind those of the benchmark in this file
    #[arg(long)]
    append: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct OverloadArguments {
    /// The program to measure
    #[arg(long, default_value = "target/release/partita")]
    binary: PathBuf,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Items in the table
    #[arg(long, default_value_t = 20_000)]
    items: u64,
    /// Connections among which what is due is spread
    #[arg(long, default_value_t = 256)]
    connections: usize,
    /// Which workloads
    #[arg(long, value_delimiter = ',', default_values_t = ["get".to_owned(), "put_new".to_owned(), "query".to_owned()])]
    workloads: Vec<String>,
    /// Where to put the data folder
    #[arg(long, default_value = "target")]
    folder: PathBuf,
}

impl RunArguments {
    fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Growth(arguments) => growth::run(&arguments),
        Command::Past(arguments) => past::run(&arguments),
        Command::Overload(arguments) => overload::run(&arguments),
        Command::Bare { bytes } => bare_server::serve(bytes),
    }
}
