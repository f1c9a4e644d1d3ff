//! A repair removes its finding and causes no other problem: alone, and together with the other repairs of its report.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::repair::{Edit, apply, apply_all};
use partita_design::{Finding, Source, check, read, report};
use std::collections::BTreeMap;

type Counts = BTreeMap<(&'static str, String), usize>;

fn findings(text: &str) -> Option<Vec<Finding>> {
    read(&Source::new("m.toml", text)).ok().map(|model| check(&model).findings)
}

fn count(findings: &[Finding], only_problems: bool) -> Counts {
    let mut counts = Counts::new();
    for finding in findings.iter().filter(|finding| finding.is_problem() || !only_problems) {
        *counts.entry((finding.code, finding.subject.clone())).or_default() += 1;
    }
    counts
}

/// Applies every repair of a text; returns how many there are.
fn verify(name: &str, text: &str) -> usize {
    let Some(before) = findings(text) else { return 0 };
    let problems = count(&before, true);
    let grew = |after: &[Finding]| {
        let grew =
            |(key, number): (&(&'static str, String), &usize)| number > problems.get(key).unwrap_or(&0);
        count(after, true).iter().any(grew)
    };
    let mut repaired = 0;
    for finding in before.iter().filter(|finding| finding.repair.is_some()) {
        let repair = finding.repair.as_ref().unwrap();
        let after = apply(text, &repair.edits).unwrap();
        let source = Source::new(name, after.as_str());
        let found = findings(&after).unwrap();
        let key = (finding.code, finding.subject.clone());
        let is_gone = count(&found, false).get(&key) < count(&before, false).get(&key);
        assert!(
            is_gone && !grew(&found),
            "{name} {}\n{after}\n{}",
            repair.help,
            report::text_of(&found, &source)
        );
        repaired += 1;
    }
    let (after, number) = apply_all(text, &before);
    assert_eq!(number, repaired, "{name}");
    let found = findings(&after).unwrap();
    assert!(
        !grew(&found),
        "{name} all\n{after}\n{}",
        report::text_of(&found, &Source::new(name, after.as_str()))
    );
    let left = before.iter().filter(|finding| finding.repair.is_some() && finding.is_problem());
    let left: Vec<_> = left
        .filter(|old| {
            found
                .iter()
                .any(|new| new.code == old.code && new.subject == old.subject && new.message == old.message)
        })
        .collect();
    assert!(left.is_empty(), "{name}\n{after}\n{left:?}");
    repaired
}

fn models() -> Vec<(String, String)> {
    let mut models = Vec::new();
    for folder in
        ["models", "crates/design/tests/good", "crates/design/tests/planted", "crates/partita/tests/golden"]
    {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                models.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    models.sort();
    models
}

/// Models with one line less: an index entry, a write, a declaration.
#[test]
fn repairs_of_damaged_models_repair() {
    let mut repaired = 0;
    for (number, (name, text)) in models().iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for drop in (number % 4..lines.len()).step_by(4) {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != drop).map(|(_, line)| *line).collect();
            repaired += verify(&format!("{name} without {}", lines[drop]), &(rest.join("\n") + "\n"));
        }
    }
    assert!(repaired > 30, "{repaired}");
}

const SHOP: &str = r#"format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Order] # placed by a user
attributes = { orderId = "ulid", userId = "id", createdAt = "timestamp", status = "NEW|PAID|SENT", dueDate = "date?", total = "decimal" }
key = ["USER#{userId}", "ORDER#{orderId}"]
expect = { per = "User", average = 10, max = 1000, bytes = 500 }
[pattern]
user = { in = ["userId"], out = ["User", "Order*"], rps = 1 }
"#;

/// Returns the text with a pattern, all repairs applied; panics if something is left.
fn repaired(patterns: &str) -> String {
    let text = format!("{SHOP}{patterns}\n");
    verify(patterns, &text);
    let before = findings(&text).unwrap();
    assert!(before.iter().any(|finding| finding.repair.is_some()), "{before:#?}");
    let after = apply_all(&text, &before).0;
    support::assert_clean(patterns, &after);
    after
}

#[test]
fn conditions_other_than_equality_are_repaired() {
    repaired("unpaid = { where = \"status != 'PAID'\", out = \"Order*\", rps = 1 }");
    repaired("due = { where = \"exists(dueDate)\", out = \"Order*\", rps = 1 }");
}

#[test]
fn two_patterns_do_not_take_the_same_index() {
    let text = repaired(
        "byId = { in = [\"orderId\"], out = \"Order\", rps = 1 }\nnewest = { in = [\"userId\"], out = \"Order*\", order = \"total desc\", limit = 5, rps = 1 }",
    );
    assert!(
        text.contains("index.GSI1") && text.contains("index.GSI2") && text.contains("[index.GSI2]"),
        "{text}"
    );
    assert!(text.contains("[entity.Order] # placed by a user"), "the rest of the text is as it was");
}

#[test]
fn recent_activity_of_several_entities_is_repaired() {
    let path = support::root().join("models/task-manager.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let line = |name: &str| text.lines().position(|line| line.starts_with(name)).unwrap();
    let activity = line("activity ");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("[\"ACTIVITY#")).collect();
    let without = without.join("\n") + "\n";
    assert!(activity > 0 && verify("task-manager", &without) > 0);
    let before = findings(&without).unwrap();
    let finding = before.iter().find(|finding| finding.subject == "pattern.activity").unwrap();
    assert!(finding.repair.is_some(), "{finding:?}");
}

#[test]
fn a_repair_is_printed_as_edits() {
    let text = format!("{SHOP}byId = {{ in = [\"orderId\"], out = \"Order\", rps = 1 }}\n");
    let source = Source::new("shop.toml", text.as_str());
    let model = read(&source).unwrap();
    let report = check(&model);
    let json = report::json(&report, &source);
    let repair =
        &json["findings"].as_array().unwrap().iter().find(|f| f["code"] == "P101").unwrap()["repair"];
    assert_eq!(repair["edits"][0]["path"], serde_json::json!(["entity", "Order", "index", "GSI1"]));
    let sarif = report::sarif(&report.findings, &source);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let fix = results.iter().find(|result| result["ruleId"] == "P101").unwrap()["fixes"][0].clone();
    assert!(
        fix["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"]
            .as_str()
            .unwrap()
            .contains("index.GSI1")
    );
}

#[test]
fn a_repair_keeps_the_ends_of_lines() {
    let text = "format = 1\r\n[table]\r\nname = \"Shop\"\r\n";
    let edits = [Edit::set(&["table", "tenant"], "\"t\"")];
    assert_eq!(apply(text, &edits).unwrap(), format!("{text}tenant = \"t\"\r\n"));
}

#[test]
fn a_repair_adds_no_copy_that_is_written_already() {
    let text = support::with_table(
        "[entity.Quilt]\nattributes = { quiltId = \"ulid\", price = \"decimal\" }\nkey = [\"QUILT#{quiltId}\", \"QUILT\"]\n\
         [entity.Card]\ncopies = \"Quilt\"\nattributes = { quiltId = \"ulid\", price = \"decimal\" }\nkey = [\"CARDS\", \"CARD#{quiltId}\"]\n\
         [write]\nsew = { batch = [\"create Quilt\", \"create Card\"] }\n",
    );
    let (repaired, _) = apply_all(&text, &findings(&text).unwrap());
    assert!(repaired.contains("transact = [\"create Quilt\", \"create Card\"]"), "{repaired}");
}
