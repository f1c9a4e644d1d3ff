//! `cargo xtask list-append`: runs transactions on a server that is killed, and checks that they were strictly serializable.
//!
//! Clients append to lists and read them, several in one transaction, with conditions on others. Meanwhile the server is
//! killed with SIGKILL and restarted. In the end all lists are read, and the checker looks for anything that no order of
//! whole transactions explains.

mod client;
mod connection;
mod server;

use clap::Parser;
use client::Client;
use connection::Connection;
use partita_list_append::history::{Element, Key, Outcome, Transaction};
use partita_list_append::lists::Lists;
use partita_list_append::random::Random;
use partita_list_append::{checker, request};
use server::Server;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Parser)]
struct Arguments {
    /// The program to test
    #[arg(long, default_value = "target/release/partita")]
    server: PathBuf,
    #[arg(long, default_value_t = 20_000)]
    transactions: usize,
    /// How often the server is killed during the run, besides once at the end
    #[arg(long, default_value_t = 5)]
    kills: usize,
    #[arg(long, default_value_t = 16)]
    clients: usize,
    #[arg(long, default_value = "full")]
    durability: String,
    /// Determines what clients do, but not the timing
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const MAX_PRINTED: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let server = Server::start(&arguments.server, folder.path(), &arguments.durability)?;
    let create = call(&server, "CreateTable", &request::create_table())?;
    if create.status != 200 {
        return Err(create.body.to_string().into());
    }
    let started = Instant::now();
    let lists = Lists::default();
    let history = run(&arguments, &server, &lists)?;
    let elapsed = started.elapsed();
    server.kill()?;
    let last = last_lists(&server, &lists)?;
    let anomalies = checker::check(&history, &last);
    println!("{}", summary(&history, &last, elapsed, arguments.kills));
    anomalies.iter().take(MAX_PRINTED).for_each(|anomaly| println!("{anomaly}"));
    match anomalies.len() {
        0 => Ok(()),
        count => Err(format!("{count} anomalies; seed {}", arguments.seed).into()),
    }
}

/// Runs clients until there are enough transactions, and kills the server meanwhile.
fn run(arguments: &Arguments, server: &Server, lists: &Lists) -> Result<Vec<Transaction>, Box<dyn Error>> {
    let (start, started) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..arguments.clients as u64)
            .map(|name| {
                let random = Random::new(arguments.seed ^ (name << 32));
                let (connection, history) = (None, Vec::new());
                let mut client = Client { server, lists, start, random, name, connection, history };
                let started = &started;
                scope.spawn(move || {
                    while started.fetch_add(1, Ordering::Relaxed) < arguments.transactions {
                        client.step().map_err(|error| error.to_string())?;
                    }
                    Ok::<_, String>(client.history)
                })
            })
            .collect();
        for kill in 1..=arguments.kills {
            let due = arguments.transactions * kill / (arguments.kills + 1);
            while started.load(Ordering::Relaxed) < due && !clients.iter().any(|client| client.is_finished())
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            server.kill()?;
        }
        let mut history = Vec::new();
        for client in clients {
            history.extend(client.join().map_err(|_| "a client panicked")??);
        }
        Ok(history)
    })
}

fn last_lists(server: &Server, lists: &Lists) -> Result<BTreeMap<Key, Vec<Element>>, Box<dyn Error>> {
    let mut last = BTreeMap::new();
    let mut connection = Connection::open(&server.address().ok_or("the server is gone")?)?;
    for key in lists.keys() {
        let answer = connection.call("GetItem", &request::get(key))?;
        if answer.status != 200 {
            return Err(answer.body.to_string().into());
        }
        last.insert(key, request::list(&answer.body["Item"]));
    }
    Ok(last)
}

fn call(server: &Server, operation: &str, body: &str) -> Result<connection::Response, Box<dyn Error>> {
    Ok(Connection::open(&server.address().ok_or("the server is gone")?)?.call(operation, body)?)
}

fn summary(
    history: &[Transaction],
    last: &BTreeMap<Key, Vec<Element>>,
    elapsed: Duration,
    kills: usize,
) -> String {
    let count = |outcome| history.iter().filter(|transaction| transaction.outcome == outcome).count();
    format!(
        "{} transactions in {:.1} s through {kills} kills: {} done, {} refused, {} unknown; {} elements in {} lists",
        history.len(),
        elapsed.as_secs_f64(),
        count(Outcome::Done),
        count(Outcome::Refused),
        count(Outcome::Unknown),
        last.values().map(Vec::len).sum::<usize>(),
        last.len(),
    )
}
