//! `cargo xtask simulate`: scenarios over many seeds, with crashes, faults and damage. Ends at the first that does not hold.

use clap::Parser;
use partita_simulation::disk::Faults;
use partita_simulation::{Crashes, Plan, scenario, simulate};
use partita_store_embedded::Durability;
use std::time::Instant;

#[derive(Parser)]
struct Arguments {
    /// How many seeds of each kind
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// One of bank, list-append, pairs, stream-reader and restore; all if none is named
    #[arg(long)]
    scenario: Option<String>,
    /// One of crashes, faults, starts, compacts, damage, kills, relaxed and peace; all if none is named
    #[arg(long)]
    kind: Option<String>,
    #[arg(long, default_value_t = 600)]
    turns: usize,
}

const KINDS: [&str; 8] = ["crashes", "faults", "starts", "compacts", "damage", "kills", "relaxed", "peace"];
/// The only scenario for a relaxed store that loses power: the others take what is acknowledged for durable.
const RELAXED_SCENARIO: &str = "pairs";

fn plan(kind: &str, seed: u64, turns: usize) -> Plan {
    let plan = Plan { turns, ..Plan::of_seed(seed) };
    match kind {
        "faults" => Plan { faults: Faults::OFTEN, ..plan },
        "starts" => Plan { faults: Faults::OFTEN, failing_starts: true, ..plan },
        "compacts" => Plan { compacts: true, ..plan },
        "damage" => Plan { damage: true, ..plan },
        "kills" => Plan { durability: Durability::Relaxed, only_kills: true, ..plan },
        "relaxed" => Plan { durability: Durability::Relaxed, ..plan },
        "peace" => Plan { crashes: Crashes::Never, ..plan },
        _ => plan,
    }
}

fn main() -> Result<(), String> {
    let arguments = Arguments::parse();
    let wanted = |chosen: &Option<String>, name: &str| chosen.as_deref().is_none_or(|chosen| chosen == name);
    for name in scenario::NAMES.into_iter().filter(|name| wanted(&arguments.scenario, name)) {
        let fits = |kind: &&str| *kind != "relaxed" || name == RELAXED_SCENARIO;
        for kind in KINDS.into_iter().filter(|kind| wanted(&arguments.kind, kind)).filter(fits) {
            let begun = Instant::now();
            let (mut crashes, mut answers, mut refused) = (0, 0, 0);
            for seed in arguments.from..arguments.from + arguments.seeds {
                let mut scenario = scenario::named(name).ok_or("no such scenario")?;
                let summary = simulate(scenario.as_mut(), &plan(kind, seed, arguments.turns))
                    .map_err(|what| format!("{name}, {kind}, seed {seed}: {what}"))?;
                crashes += summary.crashes;
                answers += summary.answers;
                refused += usize::from(summary.refused);
            }
            println!(
                "{name}, {kind}: {} seeds, {crashes} crashes, {answers} answers, {refused} refused to open, {:.1} s",
                arguments.seeds,
                begun.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}
