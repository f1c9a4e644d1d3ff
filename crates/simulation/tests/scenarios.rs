//! Scenarios over a few seeds; `cargo xtask simulate --seeds 1000` takes many.

use partita_simulation::disk::Faults;
use partita_simulation::{Crashes, Plan, Plant, scenario, simulate};
use partita_store_embedded::Durability;

fn run(name: &str, plan: &Plan) -> Result<partita_simulation::Summary, String> {
    simulate(scenario::named(name).expect("it is named in the crate").as_mut(), plan)
}

fn holds(name: &str, plan: Plan) {
    if let Err(what) = run(name, &plan) {
        panic!("{name}: {what}");
    }
}

const SEEDS: u64 = 6;

fn each(mut check: impl FnMut(&str, Plan)) {
    for name in scenario::NAMES {
        (0..SEEDS).for_each(|seed| check(name, Plan::of_seed(seed)));
    }
}

#[test]
fn everything_holds_through_power_losses() {
    each(holds);
}

#[test]
fn everything_holds_through_faults_of_the_disk() {
    each(|name, plan| holds(name, Plan { faults: Faults::OFTEN, ..plan }));
}

#[test]
fn everything_holds_relaxed_through_kills() {
    each(|name, plan| holds(name, Plan { durability: Durability::Relaxed, only_kills: true, ..plan }));
}

#[test]
fn a_relaxed_store_loses_only_its_last_moments_with_the_power() {
    for seed in 0..3 * SEEDS {
        holds("pairs", Plan { durability: Durability::Relaxed, ..Plan::of_seed(seed) });
    }
}

#[test]
fn a_start_that_fails_does_no_harm() {
    let mut failed = 0;
    for name in scenario::NAMES {
        for seed in 0..2 {
            let plan = Plan { faults: Faults::OFTEN, failing_starts: true, ..Plan::of_seed(seed) };
            failed += run(name, &plan).unwrap_or_else(|what| panic!("{name}: {what}")).failed_starts;
        }
    }
    assert!(failed > 10, "only {failed} starts failed");
}

#[test]
fn everything_holds_when_the_power_goes_while_the_data_file_is_compacted() {
    let mut compactions = 0;
    for seed in 0..SEEDS {
        let plan = Plan { compacts: true, ..Plan::of_seed(seed) };
        compactions += run("bank", &plan).unwrap_or_else(|what| panic!("{what}")).compactions;
    }
    assert!(compactions > 5, "only {compactions} compactions");
}

#[test]
fn damage_to_the_log_is_told_or_does_no_harm() {
    each(|name, plan| holds(name, Plan { damage: true, ..plan }));
}

#[test]
fn the_same_seed_is_the_same_run() {
    for name in scenario::NAMES {
        let plan = Plan { faults: Faults::OFTEN, ..Plan::of_seed(77) };
        let (one, two) = (run(name, &plan), run(name, &plan));
        assert_eq!(one.as_ref().map(|run| run.trace), two.as_ref().map(|run| run.trace), "{name}");
        assert!(one.is_ok_and(|run| run.crashes > 0 && run.answers > 0), "{name}");
    }
}

/// Seeds that have found something.
#[test]
fn what_was_found_once_is_mended() {
    // After a restart within the same millisecond a second backup took the name of the first, and its place.
    holds("restore", Plan::of_seed(2018));
}

/// The power goes at every call in turn, the first start included.
#[test]
fn everything_holds_whichever_call_is_the_last() {
    let plan = Plan { turns: 60, ..Plan::of_seed(5) };
    let calls = run("bank", &Plan { crashes: Crashes::Never, ..plan }).expect("it holds in peace").calls;
    for call in 1..=calls {
        holds("bank", Plan { crashes: Crashes::At(call), ..plan });
    }
}

/// The power goes while the log's first record is written, and again during the start that follows or its first record.
#[test]
fn everything_holds_through_two_power_losses_in_a_row() {
    let plan = Plan { turns: 2, ..Plan::of_seed(5) };
    let peace = run("bank", &Plan { crashes: Crashes::Never, ..plan }).expect("it holds in peace");
    for first in peace.calls_until_answer - 4..=peace.calls_until_answer {
        for second in 1..=SECOND_LOSS {
            holds("bank", Plan { crashes: Crashes::Twice(first, second), ..plan });
        }
    }
}

/// More calls than a start and a record take.
const SECOND_LOSS: u64 = 12;

/// How many seeds are tried to find a planted mistake.
const TRIES: u64 = 200;

#[test]
fn planted_mistakes_are_found() {
    for plant in Plant::ALL {
        let found = (0..TRIES).find_map(|seed| {
            let plan = Plan { plant: Some(plant), ..Plan::of_seed(seed) };
            run("bank", &plan).err()
        });
        let found = found.unwrap_or_else(|| panic!("{plant:?} is not found"));
        println!("{plant:?}: {}", found.lines().next().unwrap_or_default());
    }
}

#[test]
fn a_relaxed_log_that_is_not_flushed_is_found() {
    let plan = |seed| Plan {
        plant: Some(Plant::SkipLogSync),
        durability: Durability::Relaxed,
        ..Plan::of_seed(seed)
    };
    assert!((0..TRIES).any(|seed| run("pairs", &plan(seed)).is_err()));
}
