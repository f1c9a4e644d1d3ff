//! `cargo xtask list-append`: transactions against a server that is killed, and the proof that they were strictly serializable.
//!
//! Clients append to lists and read them, several at once in a transaction, on conditions about others. Meanwhile the server
//! is killed with SIGKILL and started again. In the end all lists are read, and [`checker`] looks for anything that no order
//! of whole transactions explains.

mod checker;
mod client;
mod connection;
mod graph;
mod history;
mod lists;
mod random;
mod request;
mod server;

use clap::Parser;
use client::Client;
use connection::Connection;
use history::{Element, Key, Outcome, Transaction};
use lists::Lists;
use random::Random;
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
    /// How often the server is killed on the way, beside once at the end
    #[arg(long, default_value_t = 5)]
    kills: usize,
    #[arg(long, default_value_t = 16)]
    clients: usize,
    #[arg(long, default_value = "full")]
    durability: String,
    /// Chooses what clients do; when they do it is the machine's choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const MOST_SHOWN: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let server = Server::start(&arguments.server, folder.path(), &arguments.durability)?;
    let create = ask(&server, "CreateTable", &request::create_table())?;
    if create.status != 200 {
        return Err(create.body.to_string().into());
    }
    let begun = Instant::now();
    let lists = Lists::default();
    let history = run(&arguments, &server, &lists)?;
    let took = begun.elapsed();
    server.kill()?;
    let last = last_lists(&server, &lists)?;
    let anomalies = checker::check(&history, &last);
    println!("{}", summary(&history, &last, took, arguments.kills));
    anomalies.iter().take(MOST_SHOWN).for_each(|anomaly| println!("{anomaly}"));
    match anomalies.len() {
        0 => Ok(()),
        count => Err(format!("{count} anomalies; seed {}", arguments.seed).into()),
    }
}

/// Lets clients loose until there are enough transactions, and kills the server meanwhile.
fn run(arguments: &Arguments, server: &Server, lists: &Lists) -> Result<Vec<Transaction>, Box<dyn Error>> {
    let (start, begun) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..arguments.clients as u64)
            .map(|name| {
                let random = Random::new(arguments.seed ^ (name << 32));
                let (connection, history) = (None, Vec::new());
                let mut client = Client { server, lists, start, random, name, connection, history };
                let begun = &begun;
                scope.spawn(move || {
                    while begun.fetch_add(1, Ordering::Relaxed) < arguments.transactions {
                        client.step().map_err(|error| error.to_string())?;
                    }
                    Ok::<_, String>(client.history)
                })
            })
            .collect();
        for kill in 1..=arguments.kills {
            let due = arguments.transactions * kill / (arguments.kills + 1);
            while begun.load(Ordering::Relaxed) < due && !clients.iter().any(|client| client.is_finished()) {
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
        let answer = connection.ask("GetItem", &request::get(key))?;
        if answer.status != 200 {
            return Err(answer.body.to_string().into());
        }
        last.insert(key, request::list(&answer.body["Item"]));
    }
    Ok(last)
}

fn ask(server: &Server, operation: &str, body: &str) -> Result<connection::Answer, Box<dyn Error>> {
    Ok(Connection::open(&server.address().ok_or("the server is gone")?)?.ask(operation, body)?)
}

fn summary(
    history: &[Transaction],
    last: &BTreeMap<Key, Vec<Element>>,
    took: Duration,
    kills: usize,
) -> String {
    let count = |outcome| history.iter().filter(|transaction| transaction.outcome == outcome).count();
    format!(
        "{} transactions in {:.1} s through {kills} kills: {} done, {} refused, {} unknown; {} elements in {} lists",
        history.len(),
        took.as_secs_f64(),
        count(Outcome::Done),
        count(Outcome::Refused),
        count(Outcome::Unknown),
        last.values().map(Vec::len).sum::<usize>(),
        last.len(),
    )
}
