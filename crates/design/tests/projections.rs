//! What a read of an index returns: what it projects, and what its keys tell for certain.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::Error;
use partita_design::report::explain;
use support::{findings, has, model, with_table};

/// Notes in an index of keys only, with this sort key.
fn notes(sort: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.Note]\nattributes = {{ noteId = \"uuid\", topic = \"id\", title = \"string\", remark = \"string\" }}\n\
         key = [\"NOTE#{{noteId}}\", \"NOTE\"]\nindex.GSI1 = {{ key = [\"TOPIC#{{topic}}\", \"{sort}\"] }}\n\
         [pattern]\ntopic = {{ in = [\"topic\"], out = \"Note*\", rps = 1 }}\n"
    ))
}

#[test]
fn attributes_inside_keys_are_there_only_if_they_can_be_read_back() {
    let text = notes("{title}#{remark}");
    assert!(has(&text, "P112", Error));
    let message = findings(&text).into_iter().find(|finding| finding.code == "P112").unwrap().message;
    assert!(message.contains("title and remark"), "{message}");
    for sort in ["{title:escaped}#{remark}", "{title:escaped}#{remark:escaped}"] {
        assert!(!has(&notes(sort), "P112", Error), "{sort}");
    }
    assert!(has(&notes("{title:escaped}"), "P112", Error), "the remark is not in the key");
}

#[test]
fn items_are_split_by_what_the_index_holds() {
    let vans = |project: &str| {
        with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = {project}\n\
             [entity.Van]\nattributes = {{ vanId = \"ulid\", depot = \"id\" }}\nkey = [\"X#{{vanId}}\", \"V\"]\nindex.GSI1 = {{ key = [\"DEPOT#{{depot}}\", \"{{vanId}}\"] }}\n\
             [entity.Bike]\nattributes = {{ bikeId = \"ulid\", depot = \"id\" }}\nkey = [\"X#{{bikeId}}\", \"B\"]\nindex.GSI1 = {{ key = [\"DEPOT#{{depot}}\", \"{{bikeId}}\"] }}\n\
             [pattern]\nall = {{ in = [\"depot\"], out = [\"Van*\", \"Bike*\"], rps = 1 }}\n"
        ))
    };
    let explained = |project: &str| explain::text(&model(&vans(project)), None);
    assert!(explained("\"ALL\"").contains("the items by type"));
    assert!(explained("[\"type\"]").contains("the items by type"));
    assert!(explained("\"KEYS_ONLY\"").contains("the items by their keys"));
}
