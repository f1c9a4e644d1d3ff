//! The documents and the editor schema match the code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::reader::schema;
use partita_design::{Source, code, read};
use serde_json::Value;
use std::collections::BTreeSet;

/// `PARTITA_WRITE=1 cargo test -p partita-design --test documents` updates it.
#[test]
fn the_page_of_codes_is_up_to_date() {
    let path = support::root().join("docs/codes.md");
    if std::env::var_os("PARTITA_WRITE").is_some() {
        std::fs::write(&path, code::document()).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == code::document(), "docs/codes.md is not up to date");
}

/// The fields that the reader accepts in a section, from its message about an unknown one.
fn known(text: &str) -> BTreeSet<String> {
    let findings = read(&Source::new("t.toml", text)).unwrap_err();
    let help = findings.iter().find_map(|finding| finding.help.strip_prefix("known here: "));
    let help = help.unwrap_or_else(|| panic!("{text}: {findings:?}"));
    help.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_editor_schema_lists_the_fields_that_the_reader_accepts() {
    let schema: Value = serde_json::from_str(schema::SCHEMA).unwrap();
    let base = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\"]\n";
    let odd = "qqqqqqqqqqqq = 1";
    let entity = "/properties/entity/additionalProperties";
    let pattern = "/properties/pattern/additionalProperties";
    let index_key = format!("{entity}/properties/index/additionalProperties");
    let cases = [
        (String::new(), format!("{odd}\n{base}")),
        ("/properties/table".to_owned(), format!("{base}{odd}")),
        ("/properties/context".to_owned(), format!("{base}[context]\n{odd}")),
        ("/properties/traffic".to_owned(), format!("{base}[traffic]\n{odd}")),
        (
            "/properties/index/additionalProperties".to_owned(),
            format!("{base}[index.G]\nkeys = [\"A\"]\n{odd}"),
        ),
        (entity.to_owned(), format!("{base}[entity.E]\n{odd}")),
        (
            index_key.clone(),
            format!("{base}[index.G]\nkeys = [\"A\"]\n[entity.E]\nindex.G = {{ {odd}, key = [\"A\"] }}"),
        ),
        (format!("{index_key}/properties/shard"), format!("{base}[entity.E]\nshard = {{ {odd} }}")),
        (format!("{entity}/properties/expect"), format!("{base}[entity.E]\nexpect = {{ {odd} }}")),
        (
            format!("{entity}/properties/attributes/additionalProperties/oneOf/1"),
            format!("{base}[entity.E]\nattributes.a = {{ type = \"id\", {odd} }}"),
        ),
        (pattern.to_owned(), format!("{base}[pattern.p]\nout = \"E\"\n{odd}")),
        (
            format!("{pattern}/properties/range/oneOf/1"),
            format!("{base}[pattern.p]\nout = \"E\"\nrange = {{ by = \"a\", {odd} }}"),
        ),
        (
            format!("{pattern}/properties/request"),
            format!("{base}[pattern.p]\nout = \"E\"\nrequest = {{ {odd} }}"),
        ),
        ("/properties/write/additionalProperties".to_owned(), format!("{base}[write.w]\nput = \"E\"\n{odd}")),
        (
            "/properties/allow/items".to_owned(),
            format!("{base}[[allow]]\ncode = \"P101\"\nreason = \"r\"\n{odd}"),
        ),
    ];
    for (pointer, text) in cases {
        let properties =
            schema.pointer(&format!("{pointer}/properties")).unwrap_or_else(|| panic!("{pointer}"));
        let listed: BTreeSet<String> = properties.as_object().unwrap().keys().cloned().collect();
        assert_eq!(listed, known(&text), "{pointer}");
    }
}

/// The rules that the checker must enforce.
const CHECKED: [u16; 55] = [
    1, 2, 3, 5, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 24, 28, 33, 34, 35, 38, 39, 40, 48, 53, 54, 55,
    56, 59, 60, 63, 67, 68, 70, 71, 75, 78, 81, 83, 86, 87, 88, 92, 93, 94, 96, 97, 98, 102, 103, 105, 108,
    109, 110, 111,
];

/// Rows of the table of rules in docs/models.md: the number, and where the rule is enforced.
fn served() -> Vec<(u16, String)> {
    let text = std::fs::read_to_string(support::root().join("docs/models.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |").map(str::to_owned));
    rows.filter_map(|row| Some((row.split(" | ").next()?.parse().ok()?, row.split(" | ").last()?.to_owned())))
        .collect()
}

#[test]
fn the_document_says_where_every_rule_is_enforced() {
    let rows = served();
    assert_eq!(rows.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (1..=112).collect::<Vec<_>>());
    let tests = std::fs::read_to_string(support::root().join("crates/design/tests/rules.rs")).unwrap();
    for code in code::CODES.iter() {
        for rule in code.rules {
            let named = rows[usize::from(*rule) - 1].1.contains(code.code);
            assert!(named, "rule {rule} does not name {}", code.code);
        }
    }
    for rule in CHECKED {
        assert!(tests.contains(&format!("fn rule_{rule:02}_")), "rule {rule} has no test");
    }
}

/// Reads a line in a model, and expects a finding with this code, this help and in this line; line 0 is any.
fn assert_reported(cases: &[(&str, &str, &str, usize)]) {
    for (line, code, help, at) in cases {
        let key = if line.starts_with('[') { "key = [\"A#{userId}\", \"B\"]\n" } else { "" };
        let text = format!(
            "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\n[entity.User]\nattributes = {{ userId = \"id\" }}\n{key}{line}\n"
        );
        let source = Source::new("t.toml", text);
        let findings = read(&source).unwrap_err();
        let found = findings.iter().find(|finding| finding.code == *code && finding.help.contains(help));
        let found = found.unwrap_or_else(|| panic!("{line}: {findings:?}"));
        let position = source.position(found.span.start);
        assert!(*at == 0 || position.line == *at, "{line}: {position:?}");
    }
}

#[test]
fn mistakes_in_a_model_are_reported_at_their_position() {
    assert_reported(&[
        ("key = [\"USER#{userid}\", \"X\"]", "P003", "did you mean `userId`?", 7),
        ("key = [\"USER#{userId\", \"X\"]", "P004", "text with fields in braces", 7),
        ("key = [\"USER#{userId}\"]", "P002", "one template for each key attribute", 7),
        ("kee = [\"USER#{userId}\", \"X\"]", "P002", "did you mean `key`?", 7),
        (
            "index.GSI1 = { key = [\"A\", \"B\"] }\nkey = [\"A#{userId}\", \"B\"]",
            "P003",
            "declare the index first",
            7,
        ),
        ("expect = { count = -1 }", "P002", "1_000_000", 7),
        ("key = [\"A#{userId}\", \"B\"", "P001", "toml.io", 0),
        ("[pattern]\np = { in = [\"userId\"] }", "P002", "out = ", 9),
        ("[pattern]\np = { inputs = [\"userId\"], out = \"User\" }", "P002", "did you mean `in`?", 9),
        ("[pattern]\np = { in = [\"userId\"], returns = \"User\" }", "P002", "did you mean `out`?", 9),
        ("[[pattern]]\nin = [\"userId\"]\nout = \"User\"", "P002", "[pattern] with a line", 8),
        ("pk = \"USER#{userId}\"", "P002", "did you mean `key`?", 7),
        ("[pattern]\np = { in = [\"userId\"], out = \"Usr\" }", "P003", "did you mean `User`?", 9),
        ("[pattern]\np = { where = \"a = \", out = \"User\" }", "P005", "for example status in", 9),
        ("key = [\"USER#{userId}\", \"\"]", "P004", "text with fields in braces", 7),
        ("[index.GSI1]\nkeys = [\"G\", \"G\"]", "P002", "name another attribute", 9),
        (
            "[pattern]\np = { in = [\"userId\"], out = \"User*\", limit = 3_000_000_000 }",
            "P002",
            "limit = 100",
            9,
        ),
        (
            "[entity.Team]\nattributes = { teamId = \"id\" }\nkey = [\"T#{teamId}\", \"T\"]\nexpect = { per = \"Team\", average = 2 }",
            "P002",
            "expect = { count = 1000 }",
            11,
        ),
        ("[[allow]]\ncode = \"P999\"\nreason = \"x\"", "P003", "lists all codes", 9),
    ]);
}

#[test]
fn what_others_write_is_translated() {
    assert_reported(&[
        (
            "[write]\nw = { batch = [\"put User\"], condition = \"v = :v\" }",
            "P002",
            "write it into the action",
            9,
        ),
        (
            "[entity.Team]\nattributes = { status = [\"OPEN\", \"DONE\"] }",
            "P002",
            "status = \"OPEN|DONE\"",
            9,
        ),
        (
            "[pattern]\np = { out = \"User\", order = [\"userId\", \"desc\"] }",
            "P002",
            "order = \"userId desc\"",
            9,
        ),
        ("[pattern]\np = { out = \"User\", limit = \"10\" }", "P002", "limit = 20", 9),
        ("[pattern]\np = { out = \"User\", range = [\"userId\"] }", "P002", "range = \"userId\"", 9),
        ("[pattern]\np = { in = [\"PK\"], out = \"User\" }", "P003", "name attributes of entities", 9),
        ("[pattern]\np = { index = \"GSI1\", out = \"User\" }", "P002", "a pattern names no index", 9),
        ("[write]\nw = { insert = \"User\" }", "P002", "did you mean `create`?", 9),
        ("index.GSI1 = [\"A#{userId}\", \"B\"]", "P002", "GSI1 = { key = [\"A#{userId}\", \"B\"] }", 7),
    ]);
}
