//! The command line.

pub mod byte_size;

use clap::{Args, Parser, Subcommand, ValueEnum};
use partita_design::model::ReadRule;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// A database that speaks the Amazon DynamoDB API.
#[derive(Parser)]
#[command(version, about, long_about = None)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Start the database
    Serve(Serve),
    /// Write tables and their items into a file
    Dump(Dump),
    /// Read tables and their items from a file, or from another database
    Load(Load),
    /// Check, explain, price and fill single-table models
    Model(crate::model::arguments::Model),
    /// Check that stored data is intact and consistent; exits with 0 if it is and with 3 if it is not
    Verify(Verify),
    /// Ask a running database whether it is ready; exits with 0 if it is, with 1 if not
    Healthcheck(Healthcheck),
    /// Copy what is readable of a damaged data folder into a new one
    Salvage(Salvage),
    /// Shrink the data file of a stopped database to the size of its rows
    Compact(Compact),
}

#[derive(Args)]
pub struct Salvage {
    /// The damaged data folder, which is not changed
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// The folder to create
    #[arg(long, value_name = "NEW")]
    pub into: PathBuf,
}

#[derive(Args)]
pub struct Compact {
    /// The data folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct Serve {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1", env = "PARTITA_HOST")]
    pub host: String,

    /// Port to listen on; 0 picks a free one and prints it
    #[arg(long, default_value_t = 8000, env = "PARTITA_PORT")]
    pub port: u16,

    /// Folder that stores the data
    #[arg(long, default_value = "./partita-data", env = "PARTITA_DATA", conflicts_with = "in_memory")]
    pub data: PathBuf,

    /// Store nothing: all data is gone when the server stops
    #[arg(long)]
    pub in_memory: bool,

    /// When a write is acknowledged: after it is on disk, or before (synced in the background)
    #[arg(long, value_enum, default_value_t = DurabilityLevel::Full)]
    pub durability: DurabilityLevel,

    /// Verify signatures with this access key; its secret is in --secret-key-file or PARTITA_SECRET_KEY
    #[arg(long, value_name = "KEY", env = "PARTITA_ACCESS_KEY")]
    pub access_key: Option<String>,

    /// File that contains the secret of --access-key
    #[arg(long, value_name = "FILE", env = "PARTITA_SECRET_KEY_FILE")]
    pub secret_key_file: Option<PathBuf>,

    /// Encrypt connections: the certificate chain, PEM (with --tls-key)
    #[arg(long, value_name = "FILE", env = "PARTITA_TLS_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, PEM
    #[arg(long, value_name = "FILE", env = "PARTITA_TLS_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Serve anyone who can reach this address, without verifying signatures
    #[arg(long)]
    pub open_access: bool,

    /// Without verified signatures: another host name to accept, or `*` for any; may be repeated
    #[arg(long, value_name = "NAME", env = "PARTITA_ALLOW_HOST", value_delimiter = ',')]
    pub allow_host: Vec<String>,

    /// A single-table model: writes to its table are checked against it, requests attributed to its patterns; may be repeated
    #[arg(long, value_name = "MODEL", env = "PARTITA_MODEL", value_delimiter = ',')]
    pub model: Vec<PathBuf>,

    /// What happens to a write that violates the model: a line in the log, or a ValidationException
    #[arg(long, value_enum, default_value_t = ModelMode::Warn, requires = "model")]
    pub model_mode: ModelMode,

    /// What happens to a read that no pattern of the model declares: a line in the log, or a ValidationException
    #[arg(long, value_enum, value_name = "MODE", requires = "model")]
    pub model_reads: Option<ModelMode>,

    /// Append every request to this file, one JSON line each, for `partita model import`
    #[arg(long, value_name = "FILE", env = "PARTITA_LOG_REQUESTS")]
    pub log_requests: Option<PathBuf>,

    /// The size at which --log-requests starts a new file, and the one before becomes FILE.1
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = byte_size::file, env = "PARTITA_LOG_REQUESTS_SIZE", requires = "log_requests")]
    pub log_requests_size: u64,

    /// How many files --log-requests keeps; the oldest is removed
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "8",
        env = "PARTITA_LOG_REQUESTS_FILES",
        requires = "log_requests"
    )]
    pub log_requests_files: NonZeroUsize,

    /// How long streams keep their records: a number and s, m, h or d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration, env = "PARTITA_STREAM_RETENTION")]
    pub stream_retention: Duration,

    /// The shortest time that an incremental export may cover; shorter than AWS's for tests
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration, env = "PARTITA_SHORTEST_EXPORT")]
    pub shortest_export: Duration,

    /// Folder whose subfolders are the buckets of exports, imports and bulk operations
    #[arg(long, value_name = "DIR", env = "PARTITA_S3_ROOT")]
    pub s3_root: Option<PathBuf>,

    /// S3 endpoint for the buckets of exports and imports, such as http://127.0.0.1:9000, or `aws`; credentials as for the AWS tools
    #[arg(long, value_name = "URL", env = "PARTITA_S3_ENDPOINT", conflicts_with = "s3_root")]
    pub s3_endpoint: Option<String>,

    /// Region of --s3-endpoint; defaults to --region
    #[arg(long, value_name = "REGION", env = "PARTITA_S3_REGION", requires = "s3_endpoint")]
    pub s3_region: Option<String>,

    /// How long --s3-endpoint may be out of reach before an export or import fails: up to 10m
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = patience, env = "PARTITA_S3_PATIENCE", requires = "s3_endpoint")]
    pub s3_patience: Duration,

    /// Memory for requests: bodies, responses and work in progress; defaults to half of what the machine or its container has
    #[arg(long, value_name = "SIZE", value_parser = byte_size::memory, env = "PARTITA_MEMORY_LIMIT")]
    pub memory_limit: Option<u64>,

    /// Maximum number of open connections; defaults to what memory and file descriptors allow
    #[arg(long, value_name = "NUMBER", env = "PARTITA_MAX_CONNECTIONS")]
    pub max_connections: Option<NonZeroUsize>,

    /// How long a client may send or read slower than 4 KB per second
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, hide = true)]
    pub client_patience: Duration,

    /// Threads that serve connections; defaults to one per core
    #[arg(long, value_name = "NUMBER", env = "PARTITA_THREADS")]
    pub threads: Option<NonZeroUsize>,

    /// Region in ARNs
    #[arg(long, default_value = "us-east-1", env = "AWS_REGION")]
    pub region: String,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DurabilityLevel {
    Full,
    Relaxed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelMode {
    Warn,
    Enforce,
}

impl ModelMode {
    pub fn name(self) -> &'static str {
        ReadRule::from(self).name()
    }
}

