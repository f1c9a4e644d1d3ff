//! Independent models (`planted/*.toml`): each is clean, and each has a mistake when lines are changed as `planted/mistakes.txt` says. Every
//! code is planted.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::code::CODES;
use partita_design::{Finding, Source, check, read, report};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A change to a model, and the finding it must cause.
#[derive(Default)]
struct Plant {
    code: String,
    severity: String,
    model: String,
    /// Other codes that the change legitimately causes.
    with: Vec<String>,
    changes: Vec<(Vec<String>, Vec<String>)>,
}

fn folder() -> PathBuf {
    support::root().join("crates/design/tests/planted")
}

fn plants() -> Vec<Plant> {
    let text = std::fs::read_to_string(folder().join("mistakes.txt")).unwrap();
    let mut plants: Vec<Plant> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(gone) = line.strip_prefix("- ") {
            let changes = &mut plants.last_mut().unwrap().changes;
            match changes.last_mut().filter(|(_, come)| come.is_empty()) {
                Some((lines, _)) => lines.push(gone.to_owned()),
                None => changes.push((vec![gone.to_owned()], Vec::new())),
            }
        } else if let Some(come) = line.strip_prefix("+ ") {
            plants.last_mut().unwrap().changes.last_mut().unwrap().1.push(come.to_owned());
        } else if let Some(codes) = line.strip_prefix("with ") {
            plants.last_mut().unwrap().with = codes.split(' ').map(str::to_owned).collect();
        } else {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let [code, severity, model] = words.try_into().unwrap();
            plants.push(Plant { code, severity, model, ..Plant::default() });
        }
    }
    plants
}

impl Plant {
    fn text(&self) -> String {
        let path = folder().join(format!("{}.toml", self.model));
        let path = if path.exists() {
            path
        } else {
            support::root().join(format!("crates/design/tests/good/{}.toml", self.model))
        };
        let mut text = std::fs::read_to_string(path).unwrap();
        for (gone, come) in &self.changes {
            let (gone, come) = (gone.join("\n"), come.join("\n"));
            assert!(text.contains(&gone), "{} {}: {gone}", self.code, self.model);
            text = text.replace(&gone, &come);
        }
        text
    }
}

/// The findings of the reader, or of the checker if the text is a model.
fn found(source: &Source) -> Vec<Finding> {
    read(source).map_or_else(|findings| findings, |model| check(&model).findings)
}

#[test]
fn unchanged_models_are_clean() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            support::assert_clean(&path.to_string_lossy(), &std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// All clean models, without their comments.
fn clean_models() -> Vec<(String, String)> {
    let mut models = Vec::new();
    for path in
        ["models", "crates/design/tests/good", "crates/design/tests/planted"].map(|p| support::root().join(p))
    {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().map(|line| line.split(" # ").next().unwrap_or_default());
                let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
                models.push((path.display().to_string(), lines.join("\n")));
            }
        }
    }
    models
}

/// `#` is a convention, not a rule.
#[test]
fn the_choice_of_delimiter_does_not_matter() {
    // Escaping applies only to `#`.
    for (name, text) in clean_models().into_iter().filter(|(_, text)| !text.contains(":escaped")) {
        for delimiter in [":", "/", "|"] {
            support::assert_clean(&format!("{name} {delimiter}"), &text.replace('#', delimiter));
        }
    }
}

/// `createdAt` and `created_at` are equivalent.
#[test]
fn the_case_style_of_names_does_not_matter() {
    for (name, text) in clean_models() {
        let mut snake = String::new();
        for character in text.chars() {
            if character.is_ascii_uppercase() && snake.ends_with(|last: char| last.is_ascii_lowercase()) {
                snake.push('_');
                snake.push(character.to_ascii_lowercase());
            } else {
                snake.push(character);
            }
        }
        support::assert_clean(&name, &snake);
    }
}

#[test]
fn every_planted_mistake_is_found_and_nothing_else() {
    let mut wrong = String::new();
    for plant in plants() {
        let source = Source::new(format!("{}.toml", plant.model), plant.text());
        let findings = found(&source);
        let planted = |finding: &Finding| finding.code == plant.code;
        let there = findings.iter().any(|f| planted(f) && f.severity.name() == plant.severity);
        let expected =
            |finding: &Finding| planted(finding) || plant.with.iter().any(|code| code == finding.code);
        if !there || findings.iter().any(|finding| finding.is_problem() && !expected(finding)) {
            wrong +=
                &format!("\n=== {} {}\n{}", plant.code, plant.model, report::text_of(&findings, &source));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_code_is_planted() {
    let planted: BTreeSet<String> = plants().into_iter().map(|plant| plant.code).collect();
    let missing: Vec<&str> =
        CODES.iter().map(|code| code.code).filter(|code| !planted.contains(*code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
