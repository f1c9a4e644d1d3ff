//! No text makes the reader or the checker panic: models with lines dropped and strings swapped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::capacity::cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::report::explain;
use partita_design::{Source, check, generate, read, report};
use proptest::prelude::*;

fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for folder in ["models", "crates/design/tests/good"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts.sort();
    texts
}

/// Exercises every feature on a model.
fn exercise(text: &str) {
    let source = Source::new("m.toml", text);
    match read(&source) {
        Err(findings) => assert!(!report::text_of(&findings, &source).is_empty()),
        Ok(model) => {
            let report = check(&model);
            report::text(&report, &source, true);
            report::json(&report, &source);
            report::sarif(&report.findings, &source);
            explain::text(&model, None);
            explain::json(&model, None);
            let prices = Prices::parse(DEFAULT_PRICES).unwrap();
            report::cost::text(&model, &cost::cost(&model, &prices), &prices);
            report::growth::text(&model, &prices);
            report::keys::text(&model);
            assert!(
                generate::Generator::new(&model, 1, 30).items().take(60).count() > 0
                    || model.entities.is_empty()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_model_causes_a_panic(file in 0usize..25, drops in prop::collection::vec(0usize..80, 0..4), words in prop::collection::vec((0usize..400, 0usize..400), 0..3)) {
        let texts = texts();
        let mut lines: Vec<String> = texts[file % texts.len()].lines().map(str::to_owned).collect();
        for drop in drops {
            if drop < lines.len() {
                lines.remove(drop);
            }
        }
        let mut parts: Vec<String> = lines.join("\n").split_inclusive('"').map(str::to_owned).collect();
        for (a, b) in words {
            let (a, b) = (a % parts.len(), b % parts.len());
            parts.swap(a, b);
        }
        exercise(&parts.concat());
    }

    #[test]
    fn no_text_causes_the_reader_to_panic(text in "(\\[(table|entity|pattern)\\.?[a-z]?\\]\n|[a-z]{1,6} = (\"[#A-Z{}a-z]{0,8}\"|[0-9]+|\\[\\])\n){0,12}") {
        exercise(&format!("format = 1\n{text}"));
    }
}
