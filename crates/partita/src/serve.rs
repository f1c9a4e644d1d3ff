//! `partita serve`: opens the store, runs the server, and shuts down cleanly.

mod buckets;
mod host_resources;
mod request_log_files;
mod watchdog;

use crate::arguments::{DurabilityLevel, ModelMode, Serve};
use crate::{allocator, secrets};
use partita_auth::{Authentication, Credential, Verifier};
use partita_engine::clock::Clock;
use partita_engine::stream::stream_options::StreamOptions;
use partita_engine::{Engine, WriteJudge};
use partita_server::models::{Mode, ModelWatch, Models};
use partita_server::pipeline::Pipeline;
use partita_server::{
    AllowedHosts, Budget, HostPolicy, ListenOptions, RequestLog, Server, Verification, tls,
};
use partita_store::{Store, StoreError};
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use request_log_files::RequestLogFiles;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long a shutdown may take: less than container engines wait before they kill the process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(9);
/// The exit code when the store has failed for good: a supervisor restarts the program.
const STORE_FAILED: u8 = 74;

pub fn run(arguments: &Serve) -> Result<ExitCode, Box<dyn Error>> {
    start_log();
    let credential = secrets::server_credential(arguments)?;
    check_exposure(arguments, credential.is_some())?;
    // This thread accepts connections; requests and background tasks have threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if arguments.in_memory {
        return runtime.block_on(serve(arguments, MemoryStore::new(), credential, "nothing is stored"));
    }
    let durability = match arguments.durability {
        DurabilityLevel::Full => Durability::Full,
        DurabilityLevel::Relaxed => Durability::Relaxed,
    };
    let store = EmbeddedStore::open(&arguments.data, Options { durability })?;
    store.on_failure(exit_on_failure);
    let storage = format!("data in {}, {}", arguments.data.display(), describe(durability));
    runtime.block_on(serve(arguments, store, credential, &storage))
}

fn exit_on_failure(error: &StoreError) {
    eprintln!("partita: {error}. The process exits and should be restarted.");
    std::process::exit(i32::from(STORE_FAILED))
}

fn describe(durability: Durability) -> &'static str {
    match durability {
        Durability::Full => "every write on disk before it is acknowledged",
        Durability::Relaxed => "writes synced in the background",
    }
}

/// Without verified signatures the server listens on this machine only, unless the user insists.
fn check_exposure(arguments: &Serve, verified: bool) -> Result<(), String> {
    let local = arguments.host == "localhost"
        || arguments.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if verified || arguments.open_access || local {
        return Ok(());
    }
    Err(format!(
        "listening on {} would give access to anyone who can reach it. Give --access-key and --secret-key-file to verify signatures, or --open-access if that is what you want",
        arguments.host
    ))
}

async fn serve<S: Store>(
    arguments: &Serve,
    store: S,
    credential: Option<Credential>,
    storage: &str,
) -> Result<ExitCode, Box<dyn Error>> {
    let engine = Engine::open(store, &arguments.region, Clock::System)?
        .with_streams(StreamOptions::retaining(arguments.stream_retention))
        .with_shortest_export(arguments.shortest_export);
    if let Some(buckets) = buckets::choose(arguments)? {
        engine.set_buckets(buckets);
    }
    let budget = arguments.memory_limit.unwrap_or_else(host_resources::default_budget);
    let pipeline = pipeline(arguments, engine, credential, budget)?;
    let server = Server::bind(listen_options(arguments, budget)?, pipeline)
        .await
        .map_err(|error| format!("cannot listen on {}:{}: {error}", arguments.host, arguments.port))?;
    let mut terminate = signal(SignalKind::terminate())?;
    announce(&server.endpoint()?, storage);
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        watchdog::start(SHUTDOWN_TIMEOUT);
    };
    let stopped = server.run(stop).await?;
    if let Some(failure) = stopped.failure {
        // There is nothing to wait for: what could not be written was not acknowledged.
        watchdog::start(SHUTDOWN_TIMEOUT);
        eprintln!("partita: the store has failed and does not recover: {failure}");
        return Ok(ExitCode::from(STORE_FAILED));
    }
    let Some(pipeline) = stopped.pipeline else {
        watchdog::report();
        return Ok(ExitCode::from(watchdog::EXIT_CODE));
    };
    // Dropping the pipeline closes the store, after its writer has finished.
    drop(pipeline);
    print_line("Partita has stopped.");
    Ok(ExitCode::SUCCESS)
}

