//! The corrected systems of `models/` and good designs in the style of published ones have no findings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::{Source, check, read, report};

fn all_clean(folder: &std::path::Path) -> usize {
    let mut failures = String::new();
    let mut count = 0;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let source =
            Source::new(path.file_name().unwrap().to_string_lossy(), std::fs::read_to_string(path).unwrap());
        match read(&source) {
            Err(findings) => failures.push_str(&report::text_of(&findings, &source)),
            Ok(model) => {
                let report = check(&model);
                if !report.is_clean() {
                    failures.push_str(&report::text(&report, &source, false));
                }
            }
        }
        count += 1;
    }
    assert!(failures.is_empty(), "\n{failures}");
    count
}

#[test]
fn every_corrected_system_is_clean() {
    assert!(all_clean(&support::root().join("models")) >= 17);
}

#[test]
fn good_designs_cause_no_false_alarms() {
    assert!(all_clean(&support::root().join("crates/design/tests/good")) >= 8);
}
