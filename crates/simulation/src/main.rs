//! `cargo xtask simulate`: scenarios over many seeds, with crashes, faults and damage. Stops at the first failure.

use clap::Parser;
use partita_simulation::disk::Faults;
use partita_simulation::{Crashes, RunConfig, scenario, simulate};
use partita_store_embedded::Durability;
use std::time::Instant;

#[derive(Parser)]
struct Arguments {
    /// How many seeds of each kind
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// One of bank, list-append, pairs, stream-reader and restore; all if omitted
    #[arg(long)]
    scenario: Option<String>,
    /// One of crashes, faults, starts, compacts, damage, kills, relaxed and calm; all if omitted
    #[arg(long)]
    kind: Option<String>,
    #[arg(long, default_value_t = 600)]
    turns: usize,
}

const KINDS: [&str; 8] = ["crashes", "faults", "starts", "compacts", "damage", "kills", "relaxed", "calm"];
/// The only scenario for a relaxed store with power losses: the others take acknowledged writes for durable.
const RELAXED_SCENARIO: &str = "pairs";

fn config(kind: &str, seed: u64, turns: usize) -> RunConfig {
    let config = RunConfig { turns, ..RunConfig::from_seed(seed) };
    match kind {
        "faults" => RunConfig { faults: Faults::FREQUENT, ..config },
        "starts" => RunConfig { faults: Faults::FREQUENT, failing_starts: true, ..config },
        "compacts" => RunConfig { compacts: true, ..config },
        "damage" => RunConfig { damage: true, ..config },
        "kills" => RunConfig { durability: Durability::Relaxed, only_kills: true, ..config },
        "relaxed" => RunConfig { durability: Durability::Relaxed, ..config },
        "calm" => RunConfig { crashes: Crashes::Never, ..config },
        _ => config,
    }
}

fn main() -> Result<(), String> {
    let arguments = Arguments::parse();
    let is_selected =
        |chosen: &Option<String>, name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    for name in scenario::NAMES.into_iter().filter(|name| is_selected(&arguments.scenario, name)) {
        let fits = |kind: &&str| *kind != "relaxed" || name == RELAXED_SCENARIO;
        for kind in KINDS.into_iter().filter(|kind| is_selected(&arguments.kind, kind)).filter(fits) {
            let started = Instant::now();
            let (mut crashes, mut answers, mut refused) = (0, 0, 0);
            for seed in arguments.from..arguments.from + arguments.seeds {
                let mut scenario = scenario::named(name).ok_or("no such scenario")?;
                let summary = simulate(scenario.as_mut(), &config(kind, seed, arguments.turns))
                    .map_err(|what| format!("{name}, {kind}, seed {seed}: {what}"))?;
                crashes += summary.crashes;
                answers += summary.answers;
                refused += usize::from(summary.refused);
            }
            println!(
                "{name}, {kind}: {} seeds, {crashes} crashes, {answers} answers, {refused} refused to open, {:.1} s",
                arguments.seeds,
                started.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}
