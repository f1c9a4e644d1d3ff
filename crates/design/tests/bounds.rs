//! Ranges: the values of a declared request, the number of time buckets, and the keys between the texts of a planned range.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::capacity::basis::Basis;
use partita_design::exchange::request_json::request_json;
use partita_design::generate::Generator;
use partita_design::item::Attributes;
use partita_design::keys::key_mapping::TableOrIndex;
use partita_design::keys::keyspace::Keyspace;
use partita_design::model::value_type::ValueType;
use partita_design::plan::bounds::range_texts;
use partita_design::plan::plan;
use partita_design::report::explain;
use proptest::prelude::*;
use support::{codes, findings, model, with_table};

const ORDERS: &str = r#"
[entity.Order]
attributes = { orderId = "id", userId = "id", status = "NEW|PAID", at = "timestamp" }
key = ["USER#{userId}", "ORDER#{at}#{orderId}"]
[pattern]
"#;

/// The example of a request reads a time bucket that the declared range touches.
#[test]
fn an_example_reads_a_bucket_of_the_range() {
    let model = support::model(&support::with_table(
        r#"
[entity.Case]
attributes = { caseId = "ulid", court = "id", filedOn = "date" }
key = ["COURT#{court}#{filedOn:month}", "{filedOn}#{caseId}"]
[pattern]
filed = { in = ["court"], range = { by = "filedOn", from = "2031-01-10", to = "2031-02-20" }, out = "Case*" }
"#,
    ));
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
    let request = request_json(&Generator::of_examples(&model), &model.patterns[0], &plan.steps[0]);
    let key = request["ExpressionAttributeValues"][":pk"]["S"].as_str().unwrap();
    assert!(key.ends_with("#2031-01"), "{key}");
}

#[test]
fn an_open_range_ends_with_what_its_values_can_start_with() {
    let text = |sort: &str, range: &str| {
        support::with_table(&format!(
            r#"
[entity.User]
attributes = {{ userId = "id", name = "string" }}
key = ["USER#{{userId}}", "PROFILE"]
[entity.Order]
attributes = {{ userId = "id", orderId = "ulid", date = "date", note = "string" }}
key = ["USER#{{userId}}", "{sort}#{{orderId}}"]
[pattern]
since = {{ in = ["userId"], range = {range}, limit = 1, out = "Order*" }}
"#
        ))
    };
    let bounds = |sort: &str, range: &str| {
        let model = support::model(&text(sort, range));
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
        let step = &plan.steps[0];
        let request = request_json(&Generator::of_examples(&model), &model.patterns[0], step);
        let values = request["ExpressionAttributeValues"].as_object().unwrap().values();
        let texts: Vec<String> = values.map(|value| value["S"].as_str().unwrap().to_owned()).collect();
        (texts, step.extras.len())
    };
    let (since, extras) = bounds("{date}", "{ by = \"date\", from = \"2025-06-01\" }");
    assert!(since.contains(&"9\u{10FFFF}".to_owned()) && extras == 0, "{since:?}");
    let (until, _) = bounds("{date}", "{ by = \"date\", to = \"2025-06-01\" }");
    assert!(until.contains(&"0".to_owned()), "{until:?}");
    // A free text can start with anything, and the plan knows what else is there.
    let (since, extras) = bounds("{note}", "{ by = \"note\", from = \"a\" }");
    assert!(since.contains(&"\u{10FFFF}".to_owned()) && extras == 1, "{since:?}");
}

#[test]
fn the_shortest_of_several_time_buckets_is_counted() {
    let model = support::model(&support::with_table(
        r#"
[entity.Log]
attributes = { app = "id", at = "timestamp", seq = "ulid" }
identity = ["app", "seq"]
key = ["APP#{app}#{at:year}#{at:month}", "{at}#{seq}"]
[pattern]
some = { in = ["app"], range = { by = "at", from = "2025-12-01T00:00:00Z", to = "2027-01-31T23:59:59Z" }, out = "Log*" }
"#,
    ));
    let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
    assert_eq!(plan.requests(), 14.0, "a month is in one year");
}

