//! Items whose keys hold a text in lower case only: values that differ in case are one value there.

mod support;

use partita_design::audit::judge::{Change, judge};
use partita_design::audit::table::TableAudit;
use partita_design::item::{Item, Value};

/// Versions of documents, with a copy of the newest.
const DOCUMENTS: &str = r#"
[entity.Version]
attributes = { docId = "string", version = "int", text = "string" }
identity = ["docId", "version"]
key = ["DOC#{docId:lower}", "V#{version:08}"]
versions = "version"
[entity.Latest]
copies = "Version"
latest = true
identity = "docId"
attributes = { docId = "string", version = "int", text = "string" }
key = ["DOC#{docId:lower}", "LATEST"]
"#;

/// A version, or the copy of the newest.
fn document(entity: &str, id: &str, version: u32) -> Item {
    let sort = if entity == "Latest" { "LATEST".to_owned() } else { format!("V#{version:08}") };
    let texts = [
        ("PK", format!("DOC#{}", id.to_lowercase())),
        ("SK", sort),
        ("type", entity.to_owned()),
        ("docId", id.to_owned()),
        ("text", format!("text {version}")),
    ];
    let number = ("version".to_owned(), Value::Number(version.to_string()));
    texts.map(|(name, text)| (name.to_owned(), Value::String(text))).into_iter().chain([number]).collect()
}

fn change(old: Option<Item>, new: Item) -> Change {
    let key = new.iter().filter(|(name, _)| ["PK", "SK"].contains(&name.as_str()));
    Change { key: key.map(|(name, value)| (name.clone(), value.clone())).collect(), old, new: Some(new) }
}

#[test]
fn versions_of_one_document_may_write_its_id_in_either_case() {
    let model = support::model(&support::with_table(DOCUMENTS));
    let changes =
        ["Version", "Latest"].map(|entity| change(Some(document(entity, "A", 2)), document(entity, "a", 2)));
    assert_eq!(judge(&model, &changes), []);
    let mut audit = TableAudit::new(&model);
    let items = [document("Version", "A", 1), document("Version", "a", 2), document("Latest", "a", 2)];
    items.iter().for_each(|item| audit.add(item));
    assert!(audit.finish().1.is_empty(), "what is accepted is clean");
}

#[test]
fn the_copy_of_the_newest_version_is_missed_in_either_case() {
    let model = support::model(&support::with_table(DOCUMENTS));
    let mut audit = TableAudit::new(&model);
    let items = [document("Version", "A", 1), document("Version", "a", 2), document("Latest", "A", 1)];
    items.iter().for_each(|item| audit.add(item));
    assert!(!audit.finish().1.is_empty(), "the copy is that of an older version");
}

/// That a version does not exist is shown by its key, which holds the identifier in lower case.
#[test]
fn an_older_version_is_deleted_next_to_a_check_of_the_one_before() {
    let model = support::model(&support::with_table(DOCUMENTS));
    let mut deleted = change(Some(document("Version", "A", 2)), document("Version", "A", 2));
    deleted.new = None;
    let newest = change(Some(document("Latest", "A", 3)), document("Latest", "A", 3));
    let mut before = change(None, document("Version", "A", 1));
    before.new = None;
    assert_eq!(judge(&model, &[deleted.clone(), before, newest.clone()]), []);
    assert_eq!(judge(&model, &[deleted, newest])[0].1.rule, "version");
}
