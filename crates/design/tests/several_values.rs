//! Patterns that ask for several values of an attribute: one request for each key and each shard that they make, no more and no less.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::plan::trial::{Call, Page, PreparedPlan};
use partita_design::report::sent::{Language, requests};
use partita_design::{Model, report};
use serde_json::Value;
use std::collections::BTreeMap;
use support::with_table;

/// The number of requests of the only pattern, the partition keys that a trial sends, and those that `explain` shows.
fn sent(model: &Model) -> (f64, Vec<String>, Vec<String>) {
    let (keys, pattern) = (Keyspace::new(model), &model.patterns[0]);
    let plan = plan(&keys, pattern).unwrap();
    let partition = |body: &Value| body["ExpressionAttributeValues"][":pk"]["S"].as_str().unwrap().to_owned();
    let mut partitions = Vec::new();
    let call = Call { values: BTreeMap::new(), range: None };
    let send = |_: &'static str, body: &Value| {
        partitions.push(partition(body));
        Ok::<_, ()>(Page::default())
    };
    PreparedPlan::new(model, pattern, &plan, &[]).execute(&call, send).unwrap();
    let shown: Value = serde_json::from_str(&requests(model, None, Language::Json)).unwrap();
    let shown = shown[0]["requests"].as_array().unwrap().iter().map(|own| partition(&own["input"])).collect();
    (plan.steps[0].fan_out, partitions, shown)
}

