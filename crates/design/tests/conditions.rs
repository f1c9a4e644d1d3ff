//! Conditions in models: which indexes they open, what stays a filter, and where mistakes are reported.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Note, Warning};
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::report::explain;
use partita_design::{Source, check, read};
use support::{codes, findings, has, with_table};

/// A model of orders with one sparse index and one pattern.
fn orders(entry: &str, pattern: &str) -> String {
    with_table(&format!(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.Order]
attributes = {{ orderId = "ulid", status = "NEW|PAID|SENT|DONE", createdAt = "timestamp", total = "int", gift = "bool?" }}
key = ["ORDER#{{orderId}}", "ORDER"]
index.GSI1 = {{ {entry} }}
[pattern]
order = {{ in = ["orderId"], out = "Order", rps = 1 }}
some = {{ {pattern}, out = "Order*", rps = 1 }}
"#
    ))
}

const BY_STATUS: &str = r#"key = ["STATUS#{status}", "{createdAt}#{orderId}"]"#;

#[test]
fn alternatives_enter_the_index_and_serve_the_pattern() {
    let either = "status == 'NEW' or status == 'PAID'";
    let text = orders(&format!("{BY_STATUS}, when = \"{either}\""), &format!("where = \"{either}\""));
    assert_eq!(codes(&text, "pattern.some"), [""; 0]);
    let model = support::model(&text);
    let entry = model.entities[0].index_key("GSI1").unwrap();
    for (status, inside) in [("NEW", true), ("PAID", true), ("SENT", false)] {
        let item = [("status".to_owned(), status.to_owned())].into();
        assert_eq!(entry.when.holds(&item), inside, "{status}");
    }
}

#[test]
fn numbers_are_asked_for_as_keys_write_them() {
    let by_total = r#"key = ["TOTAL#{total}", "{createdAt}#{orderId}"]"#;
    for condition in [
        "total == 5.0",
        "total == 05",
        "total == '+5'",
        "total in (5, 5.0, 50e-1)",
        "total == 5 and total in (5.0, 6)",
    ] {
        let model = support::model(&orders(by_total, &format!("where = \"{condition}\"")));
        let keys = Keyspace::new(&model);
        let planned = plan(&keys, &model.patterns[1]).unwrap();
        let step = &planned.steps[0];
        assert_eq!(
            (step.partition.to_string().as_str(), planned.requests()),
            ("TOTAL#5", 1.0),
            "{condition}"
        );
        assert!(step.filter.is_empty(), "{condition}");
    }
}

/// The filter of a pattern with this input, whose type is this, in an index with this partition key.
fn filter_of_input(input: &str, kind: &str, partition: &str) -> Vec<String> {
    let entry = format!("key = [\"{partition}\", \"{{orderId}}\"]");
    let text = orders(&entry, &format!("in = [\"{input}\"]"))
        .replace("gift = \"bool?\"", &format!("{input} = {kind}"));
    let model = support::model(&text);
    plan(&Keyspace::new(&model), &model.patterns[1]).unwrap().steps[0].filter_texts()
}

#[test]
fn an_input_that_the_key_holds_only_in_part_is_filtered() {
    for (input, kind, partition, is_filtered) in [
        ("at", "\"timestamp\"", "MONTH#{at:month}", true),
        ("at", "\"timestamp\"", "AT#{at:month}#{at}", false),
        ("day", "\"date\"", "MONTH#{day:month}", true),
        ("day", "\"date\"", "DAY#{day:day}", false),
        ("tag", "\"string\"", "TAG#{tag:lower}", true),
        ("tag", "\"string\"", "TAG#{tag:escaped}", false),
        ("tag", "\"id\"", "TAG#{tag}", false),
        ("tag", "\"NEW|OLD\"", "TAG#{tag:lower}", false),
        ("tag", "\"New|NEW\"", "TAG#{tag:lower}", true),
        ("tag", "\"uuid\"", "TAG#{tag:lower}", true),
        ("tag", "\"ulid\"", "TAG#{tag:lower}", false),
        ("tag", "\"string\"", "TAG#{tag}", false),
    ] {
        let wanted = if is_filtered { vec![format!("{input} = :{input}")] } else { Vec::new() };
        assert_eq!(filter_of_input(input, kind, partition), wanted, "{partition} {kind}");
    }
}

