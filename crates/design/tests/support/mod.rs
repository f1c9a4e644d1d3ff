//! Reads and checks models for the tests.

#![allow(dead_code, reason = "each test file uses a part")]

use partita_design::audit::judge::Change;
use partita_design::audit::table::TableAudit;
use partita_design::draft::Draft;
use partita_design::generate::Generator;
use partita_design::item::{Item, Value};
use partita_design::{Finding, Model, Severity, Source, check, read, report};
use std::path::PathBuf;

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn model(text: &str) -> Model {
    let source = Source::new("test.toml", text);
    read(&source).unwrap_or_else(|findings| panic!("{}", report::text_of(&findings, &source)))
}

pub fn findings(text: &str) -> Vec<Finding> {
    check(&model(text)).findings
}

/// Codes of errors and warnings on a subject; `""` means any.
pub fn codes(text: &str, subject: &str) -> Vec<&'static str> {
    let counted = findings(text).into_iter().filter(Finding::is_problem);
    let mut codes: Vec<_> =
        counted.filter(|finding| subject.is_empty() || finding.subject == subject).map(|f| f.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

pub fn has(text: &str, code: &str, severity: Severity) -> bool {
    findings(text).iter().any(|finding| finding.code == code && finding.severity == severity)
}

/// Panics with the whole report if there are errors or warnings.
pub fn assert_clean(name: &str, text: &str) {
    let source = Source::new(name, text);
    let model = read(&source).unwrap_or_else(|findings| panic!("{}", report::text_of(&findings, &source)));
    let report = check(&model);
    assert!(report.is_clean(), "{}", report::text(&report, &source, false));
}

/// A model with a `[table]`, followed by `rest`.
pub fn with_table(rest: &str) -> String {
    format!("format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n{rest}")
}

/// The model as it is read from the file.
pub fn as_read(draft: &Draft) -> Model {
    let source = Source::new("draft.toml", draft.text());
    read(&source)
        .unwrap_or_else(|findings| panic!("{}\n{}", report::text_of(&findings, &source), source.text))
}

/// What an audit of the items finds.
pub fn violations(model: &Model, items: &[Item]) -> String {
    let mut audit = TableAudit::new(model);
    items.iter().for_each(|item| audit.add(item));
    let violations = audit.finish().1;
    if violations.is_empty() { String::new() } else { format!("{violations:?}") }
}

/// All items of a model, with markers and copies.
pub fn items_of(model: &Model, total: u64) -> Vec<Item> {
    let generator = Generator::new(model, 5, total);
    let leaders = model.entities.iter().filter(|entity| !generator.is_follower(entity));
    let numbered = leaders.flat_map(|entity| generator.numbers(entity).map(move |number| (entity, number)));
    numbered.flat_map(|(entity, number)| generator.bundle(entity, number)).collect()
}

/// An item from `name=value` words; digits are numbers.
pub fn item(text: &str) -> Item {
    let value = |text: &str| match text.parse::<i64>() {
        Ok(_) => Value::Number(text.to_owned()),
        Err(_) => Value::String(text.to_owned()),
    };
    let pair = |word| str::split_once(word, '=').unwrap_or_else(|| panic!("{word}"));
    let pairs = text.split_whitespace().map(pair);
    pairs.map(|(name, text)| (name.to_owned(), value(text))).collect()
}

/// A change; an empty text is no item.
pub fn change(old: &str, new: &str) -> Change {
    let some = |text: &str| (!text.is_empty()).then(|| item(text));
    let key = item(if old.is_empty() { new } else { old });
    let key = key.into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect();
    Change { key, old: some(old), new: some(new) }
}
