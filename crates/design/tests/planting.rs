//! Random models without a mistake are clean, and every mistake that is planted into them is found where it is.
//!
//! `PARTITA_SEEDS=100` plants each mistake into that many models.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "planting/draft.rs"]
mod draft;
#[path = "planting/good.rs"]
mod good;
#[path = "planting/key_plants.rs"]
mod key_plants;
#[path = "planting/options.rs"]
mod options;
#[path = "planting/plants.rs"]
mod plants;
#[path = "planting/rest_plants.rs"]
mod rest_plants;

use good::Good;
use partita_design::code::CODES;
use partita_design::{Finding, Source, check, read, report};
use plants::Planter;
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

/// All planters, by what they break.
const PLANTERS: [&[Planter]; 8] = [
    plants::FILE,
    plants::UNSERVED,
    key_plants::KEYS,
    key_plants::RELATIONSHIPS,
    rest_plants::INDEXES,
    rest_plants::SIZES,
    rest_plants::WRITES,
    rest_plants::WHOLE,
];

/// Codes and mistakes that are not planted, with the reason.
const NOT_PLANTED: &[(&str, &str)] = &[(
    "P129",
    "a note about a relationship that matches several identifiers by name, which these models do not have: planted.rs plants it",
)];

/// The number of models into which each mistake is planted.
fn seeds() -> usize {
    std::env::var("PARTITA_SEEDS").map_or(15, |text| text.parse().unwrap())
}

/// The number of models that are tried until enough can have a mistake.
fn tried() -> u64 {
    seeds() as u64 * 25
}

/// The findings of the reader, or of the checker if the text is a model.
fn found(text: &str) -> Vec<Finding> {
    let source = Source::new("model.toml", text);
    read(&source).map_or_else(|findings| findings, |model| check(&model).findings)
}

fn shown(text: &str, findings: &[Finding]) -> String {
    format!("{text}\n{}", report::text_of(findings, &Source::new("model.toml", text)))
}

#[test]
fn random_models_are_clean() {
    for seed in 0..seeds() as u64 * 5 {
        let text = Good::new(seed).draft.text();
        let problems: Vec<Finding> = found(&text).into_iter().filter(Finding::is_problem).collect();
        assert!(problems.is_empty(), "seed {seed}:\n{}", shown(&text, &problems));
    }
}

/// Codes and subjects of findings.
type Places = BTreeSet<(&'static str, String)>;

/// Codes and subjects of what is found in a model before anything is planted: notes.
fn notes(seed: u64) -> &'static Places {
    static NOTES: LazyLock<Vec<OnceLock<Places>>> =
        LazyLock::new(|| (0..tried()).map(|_| OnceLock::new()).collect());
    NOTES[seed as usize].get_or_init(|| {
        found(&Good::new(seed).draft.text())
            .into_iter()
            .map(|finding| (finding.code, finding.subject))
            .collect()
    })
}

/// Plants a mistake into a number of models that can have it, and shows the first one in which it is not found.
fn missed(planter: &Planter) -> Option<String> {
    let here = |subject: &str, finding: &Finding| {
        finding.code == planter.code && (subject.is_empty() || finding.subject == subject)
    };
    let mut planted = 0;
    for seed in 0..tried() {
        let mut model = Good::new(seed);
        let Some(subject) = (planter.plant)(&mut model) else { continue };
        let text = model.draft.text();
        let findings = found(&text);
        if !findings.iter().any(|finding| here(&subject, finding)) {
            let mistake = format!("{} {} on {subject}, seed {seed}", planter.letters, planter.code);
            return Some(format!("\n=== {mistake} is not found\n{}", shown(&text, &findings)));
        }
        if notes(seed)
            .iter()
            .any(|(code, on)| *code == planter.code && (subject.is_empty() || *on == subject))
        {
            return Some(format!(
                "\n=== {} on {subject}, seed {seed}, is found before it is planted",
                planter.code
            ));
        }
        planted += 1;
        if planted == seeds() {
            return None;
        }
    }
    Some(format!("\n=== {} {} fits only {planted} models", planter.letters, planter.code))
}

fn assert_found(planters: &[&[Planter]]) {
    let missed: Vec<String> =
        planters.iter().flat_map(|planters| planters.iter()).filter_map(missed).collect();
    assert!(missed.is_empty(), "{}", missed.concat());
}

#[test]
fn planted_mistakes_in_patterns_are_found() {
    assert_found(&PLANTERS[..2]);
}

#[test]
fn planted_mistakes_in_keys_and_relationships_are_found() {
    assert_found(&PLANTERS[2..4]);
}

#[test]
fn planted_mistakes_in_indexes_sizes_and_writes_are_found() {
    assert_found(&PLANTERS[4..]);
}

/// Every code and every mistake of the catalogue has a planter, or a reason why not.
#[test]
fn every_mistake_is_planted_or_has_a_reason() {
    let planters = || PLANTERS.iter().flat_map(|planters| planters.iter());
    let letters = planters().flat_map(|planter| planter.letters.chars()).map(|letter| letter.to_string());
    let planted: BTreeSet<String> =
        planters().map(|planter| planter.code.to_owned()).chain(letters).collect();
    let all =
        CODES.iter().map(|code| code.code.to_owned()).chain(('a'..='v').map(|letter| letter.to_string()));
    for name in all {
        let excused = NOT_PLANTED.iter().any(|(excused, reason)| *excused == name && !reason.is_empty());
        let is_planted = planted.contains(&name);
        assert!(is_planted || excused, "{name} has no planter in tests/planting, and no line in NOT_PLANTED");
        assert!(!is_planted || !excused, "{name} has a planter: remove its line in NOT_PLANTED");
    }
}
