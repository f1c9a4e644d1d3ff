//! A declared request that returns less than its pattern means is found, and one that returns all of it is not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::{Source, check, read};

fn text(pattern: &str) -> String {
    support::with_table(&format!(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[index.GSI2]
keys = ["GSI2PK", "GSI2SK"]
[index.GSI3]
keys = ["GSI3PK", "GSI3SK"]
[index.GSI4]
keys = ["GSI4PK", "GSI4SK"]
[entity.User]
attributes = {{ userId = "id", name = "string" }}
key = ["USER#{{userId}}", "A"]
[entity.Order]
attributes = {{ orderId = "ulid", userId = "id", createdAt = "timestamp", status = "OPEN|PAID|DONE", rank = "int", state = "string" }}
key = ["USER#{{userId}}", "ORDER#{{createdAt}}#{{orderId}}"]
index.GSI1 = {{ key = ["ALL#{{shard}}", "{{status}}#{{createdAt}}#{{orderId}}"], shard = {{ by = "orderId", count = 10 }} }}
index.GSI2 = {{ key = ["STATUS#{{status}}", "{{createdAt}}#{{orderId}}"], when = "status in ('OPEN', 'PAID')" }}
index.GSI3 = {{ key = ["MONTH#{{createdAt:month}}", "{{createdAt}}#{{orderId}}"] }}
index.GSI4 = {{ key = ["STATE#{{state}}", "{{rank:04}}#{{orderId}}"] }}
[pattern]
orders = {{ {pattern} }}
"#
    ))
}

/// The codes of errors about the pattern, with the text at which each points.
fn errors(pattern: &str) -> Vec<(&'static str, String)> {
    let text = text(pattern);
    let model = read(&Source::new("test.toml", text.clone())).unwrap();
    let findings = check(&model).findings.into_iter();
    let of_request = findings.filter(|finding| ["P121", "P132", "P108", "P124"].contains(&finding.code));
    of_request.map(|finding| (finding.code, text[finding.span.clone()].to_owned())).collect()
}

/// Patterns whose requests return less, with the code and the place of the finding.
const LESS: &[(&str, &str, &str)] = &[
    (
        "in = ['userId', 'status'], out = 'Order*', request = { condition = \"PK = 'USER#{status}' AND begins_with(SK, 'ORDER#')\" }",
        "P132",
        "PK",
    ),
    (
        "in = ['userId', 'status'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK >= '{status}#'\" }",
        "P132",
        "SK",
    ),
    (
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#2026')\" }",
        "P132",
        "begins_with",
    ),
    (
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#2026-01-01' AND 'ORDER#2026-12-31~'\" }",
        "P132",
        "SK",
    ),
    (
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK >= 'ORDER#2026'\" }",
        "P132",
        "SK",
    ),
    (
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#7' AND begins_with(SK, 'ORDER#')\" }",
        "P132",
        "PK",
    ),
    (
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}'\", filter = \"status == 'OPEN'\" }",
        "P132",
        "status",
    ),
    ("out = 'Order*', request = { index = 'GSI1', condition = \"GSI1PK = 'ALL#0'\" }", "P132", "GSI1PK"),
    (
        "where = \"status in ('OPEN', 'PAID')\", out = 'Order*', request = { index = 'GSI1', condition = \"GSI1PK = 'ALL#{shard}' AND begins_with(GSI1SK, 'OPEN#')\" }",
        "P132",
        "begins_with",
    ),
    (
        "where = \"status in ('OPEN', 'PAID')\", out = 'Order*', request = { index = 'GSI2', condition = \"GSI2PK = 'STATUS#OPEN'\" }",
        "P132",
        "GSI2PK",
    ),
    (
        "in = ['status'], out = 'Order*', request = { index = 'GSI2', condition = \"GSI2PK = 'STATUS#{status}'\" }",
        "P121",
        "{",
    ),
    (
        "order = 'createdAt desc', limit = 10, out = 'Order*', request = { index = 'GSI3', condition = \"GSI3PK = 'MONTH#2026-04'\" }",
        "P132",
        "GSI3PK",
    ),
    (
        "range = { by = 'createdAt', from = '2026-04-01T00:00:00Z', to = '2026-05-31T23:59:59Z' }, out = 'Order*', request = { index = 'GSI3', condition = \"GSI3PK = 'MONTH#2026-04'\" }",
        "P132",
        "GSI3PK",
    ),
    (
        "in = ['userId', 'createdAt', 'orderId'], out = 'Order', request = { condition = \"PK = 'USER#{userId}' AND SK = 'ORDER#2026-01-01T00:00:00Z#01ARZ3NDEKTSV4RRFFQ69G5FAV'\" }",
        "P132",
        "SK",
    ),
    (
        "in = ['userId'], range = 'createdAt', out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#2026-01-01')\" }",
        "P132",
        "begins_with",
    ),
    (
        "in = ['userId'], range = { by = 'createdAt', from = '2026-01-01T00:00:00Z', to = '2026-12-31T23:59:59Z' }, out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#2026-02-01T00:00:00Z' AND 'ORDER#2026-11-30T23:59:59Z~'\" }",
        "P132",
        "SK",
    ),
    (
        "in = ['userId'], where = \"status == 'PAID'\", out = ['User', 'Order*'], request = { condition = \"PK = 'USER#{userId}'\", filter = \"status == 'PAID'\" }",
        "P132",
        "status",
    ),
    (
        "where = \"state != 'A'\", out = 'Order*', request = { index = 'GSI4', condition = \"GSI4PK = 'STATE#B'\" }",
        "P132",
        "GSI4PK",
    ),
    (
        "in = ['createdAt'], out = 'Order*', request = { index = 'GSI3', condition = \"GSI3PK = 'MONTH#{createdAt}'\" }",
        "P132",
        "GSI3PK",
    ),
    (
        "in = ['state', 'rank'], out = 'Order*', request = { index = 'GSI4', condition = \"GSI4PK = 'STATE#{state}' AND begins_with(GSI4SK, '{rank}#')\" }",
        "P132",
        "begins_with",
    ),
];

