//! Recorded requests become patterns and writes with rates.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::draft::Draft;
use partita_design::exchange::request_log::{LoggedTables, RequestLog, learn};
use partita_design::inference::Inference;
use partita_design::{Severity, Source, check, read};
use serde_json::{Value, json};

/// Ten minutes of a shop: users are put, read and updated, orders are placed in transactions and listed.
fn shop() -> Vec<String> {
    let mut lines = Vec::new();
    let mut send = |second: usize, operation: &str, mut request: Value| {
        if operation != "TransactWriteItems" {
            request["TableName"] = json!("Shop");
        }
        let time = format!("2026-04-05T10:{:02}:{:02}Z", second / 60, second % 60);
        lines.push(json!({ "time": time, "operation": operation, "request": request }).to_string());
    };
    for number in 0..=60 {
        let (second, user) = (number * 10, format!("USER#u{number}"));
        send(
            second,
            "PutItem",
            json!({
                "Item": { "PK": { "S": user }, "SK": { "S": "PROFILE" }, "type": { "S": "User" },
                    "userId": { "S": format!("u{number}") }, "name": { "S": format!("Name {number}") } },
                "ConditionExpression": "attribute_not_exists(PK)",
            }),
        );
        send(second, "GetItem", json!({ "Key": { "PK": { "S": user }, "SK": { "S": "PROFILE" } } }));
        let (order, created) = (format!("o{number}"), format!("2026-04-05T10:00:{:02}Z", number % 60));
        let put = json!({ "TableName": "Shop", "Item": {
            "PK": { "S": user }, "SK": { "S": format!("ORDER#{created}#{order}") }, "type": { "S": "Order" },
            "userId": { "S": format!("u{number}") }, "orderId": { "S": order }, "createdAt": { "S": created },
        } });
        let update = json!({ "TableName": "Shop", "Key": { "PK": { "S": user }, "SK": { "S": "PROFILE" } },
            "UpdateExpression": "SET #o = :one", "ExpressionAttributeNames": { "#o": "orders" },
            "ExpressionAttributeValues": { ":one": { "N": "1" } } });
        send(
            second,
            "TransactWriteItems",
            json!({ "TransactItems": [{ "Put": put }, { "Update": update }] }),
        );
        for _ in 0..2 {
            send(
                second,
                "Query",
                json!({
                    "KeyConditionExpression": "#pk = :pk AND begins_with(SK, :sk)",
                    "ExpressionAttributeNames": { "#pk": "PK" },
                    "ExpressionAttributeValues": { ":pk": { "S": user }, ":sk": { "S": "ORDER#" } },
                    "ScanIndexForward": false, "Limit": 10,
                }),
            );
        }
    }
    send(600, "Scan", json!({ "FilterExpression": "age > :a" }));
    send(600, "ListTables", json!({}));
    lines.push("not a request".to_owned());
    lines
}

fn inferred(lines: &[String], over: Option<f64>) -> Draft {
    let mut tables = LoggedTables::default();
    lines.iter().for_each(|line| tables.add(line));
    let table = tables.busiest().unwrap().to_owned();
    let mut inference = Inference::new(tables.schema(&table));
    lines.iter().for_each(|line| learn(line, &table, &mut inference).unwrap());
    imported(inference.finish().unwrap(), &table, lines, false, over)
}

fn imported(draft: Draft, table: &str, lines: &[String], given: bool, over: Option<f64>) -> Draft {
    let mut log = RequestLog::new(draft, table, given);
    lines.iter().zip(1..).for_each(|(line, number)| log.add(number, line));
    log.finish(over)
}

fn contains(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "{part}\n{text}"));
}

#[test]
fn patterns_writes_and_rates_follow_from_a_log_alone() {
    let text = inferred(&shop(), None).text();
    contains(
        &text,
        &[
            "key = [\"USER#{userId}\", \"PROFILE\"]",
            "out = \"User\", rps = 0.102 }",
            "ordersByUserId = { in = [\"userId\"], out = \"Order*\", order = \"createdAt desc\", limit = 10, rps = 0.203 }",
            "createUser = { create = \"User\", rps = 0.102 }",
            "transact = [\"put Order\", \"update User set orders\"], rps = 0.102",
            "orders = \"int?\"",
            "Scan of the whole table with the filter age > :a",
            "1 line not understood: 308",
            "ListTables (1)",
        ],
    );
    let model =
        read(&Source::new("draft.toml", text.as_str())).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    let report = check(&model);
    let grave: Vec<_> =
        report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(grave.is_empty(), "{grave:?}\n{text}");
    assert!(report.plans.values().all(Result::is_ok), "{text}");
}

#[test]
fn the_given_time_gives_the_rates_and_without_any_time_they_are_asked() {
    let text = inferred(&shop(), Some(6.1)).text();
    contains(&text, &["limit = 10, rps = 20 }", "rps = 10 }"]);
    let plain: Vec<String> = shop()
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| json!({ line["operation"].as_str().unwrap(): line["request"] }).to_string())
        .collect();
    let draft = inferred(&plain, None);
    assert!(
        draft.questions.iter().any(|question| question.id == "pattern.ordersByUserId.rps"),
        "{}",
        draft.text()
    );
}

#[test]
fn declared_patterns_and_writes_get_their_rates() {
    let mut draft = inferred(&shop(), None);
    draft.model.patterns.iter_mut().for_each(|pattern| pattern.rps = None);
    draft.model.writes.iter_mut().for_each(|write| write.rps = None);
    let model = read(&Source::new("a.toml", draft.text())).unwrap();
    let (patterns, writes) = (model.patterns.len(), model.writes.len());
    let given = imported(Draft { model, ..Draft::default() }, "Shop", &shop(), true, Some(6.1)).model;
    assert_eq!((given.patterns.len(), given.writes.len()), (patterns, writes));
    assert!(given.patterns.iter().all(|pattern| pattern.rps.is_some()), "{:?}", given.patterns);
    assert!(given.writes.iter().all(|write| write.rps == Some(10.0)), "{:?}", given.writes);
}

#[test]
fn no_line_is_too_strange() {
    for request in [
        json!({}),
        json!({ "Key": 1 }),
        json!({ "TransactItems": [{}] }),
        json!({ "RequestItems": { "Shop": [{}] } }),
    ] {
        for operation in
            ["Query", "GetItem", "UpdateItem", "TransactWriteItems", "BatchWriteItem", "BatchGetItem", "X"]
        {
            let mut lines = shop();
            lines.push(json!({ "time": 1e300, "operation": operation, "request": request }).to_string());
            read(&Source::new("a.toml", inferred(&lines, None).text())).unwrap();
        }
    }
}