/// Readings that are spread over seven shards by their kind: 4 of A, 2 of C, 1 of B; `rest` is the sort key and more of the entry.
fn readings(shard: &str, rest: &str, filter: &str) -> Model {
    support::model(&with_table(&format!(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n\
         [entity.Reading]\nattributes = {{ readingId = \"id\", kind = \"A|B|C|D\", day = \"date\" }}\nshard = {{ by = \"kind\"{shard}, count = 7 }}\nkey = [\"READING#{{readingId}}\", \"R\"]\n\
         index.GSI1 = {{ key = [\"OPEN#{{shard}}\", {rest} }}\nexpect = {{ count = 700, bytes = 200 }}\n\
         [pattern]\nopen = {{ where = \"{filter}\", order = \"day desc\", out = \"Reading*\" }}\n"
    )))
}

#[test]
fn values_in_a_condition_select_their_shards() {
    let last = "\"{day}#{readingId}#{kind}\"]";
    let first = "\"{kind}#{day}#{readingId}\"]";
    let shard_of = |kind: &str| format!("OPEN#{}", crc32fast::hash(kind.as_bytes()) % 7);
    let [a, b, c] = ["A", "B", "C"].map(shard_of);
    assert!(a != c && a == b);
    let both: Vec<String> = if a < c { vec![a.clone(), c.clone()] } else { vec![c.clone(), a.clone()] };
    for (rest, filter, expected) in [
        (last, "kind in ('A', 'C')", &both),
        ("\"{day}#{readingId}\"]", "kind in ('A', 'C')", &both),
        ("\"{day}#{readingId}\"], when = \"kind in ('A', 'C')\"", "kind in ('A', 'C')", &both),
        (last, "kind == 'C'", &vec![c.clone()]),
        (first, "kind == 'C'", &vec![c.clone()]),
        (last, "kind in ('A', 'B')", &vec![a.clone()]),
        (first, "kind in ('A', 'B', 'C')", &vec![a.clone(), b, c.clone()]),
    ] {
        let (number, tried, shown) = sent(&readings("", rest, filter));
        assert_eq!((number, &tried), (expected.len() as f64, expected), "{rest} {filter}");
        assert!(expected.contains(&shown[0]), "{rest} {filter}: {shown:?}");
    }
    let (number, tried, _) = sent(&readings("", last, "kind != 'A' or kind == 'A'"));
    assert_eq!((number as usize, tried.len()), (3, 3), "four values are in three shards");
}

#[test]
fn a_hash_of_the_application_selects_shards_that_nobody_knows() {
    let rest = "\"{day}#{readingId}#{kind}\"]";
    let own = ", hash = \"other\"";
    assert_eq!(sent(&readings(own, rest, "kind in ('A', 'C')")).0, 7.0);
    assert_eq!(sent(&readings(own, rest, "kind == 'C'")).0, 1.0);
}

#[test]
fn the_items_of_some_shards_are_an_assumption() {
    let rest = "\"{day}#{readingId}#{kind}\"]";
    let figures = |entry: &str, filter: &str| {
        let model = readings("", entry, filter);
        let text = report::explain::text(&model, Some("open"));
        text.lines().find(|line| line.contains("reads ")).unwrap_or_default().trim().to_owned()
    };
    let some = figures(rest, "kind in ('A', 'C')");
    assert!(some.contains("525 items (assumed)"), "{some}");
    let all = figures(
        "\"{day}#{readingId}#{kind}\"], when = \"kind in ('A', 'C')\", count = 300",
        "kind in ('A', 'C')",
    );
    assert!(all.contains("300 items") && !all.contains("(assumed)"), "{all}");
}

#[test]
fn values_with_one_key_are_one_request() {
    let songs = |key: &str, filter: &str| {
        support::model(&with_table(&format!(
            "[entity.Song]\nattributes = {{ songId = \"id\", name = \"id\", day = \"date\" }}\nkey = [\"{key}\", \"SONG#{{songId}}\"]\n\
             [pattern]\nsongs = {{ where = \"{filter}\", out = \"Song*\" }}\n"
        )))
    };
    let named = "name in ('Ann', 'ANN', 'Bob')";
    assert_eq!(sent(&songs("N#{name:lower}", named)).1, ["N#ann", "N#bob"]);
    assert_eq!(sent(&songs("N#{name}", named)).0, 3.0);
    let days = "day in ('2026-01-05', '2026-01-06', '2026-02-01')";
    let (number, tried, shown) = sent(&songs("M#{day:month}", days));
    assert_eq!(
        (number, tried, shown),
        (2.0, vec!["M#2026-01".to_owned(), "M#2026-02".to_owned()], vec!["M#2026-01".to_owned()])
    );
    assert_eq!(sent(&songs("M#{day:month}#{day:day}", days)).0, 3.0);
    let same_month = songs("M#{day:month}", "day in ('2026-01-05', '2026-01-06')");
    assert!(!report::explain::text(&same_month, None).contains("sent"), "one request needs no merging");
}

#[test]
fn a_value_that_a_key_holds_twice_narrows_its_items_once() {
    let tasks = support::model(&with_table(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[entity.Task]\nattributes = { taskId = \"id\", status = \"OPEN|HELD|DONE\" }\nkey = [\"TASK#{taskId}\", \"TASK\"]\n\
         index.GSI1 = { key = [\"STATUS#{status}\", \"{status}#{taskId}\"], when = \"status in ('OPEN', 'HELD')\", count = 32 }\nexpect = { count = 90, bytes = 200 }\n\
         [pattern]\nopen = { where = \"status != 'DONE'\", out = \"Task*\" }\n",
    ));
    assert!(report::explain::text(&tasks, None).contains("reads   32 items,"));
}

#[test]
fn an_order_by_an_attribute_with_a_few_values_needs_a_key_that_holds_it() {
    let tickets = |sort: &str, tested: &str| {
        support::with_table(&format!(
            "[entity.Ticket]\nattributes = {{ queueId = \"id\", ticketId = \"id\", prio = \"HIGH|LOW|MID\" }}\n\
             key = [\"QUEUE#{{queueId}}\", \"{sort}\"]\n\
             [pattern]\nurgent = {{ in = [\"queueId\"], where = \"{tested}\", order = \"prio asc\", limit = 10, out = \"Ticket*\" }}\n"
        ))
    };
    for tested in
        ["prio in ('HIGH', 'LOW')", "prio != 'MID'", "not prio == 'MID'", "prio == 'LOW' or prio == 'HIGH'"]
    {
        assert!(
            support::has(
                &tickets("TICKET#{ticketId}#{prio}", tested),
                "P103",
                partita_design::Severity::Error
            ),
            "{tested}"
        );
        assert!(
            !support::has(
                &tickets("TICKET#{prio}#{ticketId}", tested),
                "P103",
                partita_design::Severity::Error
            ),
            "{tested}"
        );
    }
    assert!(!support::has(
        &tickets("TICKET#{ticketId}#{prio}", "prio == 'LOW'"),
        "P103",
        partita_design::Severity::Error
    ));
}
