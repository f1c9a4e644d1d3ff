//! Types of attributes: the sign, width, precision and zone of values, in models, in keys and in items.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity;
use partita_design::audit::check_item;
use partita_design::audit::judge::{Change, judge};
use partita_design::audit::rules::lost_rules;
use partita_design::exchange::table_definition::create_table;
use partita_design::generate::Generator;
use partita_design::item::{Item, Value};
use partita_design::model::Attribute;
use partita_design::model::decimal::Decimal;
use partita_design::model::text_form::time_form;
use partita_design::template::Template;
use partita_design::toml_writer::write;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A model whose only entity has this attribute, and this sort key.
fn account(attribute: &str, sort: &str) -> String {
    support::with_table(&format!(
        "[entity.Account]\nattributes = {{ accountId = \"id\", {attribute} }}\nidentity = \"accountId\"\nkey = [\"ACCOUNT#{{accountId}}\", \"{sort}\"]\n\
         [pattern]\nall = {{ in = [\"accountId\"], out = \"Account*\", rps = 1 }}\n"
    ))
}

fn number(text: &str) -> Value {
    Value::Number(text.to_owned())
}

fn string(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// What is wrong with an account with this sort key and this value.
fn violations(model: &str, sort: &str, name: &str, value: Option<Value>) -> Vec<String> {
    let mut item: Item = [("PK", "ACCOUNT#1"), ("SK", sort), ("type", "Account"), ("accountId", "1")]
        .map(|(n, v)| (n.to_owned(), string(v)))
        .into();
    item.extend(value.map(|value| (name.to_owned(), value)));
    let model = support::model(model);
    let found = check_item(&model, &item);
    let change = Change { key: item.clone(), old: None, new: Some(item) };
    let judged: Vec<_> = judge(&model, &[change]).into_iter().map(|(_, violation)| violation).collect();
    assert_eq!(found, judged, "what the audit says, the server says");
    found.into_iter().map(|violation| format!("{}: {}", violation.rule, violation.message)).collect()
}

fn text_of_findings(text: &str, code: &str) -> Option<(Severity, String)> {
    let found = support::findings(text).into_iter().find(|finding| finding.code == code);
    found.map(|finding| (finding.severity, format!("{} {}", finding.message, finding.help)))
}

#[test]
fn a_decimal_that_is_searched_in_a_key_has_a_format() {
    let votes = |sort: &str| {
        let text = account("w = { type = \"decimal\", min = 0, max = 99.5 }", sort);
        text + "one = { in = [\"accountId\", \"w\"], out = \"Account*\", rps = 1 }\n"
    };
    let (severity, text) = text_of_findings(&votes("VOTE#{w}"), "P222").unwrap();
    assert_eq!(severity, Severity::Warning);
    assert!(text.contains("111.50") && text.contains("{w:02.2}"), "{text}");
    assert_eq!(text_of_findings(&votes("VOTE#{w:02.2}"), "P222"), None);
    assert_eq!(text_of_findings(&account("w = \"decimal\"", "VOTE#{w}"), "P222"), None, "nobody asks");
}

#[test]
fn capitals_without_a_lower_case_stay_in_keys_as_they_are() {
    let model = account("n = \"string\"", "{n:lower}");
    for (value, sort) in [("𝐀nn", "𝐀nn"), ("ϒ", "ϒ"), ("Ann", "ann"), ("\u{212A}", "k")] {
        assert_eq!(violations(&model, sort, "n", Some(string(value))), [""; 0], "{value}");
    }
    assert!(!violations(&model, "Ann", "n", Some(string("Ann"))).is_empty());
    let choices = account("n = \"\u{212A}|A\"", "{n:lower}");
    assert_eq!(violations(&choices, "k", "n", Some(string("\u{212A}"))), [""; 0]);
}

#[test]
fn what_ends_a_range_of_keys_is_in_no_text() {
    for kind in ["string", "id"] {
        let model = account(&format!("n = \"{kind}\""), "ACCOUNT");
        let found = violations(&model, "ACCOUNT", "n", Some(string("a\u{10FFFF}z")));
        assert!(found.len() == 1 && found[0].contains("U+10FFFF"), "{found:?}");
        assert_eq!(violations(&model, "ACCOUNT", "n", Some(string("a\u{10FFFE}"))), [""; 0]);
    }
}

#[test]
fn formats_hold_what_the_type_admits() {
    for (attribute, field, wanted) in [
        ("{ type = \"int\", min = -5 }", "{n:08}", "{n:+012}"),
        ("{ type = \"int\", min = -5, max = 99 }", "{n:08}", "{n:+02}"),
        ("{ type = \"int\", min = 0, max = 1000 }", "{n:03}", "{n:04}"),
        ("{ type = \"int\", min = -1000, max = 10 }", "{n:+03}", "{n:+04}"),
        ("{ type = \"decimal\", min = 0, max = 99.125 }", "{n:02.2}", "{n:02.3}"),
        ("\"decimal\"", "{n:08}", "{n:012.2}"),
        ("\"id\"", "{n:08}", "{n}"),
        ("\"date\"", "{n:hour}", "{n}"),
        ("\"ulid\"", "{n:month}", "{n}"),
    ] {
        let (severity, text) =
            text_of_findings(&account(&format!("n = {attribute}"), field), "P222").unwrap();
        assert!(
            severity == Severity::Error && text.contains(&format!("write {wanted}")),
            "{attribute} {field}: {text}"
        );
        let repaired = account(&format!("n = {attribute}"), wanted);
        assert_eq!(text_of_findings(&repaired, "P222"), None, "{repaired}");
    }
    for (attribute, field) in [
        ("\"int\"", "{n:08}"),
        ("{ type = \"int\", min = 0, max = 99999999 }", "{n:08}"),
        ("{ type = \"int\", min = -99, max = 99 }", "{n:+02}"),
        ("\"decimal\"", "{n:08.2}"),
        ("\"timestamp\"", "{n:hour}"),
        ("\"date\"", "{n:day}"),
    ] {
        assert_eq!(
            text_of_findings(&account(&format!("n = {attribute}"), field), "P222"),
            None,
            "{attribute} {field}"
        );
    }
}

#[test]
fn a_number_that_has_no_key_is_refused() {
    let padded = account("n = \"int\"", "{n:03}");
    assert_eq!(violations(&padded, "007", "n", Some(number("7"))), [""; 0]);
    assert_eq!(violations(&padded, "007", "n", None), [""; 0], "the key contains it");
    for (value, sort) in [("-7", "-07"), ("-7", "007"), ("1000", "1000"), ("1000", "000"), ("7.5", "007")] {
        let found = violations(&padded, sort, "n", Some(number(value)));
        assert!(found.iter().any(|text| text.starts_with("key: ")), "{value}: {found:?}");
    }
    let signed = account("n = \"int\"", "{n:+03}");
    for (value, sort) in [("7", "1007"), ("0", "1000"), ("-7", "0992"), ("-999", "0000")] {
        assert_eq!(violations(&signed, sort, "n", Some(number(value))), [""; 0], "{value}");
        assert_eq!(violations(&signed, sort, "n", None), [""; 0], "{value}");
    }
    for (value, sort) in [("-7", "1007"), ("7", "0992"), ("0", "0999"), ("-1000", "0000")] {
        assert!(!violations(&signed, sort, "n", Some(number(value))).is_empty(), "{value}");
    }
    assert!(!violations(&signed, "0999", "n", None).is_empty(), "there is one zero");
    assert!(!violations(&signed, "5007", "n", None).is_empty(), "no number has this text");
}

#[test]
fn times_are_in_utc_unless_declared() {
    let utc = account("at = \"timestamp\"", "{at}");
    let early = "2026-04-05T09:00:00+02:00";
    assert!(violations(&utc, early, "at", Some(string(early)))[0].starts_with("value: Account ACCOUNT#1"));
    assert!(violations(&utc, early, "at", None)[0].contains("with an offset"));
    for time in ["2026-04-05T10:30Z", "2026-04-05T10:30:00Z", "2026-04-05T10:30:00.123Z"] {
        assert_eq!(violations(&utc, time, "at", Some(string(time))), [""; 0]);
    }
    for time in [
        "2026-04-05T10:30:00",
        "2026-02-29T10:30:00Z",
        "2026-04-05 10:30:00Z",
        "2026-04-05T25:00:00Z",
        "yesterday",
    ] {
        let found = violations(&account("at = \"timestamp\"", "A"), "A", "at", Some(string(time)));
        assert!(found[0].contains("not a time in UTC"), "{time}: {found:?}");
    }
    let local = account("at = { type = \"timestamp\", zone = \"offset\" }", "A");
    assert_eq!(violations(&local, "A", "at", Some(string(early))), [""; 0]);
}

#[test]
fn times_with_offsets_are_not_sorted() {
    let offset = "at = { type = \"timestamp\", zone = \"offset\" }";
    assert_eq!(text_of_findings(&account(offset, "A"), "P223"), None);
    for sort in ["{at}", "A#{at}", "{at:month}"] {
        let (severity, text) = text_of_findings(&account(offset, sort), "P223").unwrap();
        assert!(severity == Severity::Error && text.contains("although it is earlier"), "{text}");
    }
    for wish in ["order = \"at desc\"", "range = \"at\""] {
        let text = account(offset, "A").replace("rps = 1", &format!("{wish}, rps = 1"));
        let found = support::findings(&text);
        assert!(found.iter().any(|f| f.code == "P223" && f.subject == "pattern.all"), "{wish}: {found:?}");
    }
    let bound = account("at = \"timestamp\"", "{at}")
        .replace("rps = 1", "range = { by = \"at\", from = \"2026-04-05T09:00:00+02:00\" }, rps = 1");
    assert_eq!(text_of_findings(&bound, "P123").unwrap().0, Severity::Error);
    assert_eq!(text_of_findings(&bound.replace("+02:00", "Z"), "P123"), None);
}

#[test]
fn the_precision_of_times_is_declared_and_kept() {
    let ordered = |attribute: &str| account(attribute, "{at}").replace("rps = 1", "order = \"at\", rps = 1");
    let (severity, text) = text_of_findings(&ordered("at = \"timestamp\""), "P224").unwrap();
    assert!(severity == Severity::Note && text.contains("precision = \"second\""), "{text}");
    let exact = ordered("at = { type = \"timestamp\", precision = \"millisecond\" }");
    assert_eq!(text_of_findings(&exact, "P224"), None);
    let time = "2026-04-05T10:30:00.123Z";
    assert_eq!(violations(&exact, time, "at", Some(string(time))), [""; 0]);
    let coarse = "2026-04-05T10:30:00Z";
    assert!(
        violations(&exact, coarse, "at", Some(string(coarse)))[0].contains("declared precision, millisecond")
    );
}

#[test]
fn values_have_the_type_of_their_attribute() {
    let uuid = "0193e3a6-0b1d-7c3a-9a6b-2f1e8d7c6b5a";
    let cases: [(&str, &[Value], &[Value]); 13] = [
        ("string", &[string("a#b"), string("")], &[number("1"), Value::Bool(true), Value::Null]),
        ("id", &[string("a")], &[string("a#b"), number("1")]),
        ("int", &[number("-1"), number("1e3"), number("2.0")], &[number("1.5"), string("1")]),
        ("decimal", &[number("1.5")], &[string("1.5")]),
        ("bool", &[Value::Bool(false)], &[string("true"), number("1")]),
        ("date", &[string("2024-02-29")], &[string("2026-02-29"), string("2026-04-05T10:30:00Z")]),
        ("ulid", &[string("01K6TH9480QZKHFWEAZCG61FZ7")], &[string("1"), string(uuid)]),
        ("uuid", &[string(uuid)], &[string("1")]),
        ("ksuid", &[string("0ujtsYcgvSTl8PAuAdqWYSMnLOv")], &[string(uuid)]),
        ("OPEN|DONE", &[string("OPEN")], &[string("open"), number("1")]),
        // Requests compare with strings.
        ("1|2|10", &[string("10")], &[number("10")]),
        ("list", &[Value::List(vec![])], &[Value::Map(BTreeMap::new()), string("")]),
        ("set", &[Value::NumberSet(vec!["1".to_owned()])], &[Value::List(vec![])]),
    ];
    for (kind, good, bad) in cases {
        let model = account(&format!("x = \"{kind}\""), "A");
        for value in good {
            assert_eq!(violations(&model, "A", "x", Some(value.clone())), [""; 0], "{kind}");
        }
        for value in bad {
            let found = violations(&model, "A", "x", Some(value.clone()));
            assert!(found.len() == 1 && found[0].starts_with("value: "), "{kind} {value:?}: {found:?}");
        }
        assert!(violations(&model, "A", "x", None)[0].contains("x is missing"));
        assert_eq!(
            violations(&model.replace(&format!("\"{kind}\""), &format!("\"{kind}?\"")), "A", "x", None),
            [""; 0]
        );
    }
    let choice = account("status = \"PENDING|PAID\"", "A");
    assert!(violations(&choice, "A", "status", Some(string("PENDNG")))[0].contains("did you mean PENDING?"));
    let limited = account("n = { type = \"int\", min = 0, max = 9 }", "A");
    assert!(violations(&limited, "A", "n", Some(number("-1")))[0].contains("below its least value, 0"));
    assert!(violations(&limited, "A", "n", Some(number("10")))[0].contains("above its greatest value, 9"));
}

#[test]
fn an_attribute_has_one_value() {
    let model = |keys: &str, index: &str, entity: &str| {
        format!(
            "format = 1\n[table]\nname = \"T\"\n{keys}\n[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[index.GSI2]\n{index}\n\
             [entity.Order]\nattributes = {{ orderId = \"ulid\", sku = \"ulid\", at = \"timestamp\" }}\n{entity}\n\
             index.GSI1 = {{ key = [\"SKU#{{sku}}\", \"{{orderId}}\"] }}\n[pattern]\norder = {{ in = [\"orderId\"], out = \"Order\" }}\n"
        )
    };
    let keys = "keys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"";
    let apart = "keys = [\"GSI2PK\", \"GSI2SK\"]";
    let entity = "key = [\"ORDER#{orderId}\", \"ORDER\"]\nindex.GSI2 = { key = [\"AT#{at:day}\", \"{at}\"] }";
    for (text, is_wrong) in [
        (model(keys, apart, entity), false),
        // A key attribute under the name of an attribute, in a template.
        (model("keys = [\"orderId\", \"SK\"]", apart, entity), true),
        (model(keys, "keys = [\"sku\", \"GSI2SK\"]", entity), true),
        // Two keys that share an attribute.
        (model(keys, "keys = [\"GSI1PK\", \"GSI2SK\"]", entity), true),
        (model(keys, "keys = [\"GSI1PK\", \"GSI2SK\"]", &entity.replace("AT#{at:day}", "SKU#{sku}")), false),
        (model(keys, "keys = [\"SK\", \"GSI2SK\"]", entity), true),
        (model("keys = [\"PK\", \"SK\"]\ntype_attribute = \"SK\"", apart, entity), true),
    ] {
        assert_eq!(support::has(&text, "P222", Severity::Error), is_wrong, "{text}");
    }
}

#[test]
fn an_identifier_contains_all_but_the_delimiter_of_the_keys() {
    for (delimiter, other) in [('#', '|'), ('|', '#'), (':', '#')] {
        let model = account("planId = \"id\"", "PLAN#{planId}").replace('#', &delimiter.to_string());
        let violations = |plan: &str| {
            let item: Item = [
                ("PK", format!("ACCOUNT{delimiter}1")),
                ("SK", format!("PLAN{delimiter}{plan}")),
                ("type", "Account".to_owned()),
                ("accountId", "1".to_owned()),
                ("planId", plan.to_owned()),
            ]
            .map(|(name, text)| (name.to_owned(), Value::String(text)))
            .into();
            check_item(&support::model(&model), &item)
        };
        assert!(violations(&format!("a{other}b")).is_empty(), "{delimiter}");
        assert!(!violations(&format!("a{delimiter}b")).is_empty(), "{delimiter}");
    }
}

/// ElectroDB's keys name their parts: what ends a value is not what ends a name.
#[test]
fn the_delimiter_is_what_ends_values_and_not_what_ends_their_names() {
    let text = support::with_table(
        "[entity.Office]\nattributes = { country = \"id\", state = \"id\", city = \"id\" }\n\
         key = [\"$app#country_{country:lower}#state_{state:lower}\", \"$office_1#city_{city:lower}\"]\n\
         identity = [\"country\", \"state\", \"city\"]\n\
         [entity.Task]\nattributes = { taskId = \"id\", project = \"id\" }\n\
         key = [\"$app#taskid_{taskId}\", \"$task_1#project_{project}\"]\n\
         [pattern]\no = { in = [\"country\", \"state\"], out = \"Office*\" }\n\
         t = { in = [\"taskId\"], out = \"Task*\" }",
    );
    assert_eq!(support::model(&text).usual_delimiter(), Some('#'));
    assert!(!support::codes(&text, "").contains(&"P201"));
    let other = "[entity.A]\nattributes = { aId = \"id\" }\nkey = [\"MY_A|{aId}\", \"A_B|{aId}\"]";
    assert_eq!(support::model(&support::with_table(other)).usual_delimiter(), Some('|'));
}

#[test]
fn numbers_that_are_never_negative_end_before_a_minus_sign() {
    let text = |limits: &str| {
        support::with_table(&format!(
            "[entity.Stay]\nattributes = {{ roomId = \"id\", n = {{ type = \"int\"{limits} }} }}\n\
             key = [\"ROOM-{{n}}-{{roomId}}\", \"STAY\"]"
        ))
    };
    assert!(support::has(&text(""), "P201", Severity::Error), "--5");
    assert!(!support::has(&text(", min = 0"), "P201", Severity::Error));
}

#[test]
fn limits_belong_to_their_types() {
    for attribute in [
        "{ type = \"string\", min = 1 }",
        "{ type = \"int\", precision = \"second\" }",
        "{ type = \"date\", zone = \"offset\" }",
        "{ type = \"int\", min = 2, max = 1 }",
        "{ type = \"int\", min = \"x\" }",
        "{ type = \"timestamp\", precision = \"day\" }",
    ] {
        let text = account(&format!("x = {attribute}"), "A");
        let findings = partita_design::read(&partita_design::Source::new("t.toml", text)).unwrap_err();
        assert!(findings.iter().all(|finding| finding.code == "P002"), "{attribute}: {findings:?}");
    }
}

#[test]
fn limits_are_written_as_they_were_read() {
    let attributes = "a = { type = \"int\", min = -5, max = \"123456789012345678901234567890\" }, \
                      b = { type = \"decimal?\", min = 0.25 }, c = { type = \"timestamp\", precision = \"microsecond\", zone = \"offset\" }";
    let model = support::model(&account(attributes, "A"));
    let again = support::model(&write(&model, ""));
    let limits = |attribute: &Attribute| (attribute.name.clone(), attribute.limits.clone());
    let of =
        |model: &partita_design::Model| model.entities[0].attributes.iter().map(limits).collect::<Vec<_>>();
    assert_eq!(of(&model), of(&again));
    assert!(
        model.entities[0].attributes.iter().skip(1).all(|attribute| attribute.limits != Default::default())
    );
}

#[test]
fn wider_values_are_a_lost_rule() {
    let model = |attribute: &str| support::model(&account(&format!("x = {attribute}"), "A"));
    let lost = |old: &str, new: &str| lost_rules(&model(old), &model(new));
    for (narrow, wide) in [
        ("\"A|B\"", "\"A|B|C\""),
        ("\"int\"", "\"decimal\""),
        ("\"int\"", "\"int?\""),
        ("\"uuid\"", "\"string\""),
        ("{ type = \"int\", min = 0 }", "\"int\""),
        ("{ type = \"int\", max = 5 }", "{ type = \"int\", max = 6 }"),
        ("\"timestamp\"", "{ type = \"timestamp\", zone = \"offset\" }"),
        ("{ type = \"timestamp\", precision = \"second\" }", "\"timestamp\""),
    ] {
        assert_eq!(lost(narrow, wide), ["value of x in Account"], "{narrow} → {wide}");
        assert_eq!(lost(wide, narrow), [""; 0], "{wide} → {narrow}");
    }
    assert_eq!(lost("\"int\"", "\"string\""), ["value of x in Account"]);
}

#[test]
fn generated_values_are_within_their_limits() {
    for attribute in [
        "{ type = \"int\", min = -3, max = 2 }",
        "{ type = \"int\", max = -100 }",
        "{ type = \"int\", min = 1000000 }",
        "{ type = \"decimal\", min = 0.25, max = 0.5 }",
        "{ type = \"decimal\", min = -2, max = -1.5 }",
        "{ type = \"timestamp\", precision = \"minute\" }",
        "{ type = \"timestamp\", precision = \"millisecond\" }",
        "{ type = \"timestamp\", precision = \"microsecond\", zone = \"offset\" }",
    ] {
        let model = support::model(&account(&format!("x = {attribute}"), "A"));
        for item in Generator::new(&model, 3, 200).items() {
            assert_eq!(check_item(&model, &item), [], "{attribute}: {item:?}");
        }
    }
}

/// A number with up to three digits before and two after the point.
fn amount() -> impl Strategy<Value = String> {
    (-99_999i32..=99_999).prop_map(|cents| format!("{cents}e-2"))
}

proptest! {
    #[test]
    fn signed_numbers_sort_as_text(a in amount(), b in amount()) {
        let template = Template::parse("{n:+03.2}").unwrap();
        let types = support::model(&account("n = \"decimal\"", "A")).entities.remove(0);
        let key = |value: &str| template.fill(&[("n".to_owned(), value.to_owned())].into()).unwrap();
        let order = Decimal::parse(&a).cmp(&Decimal::parse(&b));
        prop_assert_eq!(key(&a).cmp(&key(&b)), order, "{} {}", key(&a), key(&b));
        let restored = template.matches(&key(&a), &types).unwrap().remove("n").unwrap();
        prop_assert_eq!(Decimal::parse(&restored), Decimal::parse(&a));
    }

    #[test]
    fn padded_numbers_sort_as_text_or_have_none(a in amount(), b in amount()) {
        let template = Template::parse("{n:03.2}").unwrap();
        let key = |value: &str| template.fill(&[("n".to_owned(), value.to_owned())].into()).ok();
        prop_assert_eq!(key(&a).is_none(), Decimal::parse(&a).unwrap().is_negative());
        if let (Some(left), Some(right)) = (key(&a), key(&b)) {
            prop_assert_eq!(left.cmp(&right), Decimal::parse(&a).cmp(&Decimal::parse(&b)));
        }
    }

    #[test]
    fn times_of_one_precision_sort_as_text(
        a in (0u64..4_000_000_000, 0u64..1_000_000), b in (0u64..4_000_000_000, 0u64..1_000_000), kind in 0usize..4,
    ) {
        let precision = ["minute", "second", "millisecond", "microsecond"][kind];
        let unit = [60_000_000, 1_000_000, 1_000, 1][kind];
        let text = |(seconds, micros): (u64, u64)| {
            let (days, rest) = (seconds / 86_400, seconds % 86_400);
            // Days of months that all have 28 sort as the calendar's do.
            let date = format!("{:04}-{:02}-{:02}", 1970 + days / 336, days / 28 % 12 + 1, days % 28 + 1);
            let clock = format!("{:02}:{:02}:{:02}.{micros:06}", rest / 3600, rest / 60 % 60, rest % 60);
            format!("{date}T{}Z", &clock[..[5, 8, 12, 15][kind]])
        };
        let instant = |(seconds, micros): (u64, u64)| (seconds * 1_000_000 + micros) / unit;
        prop_assert_eq!(text(a).cmp(&text(b)), instant(a).cmp(&instant(b)));
        prop_assert_eq!(time_form(&text(a)).unwrap().precision.map(|precision| precision.name()), Some(precision));
    }
}

#[test]
fn a_key_holds_the_time_that_identifies() {
    let samples = |key: &str, kind: &str| {
        support::with_table(&format!(
            "[entity.Sample]\nattributes = {{ s = \"id\", at = {kind}, v = \"int\" }}\nidentity = [\"s\", \"at\"]\nkey = [\"S#{{s}}\", \"{key}\"]\n\
             [pattern]\nall = {{ in = [\"s\"], out = \"Sample*\", rps = 1 }}\n"
        ))
    };
    let (seconds, minutes) = (
        "{ type = \"timestamp\", precision = \"second\" }",
        "{ type = \"timestamp\", precision = \"minute\" }",
    );
    for (key, kind, is_lost) in [
        ("AT#{at:minute}", seconds, true),
        ("AT#{at:year}", seconds, true),
        ("AT#{at}", seconds, false),
        ("{at:day}#{at}", seconds, false),
        ("AT#{at:minute}", minutes, false),
        ("AT#{at:hour}", minutes, true),
        ("AT#{at:day}", "\"date\"", false),
    ] {
        assert_eq!(support::has(&samples(key, kind), "P203", Severity::Error), is_lost, "{key} {kind}");
    }
}

#[test]
fn what_has_no_text_is_in_no_key() {
    let model = |kind: &str, key: &str| {
        let text = support::with_table(&format!(
            "[index.ByX]\nkeys = [\"x\"]\n[entity.F]\nattributes = {{ id = \"id\", x = \"{kind}\" }}\nkey = [\"F#{{id}}\", \"{key}\"]\nindex.ByX = {{ key = [\"{{x}}\"] }}\n"
        ));
        partita_design::read(&partita_design::Source::new("model.toml", text)).map(|_| ())
    };
    for kind in ["binary", "list", "map", "set"] {
        let findings = model(kind, "F#{x}").unwrap_err();
        assert!(findings[0].message.contains("which has no text for a key"), "{findings:?}");
    }
    assert!(model("binary", "F").is_ok(), "an index key that is the attribute itself");
    assert!(model("bool", "F#{x}").is_ok());
}

#[test]
fn a_key_attribute_under_its_own_name_is_a_string_or_a_number() {
    let flags = |kind: &str| {
        support::with_table(&format!(
            "[index.ByFlag]\nkeys = [\"flag\", \"tId\"]\n[entity.T]\nattributes = {{ tId = \"ulid\", flag = \"{kind}\" }}\nkey = [\"T#{{tId}}\", \"T\"]\n\
             [pattern]\nflagged = {{ in = [\"tId\"], range = \"flag\", out = \"T*\" }}\n"
        ))
    };
    for kind in ["bool", "binary", "list"] {
        assert!(support::has(&flags(kind), "P222", Severity::Error), "{kind}");
    }
    assert!(support::has(&flags("bool"), "P122", Severity::Error), "no filter compares flags");
    assert!(
        !support::has(&flags("OLD|NEW"), "P222", Severity::Error)
            && !support::has(&flags("OLD|NEW"), "P122", Severity::Error)
    );
}

#[test]
fn an_index_with_a_key_that_no_entity_has_is_empty_and_fits_the_items() {
    let text = support::with_table(
        "[index.ByLane]\nkeys = [[\"carrier\", \"lane\"], [\"day\", \"weight\"]]\n\
         [entity.Shipment]\nattributes = { shipmentId = \"ulid\", carrier = \"string\", day = \"date\", weight = \"int\" }\n\
         key = [\"SHIPMENT#{shipmentId}\", \"SHIPMENT\"]\n\
         [pattern]\nshipment = { in = [\"shipmentId\"], out = \"Shipment\" }\n",
    );
    let finding = support::findings(&text).into_iter().find(|finding| finding.code == "P303").unwrap();
    assert!(finding.message.contains("no entity has its key lane"), "{}", finding.message);
    let table = create_table(&support::model(&text));
    let weight =
        table["AttributeDefinitions"].as_array().unwrap().iter().find(|own| own["AttributeName"] == "weight");
    assert_eq!(weight.unwrap()["AttributeType"], "N");
}

#[test]
fn items_outside_an_index_have_its_key_attributes_in_the_same_type() {
    let table = |job: &str, user: &str| {
        support::with_table(&format!(
            "[index.ByOwner]\nkeys = [\"ownerKey\", \"createdAt\"]\n\
             [entity.Job]\nattributes = {{ jobId = \"ulid\", ownerId = \"ulid\", createdAt = \"{job}\" }}\nkey = [\"JOB#{{jobId}}\", \"JOB\"]\n\
             index.ByOwner = {{ key = [\"OWNER#{{ownerId}}\", \"{{createdAt}}\"] }}\n\
             [entity.User]\nattributes = {{ userId = \"ulid\", createdAt = \"{user}\" }}\nkey = [\"USER#{{userId}}\", \"USER\"]\n"
        ))
    };
    for (job, user, is_wrong) in [
        ("int", "timestamp", true),
        ("int", "bool", true),
        ("int", "decimal", false),
        ("timestamp", "int", true),
        ("timestamp", "bool", true),
        ("timestamp", "binary", true),
        ("timestamp", "map?", true),
        ("timestamp", "date", false),
    ] {
        assert_eq!(support::has(&table(job, user), "P222", Severity::Error), is_wrong, "{job}, {user}");
    }
}

#[test]
fn a_single_field_between_texts_has_one_value_in_each_key() {
    let key = |sort: &str| {
        support::with_table(&format!(
            "[entity.Image]\nattributes = {{ userId = \"id\", imageId = \"id\" }}\nkey = [\"USER#{{userId}}:meta\", \"{sort}\"]\n\
             [entity.Page]\nattributes = {{ userId = \"id\", pageId = \"id\" }}\nkey = [\"PAGE#{{pageId}}\", \"PAGE#{{userId}}\"]\n"
        ))
    };
    assert!(!support::has(&key("IMG#{imageId}.json"), "P201", Severity::Error));
    assert!(support::has(&key("IMG{imageId}{userId}"), "P201", Severity::Error));
}

#[test]
fn a_key_of_an_index_that_holds_nothing_has_a_type_that_keys_have() {
    let jobs = |done: &str| {
        support::with_table(&format!(
            "[index.ByDone]\nkeys = [\"ownerKey\", \"done\"]\n\
             [entity.Job]\nattributes = {{ jobId = \"ulid\", done = \"{done}\" }}\nkey = [\"JOB#{{jobId}}\", \"JOB\"]\n"
        ))
    };
    for (done, is_wrong) in [("bool", true), ("map", true), ("int", false), ("date", false)] {
        assert_eq!(support::has(&jobs(done), "P222", Severity::Error), is_wrong, "{done}");
    }
}