#[test]
fn a_request_uses_only_what_the_caller_has() {
    let text = |rest: &str, condition: &str| {
        with_table(&format!(
            r#"{ORDERS}some = {{ out = "Order*", {rest}, request = {{ condition = "{condition}" }} }}"#
        ))
    };
    let unknown = text(r#"in = ["userId"]"#, "PK = 'USER#{userId}' AND SK >= 'ORDER#{at}'");
    assert_eq!(codes(&unknown, "pattern.some"), ["P124"]);
    let finding = findings(&unknown).into_iter().find(|finding| finding.code == "P124").unwrap();
    assert_eq!(&unknown[finding.span.clone()], "{at", "{finding:?}");
    for rest in [r#"in = ["userId"], range = "at""#, r#"in = ["userId", "at"]"#] {
        let known = text(rest, "PK = 'USER#{userId}' AND SK >= 'ORDER#{at}'");
        assert!(!codes(&known, "pattern.some").contains(&"P124"), "{rest}");
    }
    let fixed = text(r#"where = "userId == 'u1'""#, "PK = 'USER#{userId}' AND begins_with(SK, 'ORDER#')");
    assert!(!codes(&fixed, "pattern.some").contains(&"P124"));
    let misspelt = text(r#"in = ["userId"]"#, "PK = 'USER#{user}'");
    assert!(codes(&misspelt, "pattern.some").contains(&"P124"));
}

#[test]
fn time_buckets_are_counted_between_declared_bounds() {
    let requests = |bucket: &str, range: &str| {
        let text = with_table(&format!(
            r#"
[entity.Event]
attributes = {{ tenant = "id", eventId = "id", at = "timestamp" }}
key = ["LOG#{{tenant}}#{{at:{bucket}}}", "{{at}}#{{eventId}}"]
[pattern]
between = {{ in = ["tenant"], out = "Event*", range = {range} }}
"#
        ));
        let model = model(&text);
        let plan = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        (plan.requests(), plan.steps[0].fan_out_basis)
    };
    let bounds = r#"{ by = "at", from = "2024-02-01T00:00:00Z", to = "2024-03-03T23:59:59Z" }"#;
    for (bucket, expected) in [("year", 1.0), ("month", 2.0), ("day", 32.0), ("hour", 32.0 * 24.0)] {
        assert_eq!(requests(bucket, bounds), (expected, Basis::Derived), "{bucket}");
    }
    let days = r#"{ by = "at", from = "2024-02-28T00:00:00Z", to = "2024-03-02T23:59:59Z" }"#;
    assert_eq!(requests("minute", days), (4.0 * 1_440.0, Basis::Derived));
    assert_eq!(requests("day", r#""at""#), (2.0, Basis::Assumed));
    assert_eq!(requests("day", r#"{ by = "at", from = "2024-02-01" }"#), (2.0, Basis::Assumed));
}

#[test]
fn bounds_that_hold_nothing_or_do_not_fit_are_found() {
    let some = |kind: &str, key: &str, from: &str, to: &str| {
        let text = with_table(&format!(
            r#"
[entity.E]
attributes = {{ owner = "id", v = "{kind}" }}
key = ["P#{{owner}}", "{key}"]
[pattern]
some = {{ in = ["owner"], out = "E*", range = {{ by = "v", from = "{from}", to = "{to}" }} }}
"#
        ));
        codes(&text, "pattern.some")
    };
    assert_eq!(some("int", "V#{v:03}", "9", "1"), ["P125"]);
    assert_eq!(some("int", "V#{v:03}", "1", "1000"), ["P125"]);
    assert_eq!(some("int", "V#{v:03}", "first", "9"), ["P125"]);
    assert_eq!(some("date", "D#{v}", "2026-02-01", "2026-01-31"), ["P125"]);
    assert!(some("int", "V#{v:03}", "9", "10").is_empty());
    assert!(some("int", "V#{v:03}", "7", "7").is_empty());
    assert!(some("date", "D#{v}", "2026-01-31", "2026-01-31").is_empty());
    assert!(some("id", "N#{v}", "a", "m").is_empty());
}

/// The types of bounded values, and the sort keys that hold them.
const KEYS: [(&str, &str); 13] = [
    ("date", "D#{v}#{id}"),
    ("date", "D#{v}"),
    ("date", "{v}#{id}"),
    ("date", "{v}{id}"),
    ("date", "D#{v:month}#{v}#{id}"),
    ("timestamp", "T#{v}#{id}"),
    ("timestamp", "T#{owner}#{v}"),
    ("timestamp", "{v:day}#{v}#{id}"),
    ("int", "V#{v:06}"),
    ("int", "V#{v:06}#{id}"),
    ("int", "{v}"),
    ("decimal", "P#{v:06.2}#{id}"),
    ("id", "N#{v}#{id}"),
];

/// A value of a type, drawn by a number.
fn value(kind: &str, number: u32) -> String {
    let (year, month, day) = (2024 + number % 3, 1 + number / 3 % 12, 1 + number / 36 % 28);
    match kind {
        "date" => format!("{year}-{month:02}-{day:02}"),
        "timestamp" => format!("{year}-{month:02}-{day:02}T{:02}:{:02}:00Z", number % 24, number % 7),
        "int" => (number % 200).to_string(),
        "decimal" => format!("{}.{:02}", number % 40, number % 90),
        _ => ["a", "ab", "abc", "b", "ba", "c"][number as usize % 6].to_owned(),
    }
}

/// Whether a value is between bounds; a bound that lacks its end stands for all of its month or day.
fn is_within(kind: &ValueType, value: &str, from: Option<&str>, to: Option<&str>) -> bool {
    if kind.is_number() {
        let number = |text: &str| text.parse::<f64>().unwrap();
        return from.is_none_or(|from| number(value) >= number(from))
            && to.is_none_or(|to| number(value) <= number(to));
    }
    let ends = |to: &str| value <= to || (kind.is_time() && value.starts_with(to));
    from.is_none_or(|from| value >= from) && to.is_none_or(ends)
}

/// Whether a sort key is between two texts.
fn is_between(is_number: bool, key: &str, (from, to): &(String, String)) -> bool {
    if is_number {
        let number = |text: &str| text.parse::<f64>().unwrap();
        return (number(from)..=number(to)).contains(&number(key));
    }
    !from.is_empty() && key >= from.as_str() && key <= to.as_str()
}

proptest! {
    #[test]
    fn a_planned_range_holds_exactly_the_values_within_its_bounds(
        shape in 0..KEYS.len(), numbers in prop::collection::vec(0_u32..5_000, 1..40), ends in (0_u32..5_000, 0_u32..5_000),
        lengths in (0_usize..5, 0_usize..5), missing in (0..8, 0..8), composite in any::<bool>(),
    ) {
        let (kind, template) = KEYS[shape];
        let keys = if composite && template != "{v}" {
            format!(r#"key = ["P#{{id}}", "X"]
index.Sorted = {{ key = ["P#{{owner}}", ["S#{{status}}", "{template}"]] }}"#)
        } else {
            format!(r#"key = ["P#{{owner}}", "{template}"]"#)
        };
        let text = with_table(&format!(r#"
[index.Sorted]
keys = ["IPK", ["IA", "IB"]]
[entity.E]
attributes = {{ owner = "id", status = "id", id = "id", v = "{kind}" }}
{keys}
[pattern]
some = {{ in = ["owner", "status"], out = "E*", range = "v" }}
"#));
        let model = model(&text);
        let entity = &model.entities[0];
        let kind_of = &entity.attribute("v").unwrap().kind;
        let mut bounds = [value(kind, ends.0), value(kind, ends.1)];
        let shorten = |text: &mut String, length: usize| if kind_of.is_time() { text.truncate([4, 7, 10, 13, 30][length]) };
        let [low, high] = &mut bounds;
        shorten(low, lengths.0);
        shorten(high, lengths.1);
        let (from, to) = (Some(low.as_str()).filter(|_| missing.0 > 0), Some(high.as_str()).filter(|_| missing.1 > 0));
        let planned = plan(&Keyspace::new(&model), &model.patterns[0]).unwrap();
        let step = &planned.steps[0];
        let known: Attributes = [("owner", "o"), ("status", "s")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let texts = range_texts(&model, step, &known, from, to).unwrap();
        let sort = step.location.mapping(entity).unwrap().sort.unwrap().attributes().pop().unwrap();
        for (count, number) in numbers.iter().enumerate() {
            let mut item = known.clone();
            item.insert("id".to_owned(), format!("{}{count}", ["a", "z", "0", "~"][count % 4]));
            item.insert("v".to_owned(), value(kind, *number));
            let key = sort.fill(&item).unwrap();
            prop_assert_eq!(
                is_between(template == "{v}", &key, &texts), is_within(kind_of, &item["v"], from, to),
                "{} between {:?} and {:?} is {:?}", key, from, to, texts
            );
        }
    }
}

#[test]
fn explain_says_where_no_item_of_seed_is_in_a_range() {
    let explained = |from: &str, to: &str| {
        let text = support::with_table(&format!(
            "[entity.Reading]\nattributes = {{ sensorId = \"id\", time = \"timestamp\" }}\nkey = [\"SENSOR#{{sensorId}}\", \"READING#{{time}}\"]\n\
             [pattern]\nsome = {{ in = [\"sensorId\"], range = {{ by = \"time\", from = \"{from}\", to = \"{to}\" }}, out = \"Reading*\" }}\n"
        ));
        explain::text(&model(&text), None)
    };
    let remark = "no item of `seed` with these inputs has a time in this range";
    let later = explained("2027-01-01T00:00:00Z", "2027-03-31T23:59:59Z");
    assert!(later.contains(remark), "{later}");
    let known = explained("2020-01-01T00:00:00Z", "2027-03-31T23:59:59Z");
    assert!(!known.contains(remark), "{known}");
}

#[test]
fn explain_shows_the_bounds_as_they_are_sent() {
    let explained = |rest: &str| {
        let text = with_table(&format!(
            r#"
[entity.Version]
attributes = {{ documentId = "id", version = "int", day = "date", author = "id" }}
key = ["DOC#{{documentId}}", "V#{{version:08}}"]
index.Sorted = {{ key = ["DOC#{{documentId}}", "{{day}}#{{author}}"] }}
[index.Sorted]
keys = ["IPK", "ISK"]
[pattern]
some = {{ in = ["documentId"], out = "Version*", {rest} }}
"#
        ));
        explain::text(&model(&text), None)
    };
    let declared = explained(r#"range = { by = "version", from = "1", to = "9" }"#);
    assert!(declared.contains(r#"SK BETWEEN "V#00000001" AND "V#00000009""#), "{declared}");
    assert!(declared.contains(r#"":from":{"S":"V#00000001"}"#), "{declared}");
    let open = explained(r#"range = "version""#);
    assert!(open.contains(r#"SK BETWEEN "V#{version:08 from}" AND "V#{version:08 to}""#), "{open}");
    let days = explained(r#"range = { by = "day", from = "2026-01-01", to = "2026-01-31" }"#);
    assert!(days.contains(r#"ISK BETWEEN "2026-01-01" AND "2026-01-31#…""#), "{days}");
    let request = explained(
        r#"range = { by = "version", to = "9" }, request = { condition = "PK = 'DOC#{documentId}' AND SK <= 'V#{version:08}'" }"#,
    );
    assert!(request.contains("Query on the table, as declared"), "{request}");
    assert!(request.contains(r#"":k1":{"S":"V#00000009"}"#), "{request}");
    assert!(request.contains(r#""KeyConditionExpression":"PK = :k0 AND SK <= :k1""#), "{request}");
}

#[test]
fn examples_of_ranges_select_what_is_seeded() {
    let game = r#"
[index.GSI1]
keys = ["GSI1PK", "until"]
[index.GSI2]
keys = ["owner", "score"]
[entity.Game]
attributes = { gameId = "id", owner = "id", until = "int", score = "decimal", version = "int", at = "timestamp" }
key = ["GAME#{gameId}", "V#{version:08}"]
versions = "version"
unique = ["at"]
index.GSI1 = { key = ["OWNER#{owner}", "{until}"] }
index.GSI2 = { key = ["{owner}", "{score}"] }
ttl = "until"
[pattern]
expiring = { in = ["owner"], range = "until", out = "Game*" }
scored = { in = ["owner"], range = "score", out = "Game*" }
versions = { in = ["gameId"], range = "version", out = "Game*" }
days = { in = ["gameId"], range = "at", out = "Game*" }
"#;
    let good = std::fs::read_dir(support::root().join("crates/design/tests/good")).unwrap();
    let texts = good.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let mut ranges = 0;
    for model in texts.chain([support::with_table(game)]).map(|text| model(&text)) {
        let examples = Generator::of_examples(&model);
        for (range, pattern) in model.patterns.iter().filter_map(|one| Some((one.range.as_ref()?, one))) {
            let targets = pattern.targets.iter().filter_map(|target| model.entity(&target.entity));
            let Some(entity) = targets.into_iter().find(|entity| entity.attribute(&range.by).is_some())
            else {
                continue;
            };
            let kind = &entity.attribute(&range.by).unwrap().kind;
            let (from, to) = examples.example_bounds(entity, &range.by).unwrap();
            for location in TableOrIndex::all(&model) {
                let values = examples.example_values(location, entity);
                let Some(value) = values.get(&range.by) else { continue };
                assert!(
                    is_within(kind, value, Some(&from), Some(&to)),
                    "{range:?}: {value} from {from} to {to}"
                );
                ranges += 1;
            }
        }
    }
    assert!(ranges > 10, "{ranges}");
}

#[test]
fn a_key_that_holds_the_start_of_a_time_neither_identifies_nor_bounds_it() {
    let sales = |key: &str, range: &str| {
        let text = support::with_table(&format!(
            r#"
[entity.Shop]
attributes = {{ shopId = "id", name = "string" }}
key = ["SHOP#{{shopId}}", "SHOP"]
[entity.Sale]
attributes = {{ shopId = "id", at = "timestamp", amount = "int" }}
key = ["SHOP#{{shopId}}", "SALE#{key}"]
[pattern]
sales = {{ in = ["shopId"], range = {range}, out = "Sale*", rps = 1 }}
[write]
sell = {{ put = "Sale", rps = 1 }}
"#
        ));
        let mut codes = support::codes(&text, "");
        codes.retain(|code| ["P103", "P203"].contains(code));
        codes
    };
    assert_eq!(sales("{at}", "\"at\""), [""; 0]);
    assert_eq!(sales("{at:day}", "\"at\""), ["P103", "P203"]);
    let days = "{ by = \"at\", from = \"2026-01-01\", to = \"2026-01-31\" }";
    assert_eq!(sales("{at:day}", days), ["P203"]);
}

/// A bound of another precision sorts beside the values that it stands for: '.' and ':' sort before 'Z'.
#[test]
fn bounds_are_written_in_the_precision_of_the_values() {
    let visits = |precision: &str, rest: &str| {
        with_table(&format!(
            r#"
[entity.Visit]
attributes = {{ gym = "id", at = {{ type = "timestamp", precision = "{precision}" }}, visitId = "id" }}
key = ["GYM#{{gym}}", "VISIT#{{at}}#{{visitId}}"]
[pattern]
visits = {{ in = ["gym"], order = "at", out = "Visit*", {rest} }}
"#
        ))
    };
    let sent = |text: &str| {
        let model = model(text);
        let keys = Keyspace::new(&model);
        let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
        let request = request_json(&Generator::of_examples(&model), &model.patterns[0], &plan.steps[0]);
        let value = |name: &str| request["ExpressionAttributeValues"][name]["S"].as_str().unwrap().to_owned();
        (value(":from"), value(":to"))
    };
    for (precision, first, last) in [
        ("minute", "2025-01-01T00:00Z", "2025-12-31T23:59Z"),
        ("second", "2025-01-01T00:00:00Z", "2025-12-31T23:59:59Z"),
        ("millisecond", "2025-01-01T00:00:00.000Z", "2025-12-31T23:59:59.999Z"),
    ] {
        let (from, to) = sent(&visits(precision, r#"range = "at""#));
        let time = |key: &str| key.split('#').nth(1).unwrap().to_owned();
        let is_written = |time: &str| time.len() == first.len() && (first..=last).contains(&time);
        assert!(is_written(&time(&from)) && is_written(&time(&to)), "{from} {to}");
    }
    for (precision, from, to, wanted) in [
        ("minute", "2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z", Some("2026-01-31T23:59Z")),
        ("minute", "2026-01-01T00:00Z", "2026-01-31T23:59Z", None),
        ("second", "2026-01-01T00:00:00Z", "2026-01-31T23:59:59.999Z", Some("2026-01-31T23:59:59Z")),
        ("second", "2026-01-01T00:00:00Z", "2026-01-31T23:59:59Z", None),
        ("millisecond", "2026-01-01T00:00:00Z", "2026-01-31T23:59:59.999Z", Some("2026-01-01T00:00:00.000Z")),
        ("millisecond", "2026-01-01T00:00:00.000Z", "2026-01-31T23:59:59.999Z", None),
        ("microsecond", "2026-01-01", "2026-01-31T23:59:59.999Z", None),
    ] {
        let range = visits(precision, &format!(r#"range = {{ by = "at", from = "{from}", to = "{to}" }}"#));
        let condition = format!("PK = 'GYM#{{gym}}' AND SK BETWEEN 'VISIT#{from}' AND 'VISIT#{to}#~'");
        let request = visits(precision, &format!(r#"request = {{ condition = "{condition}" }}"#));
        for text in [range, request] {
            let finding = findings(&text).into_iter().find(|finding| finding.code == "P107");
            let help = finding.map(|finding| finding.help);
            assert_eq!(help, wanted.map(|wanted| format!("write it as at is written: '{wanted}'")), "{text}");
        }
    }
    let (from, to) = sent(&visits(
        "minute",
        r#"range = { by = "at", from = "2026-01-01T00:00:00Z", to = "2026-01-31T23:59:59Z" }"#,
    ));
    assert_eq!(from, "VISIT#2026-01-01T00:00Z");
    assert!(to.starts_with("VISIT#2026-01-31T23:59Z#"), "{to}");
}

/// Another entity may have an attribute of the same name, in another precision or of another type.
#[test]
fn bounds_are_those_of_the_returned_entities() {
    let calls = |scans: &str, at: &str, pattern: &str| {
        with_table(&format!(
            r#"
[entity.Scan]
attributes = {{ flightId = "id", scanId = "ulid", at = {scans} }}
key = ["FLIGHT#{{flightId}}", "SCAN#{{scanId}}"]
[entity.Call]
attributes = {{ flightId = "id", callId = "ulid", at = {at} }}
key = ["FLIGHT#{{flightId}}", "CALL#{{at}}#{{callId}}"]
[entity.Turn]
attributes = {{ flightId = "id", turnId = "ulid", at = {at} }}
key = ["FLIGHT#{{flightId}}", "TURN#{{at}}#{{turnId}}"]
[pattern]
all   = {{ in = ["flightId"], out = ["Scan*", "Call*"] }}
calls = {{ in = ["flightId"], out = "Call*", {pattern} }}
"#
        ))
    };
    let about = |text: &str, code: &str| findings(text).iter().any(|finding| finding.code == code);
    let (second, fraction, number) = (
        r#"{ type = "timestamp", precision = "second" }"#,
        r#"{ type = "timestamp", precision = "millisecond" }"#,
        r#"{ type = "int", min = 0, max = 9 }"#,
    );
    let range = r#"range = { by = "at", from = "2024-01-30T00:00:00Z", to = "2024-01-30T23:59:59Z" }"#;
    let condition = r#"where = "at >= '2024-01-30T00:00:00Z'""#;
    for pattern in [range, condition] {
        assert!(!about(&calls(fraction, second, pattern), "P107"), "{pattern}");
        assert!(about(&calls(second, fraction, pattern), "P107"), "{pattern}");
    }
    assert!(!about(&calls(number, second, range), "P125"));
    let month = r#"range = { by = "at", from = "2024-01-30", to = "2024-06" }"#;
    assert!(about(&calls("\"string\"", "\"date\"", month), "P107"));
    // Of two that are returned, one of another precision is enough.
    let both = calls(second, fraction, range)
        .replace("out = \"Call*\"", "out = [\"Call*\", \"Turn*\"]")
        .replacen(fraction, second, 1);
    assert!(about(&both, "P107"), "{both}");
    // What is read on the way has the attribute first.
    let via = calls(second, fraction, range)
        .replace("out = \"Call*\"", "out = \"Call*\", via = \"Scan\"")
        .replace("\"SCAN#{scanId}\"", "\"SCAN#{at}#{callId}\"")
        .replace("scanId = \"ulid\"", "callId = \"ulid\"");
    assert!(!about(&via, "P107"), "{via}");
}

#[test]
fn an_empty_bound_is_no_empty_key_value() {
    let model = support::model(&support::with_table(
        "[entity.Term]\nattributes = { book = \"id\", term = \"string\" }\nidentity = [\"book\", \"term\"]\nkey = [\"BOOK#{book}\", \"{term}\"]\n\
         [pattern]\nterms = { in = [\"book\"], out = \"Term*\", range = { by = \"term\", from = \"\", to = \"m\" } }\n",
    ));
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, &model.patterns[0]).unwrap_or_else(|_| panic!("not served"));
    let sent = request_json(&Generator::of_examples(&model), &model.patterns[0], &plan.steps[0]);
    assert!(!sent["ExpressionAttributeValues"][":from"]["S"].as_str().unwrap().is_empty(), "{sent}");
}

#[test]
fn time_buckets_are_read_in_turn_from_one_that_the_caller_knows() {
    let logs = |options: &str| {
        with_table(&format!(
            "[entity.Log]\nattributes = {{ app = \"id\", logId = \"ulid\", at = {{ type = \"timestamp\", precision = \"second\" }} }}\n\
             key = [\"APP#{{app}}#{{at:month}}\", \"{{at}}#{{logId}}\"]\n\
             [pattern]\nsome = {{ in = [\"app\"], out = \"Log*\", limit = 5, rps = 1, {options} }}\n"
        ))
    };
    let is_unserved = |options: &str| support::has(&logs(options), "P102", partita_design::Severity::Error);
    assert!(!is_unserved("order = \"at desc\""), "the newest bucket is that of now");
    assert!(is_unserved("order = \"at asc\""), "nobody knows the oldest");
    assert!(!is_unserved("order = \"at asc\", range = \"at\""));
    let help = findings(&logs("order = \"at asc\"")).into_iter().find(|one| one.code == "P102").unwrap().help;
    assert!(help.contains("range = \"at\""), "{help}");
    let request = |order: &str| {
        logs(&format!(
            "order = \"at {order}\", request = {{ condition = \"PK = 'APP#{{app}}#{{at:month}}'\" }}"
        ))
    };
    let lacks_time = |order: &str| codes(&request(order), "pattern.some").contains(&"P124");
    assert!(!lacks_time("desc") && lacks_time("asc"));
}
