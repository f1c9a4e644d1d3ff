//! All that a transaction holds is counted: items, the markers of unique values, copies and checks.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{self, Error, Note};
use partita_design::exchange::write_requests::write_requests;
use partita_design::generate::Generator;
use partita_design::{Source, read};
use support::{findings, model, with_table};

/// An entity with unique values, and a write.
fn unique(count: usize, write: &str) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
    let attributes: String = names.iter().map(|name| format!(", {name} = \"id\"")).collect();
    with_table(&format!(
        "[entity.Card]\nattributes = {{ cardId = \"ulid\", note = \"string\"{attributes} }}\nkey = [\"CARD#{{cardId}}\", \"CARD\"]\nunique = {names:?}\n[pattern]\ncard = {{ in = [\"cardId\"], out = \"Card\", rps = 1 }}\n[write]\nw = {write}\n"
    ))
}

fn too_large(text: &str) -> Option<(Severity, String)> {
    let found = findings(text).into_iter().find(|finding| finding.code == "P405");
    found.map(|finding| (finding.severity, finding.message))
}

/// The number of actions of the request that `explain` shows.
fn sent(text: &str) -> usize {
    let model = model(text);
    let requests = write_requests(&Generator::new(&model, 1, 20), &model.writes[0]);
    requests[0].input["TransactItems"].as_array().map_or(1, Vec::len)
}

#[test]
fn markers_count_whether_the_write_is_called_a_transaction_or_not() {
    let set = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("x{number}")).collect();
        (format!("{{ update = \"Card\", set = {names:?} }}"), names.join(", "))
    };
    let (single, names) = set(50);
    for write in [single, format!("{{ transact = [\"update Card set {names}\"] }}")] {
        let text = unique(50, &write);
        let (severity, message) = too_large(&text).unwrap();
        assert_eq!(severity, Error);
        assert!(message.starts_with("101 actions on average"), "{message}");
        assert_eq!(sent(&text), 101);
    }
    let largest = [
        "{ create = \"Card\" }".to_owned(),
        "{ delete = \"Card\" }".to_owned(),
        "{ transact = [\"create Card\"] }".to_owned(),
        set(49).0,
        "{ put = \"Card\" }".to_owned(),
    ];
    for write in largest {
        let text = unique(99, &write);
        assert_eq!(too_large(&text), None, "{write}");
        assert!(sent(&text) <= 100, "{write}");
    }
    let two = unique(99, "{ transact = [\"create Card\", \"delete Card\"] }");
    assert!(too_large(&two).unwrap().1.starts_with("200 actions"));
}

#[test]
fn more_unique_values_than_a_transaction_has_room_for_are_refused() {
    let text = unique(100, "{ update = \"Card\", set = [\"note\"] }");
    let found = read(&Source::new("model.toml", text.clone())).unwrap_err();
    let places: Vec<_> =
        found.iter().map(|finding| (finding.code, &text[finding.span.clone()][..6])).collect();
    assert_eq!(places, [("P405", "[\"x0\",")]);
    assert!(found[0].message.starts_with("`unique` has 100 entries"), "{}", found[0].message);
}

#[test]
fn what_versions_take_with_them_counts_at_most() {
    let text = |average: u32| {
        with_table(&format!(
            r##"
[entity.Page]
attributes = {{ pageId = "ulid" }}
key = ["PAGE#{{pageId}}", "PAGE"]
expect = {{ count = 100 }}
[entity.Version]
attributes = {{ pageId = "ulid", version = "int", text = "string" }}
key = ["PAGE#{{pageId}}", "VERSION#{{version:08}}"]
versions = "version"
expect = {{ per = "Page", average = {average}, max = {average} }}
[entity.Latest]
attributes = {{ pageId = "ulid", version = "int", text = "string" }}
key = ["PAGE#{{pageId}}", "LATEST"]
copies = "Version"
latest = true
[pattern]
page = {{ in = ["pageId"], out = ["Page", "Version*", "Latest"], rps = 1 }}
[write]
w = {{ transact = ["delete Page", "delete Version*"] }}
"##
        ))
    };
    assert_eq!(too_large(&text(97)), None);
    let (severity, message) = too_large(&text(98)).unwrap();
    assert_eq!(severity, Note);
    assert!(message.starts_with("99 actions on average, 101 at most"), "{message}");
}