#[test]
fn a_test_of_the_key_that_is_read_by_is_left_to_the_caller() {
    let text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"dev\", \"seq\"]\n\
        [entity.S]\nattributes = { dev = \"id\", seq = \"int\", v = \"int\" }\nidentity = [\"dev\", \"seq\"]\nkey = [\"{dev}\", \"{seq}\"]\n\
        [pattern]\nothers = { in = [\"dev\"], where = \"seq != 5 and v > 3\", out = \"S*\", rps = 1 }\n\
        either = { in = [\"dev\"], where = \"seq == 5 or v == 7\", out = \"S*\", rps = 1 }\n";
    let explained = explain::text(&support::model(text), None);
    assert!(explained.contains("filter  v > 3 (after") && !explained.contains("filter  seq"), "{explained}");
    assert!(explained.contains("then    drop the items without seq != 5\n"), "{explained}");
    assert!(explained.contains("then    drop the items without seq == 5 or v == 7\n"), "{explained}");
}

#[test]
fn a_value_that_no_key_holds_is_an_error() {
    let by_total = "key = [\"TOTAL#{total:03}\", \"{createdAt}#{orderId}\"]";
    for (condition, is_wrong) in [
        ("total == 999", false),
        ("total == 1000", true),
        ("total in (5, -5)", true),
        ("total > 1000", false),
        ("total == 20.5", true),
    ] {
        let text = orders(by_total, &format!("where = \"{condition}\""));
        assert_eq!(has(&text, "P122", Error), is_wrong, "{condition}");
    }
}

#[test]
fn null_is_a_value_of_its_own() {
    let entry = "key = [\"GIFT\", \"{orderId}\"], when = \"gift == true\"";
    let pattern = "where = \"exists(gift) and gift != false\"";
    assert!(has(&orders(entry, pattern), "P121", Error), "a null exists, differs from false and is not true");
    let required = orders(entry, pattern).replace("gift = \"bool?\"", "gift = \"bool\"");
    assert_eq!(codes(&required, "pattern.some"), [""; 0]);
    // No key is made from null, so that requests by value leave none out.
    let by_gift = "key = [\"GIFT#{gift}\", \"{orderId}\"]";
    for pattern in [pattern, "where = \"gift in (true, false)\""] {
        assert_eq!(codes(&orders(by_gift, pattern), "pattern.some"), [""; 0], "{pattern}");
    }
}

#[test]
fn only_the_known_start_of_a_key_answers_for_its_values() {
    // The sort key holds the whole time, but behind an identifier that nobody knows.
    let text =
        orders("key = [\"MONTH#{createdAt:month}\", \"{orderId}#{createdAt}\"]", "in = [\"createdAt\"]");
    let model = support::model(&text);
    let planned = plan(&Keyspace::new(&model), &model.patterns[1]).unwrap();
    assert_eq!(planned.steps[0].filter_texts(), ["createdAt = :createdAt"]);
    assert!(has(&text, "P113", Warning), "a month is read for one moment");
}

#[test]
fn a_filter_that_tells_case_apart_is_no_waste() {
    let text = orders("key = [\"NOTE#{note:lower}\", \"{orderId}\"]", "in = [\"note\"]")
        .replace("gift = \"bool?\"", "note = \"string\"");
    assert!(!codes(&text, "pattern.some").contains(&"P113"));
}

#[test]
fn one_request_is_planned_for_each_value() {
    for (condition, requests) in [
        ("status in ('NEW', 'PAID')", 2.0),
        ("status == 'NEW'", 1.0),
        ("status != 'DONE'", 3.0),
        ("status in ('NEW', 'PAID') and not status == 'PAID'", 1.0),
        ("(status == 'NEW' or status == 'SENT') and exists(status)", 2.0),
    ] {
        let text = orders(BY_STATUS, &format!("where = \"{condition}\", order = \"createdAt asc\""));
        let model = support::model(&text);
        let keys = Keyspace::new(&model);
        let planned = plan(&keys, &model.patterns[1]).unwrap();
        assert_eq!((planned.requests(), planned.steps[0].filter.len()), (requests, 0), "{condition}");
        if requests > 1.0 {
            assert!(
                partita_design::report::explain::text(&model, Some("some")).contains("times: status = NEW, ")
            );
            let sent = partita_design::report::explain::json(&model, Some("some"));
            let sent = sent.pointer("/patterns/0/steps/0/request").unwrap().to_string();
            assert!(sent.contains("STATUS#NEW"), "{sent}");
        }
    }
}