impl From<ModelMode> for ReadRule {
    fn from(mode: ModelMode) -> ReadRule {
        match mode {
            ModelMode::Warn => ReadRule::Warn,
            ModelMode::Enforce => ReadRule::Enforce,
        }
    }
}

#[derive(Args)]
pub struct Healthcheck {
    /// Host of the database
    #[arg(long, default_value = "127.0.0.1", env = "PARTITA_HOST")]
    pub host: String,

    /// Port of the database
    #[arg(long, default_value_t = 8000, env = "PARTITA_PORT")]
    pub port: u16,

    /// Connect over TLS, trusting the certificates in this file, PEM
    #[arg(long, value_name = "FILE", env = "PARTITA_TLS_CA")]
    pub tls_ca: Option<PathBuf>,

    /// Connect to this machine over TLS, whatever its certificate
    #[arg(long, conflicts_with = "tls_ca")]
    pub insecure: bool,
}

#[derive(Args)]
pub struct Verify {
    /// The data folder of a stopped database; use --endpoint for a running one
    pub folder: Option<PathBuf>,

    /// Repair index entries, totals and the catalog, and give up what was lost with damaged pages: copy the folder first
    #[arg(long, requires = "folder")]
    pub repair: bool,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Dump {
    /// The file to write; compressed if its name ends in .gz or .zst
    pub file: PathBuf,

    /// A table to dump; may be repeated; defaults to all
    #[arg(long = "table", value_name = "NAME")]
    pub tables: Vec<String>,

    /// Segments of a table that are read at the same time
    #[arg(long, default_value_t = 4)]
    pub parallel: usize,

    /// Checkpoint file that lets an interrupted dump resume; defaults to FILE.progress
    #[arg(long, value_name = "FILE")]
    pub progress: Option<PathBuf>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

#[derive(Args)]
pub struct Load {
    /// A dump, a file of items (with --table), or the address of another database
    pub source: PathBuf,

    /// A table to load; may be repeated; defaults to all
    #[arg(long = "table", value_name = "NAME")]
    pub tables: Vec<String>,

    /// Put the items into existing tables
    #[arg(long)]
    pub merge: bool,

    /// Connections that write at the same time
    #[arg(long, default_value_t = 4)]
    pub parallel: usize,

    /// Checkpoint file that lets an interrupted load resume; defaults to SOURCE.load-progress or ./partita-load.progress
    #[arg(long, value_name = "FILE")]
    pub progress: Option<PathBuf>,

    /// Section of ~/.aws/credentials for a SOURCE that is a database, if it differs
    #[arg(long, value_name = "PROFILE")]
    pub from_profile: Option<String>,

    /// Region of a SOURCE that is a database, if it differs
    #[arg(long, value_name = "REGION")]
    pub from_region: Option<String>,

    #[command(flatten)]
    pub endpoint: Endpoint,
}

/// The address of a database, and the credentials for it.
#[derive(Args, Clone)]
pub struct Endpoint {
    /// Address of a database, such as http://127.0.0.1:8000, or `aws`
    #[arg(long, value_name = "URL", env = "PARTITA_ENDPOINT")]
    pub endpoint: Option<String>,

    /// Access key; its secret is in --secret-key-file or AWS_SECRET_ACCESS_KEY
    #[arg(long, value_name = "KEY", env = "AWS_ACCESS_KEY_ID")]
    pub access_key: Option<String>,

    /// File that contains the secret of --access-key
    #[arg(long, value_name = "FILE")]
    pub secret_key_file: Option<PathBuf>,

    /// Whether credentials are taken from the profile only.
    #[arg(skip)]
    pub only_profile: bool,

    /// Section of ~/.aws/credentials, if no keys are given
    #[arg(long, env = "AWS_PROFILE", default_value = "default")]
    pub profile: String,

    #[arg(long, env = "AWS_REGION")]
    pub region: Option<String>,
}

/// A year: anything longer is a mistake.
const MAX_SECONDS: u64 = 366 * 24 * 60 * 60;

fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*seconds).filter(|seconds| (1..=MAX_SECONDS).contains(seconds))
    });
    seconds.map(Duration::from_secs).ok_or_else(|| "not a time such as 90s, 30m, 24h or 7d".to_owned())
}

/// A request is signed once for all its retries, and a signature is valid for fifteen minutes.
const MAX_PATIENCE: Duration = Duration::from_secs(10 * 60);

fn patience(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|patience| {
        if patience <= MAX_PATIENCE { Ok(patience) } else { Err("more than 10m".to_owned()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_units() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "24", "h", "-1h", "0s", "1.5h", "24 h", "1w", "99999999999999999999d", "400d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
