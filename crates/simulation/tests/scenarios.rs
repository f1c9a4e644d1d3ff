//! Scenarios over a few seeds; `cargo xtask simulate --seeds 1000` runs many.

use partita_simulation::disk::Faults;
use partita_simulation::{Crashes, PlantedBug, RunConfig, scenario, simulate};
use partita_store_embedded::Durability;

fn run(name: &str, config: &RunConfig) -> Result<partita_simulation::Summary, String> {
    simulate(scenario::named(name).expect("it is named in the crate").as_mut(), config)
}

fn assert_holds(name: &str, config: RunConfig) {
    if let Err(what) = run(name, &config) {
        panic!("{name}: {what}");
    }
}

const SEEDS: u64 = 6;

fn for_each_scenario(mut check: impl FnMut(&str, RunConfig)) {
    for name in scenario::NAMES {
        (0..SEEDS).for_each(|seed| check(name, RunConfig::from_seed(seed)));
    }
}

#[test]
fn everything_holds_through_power_losses() {
    for_each_scenario(assert_holds);
}

#[test]
fn everything_holds_through_disk_faults() {
    for_each_scenario(|name, config| assert_holds(name, RunConfig { faults: Faults::FREQUENT, ..config }));
}

#[test]
fn everything_holds_for_a_relaxed_store_through_kills() {
    for_each_scenario(|name, config| {
        assert_holds(name, RunConfig { durability: Durability::Relaxed, only_kills: true, ..config })
    });
}

#[test]
fn a_relaxed_store_loses_only_its_last_moments_in_a_power_loss() {
    for seed in 0..3 * SEEDS {
        assert_holds("pairs", RunConfig { durability: Durability::Relaxed, ..RunConfig::from_seed(seed) });
    }
}

#[test]
fn a_failed_start_does_no_harm() {
    let mut failed = 0;
    for name in scenario::NAMES {
        for seed in 0..2 {
            let config =
                RunConfig { faults: Faults::FREQUENT, failing_starts: true, ..RunConfig::from_seed(seed) };
            failed += run(name, &config).unwrap_or_else(|what| panic!("{name}: {what}")).failed_starts;
        }
    }
    assert!(failed > 10, "only {failed} starts failed");
}

#[test]
fn everything_holds_through_power_losses_during_compaction() {
    let mut compactions = 0;
    for seed in 0..SEEDS {
        let config = RunConfig { compacts: true, ..RunConfig::from_seed(seed) };
        compactions += run("bank", &config).unwrap_or_else(|what| panic!("{what}")).compactions;
    }
    assert!(compactions > 5, "only {compactions} compactions");
}

#[test]
fn damage_to_the_log_is_reported_or_harmless() {
    for_each_scenario(|name, config| assert_holds(name, RunConfig { damage: true, ..config }));
}

#[test]
fn the_same_seed_is_the_same_run() {
    for name in scenario::NAMES {
        let config = RunConfig { faults: Faults::FREQUENT, ..RunConfig::from_seed(77) };
        let (one, two) = (run(name, &config), run(name, &config));
        assert_eq!(one.as_ref().map(|run| run.trace), two.as_ref().map(|run| run.trace), "{name}");
        assert!(one.is_ok_and(|run| run.crashes > 0 && run.answers > 0), "{name}");
    }
}

/// Seeds that have found a bug.
#[test]
fn bugs_found_once_stay_fixed() {
    // After a restart within the same millisecond a second backup took the name of the first, and replaced it.
    assert_holds("restore", RunConfig::from_seed(2018));
}

/// The power fails at every call in turn, the first start included.
#[test]
fn everything_holds_whichever_call_is_the_last() {
    let config = RunConfig { turns: 60, ..RunConfig::from_seed(5) };
    let calls = run("bank", &RunConfig { crashes: Crashes::Never, ..config })
        .expect("it holds without crashes")
        .calls;
    for call in 1..=calls {
        assert_holds("bank", RunConfig { crashes: Crashes::At(call), ..config });
    }
}

/// The power fails while the log's first record is written, and again during the next start or its first record.
#[test]
fn everything_holds_through_two_power_losses_in_a_row() {
    let config = RunConfig { turns: 2, ..RunConfig::from_seed(5) };
    let calm =
        run("bank", &RunConfig { crashes: Crashes::Never, ..config }).expect("it holds without crashes");
    for first in calm.calls_until_answer - 4..=calm.calls_until_answer {
        for second in 1..=SECOND_LOSS {
            assert_holds("bank", RunConfig { crashes: Crashes::Twice(first, second), ..config });
        }
    }
}

/// More calls than a start and a record take.
const SECOND_LOSS: u64 = 12;

/// How many seeds are tried to find a planted bug.
const SEEDS_TO_TRY: u64 = 200;

#[test]
fn planted_bugs_are_found() {
    for bug in PlantedBug::ALL {
        let found = (0..SEEDS_TO_TRY).find_map(|seed| {
            let config = RunConfig { planted_bug: Some(bug), ..RunConfig::from_seed(seed) };
            run("bank", &config).err()
        });
        let found = found.unwrap_or_else(|| panic!("{bug:?} is not found"));
        println!("{bug:?}: {}", found.lines().next().unwrap_or_default());
    }
}

#[test]
fn a_relaxed_log_that_is_not_synced_is_found() {
    let config = |seed| RunConfig {
        planted_bug: Some(PlantedBug::SkipLogSync),
        durability: Durability::Relaxed,
        ..RunConfig::from_seed(seed)
    };
    assert!((0..SEEDS_TO_TRY).any(|seed| run("pairs", &config(seed)).is_err()));
}
