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

/// Whether one table is the right choice is no question of a repair.
const ABOUT_THE_CHOICE: [&str; 2] = ["P601", "P602"];

/// Applies every repair of a text; returns how many there are.
fn verify(name: &str, text: &str) -> usize {
    let Some(before) = findings(text) else { return 0 };
    let problems = count(&before, true);
    let grew = |after: &[Finding]| {
        let grew = |(key, number): (&(&'static str, String), &usize)| {
            !ABOUT_THE_CHOICE.contains(&key.0) && number > problems.get(key).unwrap_or(&0)
        };
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

/// The first finding with a code.
fn finding(text: &str, code: &str) -> Finding {
    let found = findings(text).unwrap().into_iter().find(|finding| finding.code == code);
    found.unwrap_or_else(|| panic!("no {code} in\n{text}"))
}

#[test]
fn the_last_unserved_pattern_is_repaired_where_nothing_is_read_together() {
    let text = support::with_table(
        "[entity.User]\nattributes = { userId = \"ulid\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]\n\
         [entity.Task]\nattributes = { taskId = \"ulid\", projectId = \"ulid\", assignee = \"ulid\" }\nkey = [\"PROJECT#{projectId}\", \"TASK#{taskId}\"]\n\
         [pattern]\nuser = { in = [\"userId\"], out = \"User\", rps = 1 }\ntasks = { in = [\"projectId\"], out = \"Task*\", rps = 1 }\n\
         tasksOfUser = { in = [\"assignee\"], out = \"Task*\", rps = 1 }\n",
    );
    let unserved = finding(&text, "P101");
    assert!(unserved.help.starts_with("add to [entity.Task]: index.GSI1 = {"), "{}", unserved.help);
    verify("tasks", &text);
    let (after, _) = apply_all(&text, &findings(&text).unwrap());
    assert_eq!(support::codes(&after, ""), ["P602"]);
}

#[test]
fn an_index_is_not_proposed_for_items_that_overwrite_each_other() {
    let text = |key: &str| {
        support::with_table(&format!(
            "[entity.Sensor]\nattributes = {{ sensorId = \"ulid\" }}\nkey = [\"SENSOR#{{sensorId}}\", \"SENSOR\"]\n\
             [entity.Reading]\nattributes = {{ sensorId = \"ulid\", at = \"timestamp\", site = \"ulid\" }}\nidentity = [\"sensorId\", \"at\"]\nkey = [\"SENSOR#{{sensorId}}\", \"{key}\"]\n\
             [pattern]\nall = {{ in = [\"sensorId\"], out = [\"Sensor\", \"Reading*\"] }}\nbySite = {{ in = [\"site\"], out = \"Reading*\" }}\n"
        ))
    };
    let unserved = finding(&text("READING#{at:minute}"), "P101");
    assert!(unserved.repair.is_none(), "{}", unserved.help);
    assert!(unserved.help.starts_with("add to [entity.Reading]: index.GSI1 = "), "{}", unserved.help);
    assert!(unserved.help.ends_with("; first repair the key of Reading (P203)"), "{}", unserved.help);
    assert!(finding(&text("READING#{at}"), "P101").repair.is_some());
}

#[test]
fn attributes_that_an_index_lacks_are_projected_where_that_costs_no_more() {
    let text = |note: &str, pattern: &str| {
        support::with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = [\"cents\"]\n\
             [entity.Product]\nattributes = {{ productId = \"ulid\", category = \"id\", cents = \"int\", note = \"{note}\" }}\nkey = [\"PRODUCT#{{productId}}\", \"PRODUCT\"]\n\
             index.GSI1 = {{ key = [\"CATEGORY#{{category}}\", \"{{productId}}\"] }}\n\
             [pattern]\nproduct = {{ in = [\"productId\"], out = \"Product\" }}\n\
             cheap = {{ in = [\"category\"], out = \"Product*\", fields = [\"productId\", \"note\"]{pattern} }}\n"
        ))
    };
    let short = finding(&text("string", ""), "P112").help;
    assert_eq!(short, "write project = [\"cents\", \"note\"] in [index.GSI1]");
    verify("projected", &text("string", ""));
    assert_eq!(
        finding(&text("string", ", importance = \"rare\""), "P112").help,
        "set hydrate = true on cheap"
    );
}

#[test]
fn choices_that_are_types_are_repaired() {
    let text = |kind: &str| SHOP.replace("name = \"string\"", &format!("name = {kind}"));
    for kind in ["\"string | null\"", "{ type = \"string|null\", about = \"x\" }"] {
        let text = text(kind);
        assert_eq!(finding(&text, "P231").help, "for an optional value write name = \"string?\"");
        verify(kind, &text);
        let (after, _) = apply_all(&text, &findings(&text).unwrap());
        assert!(after.contains("\"string?\"") && !support::codes(&after, "").contains(&"P231"), "{after}");
    }
    assert_eq!(finding(&text("\"string|int\""), "P231").repair, None);
    for words in ["\"date|price\"", "\"S|M|L\"", "\"none|daily\""] {
        assert!(!support::codes(&text(words), "").contains(&"P231"), "{words}");
    }
}

#[test]
fn no_index_is_proposed_for_a_search() {
    let patterns = [
        "search = { where = \"contains(name, 'dynamo')\", out = \"User*\", rps = 1 }",
        "search = { in = [\"userId\"], where = \"contains(status, 'A')\", out = \"Order*\", rps = 1 }",
    ];
    for (pattern, code) in patterns.into_iter().zip(["P101", "P113"]) {
        let found = finding(&format!("{SHOP}{pattern}\n"), code);
        assert!(found.repair.is_none() && found.help.starts_with("DynamoDB has no text search"), "{found:?}");
    }
}

/// Visits of a user by their time, and one pattern.
fn visits(pattern: &str) -> String {
    support::with_table(&format!(
        "[entity.Visit]\nattributes = {{ visitId = \"ulid\", userId = \"ulid\", at = {{ type = \"timestamp\", precision = \"second\" }}, paidAt = \"timestamp\", state = \"OPEN|PAID\" }}\n\
         key = [\"USER#{{userId}}\", \"VISIT#{{at}}#{{visitId}}\"]\nexpect = {{ count = 1_000_000, max = 2000, bytes = 500 }}\n\
         [pattern]\nvisits = {{ in = [\"userId\"], out = \"Visit*\", {pattern}, rps = 5 }}\n\
         latest = {{ in = [\"userId\"], out = \"Visit*\", order = \"at desc\", limit = 20, rps = 5 }}\n"
    ))
}

#[test]
fn a_condition_on_the_time_of_a_key_becomes_its_range() {
    let half = "at between '2026-01-01T00:00:00Z' and '2026-06-30T23:59:59Z'";
    let range = "range = { by = \"at\", from = \"2026-01-01T00:00:00Z\", to = \"2026-06-30T23:59:59Z\" }";
    for (condition, rest) in [
        (half.to_owned(), None),
        (format!("{half} and state == 'OPEN'"), Some("state == 'OPEN'")),
        (half.replace("between", ">=").replace("and", "and at <="), None),
    ] {
        let text = visits(&format!("where = \"{condition}\""));
        let found = finding(&text, "P113");
        assert!(
            found.help.contains("at is next in the sort key") && !found.help.contains("index"),
            "{}",
            found.help
        );
        let kept = rest.is_none_or(|rest| found.help.contains(&format!("and where = \"{rest}\" ")));
        assert!(kept, "{}", found.help);
        if rest.is_none() {
            let (after, _) = apply_all(&text, &findings(&text).unwrap());
            assert!(after.contains(range) && !after.contains("where"), "{after}");
            support::assert_clean("visits", &after);
        }
    }
    // A range includes its bounds.
    let open = finding(&visits("where = \"at < '2026-07-01T00:00:00Z'\""), "P113");
    assert!(open.repair.is_none() && open.help.contains("write range = { by = \"at\""), "{open:?}");
    // The request of existing code bounds the key, whatever the plan does.
    let sent = |filter: &str| {
        let condition = "PK = 'USER#{userId}' AND SK BETWEEN 'VISIT#2026-01-01T00:00:00Z' AND 'VISIT#2026-06-30T23:59:59Z~'";
        visits(&format!("where = \"{half}\", request = {{ condition = \"{condition}\"{filter} }}"))
    };
    support::assert_clean("bounded", &sent(""));
    let filtered = sent(&format!(", filter = \"{half}\""))
        .replace("VISIT#2026-01-01T00:00:00Z", "VISIT#")
        .replace("VISIT#2026-06-30T23:59:59Z", "VISIT#");
    assert!(support::codes(&filtered, "").contains(&"P113"));
}

#[test]
fn no_index_holds_only_what_lies_in_a_period() {
    for pattern in [
        "where = \"paidAt between '2026-01-01T00:00:00Z' and '2026-06-30T23:59:59Z'\"",
        "where = \"paidAt >= '2026-01-01T00:00:00Z' and state == 'OPEN'\"",
        "where = \"paidAt < '2026-01-01T00:00:00Z'\"",
    ] {
        let text = visits(pattern);
        verify(pattern, &text);
        let (after, repaired) = apply_all(&text, &findings(&text).unwrap());
        let is_held = after.lines().any(|line| line.contains("when") && line.contains("2026"));
        assert!(!is_held, "{after}");
        if !pattern.contains('<') {
            assert!(
                repaired == 1
                    && after.contains("{paidAt}#{visitId}\"]")
                    && after.contains("range = { by = \"paidAt\""),
                "{after}"
            );
        }
    }
}

#[test]
fn the_only_relationship_that_leads_on_is_followed() {
    let like = "[entity.Like]\nattributes = { fanId = \"id\", userId = \"id\" }\nedge = [\"fanId\", \"userId\"]\nkey = [\"FAN#{fanId}\", \"LIKE#{userId}\"]\n\
        index.GSI1 = { key = [\"USER#{userId}\", \"FAN#{fanId}\"] }\n[pattern]\nfans = { in = [\"userId\"], out = \"Like*\", rps = 1 }\n";
    let text = SHOP.replace("[pattern]\n", like) + "liked = { in = [\"fanId\"], out = \"User*\", rps = 1 }\n";
    assert!(finding(&text, "P127").repair.is_some());
    let (after, _) = apply_all(&text, &findings(&text).unwrap());
    assert!(after.contains("out = \"User*\", rps = 1, via = \"Like\" }"), "{after}");
    support::assert_clean("liked", &after);
}

#[test]
fn an_aggregate_is_updated_once_and_never_in_a_transaction_that_is_too_large() {
    let text = |write: &str| {
        support::with_table(&format!(
            "[entity.Class]\nattributes = {{ classId = \"ulid\" }}\nkey = [\"CLASS#{{classId}}\", \"CLASS\"]\naggregates = {{ booked = \"count Booking\" }}\n\
             [entity.Booking]\nattributes = {{ memberId = \"ulid\", classId = \"ulid\" }}\nkey = [\"CLASS#{{classId}}\", \"BOOKING#{{memberId}}\"]\n\
             expect = {{ per = \"Class\", average = 200, max = 400, bytes = 200 }}\n\
             [pattern]\nclass = {{ in = [\"classId\"], out = [\"Class\", \"Booking*\"], rps = 1 }}\n[write]\n{write}\n"
        ))
    };
    let one = text("book = { batch = [\"create Booking\", \"update Class set booked\"], rps = 5 }");
    let (after, _) = apply_all(&one, &findings(&one).unwrap());
    assert!(
        after.contains("book = { rps = 5, transact = [\"create Booking\", \"update Class set booked\"] }"),
        "{after}"
    );
    // What the help says is accepted.
    let few = "transact = [\"delete Booking\", \"update Class set booked\"]";
    for (form, code) in [
        ("transact = [\"delete Class\", \"delete Booking*\"]", "P405"),
        ("batch = [\"delete Booking*\"]", "P505"),
    ] {
        let found = finding(&text(&format!("cancel = {{ {form}, rps = 1 }}")), code);
        assert!(found.repair.is_none() && found.help.ends_with(few), "{}", found.help);
    }
    support::assert_clean(few, &text(&format!("cancel = {{ {few}, rps = 1 }}")));
}

#[test]
fn comments_between_the_parts_of_a_key_stay() {
    let text = "key = [ # two\n  \"USER#{userId}\", # partition\n  \"ORDER#{day}\",   # sort\n] # end\n";
    let edits = [Edit::set(&["key"], "[\"USER#{userId}\", \"ORDER#{day}#{orderId}\"]")];
    assert_eq!(apply(text, &edits).unwrap(), text.replace("{day}", "{day}#{orderId}"));
}

/// The findings of a text that cannot be read.
fn unreadable(text: &str) -> Vec<Finding> {
    read(&Source::new("m.toml", text)).unwrap_err()
}

#[test]
fn a_wrong_name_is_shown_where_it_stands_and_repaired() {
    let text = SHOP.replace("USER#{userId}\", \"PROFILE", "USER#{userid}\", \"PROFILE")
        + "[pattern.byOrder]\nrps = 1\nin = [\n  \"oderId\", # the order\n]\nout = \"Order\"\n[pattern.all]\nin = [\"userId\"]\nout = \"Ordr*\"\n";
    let found = unreadable(&text);
    let places: Vec<&str> = found.iter().map(|finding| &text[finding.span.clone()]).collect();
    assert_eq!(places, ["userid", "oderId", "Ordr"]);
    let (text, repairs) = apply_all(&text, &found);
    assert!(repairs == 3 && text.contains("  \"orderId\", # the order\n"), "{text}");
    assert!(findings(&text).is_some(), "{text}");
}

#[test]
fn a_wrong_name_of_an_index_or_a_parent_is_shown_where_it_stands() {
    let index = SHOP.replace("[pattern]", "index.GS1 = { key = [\"A#{orderId}\", \"B\"] }\n[pattern]");
    for (text, name) in [(index, "GS1"), (SHOP.replace("per = \"User\"", "per = \"Usr\""), "Usr")] {
        let found = unreadable(&text);
        assert_eq!((found.len(), &text[found[0].span.clone()]), (1, name));
    }
}

#[test]
fn fields_of_other_tools_get_braces() {
    let text = SHOP.replace("\"USER#{userId}\", \"PROFILE\"", "\"USER#<userId>\", \"PROFILE\"");
    let found = finding(&text, "P203");
    assert_eq!(found.help, "fields stand in braces: key = [\"USER#{userId}\", \"PROFILE\"]");
    assert_eq!(apply(&text, &found.repair.unwrap().edits).unwrap(), SHOP);
}

#[test]
fn fields_that_change_places_keep_their_formats() {
    let text = support::with_table(
        "[entity.Refill]\nattributes = { refillId = \"ulid\", rxId = \"ulid\", seq = { type = \"int\", min = 0, max = 9999 }, filledOn = \"date\" }\n\
         key = [\"RX#{rxId}\", \"REFILL#{seq:04}#{filledOn}#{refillId}\"]\n\
         [pattern]\nhistory = { in = [\"rxId\"], out = \"Refill*\", order = \"filledOn desc\", limit = 5 }\n",
    );
    let finding = support::findings(&text).into_iter().find(|finding| finding.code == "P103").unwrap();
    assert!(finding.help.contains("REFILL#{filledOn}#{seq:04}#{refillId}"), "{}", finding.help);
}

/// The helps of a code with the repairs that were tried.
fn tried(text: &str, code: &str) -> Vec<(String, bool)> {
    let found = support::findings(text).into_iter().filter(|finding| finding.code == code);
    found.map(|finding| (finding.help, finding.repair.is_some())).collect()
}

#[test]
fn prefixes_are_written_into_all_keys_that_share_a_partition() {
    let patterns = "[pattern]\nboth = { in = [\"userId\"], out = [\"User\", \"Order*\"] }\norders = { in = [\"userId\"], out = \"Order*\" }\n";
    let user = "[entity.User]\nattributes = { userId = \"id\", name = \"string\" }\n";
    let order = "[entity.Order]\nattributes = { userId = \"id\", orderId = \"id\" }\n";
    let text = |partition: &str, sort: &str| {
        let keys = [
            format!("key = [\"{partition}\", \"PROFILE\"]\n"),
            format!("key = [\"{partition}\", \"{sort}\"]\n"),
        ];
        support::with_table(&[user, &keys[0], order, &keys[1], patterns].concat())
    };
    let written = |text: &str| apply_all(text, &support::findings(text)).0;
    let bare = text("{userId}", "ORDER#{orderId}");
    assert_eq!(tried(&bare, "P204").first(), Some(&("write USER#{userId}".to_owned(), true)));
    assert_eq!(support::codes(&written(&bare), ""), [""; 0]);
    // In a sort key, the prefix tells what an item is.
    let sorted = text("USER#{userId}", "{orderId}");
    assert_eq!(tried(&sorted, "P213"), [("write ORDER#{orderId}".to_owned(), true)]);
    assert!(written(&sorted).contains("key = [\"USER#{userId}\", \"ORDER#{orderId}\"]"));
    // The tenant leads in all of them; an entity without it needs it first.
    let tenants = |attributes: &str| {
        let patterns = patterns.replace("[\"userId\"]", "[\"tenantId\", \"userId\"]");
        let text = text("USER#{userId}", "ORDER#{orderId}")
            .replace("type_attribute", "tenant = \"tenantId\"\ntype_attribute");
        let text = text.replace("attributes = { ", attributes);
        text.split("[pattern]").next().unwrap().to_owned() + &patterns
    };
    let text = tenants("attributes = { tenantId = \"id\", ");
    assert_eq!(tried(&text, "P217")[0], ("write TENANT#{tenantId}#USER#{userId}".to_owned(), true));
    assert_eq!(support::codes(&written(&text), ""), [""; 0]);
}

#[test]
fn a_relationship_and_a_sparse_index_are_repaired() {
    let edge = support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[entity.Like]\nedge = [\"userId\", \"postId\"]\nattributes = { userId = \"id\", postId = \"id\", at = \"timestamp\" }\n\
         key = [\"USER#{userId}\", \"LIKE#{at}#{postId}\"]\nindex.GSI1 = { key = [\"POST#{postId}\", \"LIKE#{at}#{userId}\"] }\n\
         [pattern]\nlikes = { in = [\"userId\"], out = \"Like*\" }\nfans = { in = [\"postId\"], out = \"Like*\" }\n",
    );
    assert_eq!(
        tried(&edge, "P225"),
        [("write key = [\"USER#{userId}\", \"LIKE#{postId}\"]".to_owned(), true)]
    );
    // An order that only this key has stays.
    let ordered = edge.replace("out = \"Like*\" }\nfans", "out = \"Like*\", order = \"at desc\" }\nfans");
    assert!(
        matches!(tried(&ordered, "P225").as_slice(), [(help, false)] if help.contains("into the sort key of an index"))
    );
    let full = support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[entity.Task]\nattributes = { taskId = \"id\", userId = \"id\", state = \"OPEN|DONE\" }\n\
         key = [\"TASK#{taskId}\", \"TASK\"]\nindex.GSI1 = { key = [\"USER#{userId}\", \"TASK#{taskId}\"] }\n\
         [pattern]\ntask = { in = [\"taskId\"], out = \"Task\" }\nopen = { in = [\"userId\"], out = \"Task*\", where = \"state == 'OPEN'\" }\n",
    );
    let help = "add when = \"state == 'OPEN'\" to index.GSI1 of Task";
    assert_eq!(tried(&full, "P304"), [(help.to_owned(), true)]);
    assert_eq!(tried(&apply_all(&full, &support::findings(&full)).0, "P304"), []);
}

#[test]
fn a_projection_keeps_what_is_tested_and_what_leads_on() {
    let text = support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [entity.Member]\nedge = [\"userId\", \"teamId\"]\nattributes = { userId = \"id\", teamId = \"id\", region = \"id\", role = \"A|B\", note = \"string\" }\n\
         key = [\"USER#{userId}\", \"MEMBER#{teamId}\"]\nindex.GSI1 = { key = [\"TEAM#{teamId}\", \"MEMBER#{userId}\"] }\n\
         [entity.Desk]\nattributes = { region = \"id\", userId = \"id\", title = \"string\" }\nidentity = \"userId\"\nkey = [\"REGION#{region}\", \"DESK#{userId}\"]\n\
         [pattern]\nteams = { in = [\"userId\"], out = \"Member*\" }\n\
         desks = { in = [\"teamId\"], out = \"Desk*\", via = { entity = \"Member\", match = { userId = \"userId\", region = \"region\" } }, where = \"role == 'A'\", fields = [\"title\"] }\n",
    );
    let help = "write project = [\"region\", \"role\", \"userId\"]";
    assert_eq!(tried(&text, "P306"), [(help.to_owned(), true)]);
}

#[test]
fn a_key_that_may_be_a_lock_is_not_changed_unasked() {
    let hold = |more: &str| {
        support::with_table(&format!(
            "[entity.Hold]\nattributes = {{ holdId = \"ulid\", eventId = \"ulid\", seatId = \"id\" }}\n\
             key = [\"EVENT#{{eventId}}\", \"HOLD#{{seatId}}\"]\n{more}[write]\nhold = {{ create = \"Hold\" }}\n"
        ))
    };
    let found = finding(&hold(""), "P203");
    assert_eq!(found.repair, None);
    let identity = "identity = [\"eventId\", \"seatId\"]";
    assert_eq!(
        found.help,
        format!(
            "append it: \"HOLD#{{seatId}}#{{holdId}}\", or, if there is only one Hold for each key, declare {identity}"
        )
    );
    assert!(!support::codes(&hold(&format!("{identity}\n")), "").contains(&"P203"));
    // What is declared to identify the items belongs into the key.
    let declared = finding(&hold("identity = \"holdId\"\n"), "P203");
    assert_eq!(declared.repair.unwrap().help, "append it: \"HOLD#{seatId}#{holdId}\"");
}

#[test]
fn a_time_in_full_is_written_into_an_index_and_proposed_for_the_key_of_the_table() {
    let figures = |key: &str, rest: &str| {
        support::with_table(&format!(
            "[entity.Figures]\nattributes = {{ deviceId = \"id\", hour = \"timestamp\", total = \"decimal\" }}\nidentity = [\"deviceId\", \"hour\"]\n\
             key = [\"DEVICE#{{deviceId}}\", \"HOUR#{key}\"]\n{rest}\
             [pattern]\nhours = {{ in = [\"deviceId\"], range = \"hour\", out = \"Figures*\" }}\n"
        ))
    };
    let found = finding(&figures("{hour:hour}", ""), "P103");
    assert_eq!(found.repair, None, "an index for each write is not the only answer");
    assert!(
        found.help.starts_with(
            "write {hour} in full in the key of Figures; or, if there is one for each HOUR#{hour:hour}, give"
        ),
        "{}",
        found.help
    );
    support::assert_clean("in full", &figures("{hour}", ""));
    let visits = support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [entity.Visit]\nattributes = { visitId = \"ulid\", deviceId = \"id\", at = \"timestamp\" }\nkey = [\"VISIT#{visitId}\", \"VISIT\"]\n\
         index.GSI1 = { key = [\"DEVICE#{deviceId}\", \"{at:day}#{visitId}\"] }\n\
         [pattern]\nvisit = { in = [\"visitId\"], out = \"Visit\" }\nnewest = { in = [\"deviceId\"], order = \"at desc\", out = \"Visit*\", limit = 5 }\n",
    );
    let repair = finding(&visits, "P103").repair.unwrap();
    assert_eq!(repair.help, "write {at} in full: key = [\"DEVICE#{deviceId}\", \"{at}#{visitId}\"]");
}

#[test]
fn what_is_looked_up_before_the_tenant_is_known_may_be_allowed() {
    let text = support::with_table(
        "[entity.User]\nattributes = { tenantId = \"id\", userId = \"id\", email = \"string\" }\n\
         key = [\"TENANT#{tenantId}\", \"USER#{userId}\"]\nindex.GSI1 = { key = [\"EMAIL#{email}\", \"USER\"] }\n\
         [index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [pattern]\nusers = { in = [\"tenantId\"], out = \"User*\" }\nuserByEmail = { in = [\"email\"], out = \"User*\" }\n",
    );
    let text = text.replace("type_attribute", "tenant = \"tenantId\"\ntype_attribute");
    let found = finding(&text, "P217");
    assert_eq!(
        found.help,
        "write TENANT#{tenantId}#EMAIL#{email}, and add tenantId to the inputs of userByEmail; or, if userByEmail is asked before the tenant is known, allow it in [[allow]]"
    );
    assert_eq!(found.repair, None);
    let allowed =
        "[[allow]]\ncode = \"P217\"\non = \"entity.User\"\nreason = \"the login does not know the tenant\"\n";
    assert_eq!(support::codes(&format!("{text}{allowed}"), "error"), [""; 0]);
}