#[test]
fn requests_that_return_less_are_found() {
    for (pattern, code, place) in LESS {
        let found = errors(pattern);
        let is_found = |(own, at): &(&str, String)| own == code && at.starts_with(place);
        assert!(found.iter().any(is_found), "{pattern}\n{found:?}");
    }
}

#[test]
fn requests_that_return_all_are_not() {
    for pattern in [
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')\" }",
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#' AND 'ORDER#~'\" }",
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#0' AND 'ORDER#9'\" }",
        "in = ['userId'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK > 'A' \" }",
        "in = ['userId'], out = 'User', request = { condition = \"PK = 'USER#{userId}' AND SK = 'A'\" }",
        "in = ['userId'], range = { by = 'createdAt', from = '2026-01-05T00:00:00Z', to = '2026-01-31T23:59:59Z' }, out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#2026-01')\" }",
        "in = ['userId'], range = { by = 'createdAt', from = '2026-01-05T00:00:00Z', to = '2026-01-31T23:59:59Z' }, out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#2026-01-05T00:00:00Z' AND 'ORDER#2026-01-31T23:59:59Z~'\" }",
        "where = \"begins_with(state, 'A')\", out = 'Order*', request = { index = 'GSI4', condition = \"GSI4PK = 'STATE#{state}'\" }, in = ['state']",
        "in = ['userId'], range = 'createdAt', out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK BETWEEN 'ORDER#{createdAt}' AND 'ORDER#{createdAt}~'\" }",
        "in = ['userId'], range = 'createdAt', out = 'Order*', request = { condition = \"PK = 'USER#{userId}' AND SK >= 'ORDER#{createdAt}'\" }",
        "in = ['userId'], where = \"status == 'OPEN'\", out = 'Order*', request = { condition = \"PK = 'USER#{userId}'\", filter = \"status == 'OPEN'\" }",
        "in = ['userId', 'status'], out = 'Order*', request = { condition = \"PK = 'USER#{userId}'\", filter = \"status == '{status}'\" }",
        "out = 'Order*', request = { index = 'GSI1', condition = \"GSI1PK = 'ALL#{shard}'\" }",
        "where = \"status == 'OPEN'\", out = 'Order*', request = { index = 'GSI1', condition = \"GSI1PK = 'ALL#{shard}' AND begins_with(GSI1SK, 'OPEN#')\" }",
        "where = \"status == 'OPEN'\", out = 'Order*', request = { index = 'GSI2', condition = \"GSI2PK = 'STATUS#OPEN'\" }",
        "order = 'createdAt desc', limit = 10, out = 'Order*', request = { index = 'GSI3', condition = \"GSI3PK = 'MONTH#{createdAt:month}'\" }",
        "range = { by = 'createdAt', from = '2026-04-01T00:00:00Z', to = '2026-04-30T23:59:59Z' }, out = 'Order*', request = { index = 'GSI3', condition = \"GSI3PK = 'MONTH#2026-04'\" }",
    ] {
        assert_eq!(errors(pattern), [], "{pattern}");
    }
}

