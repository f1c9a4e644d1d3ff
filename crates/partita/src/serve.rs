//! `partita serve`: opens the store, starts the server, greets, and stops cleanly.

use crate::arguments::{DurabilityLevel, ModelMode, Serve};
use crate::buckets;
use partita_auth::{Authentication, Credential, Verifier};
use partita_engine::Engine;
use partita_engine::clock::Clock;
use partita_engine::stream_options::StreamOptions;
use partita_server::models::{Mode, ModelWatch, Models};
use partita_server::pipeline::Pipeline;
use partita_server::verification::Verification;
use partita_server::{Listen, Reach, Server, tls};
use partita_store::Store;
use partita_store_embedded::{Durability, EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use tokio::signal::unix::{SignalKind, signal};

pub fn run(arguments: Serve) -> Result<(), Box<dyn Error>> {
    start_log();
    let reach = reach(&arguments)?;
    // This thread accepts connections and one more does the background work; the server has threads of its own.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    if arguments.in_memory {
        runtime.block_on(serve(&arguments, MemoryStore::new(), reach, "nothing is kept"))
    } else {
        let durability = match arguments.durability {
            DurabilityLevel::Full => Durability::Full,
            DurabilityLevel::Relaxed => Durability::Relaxed,
        };
        let store = EmbeddedStore::open(&arguments.data, Options { durability })?;
        let kept = format!("data in {}, {}", arguments.data.display(), describe(durability));
        runtime.block_on(serve(&arguments, store, reach, &kept))
    }
}

fn describe(durability: Durability) -> &'static str {
    match durability {
        Durability::Full => "every write on disk before it is acknowledged",
        Durability::Relaxed => "writes synced in the background",
    }
}

/// Without verified signatures only this machine may be answered, unless the user insists.
fn reach(arguments: &Serve) -> Result<Reach, Box<dyn Error>> {
    if arguments.access_key.is_some() || arguments.open_access {
        return Ok(Reach::Open);
    }
    let local = arguments.host == "localhost"
        || arguments.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if local {
        return Ok(Reach::Local);
    }
    Err(format!(
        "listening on {} would let anyone in who can reach it. Give --access-key and --secret-key to verify signatures, or --open-access if that is what you want",
        arguments.host
    )
    .into())
}

async fn serve<S: Store>(
    arguments: &Serve,
    store: S,
    reach: Reach,
    kept: &str,
) -> Result<(), Box<dyn Error>> {
    let engine = Engine::open(store, &arguments.region, Clock::System)?
        .with_streams(StreamOptions::retaining(arguments.stream_retention))
        .with_shortest_export(arguments.shortest_export);
    if let Some(buckets) = buckets::choose(arguments)? {
        engine.set_buckets(buckets);
    }
    let authentication = match (&arguments.access_key, &arguments.secret_key) {
        (Some(access_key), Some(secret_key)) => {
            Authentication::Verified(Verifier::new([Credential::new(access_key, secret_key)]))
        }
        _ => Authentication::Unverified,
    };
    let region = arguments.region.clone();
    let pipeline = Pipeline {
        engine,
        authentication,
        reach,
        clock: Clock::System,
        region,
        models: models(arguments)?,
        verification: Verification::default(),
    };
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::acceptor(certificate, key)?),
        _ => None,
    };
    let threads = arguments.threads.map(NonZeroUsize::get);
    let listen = Listen { host: &arguments.host, port: arguments.port, tls, threads };
    let server = Server::bind(listen, pipeline)
        .await
        .map_err(|error| format!("cannot listen on {}:{}: {error}", arguments.host, arguments.port))?;
    let mut terminate = signal(SignalKind::terminate())?;
    greet(&server.endpoint()?, kept);
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    };
    // Dropping what is left closes the store: its writer finishes first.
    drop(server.run(stop).await);
    say("Partita has stopped.");
    Ok(())
}

/// The models that are attached from the beginning.
fn models(arguments: &Serve) -> Result<Models, Box<dyn Error>> {
    let mode = match arguments.model_mode {
        ModelMode::Warn => Mode::Warn,
        ModelMode::Enforce => Mode::Enforce,
    };
    let models = Models::default();
    for path in &arguments.model {
        models.attach(ModelWatch::new(crate::model::load(path)?, mode));
    }
    Ok(models)
}

fn greet(endpoint: &str, kept: &str) {
    say(&format!(
        "Partita {} is ready at {endpoint} ({kept})\nTry: aws dynamodb list-tables --endpoint-url {endpoint}",
        env!("CARGO_PKG_VERSION")
    ));
}

/// Speaks to whoever started the server; that nobody listens any more is no reason to stop.
fn say(text: &str) {
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
