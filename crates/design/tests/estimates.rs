//! Estimates hold on generated items: items per parent, sizes and units are within what the model declares.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::recognise;
use partita_design::capacity::basis::Estimate;
use partita_design::capacity::contents::contents;
use partita_design::capacity::cost::cost;
use partita_design::capacity::estimate::read_units;
use partita_design::capacity::key_card::{Verdict, cards};
use partita_design::capacity::prices::{DEFAULT_PRICES, Prices};
use partita_design::capacity::{size, write_effects};
use partita_design::generate::Generator;
use partita_design::item::{attributes, item_size};
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::{Severity, check};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Parents with children, and grandchildren under the children.
fn family(parents: u64, average: u64, max: u64, bytes: u64) -> String {
    support::with_table(&format!(
        r#"
[entity.Shop]
attributes = {{ shopId = "ulid", name = "string" }}
key = ["SHOP#{{shopId}}", "SHOP"]
expect = {{ count = {parents}, bytes = 200 }}
[entity.Sale]
attributes = {{ shopId = "ulid", saleId = "ulid", soldAt = "timestamp", note = "string" }}
key = ["SHOP#{{shopId}}", "SALE#{{soldAt}}#{{saleId}}"]
expect = {{ per = "Shop", average = {average}, max = {max}, bytes = {bytes} }}
[pattern]
shop = {{ in = ["shopId"], out = ["Shop", "Sale*"] }}
sales = {{ in = ["shopId"], out = "Sale*" }}
"#
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn predicted_items_and_units_are_those_of_generated_items(
        parents in 2u64..30, average in 1u64..15, over in 0u64..30, bytes in 260u64..3000, seed in 0u64..1000,
    ) {
        let model = support::model(&family(parents, average, average + over, bytes));
        let keys = Keyspace::new(&model);
        let sales = plan(&keys, model.patterns.iter().find(|pattern| pattern.name == "sales").unwrap()).unwrap();
        let step = &sales.steps[0];
        let mut sizes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for item in Generator::new(&model, seed, parents * (average + 1)).items() {
            let texts = attributes(&item);
            if recognise(&model, &texts).is_some_and(|entity| entity.name == "Sale") {
                sizes.entry(texts["PK"].clone()).or_default().push(item_size(&item));
            }
        }
        let counts: Vec<f64> = sizes.values().map(|own| own.len() as f64).collect();
        let least = counts.iter().copied().fold(f64::MAX, f64::min);
        let most = counts.iter().copied().fold(0.0, f64::max);
        prop_assert!(step.items.average >= least && step.items.average <= most, "{} of {least} to {most}", step.items.average);
        prop_assert!(step.items.average <= step.items.max && step.items.max <= (average + over) as f64);
        let units = |bytes: usize| read_units(bytes as f64, false);
        let totals: Vec<usize> = sizes.values().map(|own| own.iter().sum()).collect();
        let (low, high) = (units(*totals.iter().min().unwrap()), units(*totals.iter().max().unwrap()));
        prop_assert!(step.units() >= low && step.units() <= high, "{} of {low} to {high}", step.units());
    }
}

/// Items of fixed-width attributes have exactly the size that the templates give.
#[test]
fn sizes_of_fixed_width_items_are_exact() {
    let model = support::model(&support::with_table(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Visit]
attributes = { visitId = "ulid", personId = "uuid", day = "date", at = "timestamp", first = "bool" }
key = ["PERSON#{personId}#{day:month}", "VISIT#{at}#{visitId}"]
index.GSI1 = { key = ["DAY#{day}#{shard}", "{visitId}"], shard = { by = "visitId", count = 8 } }
[pattern]
visits = { in = ["personId", "day"], out = "Visit*" }
"#,
    ));
    let expected = size::item(&model, &model.entities[0]);
    assert!(!expected.basis.is_assumed());
    for item in Generator::new(&model, 3, 50).items() {
        assert_eq!(item_size(&item) as f64, expected.value, "{item:?}");
    }
}

/// The verdict on a key and the findings of the check agree, and good designs have no bad key.
#[test]
fn verdicts_agree_with_findings() {
    let codes = ["P207", "P208", "P209", "P210", "P308"];
    let mut seen = 0;
    for folder in ["models", "crates/design/tests/good", "crates/design/tests/planted"] {
        for entry in std::fs::read_dir(support::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let model = support::model(&std::fs::read_to_string(&path).unwrap());
            let findings = check(&model).findings;
            for card in cards(&model) {
                let subject = card.mapping.entity.subject();
                let is_found = findings.iter().any(|finding| {
                    codes.contains(&finding.code)
                        && finding.subject == subject
                        && finding.severity > Severity::Note
                });
                assert!(
                    card.verdict <= Verdict::Good || is_found,
                    "{}: {} is {}, {}",
                    path.display(),
                    card.mapping.partition,
                    card.verdict.name(),
                    card.reason
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen}");
}

/// A feed of events, by month buckets and by shards, and a queue by state.
const EVENTS: &str = r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[index.GSI2]
keys = ["GSI2PK", "GSI2SK"]
[entity.Device]
attributes = { deviceId = "id", name = "string" }
key = ["DEVICE#{deviceId}", "DEVICE"]
expect = { count = 100, bytes = 200 }
[entity.Event]
attributes = { deviceId = "id", eventId = "ulid", at = "timestamp", state = "NEW|SEEN|DONE", text = "string" }
key = ["DEVICE#{deviceId}#{at:day}", "{at}#{eventId}"]
index.GSI1 = { key = ["ALL#{shard}", "{at}#{eventId}"], shard = { by = "eventId", count = 10 } }
index.GSI2 = { key = ["DEVICE#{deviceId}#{state}", "{at}#{eventId}"] }
expect = { per = "Device", average = 900, max = 1500, bytes = 1000 }
[pattern]
"#;

/// The plan of the pattern `p` among the events: operation and figures of its first step, and what the caller does.
fn first_step(pattern: &str) -> (f64, f64, f64, Vec<String>) {
    let model = support::model(&support::with_table(&format!("{EVENTS}p = {{ {pattern} }}\n")));
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|unserved| panic!("{:?}", unserved.obstacle));
    let step = &plan.steps[0];
    let works = step.afterwards.iter().map(ToString::to_string).collect();
    (step.fan_out, step.items.average, step.units(), works)
}

#[test]
fn every_alternative_is_read_and_counted() {
    let (requests, items, units, _) =
        first_step("in = ['deviceId'], where = \"state == 'NEW'\", out = 'Event*'");
    assert_eq!((requests, items, units), (1.0, 300.0, 37.0));
    let two = "in = ['deviceId'], where = \"state in ('NEW', 'SEEN')\", out = 'Event*'";
    assert_eq!(first_step(two), (2.0, 600.0, 74.0, vec!["put the results together".to_owned()]));
    let (requests, items, ..) =
        first_step("in = ['deviceId'], where = \"state in ('NEW', 'SEEN', 'DONE')\", out = 'Event*'");
    assert_eq!((requests, items), (3.0, 900.0));
    let newest = "in = ['deviceId'], where = \"state in ('NEW', 'SEEN')\", out = 'Event*', order = 'at desc', limit = 20";
    let (requests, items, units, works) = first_step(newest);
    assert_eq!((requests, items, units), (2.0, 40.0, 5.0));
    assert_eq!(works, ["merge the results by at, descending", "keep the first 20"]);
}

#[test]
fn every_shard_returns_up_to_the_limit() {
    let (requests, items, units, works) = first_step("out = 'Event*', order = 'at desc', limit = 100");
    assert_eq!((requests, items, units), (10.0, 1000.0, 125.0));
    assert_eq!(works, ["merge the results by at, descending", "keep the first 100"]);
}

#[test]
fn time_buckets_are_counted_and_read_in_turn() {
    let range = "range = { by = 'at', from = '2026-04-01T00:00:00Z', to = '2026-05-02T23:59:59Z' }";
    let (requests, ..) = first_step(&format!("in = ['deviceId'], out = 'Event*', {range}"));
    assert_eq!(requests, 32.0);
    let newest = format!("in = ['deviceId'], out = 'Event*', order = 'at desc', limit = 2, {range}");
    let (requests, items, _, works) = first_step(&newest);
    assert_eq!((requests, items), (32.0, 64.0));
    let turn = "begin with the newest time bucket and go on with the next until 2 are found";
    assert_eq!(works, [turn, "merge the results by at, descending", "keep the first 2"]);
    let oldest = newest.replace("desc", "asc");
    assert!(first_step(&oldest).3[0].starts_with("begin with the oldest"));
}

/// `Limit` counts what is read, so none is sent where a filter drops some; the figure is that of everything under the key.
#[test]
fn a_filter_is_counted_in_full_and_has_no_limit() {
    let filtered =
        "in = ['deviceId', 'state'], where = \"text != 'x'\", out = 'Event*', order = 'at desc', limit = 5";
    let model = support::model(&support::with_table(&format!("{EVENTS}p = {{ {filtered} }}\n")));
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|unserved| panic!("{:?}", unserved.obstacle));
    let step = &plan.steps[0];
    assert_eq!((step.limit, step.wanted(), step.items.average), (None, Some(5), 300.0));
    assert!(step.afterwards[0].to_string().starts_with("continue from LastEvaluatedKey until 5 are left"));
    let late = "in = ['deviceId', 'state'], where = \"at >= '2026-01-01T00:00:00Z'\", out = 'Event*'";
    let findings =
        check(&support::model(&support::with_table(&format!("{EVENTS}p = {{ {late} }}\n")))).findings;
    let waste = findings.iter().find(|finding| finding.code == "P113").unwrap();
    assert!(waste.message.contains("300 items (300 KB)"), "{}", waste.message);
    assert!(waste.help.starts_with("at is next in the sort key: write range"), "{}", waste.help);
}

/// The items of other entities under the same key are read as well.
#[test]
fn entities_beside_the_wanted_one_are_counted() {
    let text = support::with_table(
        r#"
[entity.Album]
attributes = { albumId = "id", title = "string" }
key = ["ALBUM#{albumId}", "ALBUM"]
expect = { count = 50, bytes = 1000 }
[entity.Track]
attributes = { albumId = "id", trackId = "ulid", title = "string" }
key = ["ALBUM#{albumId}", "T#{trackId}"]
expect = { per = "Album", average = 12, max = 20, bytes = 1000 }
[entity.Take]
attributes = { albumId = "id", takeId = "ulid", note = "string" }
key = ["ALBUM#{albumId}", "T#{takeId}"]
expect = { per = "Album", average = 88, max = 100, bytes = 1000 }
[pattern]
tracks = { in = ["albumId"], out = "Track*", limit = 10 }
"#,
    );
    let model = support::model(&text);
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|unserved| panic!("{:?}", unserved.obstacle));
    let step = &plan.steps[0];
    assert_eq!((step.items.average, step.items.max, step.found.max, step.limit), (100.0, 120.0, 10.0, None));
    assert_eq!(step.units(), 12.5);
}

#[test]
fn a_table_per_entity_reads_each_entity_by_itself() {
    // A shop of 200 bytes and ten sales of 4,000 bytes: 40,200 bytes in one request, 200 and 40,000 in two.
    let model = support::model(&family(10, 10, 20, 4000).replace("\"Sale*\"] }", "\"Sale*\"], rps = 1 }"));
    let cost = cost(&model, &Prices::parse(DEFAULT_PRICES).unwrap());
    assert_eq!(cost.single_table.reads, read_units(40_200.0, false));
    assert_eq!(cost.per_entity.reads, read_units(200.0, false) + read_units(40_000.0, false));
}

#[test]
fn capacity_is_provisioned_for_each_table_and_each_index() {
    let prices = Prices::parse(DEFAULT_PRICES).unwrap();
    let priced = |index: &str| {
        let text = family(10, 10, 20, 4000).replace("[entity.Shop]", &format!("{index}[entity.Shop]"));
        cost(&support::model(&text), &prices)
    };
    // Without traffic each table takes one read unit and one write unit; a local index takes those of its table.
    let least = (prices.read_hour + prices.write_hour) * 730.0;
    let close = |price: f64, units: f64| (price - units * least).abs() < 1e-9;
    for (index, one_table, table_per_entity) in [
        ("", 1.0, 2.0),
        ("[index.Local]\nlocal = true\nkeys = [\"PK\", \"soldAt\"]\n", 1.0, 2.0),
        ("[index.Global]\nkeys = [\"note\", \"soldAt\"]\n", 2.0, 3.0),
    ] {
        let cost = priced(index);
        assert!(close(cost.provisioned(&prices), one_table), "{index}");
        assert!(close(cost.provisioned_apart(&prices), table_per_entity), "{index}");
    }
}

#[test]
fn local_indexes_are_in_the_partitions_of_the_table() {
    let text = family(1_000, 100, 4_000_000, 2000).replace("[entity.Shop]", "INDEX[entity.Shop]")
        + "[write]\nsell = { create = \"Sale\", rps = 400 }\n";
    let local = "[index.Local]\nlocal = true\nkeys = [\"PK\", \"soldAt\"]\n";
    let found = |index: &str| {
        let model = support::model(&text.replace("INDEX", index));
        let codes: Vec<&str> = check(&model).findings.iter().map(|finding| finding.code).collect();
        (codes.contains(&"P403"), codes.contains(&"P210"))
    };
    // 8 GB of items, and 8 GB of entries; 800 units of items a second, and as many of entries, which one shop may take.
    assert_eq!(found(local), (true, true));
    assert!(!found("").1);
}

#[test]
fn markers_of_unique_values_are_stored_too() {
    let text =
        family(10, 10, 20, 4000).replace("name = \"string\" }", "name = \"ulid\" }\nunique = [\"name\"]");
    let model = support::model(&text);
    let table = TableOrIndex { index: None };
    let without = support::model(&text.replace("unique = [\"name\"]", ""));
    let key = "UNIQUE#Shop#name#".len() + 26;
    let marker = (2 * key + "PK".len() + "SK".len() + 100) as f64;
    let stored = |model| contents(model, table).stored().value;
    assert_eq!(stored(&model), stored(&without) + 10.0 * marker);
}

#[test]
fn no_figure_exceeds_the_declared_maximum() {
    let read = |text: &str| {
        let model = support::model(&support::with_table(text));
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        (plan.steps[0].items.average, plan.steps[0].items.max)
    };
    // Each of four shards has at most 20.
    let shards = "[entity.Log]\nattributes = { device = \"id\", at = \"timestamp\", logId = \"ulid\" }\n\
        key = [\"D#{device}#{shard}\", \"L#{at}#{logId}\"]\nshard = { count = 4 }\nexpect = { count = 100_000, max = 20 }\n\
        [pattern]\nlogs = { in = [\"device\"], out = \"Log*\" }\n";
    assert_eq!(read(shards), (80.0, 80.0));
    // So has each of three months.
    let months = "[entity.Log]\nattributes = { device = \"id\", at = \"timestamp\", logId = \"ulid\" }\n\
        key = [\"D#{device}#{at:month}\", \"L#{at}#{logId}\"]\nexpect = { count = 100_000, max = 20 }\n[pattern]\n\
        logs = { in = [\"device\"], range = { by = \"at\", from = \"2026-01-01T00:00:00Z\", to = \"2026-03-31T00:00:00Z\" }, out = \"Log*\" }\n";
    assert_eq!(read(months), (60.0, 60.0));
    // The numbers of both make 100 for each, and only 5 are declared.
    let parents = "[entity.Tenant]\nattributes = { tenantId = \"id\" }\nkey = [\"T#{tenantId}\", \"T\"]\nexpect = { count = 10 }\n\
        [entity.User]\nattributes = { tenantId = \"id\", userId = \"id\" }\nkey = [\"T#{tenantId}\", \"U#{userId}\"]\n\
        expect = { count = 1000, per = \"Tenant\", MAX }\n[pattern]\nusers = { in = [\"tenantId\"], out = \"User*\" }\n";
    assert_eq!(read(&parents.replace("MAX", "max = 5")), (5.0, 5.0));
    assert_eq!(read(&parents.replace("MAX", "max = 500")), (100.0, 500.0));
}

#[test]
fn only_a_write_of_the_parent_is_known_to_write_all_its_children() {
    let findings = |write: &str| {
        let model = support::model(&format!("{}[write]\n{write}\n", family(10, 200, 300, 500)));
        let found = check(&model).findings.into_iter().find(|finding| finding.code == "P405");
        found.map(|finding| (finding.severity, finding.message))
    };
    let open = findings("open = { transact = [\"create Shop\", \"create Sale*\"] }");
    let (severity, message) = open.unwrap();
    assert_eq!(severity, Severity::Error);
    assert!(message.starts_with("201 actions on average, 301 at most;"), "{message}");
    // A shop that has sold 200 items does not sell all of them at once.
    let sell = findings("sell = { transact = [\"update Shop set name\", \"create Sale*\"] }");
    let (severity, message) = sell.unwrap();
    assert_eq!(severity, Severity::Note);
    assert!(message.starts_with("201 (assumed) actions on average"), "{message}");
}

#[test]
fn items_that_an_aggregate_leaves_out_are_written_without_it() {
    let help = |writes: &str, condition: &str| {
        let text = support::with_table(&format!(
            "[entity.Event]\nattributes = {{ eventId = \"ulid\" }}\nkey = [\"EVENT#{{eventId}}\", \"EVENT\"]\n\
             aggregates = {{ sold = \"count Seat{condition}\" }}\nexpect = {{ count = 200 }}\n\
             [entity.Seat]\nattributes = {{ eventId = \"ulid\", seatId = \"id\", state = \"FREE|SOLD\" }}\n\
             key = [\"EVENT#{{eventId}}\", \"SEAT#{{seatId}}\"]\nexpect = {{ per = \"Event\", average = 500 }}\n\
             [write]\nplan = {{ transact = [\"create Event\", \"create Seat*\"] }}\n{writes}"
        ));
        support::findings(&text).into_iter().find(|finding| finding.code == "P405").unwrap().help
    };
    let sell = "sell = { transact = [\"update Seat set state\", \"update Event set sold\"] }\n";
    assert!(help(sell, "").contains("each time with the aggregate"));
    assert!(help("", " where state == 'SOLD'").contains("each time with the aggregate"));
    // Seats are free at first.
    assert!(help(sell, " where state == 'SOLD'").contains("the rest in batches"));
}

/// The severity of a finding.
fn severity(text: &str, code: &str) -> Option<Severity> {
    support::findings(text).iter().find(|finding| finding.code == code).map(|finding| finding.severity)
}

#[test]
fn a_call_that_knows_its_shard_reads_that_one_only() {
    let flags = |input: &str, out: &str| {
        support::with_table(&format!(
            "[entity.Flag]\nattributes = {{ flagId = \"id\", value = \"string\" }}\nkey = [\"FLAGS#{{shard}}\", \"{{flagId}}\"]\n\
             shard = {{ by = \"flagId\", count = 10 }}\nexpect = {{ count = 10000, bytes = 200 }}\n\
             [pattern]\nflag = {{ in = [{input}], out = \"{out}\", limit = 1, rps = 20000 }}\n"
        ))
    };
    assert_eq!(severity(&flags("\"flagId\"", "Flag"), "P210"), None);
    assert_eq!(severity(&flags("", "Flag*"), "P210"), Some(Severity::Error), "every call reads every shard");
}

#[test]
fn the_most_frequent_values_of_two_attributes_need_not_occur_together() {
    let events = |attributes: &str| {
        support::with_table(&format!(
            "[entity.Event]\nattributes = {{ eventId = \"ulid\", {attributes} }}\nkey = [\"E#{{a}}#{{b}}\", \"{{eventId}}\"]\n\
             expect = {{ count = 1000000, bytes = 300 }}\n[write]\nadd = {{ create = \"Event\", rps = 10000 }}\n"
        ))
    };
    let pair =
        |a: &str, b: &str| events(&format!("a = {{ type = \"id\", {a} }}, b = {{ type = \"id\", {b} }}"));
    let half = "values = 1000, top = 0.5";
    assert_ne!(severity(&pair(half, half), "P210"), Some(Severity::Error), "likely, and not certain");
    assert_eq!(
        severity(&pair("top = 0.7", "top = 0.6"), "P210"),
        Some(Severity::Error),
        "a share of 0.3 is certain"
    );
    assert_eq!(
        severity(&pair("top = 0.5", "values = 4"), "P210"),
        Some(Severity::Error),
        "one of four has an eighth"
    );
}

#[test]
fn entries_whose_condition_keeps_them_out_of_a_partition_are_not_read() {
    let text = |when: &str| {
        support::with_table(&format!(
            r##"
[index.GSI1]
keys = ["G1PK", "G1SK"]
[entity.Order]
attributes = {{ orderId = "ulid", state = "OPEN|SHIPPED", at = {{ type = "timestamp", precision = "second" }} }}
key = ["ORDER#{{orderId}}", "ORDER"]
index.GSI1 = {{ key = ["STATE#{{state}}", "{{at}}#{{orderId}}"], when = "state == 'OPEN'" }}
[entity.Return]
attributes = {{ returnId = "ulid", state = "OPEN|SHIPPED", at = {{ type = "timestamp", precision = "second" }} }}
key = ["RETURN#{{returnId}}", "RETURN"]
index.GSI1 = {{ key = ["STATE#{{state}}", "{{at}}#{{returnId}}"], when = "state == '{when}'" }}
[pattern]
open = {{ where = "state == 'OPEN'", out = "Order*", order = "at asc", limit = 5, rps = 1 }}
"##
        ))
    };
    let planned = |when: &str| {
        let text = text(when);
        let model = support::model(&text);
        let limit = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap().steps[0].limit;
        (severity(&text, "P109"), limit)
    };
    assert_eq!(planned("SHIPPED"), (None, Some(5)));
    assert_eq!(planned("OPEN"), (Some(Severity::Warning), None));
}

#[test]
fn items_that_are_fetched_before_they_are_tested_are_waste() {
    let text = |project: &str| {
        support::with_table(&format!(
            r##"
[index.GSI1]
keys = ["G1PK", "G1SK"]
project = {project}
[entity.Post]
attributes = {{ feedId = "ulid", postId = "ulid", title = "string" }}
key = ["POST#{{postId}}", "POST"]
index.GSI1 = {{ key = ["FEED#{{feedId}}", "{{postId}}"] }}
expect = {{ per = "Feed", average = 1000, max = 5000, bytes = 200 }}
[entity.Feed]
attributes = {{ feedId = "ulid" }}
key = ["FEED#{{feedId}}", "FEED"]
expect = {{ count = 10 }}
[pattern]
titled = {{ in = ["feedId"], where = "contains(title, 'x')", hydrate = true, out = "Post*", rps = 1 }}
"##
        ))
    };
    assert_eq!(severity(&text("\"ALL\""), "P113"), Some(Severity::Warning));
    assert_eq!(severity(&text("\"KEYS_ONLY\""), "P113"), Some(Severity::Warning));
}

#[test]
fn a_name_does_not_identify_more_items_than_it_has_values() {
    let lines = |kind: &str, rest: &str| {
        support::with_table(&format!(
            "[index.GSI1]\nkeys = [\"G1PK\", \"G1SK\"]\n[entity.Line]\nattributes = {{ orderId = \"ulid\", lineId = {kind} }}\n\
             key = [\"ORDER#{{orderId}}\", \"LINE#{{lineId}}\"]\nindex.GSI1 = {{ key = [\"LINE#{{lineId}}\", \"LINE\"] }}\n\
             expect = {{ count = 10000 }}\n{rest}[pattern]\nline = {{ in = [\"lineId\"], out = \"Line\", rps = 1 }}\n"
        ))
    };
    for kind in ["{ type = \"int\", min = 1, max = 99 }", "\"A|B|C\"", "{ type = \"id\", values = 50 }"] {
        assert_eq!(severity(&lines(kind, ""), "P117"), Some(Severity::Warning), "{kind}");
        assert_eq!(severity(&lines(kind, "identity = \"lineId\"\n"), "P117"), None, "as declared");
    }
    for kind in ["{ type = \"int\", min = 1, max = 20000 }", "\"id\""] {
        assert_eq!(severity(&lines(kind, ""), "P117"), None, "{kind}");
    }
}

#[test]
fn the_values_of_a_key_and_the_items_under_each_are_all_items() {
    let text = support::with_table(
        "[entity.User]\nattributes = { u = \"id\", name = \"string\" }\nkey = [\"U#{u}\", \"A\"]\nexpect = { count = 40 }\n\
         [entity.Log]\nattributes = { u = \"id\", logId = \"ulid\" }\nkey = [\"U#{u}\", \"L#{logId}\"]\n\
         expect = { per = \"User\", average = 4, max = 8 }\n",
    );
    let model = support::model(&text);
    let card = &cards(&model)[1];
    assert_eq!((card.values, card.items.average), (Some(Estimate::derived(40.0)), 4.0));
}

#[test]
fn the_hottest_key_takes_no_less_than_its_even_share() {
    let books = |key: &str, count: u64, more: &str| {
        support::model(&support::with_table(&format!(
            "[index.G]\nkeys = [\"GPK\", \"GSK\"]\n[entity.Book]\nattributes = {{ bookId = \"ulid\", isbn = \"id\", shelf = \"id\" }}\n\
             key = [\"BOOK#{{bookId}}\", \"BOOK\"]\nindex.G = {{ key = [\"{key}\", \"BOOK#{{bookId}}\"] }}\n{more}\n\
             expect = {{ count = {count}, bytes = 300 }}\n\
             [pattern]\nsome = {{ in = [\"isbn\", \"shelf\"], out = \"Book*\", rps = 20 }}\n"
        )))
    };
    let shard = "shard = { by = \"bookId\", count = 10 }";
    for (key, count, more) in [
        ("ISBN#{isbn}", 20_000, ""),
        ("ISBN#{isbn}", 50, ""),
        ("SHELF#{shelf}#ISBN#{isbn}", 200, ""),
        ("ISBN#{isbn}#{shard}", 20_000, shard),
    ] {
        let model = books(key, count, more);
        let cards = cards(&model);
        let card = cards.iter().find(|card| card.mapping.location.index.is_some()).unwrap();
        let even = 1.0 / card.values.unwrap().value;
        assert!(card.share.value >= even * 0.999, "{key}: {:?} of {:?}", card.share, card.values);
    }
    let model = books("ISBN#{isbn}", 20_000, "");
    let card = &cards(&model)[1];
    assert!((card.heat.reads - 20.0 * 5.5 / 141.4).abs() < 0.1, "{:?}", card.heat);
    assert!(card.share.basis.is_assumed() && card.heat.proven_reads == 0.0);
}

#[test]
fn the_values_that_select_a_shard_are_the_same_in_plans_and_on_cards() {
    let read = |kind: &str, condition: &str| {
        let text = support::with_table(&format!(
            "[entity.Order]\nattributes = {{ day = {{ type = \"string\", values = 5 }}, orderId = \"ulid\", b = \"{kind}\" }}\n\
             key = [\"DAY#{{day}}#{{shard}}\", \"ORDER#{{orderId}}\"]\nshard = {{ by = \"b\", count = 10 }}\nexpect = {{ count = 1000 }}\n\
             [pattern]\none = {{ in = [\"day\"], where = \"{condition}\", out = \"Order*\" }}\n"
        ));
        let model = support::model(&text);
        plan(&Keyspace::new(&model), &model.patterns[0]).unwrap().steps[0].items.average
    };
    assert_eq!(read("bool", "b == true"), 100.0);
    assert_eq!(read("YES|NO", "b == 'YES'"), 100.0);
    assert_eq!(read("bool?", "b == true"), 20.0, "items without the attribute may be in any shard");
}

#[test]
fn a_sparse_index_has_the_partition_keys_that_its_condition_leaves() {
    let orders = |key: &str, when: &str| {
        support::model(&support::with_table(&format!(
            "[index.GSI1]\nkeys = [\"GPK\", \"GSK\"]\n\
             [entity.Order]\nattributes = {{ orderId = \"id\", status = \"NEW|PAID|SENT|LOST\", day = \"date\" }}\nkey = [\"ORDER#{{orderId}}\", \"ORDER\"]\n\
             index.GSI1 = {{ key = [\"{key}\", \"{{orderId}}\"]{when}, shard = {{ by = \"orderId\", count = 3 }} }}\nexpect = {{ count = 10000 }}\n"
        )))
    };
    let values = |model: &partita_design::Model| {
        let cards = cards(model);
        cards.iter().find(|card| card.mapping.location.index.is_some()).unwrap().values.unwrap().value
    };
    let some = ", when = \"status in ('NEW', 'PAID')\"";
    assert_eq!(values(&orders("STATUS#{status}#{shard}", "")), 12.0);
    assert_eq!(values(&orders("STATUS#{status}#{shard}", some)), 6.0);
    assert_eq!(values(&orders("STATUS#{status}#{shard}", ", when = \"status != 'LOST'\"")), 9.0);
    let days = ", when = \"day in ('2026-01-05', '2026-01-06', '2026-02-01')\"";
    assert_eq!(values(&orders("MONTH#{day:month}#{shard}", days)), 6.0);
}

#[test]
fn an_end_of_a_relationship_is_one_of_the_parents_whatever_it_is_called() {
    let model = support::model(&support::with_table(
        "[index.GSI1]\nkeys = [\"GPK\", \"GSK\"]\n\
         [entity.User]\nattributes = { userId = \"id\" }\nkey = [\"USER#{userId}\", \"USER\"]\nexpect = { count = 3000 }\n\
         [entity.Follow]\nattributes = { followerId = \"id\", followedId = \"id\" }\nedge = [\"followerId\", \"followedId\"]\n\
         key = [\"USER#{followerId}\", \"FOLLOWS#{followedId}\"]\nindex.GSI1 = { key = [\"USER#{followedId}\", \"FOLLOWER#{followerId}\"] }\n\
         expect = { per = \"User\", average = 30, max = 1000 }\n\
         [pattern]\nfollowing = { in = [\"followerId\"], out = \"Follow*\" }\nfollowers = { in = [\"followedId\"], out = \"Follow*\" }\n",
    ));
    for pattern in &model.patterns {
        let items = plan(&Keyspace::new(&model), pattern).unwrap().steps[0].items;
        assert_eq!((items.average, items.max, items.is_known()), (30.0, 1000.0, true), "{}", pattern.name);
    }
}

#[test]
fn the_time_buckets_of_a_key_divide_the_items() {
    let text = |expect: &str| {
        support::with_table(&format!(
            "[entity.Device]\nattributes = {{ deviceId = \"id\" }}\nkey = [\"DEVICE#{{deviceId}}\", \"DEVICE\"]\nexpect = {{ count = 1000 }}\n\
             [entity.Reading]\nattributes = {{ deviceId = \"id\", at = \"timestamp\", value = \"decimal\" }}\n\
             key = [\"DEVICE#{{deviceId}}#{{at:day}}\", \"READING#{{at}}\"]\nexpect = {{ {expect}, bytes = 400 }}\n"
        ))
    };
    let of = |expect: &str| {
        let model = support::model(&text(expect));
        let card = cards(&model).into_iter().find(|card| card.mapping.entity.name == "Reading").unwrap();
        (card.values.unwrap(), card.items)
    };
    let (values, items) = of("per = \"Device\", average = 400_000, max = 600_000");
    assert_eq!((values.value.round(), items.average.round()), (365_000.0, 1_096.0));
    assert!(values.basis.is_assumed() && !items.is_known(), "how long items stay is not declared");
    let (values, items) = of("count = 5_000_000");
    assert!((values.value * items.average / 5e6 - 1.0).abs() < 0.01, "{values:?} {items:?}");
    assert_eq!(of("count = 5_000_000, max = 10").1.max, 10.0);
    // A range reads its buckets, and no others.
    let read = |to: &str| {
        let range = format!("range = {{ by = \"at\", from = \"2026-04-01T00:00:00Z\", to = \"{to}\" }}");
        let pattern = format!("[pattern]\np = {{ in = [\"deviceId\"], {range}, out = \"Reading*\" }}\n");
        let model = support::model(&(text("per = \"Device\", average = 400_000, max = 600_000") + &pattern));
        let items = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap().steps[0].items;
        (items.average.round(), items.is_known())
    };
    assert_eq!(read("2026-04-01T23:59:59Z"), (1_096.0, false));
    assert_eq!(read("2026-04-02T23:59:59Z"), (2_192.0, false));
    assert_eq!(read("2028-04-02T23:59:59Z"), (400_000.0, false));
}

#[test]
fn an_entry_that_moves_within_a_sparse_index_is_two_writes() {
    let units = |key: &str, when: &str, count: u32| {
        let text = support::with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
             [entity.Order]\nattributes = {{ orderId = \"ulid\", status = \"NEW|PAID|SENT|DONE\", claimedBy = \"id?\" }}\n\
             key = [\"ORDER#{{orderId}}\", \"ORDER\"]\nindex.GSI1 = {{ key = [\"{key}\", \"{{orderId}}\"]{when}, count = {count} }}\n\
             expect = {{ count = 1000, bytes = 300 }}\n[write]\nadvance = {{ update = \"Order\", set = [\"status\", \"claimedBy\"] }}\n"
        ));
        let model = support::model(&text);
        (
            write_effects::units(&model, &model.writes[0]),
            write_effects::basis(&model, &model.writes[0]).is_assumed(),
        )
    };
    assert_eq!(units("S#{status}", ", when = \"status != 'DONE'\"", 800), (1.0 + 1.6, true));
    assert_eq!(units("BY#{claimedBy}", "", 1000), (1.0 + 2.0, true));
    // All items there have the same key.
    assert_eq!(units("S#{status}", ", when = \"status == 'NEW'\"", 800), (1.0 + 1.0, false));
}