/// Builds the pipeline that requests go through.
fn pipeline<S: Store>(
    arguments: &Serve,
    engine: Engine<S>,
    credential: Option<Credential>,
    budget: u64,
) -> Result<Pipeline<S>, Box<dyn Error>> {
    let (authentication, host_policy) = match credential {
        Some(credential) => (Authentication::Verified(Verifier::new([credential])), HostPolicy::Verified),
        None => {
            let allowed = AllowedHosts::new(&arguments.allow_host);
            (Authentication::Unverified, HostPolicy::Unverified(allowed))
        }
    };
    let models = Arc::new(models(arguments)?);
    engine.set_judge(Arc::clone(&models) as Arc<dyn WriteJudge>);
    Ok(Pipeline {
        engine,
        authentication,
        host_policy,
        clock: Clock::System,
        region: arguments.region.clone(),
        models,
        request_log: request_log(arguments)?,
        verification: Verification::default(),
        budget: Budget::new(usize::try_from(budget)?, allocator::release_memory),
        slow_client_credit: arguments.client_patience,
    })
}

/// The log of requests, if one is written.
fn request_log(arguments: &Serve) -> Result<Option<RequestLog>, String> {
    let Some(path) = &arguments.log_requests else { return Ok(None) };
    let files = RequestLogFiles::open(path, arguments.log_requests_size, arguments.log_requests_files);
    let log = files.and_then(RequestLog::start);
    log.map(Some).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn listen_options(arguments: &Serve, budget: u64) -> Result<ListenOptions<'_>, Box<dyn Error>> {
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::acceptor(certificate, key)?),
        _ => None,
    };
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = arguments.threads.map_or_else(cores, NonZeroUsize::get);
    let default = host_resources::default_max_connections(budget, threads);
    let connections = arguments.max_connections.map_or(default, NonZeroUsize::get);
    Ok(ListenOptions { host: &arguments.host, port: arguments.port, tls, threads, connections })
}

/// The folder within the data folder in which attached models are kept.
pub const MODELS_FOLDER: &str = "models";

/// The models that are attached at startup: those that were attached before, and in their place those that the command names.
fn models(arguments: &Serve) -> Result<Models, Box<dyn Error>> {
    let mode = match arguments.model_mode {
        ModelMode::Warn => Mode::Warn,
        ModelMode::Enforce => Mode::Enforce,
    };
    let kept = || Models::kept_in(arguments.data.join(MODELS_FOLDER));
    let models = if arguments.in_memory { Models::default() } else { kept()? };
    for path in &arguments.model {
        let watch = ModelWatch::new(crate::model::load(path)?, mode)
            .with_reads(arguments.model_reads.map(Into::into));
        let table = watch.table().to_owned();
        for lowered in models.attach(watch, true).map_err(|exception| exception.message)? {
            tracing::warn!(table, "{} lowers the model that was attached: {lowered}", path.display());
        }
    }
    Ok(models)
}

fn announce(endpoint: &str, storage: &str) {
    print_line(&format!(
        "Partita {} is ready at {endpoint} ({storage})\nTry: aws dynamodb list-tables --endpoint-url {endpoint}",
        env!("CARGO_PKG_VERSION")
    ));
}

/// Prints a line; a closed standard output is not a reason to stop.
fn print_line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PARTITA_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
