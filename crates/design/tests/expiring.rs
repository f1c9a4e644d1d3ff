//! Items that expire, and what belongs to them: copies, and the markers of unique values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use partita_design::exchange::write_requests::{Request, write_requests};
use partita_design::generate::Generator;
use support::{codes, findings, has, model, with_table};

fn sessions(ttl: &str, copy: &str, write: &str) -> String {
    with_table(&format!(
        r#"
[entity.Session]
attributes = {{ userId = "id", sessionId = "id", token = "string", exp = {ttl} }}
key = ["USER#{{userId}}", "SESSION#{{sessionId}}"]
unique = ["token"]
ttl = "exp"
[entity.SessionById]
copies = "Session"
attributes = {{ userId = "id", sessionId = "id"{copy} }}
key = ["SESSION#{{sessionId}}", "SESSION"]
[pattern]
ofUser = {{ in = ["userId"], out = "Session*", rps = 10 }}
byId   = {{ in = ["sessionId"], out = "SessionById", rps = 10 }}
[write]
open = {{ transact = ["create Session", "create SessionById"], rps = 10 }}
{write}
"#
    ))
}

const WITH_EXPIRY: (&str, &str) = ("\"int\"", ", exp = \"int\" }\nttl = \"exp\"\n#");

#[test]
fn a_copy_that_stays_is_found() {
    let (ttl, expires) = WITH_EXPIRY;
    assert_eq!(codes(&sessions(ttl, "", ""), "entity.SessionById"), ["P519"]);
    assert!(!has(&sessions(ttl, expires, ""), "P519", Warning));
}

#[test]
fn markers_expire_with_their_item_until_it_is_prolonged() {
    let (ttl, expires) = WITH_EXPIRY;
    let text = sessions(ttl, expires, "prolong = { update = \"Session\", set = [\"exp\"], rps = 1 }");
    assert!(codes(&text, "write.prolong").contains(&"P519"));

    let model = model(&text);
    let (generator, session) = (Generator::new(&model, 1, 10), model.entity("Session").unwrap());
    let item = generator.item(session, 3);
    let bundle = generator.bundle(session, 3);
    let marker = bundle.iter().find(|item| item["PK"].to_text().unwrap().starts_with("UNIQUE#")).unwrap();
    assert_eq!((marker.get("exp"), marker.len()), (item.get("exp"), 3));
    assert!(marker.contains_key("exp"));
}

/// The transaction that prolongs an item and its markers is the one that `explain` prints, and declared as it is sent.
#[test]
fn markers_are_prolonged_with_their_item() {
    let (ttl, expires) = WITH_EXPIRY;
    let update =
        r#"{ update = "Session", expression = "SET exp = :exp", condition = "attribute_exists(PK)" }"#;
    let copy = r#""update SessionById set exp""#;
    for action in [r#""update Session set exp""#, update] {
        let prolong = |marker: &str| {
            sessions(ttl, expires, &format!("prolong = {{ transact = [{action}, {copy}{marker}], rps = 1 }}"))
        };
        assert_eq!(codes(&prolong(""), "write.prolong"), ["P519"]);
        let text = prolong(r#", "update marker Session.token""#);
        assert_eq!(codes(&text, ""), [""; 0], "{text}");
        let model = model(&text);
        let write = model.writes.iter().find(|write| write.name == "prolong").unwrap();
        let requests = write_requests(&Generator::of_examples(&model), write);
        let [Request { operation: "TransactWriteItems", input }] = requests.as_slice() else {
            panic!("{requests:?}")
        };
        let parts: Vec<_> =
            input["TransactItems"].as_array().unwrap().iter().map(|part| &part["Update"]).collect();
        let is_marker =
            |part: &&serde_json::Value| part["Key"]["PK"]["S"].as_str().unwrap().starts_with("UNIQUE#");
        let marker = *parts.iter().find(|part| is_marker(part)).unwrap();
        assert_eq!((parts.len(), marker["UpdateExpression"].as_str()), (3, Some("SET exp = :expiry")));
        let own = &parts[0]["ExpressionAttributeValues"];
        assert!(
            own.as_object()
                .unwrap()
                .values()
                .any(|value| *value == marker["ExpressionAttributeValues"][":expiry"])
        );
    }
    let staying = sessions(ttl, "", "").replace("ttl = \"exp\"\n", "").replace(
        "[write]",
        "[write]\np = { transact = [\"update Session set exp\", \"update marker Session.token\"] }",
    );
    let source = partita_design::Source::new("test.toml", &staying);
    assert_eq!(partita_design::read(&source).err().unwrap()[0].code, "P002");
}

#[test]
fn milliseconds_never_expire() {
    let of = |least: &str| sessions(&format!("{{ type = \"int\", min = {least} }}"), WITH_EXPIRY.1, "");
    assert!(has(&of("1700000000000"), "P229", Error));
    assert!(!findings(&of("1700000000")).iter().any(|finding| finding.code == "P229"));
}
