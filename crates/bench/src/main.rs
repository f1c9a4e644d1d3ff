//! The load benchmark. `cargo xtask bench` builds everything and runs it.
//!
//! Partita and a bare hyper server that returns the same number of bytes are measured in turn, workload by workload, with
//! the same requests from the same client: absolute figures are noisy, ratios within one run are not.

mod benchmark;
mod client;
mod disk;
mod report;
mod server;

use benchmark::{growth, history, overload, ratios};
use clap::{Parser, Subcommand};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

/// Compares Partita with a bare hyper server.
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
    History(HistoryArguments),
    /// Offer more load than the server can handle and measure the responses in time
    Overload(OverloadArguments),
    /// Serve the same bytes to every request, as the baseline
    Bare {
        /// Bytes of each response
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
    /// Where to put the data folder, which determines the disk that is measured
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Only the workloads whose names contain this
    #[arg(long)]
    only: Option<String>,
    /// Also write the table to this file
    #[arg(long)]
    write: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct GrowthArguments {
    /// The program to measure
    #[arg(long, default_value = "target/release/partita")]
    binary: PathBuf,
    /// Numbers of items, in ascending order
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000, 10_000_000])]
    sizes: Vec<u64>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Where to put the data folder
    #[arg(long, default_value = "target")]
    folder: PathBuf,
    /// Replace this benchmark's section in this file
    #[arg(long)]
    append: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct HistoryArguments {
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
    /// Replace this benchmark's section in this file
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
    /// Number of connections
    #[arg(long, default_value_t = 256)]
    connections: usize,
    /// Workloads to run
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
        Command::Run(arguments) => ratios::run(&arguments),
        Command::Growth(arguments) => growth::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Overload(arguments) => overload::run(&arguments),
        Command::Bare { bytes } => server::bare::serve(bytes),
    }
}