#[test]
fn a_sparse_index_serves_only_what_implies_its_condition() {
    let entry = |when: &str| format!("{BY_STATUS}, when = \"{when}\"");
    for (when, condition, served) in [
        ("status in ('NEW', 'PAID')", "status == 'NEW'", true),
        ("status != 'DONE'", "status in ('NEW', 'SENT')", true),
        ("status == 'NEW' and total > 99", "status == 'NEW' and total >= 100", true),
        ("status == 'NEW' and total > 100", "status == 'NEW' and total >= 100", false),
        ("status in ('NEW', 'PAID')", "status in ('NEW', 'SENT')", false),
        ("exists(gift)", "status == 'NEW'", false),
        ("missing(gift)", "status == 'NEW' and not exists(gift)", true),
    ] {
        let text = orders(&entry(when), &format!("where = \"{condition}\""));
        assert_eq!(has(&text, "P121", Error), !served, "{when}: {condition}");
    }
}

#[test]
fn what_the_key_does_not_ensure_is_a_filter() {
    let text = orders(BY_STATUS, "where = \"status in ('NEW', 'PAID') and total > 10\"");
    let model = support::model(&text);
    let keys = Keyspace::new(&model);
    assert_eq!(plan(&keys, &model.patterns[1]).unwrap().steps[0].filter_texts(), ["total > 10"]);
    // The values are not those of each other: an attribute that the key only mentions is tested after the read.
    let text = orders(BY_STATUS, "where = \"status == 'NEW' and gift == true or status == 'PAID'\"");
    let model = support::model(&text);
    let keys = Keyspace::new(&model);
    let step = &plan(&keys, &model.patterns[1]).unwrap().steps[0];
    assert_eq!((step.fan_out, step.filter.len()), (2.0, 1));
}

/// The code, line and column of the first finding.
fn first(text: &str) -> (&'static str, String) {
    let source = Source::new("t.toml", text);
    let findings = match read(&source) {
        Ok(model) => check(&model).findings,
        Err(findings) => findings,
    };
    let found = findings.iter().find(|finding| finding.severity == Error).unwrap();
    (found.code, source.text[found.span.clone()].to_owned())
}

#[test]
fn mistakes_are_reported_at_their_place() {
    for (condition, code, at) in [
        ("status == 'NEW' oder status == 'PAID'", "P005", "oder"),
        ("status == 'NEW' and statsu == 'PAID'", "P003", "statsu"),
        ("status == 'NEW' and status == 'PAYED'", "P122", "== 'PAYED'"),
        ("total > 'much'", "P122", "> 'much'"),
        ("gift > true", "P122", "> true"),
        ("begins_with(total, '1')", "P122", ", '1'"),
        ("status == 'NEW' and status == 'PAID'", "P120", "status"),
        ("total < 5 and total > 4", "P120", "total"),
    ] {
        assert_eq!(
            first(&orders(BY_STATUS, &format!("where = \"{condition}\""))),
            (code, at.to_owned()),
            "{condition}"
        );
        let when = orders(&format!("{BY_STATUS}, when = \"{condition}\""), "where = \"status == 'NEW'\"");
        assert_eq!(first(&when), (code, at.to_owned()), "{condition}");
    }
    let request = |condition: &str| {
        orders(
            BY_STATUS,
            &format!(
                "where = \"status == 'NEW'\", request = {{ index = \"GSI1\", condition = \"{condition}\" }}"
            ),
        )
    };
    assert_eq!(first(&request("GSI1PK = 'A' OR GSI1PK = 'B'")), ("P005", "OR".to_owned()));
    assert_eq!(first(&request("GSI1PK = 'A' AND contains(GSI1SK, 'B')")), ("P005", "contains".to_owned()));
    assert_eq!(first(&request("begins_with(GSI1PK, 'STATUS#')")).0, "P102");
}

#[test]
fn quoted_numbers_and_flags_keep_their_meaning() {
    let text = orders(
        &format!("{BY_STATUS}, when = \"gift == 'true' and status == 'NEW'\""),
        "where = \"gift == true and status == 'NEW'\"",
    );
    assert_eq!(codes(&text, "pattern.some"), [""; 0]);
}