#[test]
fn a_bound_that_loses_one_end_is_said_to() {
    let orders = |bounds: &str| {
        support::with_table(&format!(
            "[entity.Order]\nattributes = {{ userId = \"id\", orderId = \"ulid\", at = {{ type = \"timestamp\", precision = \"second\" }} }}\n\
             key = [\"USER#{{userId}}\", \"ORDER#{{at}}#{{orderId}}\"]\n[pattern]\n\
             half = {{ in = [\"userId\"], out = \"Order*\", range = {{ by = \"at\", from = \"2026-01-01T00:00:00Z\", to = \"2026-06-30T23:59:59Z\" }}, \
             request = {{ condition = \"PK = 'USER#{{userId}}' AND SK BETWEEN {bounds}\" }} }}\n"
        ))
    };
    let message = |bounds: &str| {
        let found = support::findings(&orders(bounds)).into_iter().find(|finding| finding.code == "P132");
        found.map(|finding| finding.message).unwrap_or_default()
    };
    assert!(
        message("'ORDER#2026-01-01T00:00:01Z' AND 'ORDER#2026-07'")
            .starts_with("the lower bound loses Order whose at is before '2026-01-01T00:00:01Z'"),
    );
    assert!(
        message("'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#2026-06-30T23:59:58Z~'")
            .starts_with("the upper bound loses Order whose at is behind '2026-06-30T23:59:58Z"),
        "{}",
        message("'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#2026-06-30T23:59:58Z~'")
    );
    assert_eq!(message("'ORDER#2026-01-01T00:00:00Z' AND 'ORDER#2026-07'"), "");
}

#[test]
fn an_upper_bound_may_end_before_a_number_that_is_not_meant() {
    let steps = |meant: &str, upper: &str| {
        support::with_table(&format!(
            "[entity.Step]\nattributes = {{ runId = \"id\", stepId = \"id\", n = {{ type = \"int\", min = 0, max = 999 }} }}\n\
             identity = [\"runId\", \"n\", \"stepId\"]\nkey = [\"RUN#{{runId}}\", \"STEP#{{n:03}}#{{stepId}}\"]\n\
             [pattern]\nsome = {{ in = [\"runId\"], {meant}, out = \"Step*\", \
             request = {{ condition = \"PK = 'RUN#{{runId}}' AND SK BETWEEN 'STEP#010' AND 'STEP#{upper}'\" }} }}\n"
        ))
    };
    let range = "range = { by = \"n\", from = \"10\", to = \"20\" }";
    for (meant, upper, is_lost) in [
        (range, "021", false),
        (range, "020", true),
        ("where = \"n >= 10 and n < 21\"", "021", false),
        ("where = \"n >= 10 and n <= 20\"", "020", true),
    ] {
        let codes = support::codes(&steps(meant, upper), "pattern.some");
        assert_eq!(codes.contains(&"P107"), is_lost, "{meant}, {upper}: {codes:?}");
    }
}

#[test]
fn a_bound_behind_a_value_that_is_not_meant_loses_nothing() {
    let steps = |meant: &str, lower: &str| {
        support::with_table(&format!(
            "[entity.Step]\nattributes = {{ runId = \"id\", stepId = \"id\", day = \"date\", n = {{ type = \"int\", min = 0, max = 999 }} }}\n\
             identity = [\"runId\", \"n\", \"stepId\"]\nkey = [\"RUN#{{runId}}\", \"{{n:03}}#{{day}}#{{stepId}}\"]\n\
             [pattern]\nsome = {{ in = [\"runId\"], {meant}, out = \"Step*\", rps = 1, \
             request = {{ condition = \"PK = 'RUN#{{runId}}' AND SK > '{lower}'\" }} }}\n"
        ))
    };
    for (meant, lower, is_lost) in [
        ("where = \"n > 10\"", "010#~", false),
        ("where = \"n > 10\"", "010#9999-12-31#~", false),
        ("where = \"n >= 10\"", "010#~", true),
        ("where = \"n >= 10\"", "010#2026-01-05", true),
        ("range = { by = \"n\", from = \"11\", to = \"20\" }", "010#~", false),
        ("range = { by = \"n\", from = \"10\", to = \"20\" }", "010#~", true),
    ] {
        let codes = support::codes(&steps(meant, lower), "pattern.some");
        assert_eq!(codes.contains(&"P132"), is_lost, "{meant}, {lower}: {codes:?}");
    }
}
