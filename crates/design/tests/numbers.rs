//! The numbers of a model have limits, so that all figures that follow from them are numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::capacity::cost::cost;
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::{Source, read};
use support::{model, with_table};

/// A model with a number at a place; the others are usual.
fn with(changes: &[(&str, &str)]) -> String {
    let mut text = with_table(
        r##"
[traffic]
peak = 5
[entity.Shop]
attributes = { shopId = { type = "id", values = 1000, top = 0.5 }, name = "string" }
key = ["SHOP#{shopId}", "SHOP"]
expect = { count = 100, bytes = 200, count_in_a_year = 101 }
[entity.Sale]
attributes = { shopId = "id", saleId = "ulid" }
key = ["SHOP#{shopId}", "SALE#{saleId}"]
expect = { per = "Shop", average = 10, max = 20 }
[pattern]
sales = { in = ["shopId"], out = "Sale*", rps = 1, peak = 2, rps_in_a_year = 3 }
"##,
    );
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

#[test]
fn numbers_beyond_all_use_are_refused_where_they_stand() {
    for (from, name, value, most) in [
        ("rps = 1", "rps", "1e308", "1,000,000,000"),
        ("rps = 1", "rps", "inf", "1,000,000,000"),
        ("rps = 1", "rps", "1_000_000_001", "1,000,000,000"),
        ("rps_in_a_year = 3", "rps_in_a_year", "1e10", "1,000,000,000"),
        ("peak = 5", "peak", "1e308", "1,000,000"),
        ("peak = 2", "peak", "1e7", "1,000,000"),
        ("average = 10", "average", "1e300", "1,000,000,000,000,000"),
        ("max = 20", "max", "9_000_000_000_000_000_000", "1,000,000,000,000,000"),
        ("count = 100", "count", "1_000_000_000_000_001", "1,000,000,000,000,000"),
        ("count_in_a_year = 101", "count_in_a_year", "1_000_000_000_000_001", "1,000,000,000,000,000"),
        ("bytes = 200", "bytes", "9_000_000_000_000_000_000", "1,000,000,000,000,000"),
        ("values = 1000", "values", "9_000_000_000_000_000_000", "1,000,000,000,000,000"),
    ] {
        let text = with(&[(from, &format!("{name} = {value}"))]);
        let found = read(&Source::new("model.toml", text.clone())).unwrap_err();
        let found: Vec<_> =
            found.iter().map(|finding| (&text[finding.span.clone()], finding.message.as_str())).collect();
        assert_eq!(found, [(value, format!("`{name}` must be at most {most}").as_str())]);
    }
    for value in ["nan", "-1"] {
        assert!(read(&Source::new("model.toml", with(&[("rps = 1", &format!("rps = {value}"))]))).is_err());
    }
}

#[test]
fn the_greatest_numbers_make_finite_figures() {
    let most = "1_000_000_000_000_000";
    let text = with(&[
        ("rps = 1", "rps = 1_000_000_000"),
        ("peak = 2", "peak = 1_000_000"),
        ("peak = 5", "peak = 1_000_000"),
        ("count = 100", &format!("count = {most}")),
        ("count_in_a_year = 101", &format!("count_in_a_year = {most}")),
        ("bytes = 200", &format!("bytes = {most}")),
        ("average = 10", &format!("average = {most}")),
        ("max = 20", &format!("max = {most}")),
    ]);
    support::findings(&text);
    let bill = cost(&model(&text), &Prices::parse(DEFAULT_PRICES).unwrap());
    let text = format!("{bill:?}");
    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
}