/// A model of chores that may have a due date.
fn chores(entry: &str, pattern: &str) -> String {
    with_table(&format!(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[index.Reminders]
keys = ["remindOn", "choreId"]
[entity.Chore]
attributes = {{ choreId = "ulid", ownerId = "ulid", due = "date?", remindOn = "date?", state = "NEW|DONE|LATE", vip = "bool" }}
key = ["OWNER#{{ownerId}}", "CHORE#{{choreId}}"]
index.GSI1 = {{ {entry} }}
[pattern]
chore = {{ in = ["ownerId", "choreId"], out = "Chore", rps = 1 }}
some = {{ {pattern}, out = "Chore*", rps = 1 }}
"#
    ))
}

const BY_DUE: &str = r#"key = ["CHORES#{ownerId}", "{due}#{choreId}"]"#;

/// The index and the filters of the pattern `some`, if it is served.
fn served(text: &str) -> Option<(String, Vec<String>)> {
    let model = support::model(text);
    let keys = Keyspace::new(&model);
    let planned = plan(&keys, &model.patterns[1]).ok()?;
    let step = &planned.steps[0];
    Some((step.location.name().to_owned(), step.filter_texts()))
}

#[test]
fn an_index_over_an_optional_attribute_holds_only_items_that_have_it() {
    let within = Some(("GSI1".to_owned(), Vec::new()));
    let owner = r#"in = ["ownerId"]"#;
    assert_eq!(served(&chores(BY_DUE, &format!("{owner}, order = \"due asc\""))), None);
    for rest in [
        "where = \"exists(due)\", order = \"due asc\"",
        "where = \"due >= '2026-01-01'\", order = \"due asc\"",
        "range = \"due\"",
    ] {
        let found = served(&chores(BY_DUE, &format!("{owner}, {rest}")));
        assert_eq!(found.as_ref().map(|(index, _)| index.as_str()), Some("GSI1"), "{rest}");
        assert!(found == within || rest.contains(">="), "{rest}");
    }
    assert_eq!(served(&chores(BY_DUE, r#"in = ["ownerId", "due"]"#)), within);
}

#[test]
fn a_plain_optional_key_attribute_makes_a_sparse_index() {
    let text = chores(BY_DUE, r#"in = ["remindOn"]"#);
    assert_eq!(served(&text), Some(("Reminders".to_owned(), Vec::new())));
}

#[test]
fn no_template_is_proposed_for_a_key_attribute_that_is_an_attribute() {
    let text = chores(BY_DUE, r#"in = ["ownerId", "remindOn"]"#)
        .replace(r#"["remindOn", "choreId"]"#, r#"["remindOn", "rank"]"#);
    let helps: Vec<String> = support::findings(&text).into_iter().map(|found| found.help).collect();
    assert!(helps.iter().any(|help| help.contains("index.GSI3")), "{helps:?}");
    assert!(!helps.iter().any(|help| help.contains("index.Reminders")), "{helps:?}");
}

#[test]
fn an_optional_attribute_in_the_primary_key_is_an_error() {
    let text = chores(BY_DUE, r#"in = ["ownerId"]"#);
    assert!(!has(&text, "P228", Error));
    assert!(has(&text.replace("CHORE#{choreId}", "CHORE#{due}#{choreId}"), "P228", Error));
}

#[test]
fn a_required_attribute_has_one_of_its_values() {
    let open = format!("{BY_DUE}, when = \"exists(due) and not state == 'DONE'\"");
    for condition in [
        "state in ('NEW', 'LATE')",
        "state != 'DONE'",
        "not state in ('DONE')",
        "state == 'NEW' or state == 'LATE'",
    ] {
        let pattern =
            format!("in = [\"ownerId\"], where = \"exists(due) and ({condition})\", order = \"due asc\"");
        assert_eq!(served(&chores(&open, &pattern)), Some(("GSI1".to_owned(), Vec::new())), "{condition}");
    }
    let vip = format!("{BY_DUE}, when = \"exists(due) and vip == true\"");
    let pattern =
        |test: &str| format!("in = [\"ownerId\"], where = \"exists(due) and {test}\", order = \"due asc\"");
    let text = chores(&vip, &pattern("vip != false"));
    assert_eq!(served(&text), Some(("GSI1".to_owned(), Vec::new())));
    assert_eq!(served(&text.replace("vip = \"bool\"", "vip = \"bool?\"")), None);
}

#[test]
fn times_are_compared_with_whole_times() {
    let found = |condition: &str| {
        let text = with_table(&format!(
            "[entity.Visit]\nattributes = {{ siteId = \"id\", visitId = \"ulid\", day = \"date\", \
             at = {{ type = \"timestamp\", precision = \"second\" }}, fine = {{ type = \"timestamp\", precision = \"millisecond\" }} }}\n\
             key = [\"SITE#{{siteId}}\", \"{{at}}#{{visitId}}\"]\n\
             [pattern]\nsome = {{ in = [\"siteId\"], where = \"{condition}\", out = \"Visit*\" }}\n"
        ));
        let codes = ["P107", "P120", "P122", "P123"];
        let findings = findings(&text).into_iter().filter(|finding| codes.contains(&finding.code));
        findings.map(|finding| finding.code).collect::<Vec<_>>()
    };
    for (condition, code) in [
        ("at between '2026-01' and '2026-06'", "P107"),
        ("day between '2026-01' and '2026-06'", "P107"),
        ("at <= '2026-06-30'", "P107"),
        ("fine >= '2026-01-01T00:00:00Z'", "P107"),
        ("at <= '2026-06-30T10:00:00+02:00'", "P123"),
        ("at == '2026-06'", "P122"),
        ("at in ('2026-06-30', '2026-07-01T00:00:00Z')", "P122"),
        ("at == '2026-06-30T10:00:00.500Z'", "P122"),
        ("day == '2026-06-31'", "P122"),
        ("at < 'yesterday'", "P122"),
    ] {
        assert_eq!(found(condition), [code], "{condition}");
    }
    for condition in [
        "at between '2026-01' and '2026-06~'",
        "at >= '2026-01' and at < '2026-07'",
        "at == '2026-06-30T10:00:00Z'",
        "day == '2026-06-30'",
        "day <= '2026-06-30'",
        "begins_with(at, '2026-06')",
        "fine >= '2026-01-01T00:00:00.000Z'",
    ] {
        assert_eq!(found(condition), [""; 0], "{condition}");
    }
}

#[test]
fn a_free_text_that_a_condition_fixes_can_be_forged_too() {
    let songs = |pattern: &str| {
        with_table(&format!(
            "[entity.Song]\nattributes = {{ artistId = \"ulid\", album = \"string\", songId = \"ulid\" }}\n\
             identity = [\"artistId\", \"album\", \"songId\"]\nkey = [\"ARTIST#{{artistId}}\", \"SONG#{{album}}#{{songId}}\"]\n\
             [pattern]\nsongs = {{ {pattern}, out = \"Song*\", rps = 1 }}\n"
        ))
    };
    for pattern in ["in = [\"artistId\", \"album\"]", "in = [\"artistId\"], where = \"album == 'Live'\""] {
        assert!(has(&songs(pattern), "P201", Warning), "{pattern}");
    }
    assert!(!has(&songs("in = [\"artistId\"]"), "P201", Warning));
}

#[test]
fn an_item_may_lack_what_summarises_nothing() {
    let text = with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[entity.Post]\n\
         attributes = { postId = \"id\", board = \"id\", comments = \"int\" }\nkey = [\"POST#{postId}\", \"POST\"]\n\
         index.GSI1 = { key = [\"BOARD#{board}\", \"{postId}\"], when = \"exists(comments)\" }\n\
         aggregates = { comments = \"count Comment\" }\n[entity.Comment]\nattributes = { postId = \"id\", commentId = \"id\" }\n\
         key = [\"POST#{postId}\", \"COMMENT#{commentId}\"]\n[pattern]\nboard = { in = [\"board\"], out = \"Post*\" }\n",
    );
    assert!(has(&text, "P121", Error), "a post without comments is not in the index");
    assert!(!has(
        &text.replace("out = \"Post*\" }", "out = \"Post*\", where = \"exists(comments)\" }"),
        "P121",
        Error
    ));
}

#[test]
fn an_index_over_an_aggregate_lacks_items_that_nothing_is_summarised_for() {
    let customers = |function: &str, filter: &str| {
        with_table(&format!(
            "[index.ByLast]\nkeys = [\"region\", \"last\"]\n[entity.Customer]\nattributes = {{ customerId = \"id\", region = \"EU|US\", last = \"int\" }}\n\
             aggregates = {{ last = \"{function}\" }}\nkey = [\"CUSTOMER#{{customerId}}\", \"CUSTOMER\"]\n\
             [entity.Order]\nattributes = {{ customerId = \"id\", orderId = \"id\", at = \"int\" }}\nkey = [\"CUSTOMER#{{customerId}}\", \"ORDER#{{orderId}}\"]\n\
             [pattern]\nnewest = {{ in = [\"region\"]{filter}, order = \"last desc\", out = \"Customer*\" }}\n"
        ))
    };
    for function in ["max Order.at", "min Order.at", "sum Order.at", "count Order"] {
        assert!(has(&customers(function, ""), "P121", Error), "{function}");
        assert!(!has(&customers(function, ", where = \"exists(last)\""), "P121", Error), "{function}");
    }
}

#[test]
fn a_condition_keeps_nothing_out_of_an_index_over_plain_attributes() {
    let tasks = |index: &str, entry: &str| {
        with_table(&format!(
            "[index.Ix]\nkeys = {index}\n[entity.Task]\nattributes = {{ taskId = \"ulid\", status = \"OPEN|DONE\", due = \"date?\", note = \"string?\" }}\n\
             key = [\"TASK#{{taskId}}\", \"TASK\"]\nindex.Ix = {entry}\n"
        ))
    };
    let refused = |text: &str| read(&Source::new("t.toml", text)).is_err();
    assert!(refused(&tasks(
        "[\"status\", \"taskId\"]",
        "{ key = [\"{status}\", \"{taskId}\"], when = \"exists(note)\" }"
    )));
    assert!(!refused(&tasks(
        "[\"status\", \"due\"]",
        "{ key = [\"{status}\", \"{due}\"], when = \"exists(due)\" }"
    )));
    assert!(!refused(&tasks(
        "[\"IXPK\", \"due\"]",
        "{ key = [\"{status}\", \"{due}\"], when = \"exists(note)\" }"
    )));
}

#[test]
fn what_decides_about_an_entry_is_changed_with_its_keys() {
    let moved = |expression: &str| {
        with_table(&format!(
            "[index.G1]\nkeys = [\"G1PK\", \"G1SK\"]\n[index.G2]\nkeys = [\"G2PK\", \"G2SK\"]\n\
             [entity.Task]\nattributes = {{ taskId = \"ulid\", holder = \"id?\", nick = \"id\", zone = \"id\" }}\nkey = [\"TASK#{{taskId}}\", \"TASK\"]\n\
             index.G1 = {{ key = [\"HOLDER#{{holder}}\", \"{{nick}}\"] }}\n\
             index.G2 = {{ key = [\"ALL#{{shard}}\", \"{{taskId}}\"], shard = {{ by = \"zone\", count = 4 }} }}\n\
             [write]\nmove = {{ update = \"Task\", expression = \"{expression}\", condition = \"attribute_exists(PK)\" }}\n"
        ))
    };
    for (expression, is_stale) in [
        ("SET holder = :h, G1PK = :g", true),
        ("SET holder = :h, G1PK = :g, G1SK = :s", false),
        ("REMOVE holder, G1PK", true),
        ("SET #zone = :z", true),
        ("SET #zone = :z, G2PK = :g", false),
    ] {
        assert_eq!(has(&moved(expression), "P508", Error), is_stale, "{expression}");
    }
    let sharded = with_table(
        "[entity.Task]\nattributes = { taskId = \"ulid\", zone = \"id\" }\nkey = [\"ALL#{shard}\", \"TASK#{taskId}\"]\nshard = { by = \"zone\", count = 4 }\n\
         [write]\nmove = { update = \"Task\", set = [\"zone\"] }\n",
    );
    assert!(has(&sharded, "P206", Error), "the shard is part of the key");
}

#[test]
fn declared_values_show_whether_an_item_leaves_a_sparse_index() {
    let written = |expression: &str, values: &str| {
        with_table(&format!(
            "[index.G1]\nkeys = [\"G1PK\", \"day\"]\n\
             [entity.Visit]\nattributes = {{ visitId = \"ulid\", doctor = \"id\", day = \"date\", phase = \"BOOKED|HELD|DONE\" }}\nkey = [\"VISIT#{{visitId}}\", \"VISIT\"]\n\
             index.G1 = {{ key = [\"DOCTOR#{{doctor}}\", \"{{day}}\"], when = \"phase in ('BOOKED', 'HELD')\" }}\n\
             [write]\nw = {{ update = \"Visit\", expression = \"{expression}\", condition = \"attribute_exists(PK)\", values = {{ {values} }} }}\n"
        ))
    };
    for (expression, values, help) in [
        ("SET phase = :p, #day = :d, G1PK = :g", "\":p\" = \"DONE\"", Some("REMOVE G1PK instead")),
        ("SET phase = :p REMOVE G1PK", "\":p\" = \"HELD\"", Some("SET G1PK instead")),
        ("SET phase = :p", "\":p\" = \"DONE\"", Some("REMOVE G1PK")),
        ("SET phase = :p", "\":p\" = \"HELD\"", Some("also set G1PK")),
        ("SET phase = :p", "", Some("and REMOVE G1PK elsewhere")),
        ("SET phase = :p, #day = :d REMOVE G1PK", "\":p\" = \"DONE\"", None),
        ("SET phase = :p, G1PK = :g", "\":p\" = \"HELD\"", None),
        ("SET phase = :p, G1PK = :g", "", None),
        ("SET phase = :p REMOVE G1PK", "", None),
        ("SET doctor = :p, G1PK = :g", "\":p\" = \"DONE\"", None),
    ] {
        let findings = findings(&written(expression, values));
        let found: Vec<&str> =
            findings.iter().filter(|own| own.code == "P508").map(|own| own.help.as_str()).collect();
        match help {
            Some(help) => assert!(found.len() == 1 && found[0].contains(help), "{expression}: {found:?}"),
            None => assert!(found.is_empty(), "{expression}: {found:?}"),
        }
    }
}

#[test]
fn a_part_that_the_types_exclude_never_holds() {
    let events = |condition: &str| {
        with_table(&format!(
            "[entity.Event]\nattributes = {{ eventId = \"ulid\", n = {{ type = \"int\", min = 0, max = 99 }}, u = \"uuid\", note = \"string?\" }}\nkey = [\"EVENT\", \"{{eventId}}\"]\n\
             [pattern]\nsome = {{ where = \"{condition}\", out = \"Event*\" }}\n"
        ))
    };
    for condition in [
        "n > 500",
        "n > 99",
        "n < 0",
        "n == 100",
        "n in (100, 200)",
        "missing(n)",
        "not exists(u)",
        "u == 'ABC'",
    ] {
        assert!(has(&events(condition), "P120", Error), "{condition}");
    }
    for condition in ["n >= 99", "n <= 0", "n in (1, 200)", "missing(note)", "n != 500", "not n > 500"] {
        assert!(!has(&events(condition), "P120", Error), "{condition}");
    }
}

/// Orders of users, which lead to their invoices, with this pattern.
fn invoicing(pattern: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [entity.User]\nattributes = {{ userId = \"id\", name = \"string\" }}\nkey = [\"USER#{{userId}}\", \"PROFILE\"]\n\
         [entity.Order]\nattributes = {{ userId = \"id\", orderId = \"id\", status = \"A|B\", kind = \"X|Y?\", paid = \"bool\" }}\n\
         key = [\"USER#{{userId}}\", \"ORDER#{{orderId}}\"]\nindex.GSI1 = {{ key = [\"STATUS#{{status}}\", \"{{orderId}}\"] }}\n\
         [entity.Invoice]\nattributes = {{ orderId = \"id\", total = \"int\" }}\nkey = [\"ORDER#{{orderId}}\", \"INVOICE\"]\n\
         [pattern]\np = {{ {pattern} }}\n"
    ))
}

fn orders_where(condition: &str) -> String {
    invoicing(&format!("in = [\"userId\"], out = \"Order*\", where = \"{condition}\""))
}

fn invoices_where(condition: &str) -> String {
    invoicing(&format!("in = [\"userId\"], out = \"Invoice*\", via = \"Order\", where = \"{condition}\""))
}

#[test]
fn conditions_that_leave_no_choice_or_every_choice_are_found() {
    let found = |text: &str| {
        let own = findings(text).into_iter().filter(|finding| finding.code == "P120");
        own.map(|finding| (finding.severity, finding.repair.map(|repair| repair.help))).collect::<Vec<_>>()
    };
    for never in
        ["status != 'A' and status != 'B'", "not status in ('A', 'B')", "paid != true and paid != false"]
    {
        assert_eq!(found(&orders_where(never)), [(Error, None)], "{never}");
        assert_eq!(found(&invoices_where(never)), [(Error, None)], "{never}");
    }
    for open in [
        "status != 'A'",
        "kind != 'X' and kind != 'Y'",
        "kind in ('X', 'Y')",
        "status == 'A' or paid == true",
    ] {
        assert_eq!((found(&orders_where(open)), found(&invoices_where(open))), (vec![], vec![]), "{open}");
    }
    for always in ["status in ('A', 'B')", "exists(status)", "paid == true or paid == false"] {
        assert_eq!(found(&orders_where(always)), [(Note, Some("leave where out".to_owned()))], "{always}");
        assert_eq!(found(&invoices_where(always)), [(Note, None)], "{always}");
    }
    let rest = "write where = \"status == 'A'\"".to_owned();
    assert_eq!(found(&orders_where("status == 'A' and exists(paid)")), [(Note, Some(rest))]);
    // There is a request for each of the listed values, and a single item of another entity is not tested.
    assert_eq!(found(&invoicing("out = \"Order*\", where = \"status in ('A', 'B')\"")), []);
    let mixed = "in = [\"userId\"], out = [\"User\", \"Order*\"], where = \"status == 'A'\"";
    assert_eq!(found(&invoicing(mixed)), []);
}

#[test]
fn conditions_of_relationships_and_aggregates_are_checked_against_the_types() {
    let via = |condition: &str| codes(&invoices_where(condition), "pattern.p");
    assert!(via("status == 'Z'").contains(&"P122"));
    assert!(!via("status == 'A'").contains(&"P122"));
    let counted = |condition: &str| {
        let aggregate =
            format!("\naggregates = {{ orders = \"count Order where {condition}\" }}\n[entity.Order]");
        let text = invoicing("in = [\"userId\"], out = [\"User\", \"Order*\"]");
        codes(&text.replace("\n[entity.Order]", &aggregate), "entity.User")
    };
    assert_eq!(counted("status == 'Z'"), ["P122"]);
    assert_eq!(counted("status != 'A' and status != 'B'"), ["P120"]);
    assert_eq!(counted("status == 'A'"), [""; 0]);
}

#[test]
fn declared_limits_decide_what_a_condition_leaves() {
    let tickets = |limits: &str, meant: &str| {
        with_table(&format!(
            "[index.GSI1]\nkeys = [\"GPK\", \"GSK\"]\n\
             [entity.Ticket]\nattributes = {{ ticketId = \"ulid\", q = \"id\", prio = {limits} }}\nkey = [\"TICKET#{{ticketId}}\", \"TICKET\"]\n\
             index.GSI1 = {{ key = [\"Q#{{q}}\", \"{{prio:02}}#{{ticketId}}\"], when = \"prio between 5 and 9\" }}\n\
             [pattern]\nurgent = {{ in = [\"q\"], where = \"{meant}\", out = \"Ticket*\", rps = 1 }}\n"
        ))
    };
    let narrow = "{ type = \"int\", min = 0, max = 9 }";
    assert!(!has(&tickets(narrow, "prio >= 7"), "P121", Error));
    assert!(!has(&tickets(narrow, "prio >= 5 and prio <= 30"), "P121", Error));
    assert!(has(&tickets(narrow, "prio >= 4"), "P121", Error));
    assert!(has(&tickets("{ type = \"int\", min = 0, max = 10 }", "prio >= 7"), "P121", Error));
    for meant in ["not (prio >= 0)", "not (not (prio > 9))", "prio not in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"] {
        assert!(has(&tickets(narrow, meant), "P120", Error), "{meant}");
    }
    let filtered = tickets(narrow, "prio >= 5").replace(
        "rps = 1 }",
        "rps = 1, request = { index = \"GSI1\", condition = \"GPK = 'Q#{q}'\", filter = \"prio <= 9\" } }",
    );
    assert!(!has(&filtered, "P132", Error));
}
