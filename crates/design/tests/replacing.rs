//! One model in place of another: every rule that the new one lowers is named, and no other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::rules::lost_rules;

const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string", tenantId = "id" }
key = ["USER#{userId}", "USER"]
unique = ["email"]
aggregates = { open = "count Task where status == 'OPEN'", hours = "sum Task.hours" }
[entity.Task]
attributes = { taskId = "id", userId = "id", status = "OPEN|DONE", hours = "int", revision = "int" }
key = ["USER#{userId}", "TASK#{taskId}#{shard}"]
shard = { count = 4 }
lock = "revision"
index.GSI1 = { key = ["STATUS#{status}#{shard:02}", "{taskId}"], when = "status == 'OPEN'", shard = { by = "taskId", count = 4 } }
[entity.TaskById]
copies = "Task"
attributes = { taskId = "id", userId = "id", hours = "int" }
key = ["TASK#{taskId}", "TASK"]
[entity.Version]
attributes = { docId = "id", version = "int" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:08}"]
versions = "version"
[entity.Latest]
copies = "Version"
latest = true
identity = "docId"
attributes = { docId = "id", version = "int" }
key = ["DOC#{docId}", "LATEST"]
"#;

fn lost(model: &str, from: &str, to: &str) -> Vec<String> {
    assert!(model.contains(from), "{from}");
    lost_rules(&support::model(model), &support::model(&model.replacen(from, to, 1)))
}

#[test]
fn what_a_model_lowers_is_named() {
    for (from, to, rule) in [
        ("[\"USER#{userId}\", \"USER\"]", "[\"USER#{userId}\", \"ME\"]", "key of User"),
        ("TASK#{taskId}#{shard}", "TASK#{taskId}#{shard:02}", "key of Task"),
        ("shard = { count = 4 }", "shard = { count = 5 }", "key of Task"),
        ("by = \"taskId\", count = 4", "by = \"taskId\", count = 3", "index GSI1 of Task"),
        ("by = \"taskId\", count = 4", "by = \"userId\", count = 4", "index GSI1 of Task"),
        ("by = \"taskId\", count = 4", "by = \"taskId\", hash = \"other\", count = 4", "index GSI1 of Task"),
        ("by = \"taskId\", count = 4", "count = 4", "index GSI1 of Task"),
        ("STATUS#{status}#{shard:02}", "S#{status}#{shard:02}", "index GSI1 of Task"),
        ("when = \"status == 'OPEN'\"", "when = \"status == 'DONE'\"", "index GSI1 of Task"),
        ("when = \"status == 'OPEN'\", ", "", "index GSI1 of Task"),
        ("unique = [\"email\"]", "unique = [[\"tenantId\", \"email\"]]", "unique email of User"),
        ("count Task where status == 'OPEN'", "count Task", "aggregate open of User"),
        ("count Task where status == 'OPEN'", "count Task where status == 'DONE'", "aggregate open of User"),
        ("sum Task.hours", "max Task.hours", "aggregate hours of User"),
        ("sum Task.hours", "sum Task.revision", "aggregate hours of User"),
        ("lock = \"revision\"", "lock = \"hours\"", "lock revision of Task"),
        ("copies = \"Task\"", "copies = \"Task\"\nidentity = \"hours\"", "copy TaskById of Task"),
        (
            "key = [\"USER#{userId}\", \"TASK#",
            "identity = \"hours\"\nkey = [\"USER#{userId}\", \"TASK#",
            "copy TaskById of Task",
        ),
        ("latest = true\n", "", "copy Latest of Version"),
        (
            "versions = \"version\"\n[entity.Latest]\ncopies = \"Version\"\nlatest = true",
            "[entity.Latest]\ncopies = \"Version\"",
            "version version of Version",
        ),
        ("[entity.Version]", "[entity.Version]\ntype = \"V\"", "type Version of Version"),
        ("status = \"OPEN|DONE\"", "status = \"OPEN|DONE|LOST\"", "value of status in Task"),
        ("hours = \"int\", revision", "hours = \"int?\", revision", "value of hours in Task"),
    ] {
        let found = lost(MODEL, from, to);
        assert!(found.iter().any(|own| own == rule), "{from} → {to}: {found:?}");
    }
}

#[test]
fn what_a_model_keeps_or_adds_is_not() {
    for (from, to) in [
        ("format = 1", "format = 1\n# the same"),
        ("shard = { count = 4 }", "shard = { count = 3 }"),
        ("shard = { count = 4 }", "shard = { by = \"userId\", count = 4 }"),
        ("by = \"taskId\", count = 4", "by = \"taskId\", hash = \"crc32\", count = 4"),
        ("when = \"status == 'OPEN'\"", "when = \"status != 'DONE'\""),
        ("where status == 'OPEN'", "where status in ('OPEN')"),
        ("unique = [\"email\"]", "unique = [\"email\", [\"tenantId\", \"email\"]]"),
        ("status = \"OPEN|DONE\"", "status = \"DONE|OPEN\""),
        ("hours = \"int\", revision", "hours = { type = \"int\", min = 0 }, revision"),
        (
            "[entity.Version]",
            "[entity.Note]\nattributes = { noteId = \"id\" }\nkey = [\"NOTE#{noteId}\", \"NOTE\"]\n[entity.Version]",
        ),
    ] {
        assert_eq!(lost(MODEL, from, to), [""; 0], "{from} → {to}");
    }
}

#[test]
fn an_entity_that_takes_the_items_of_another_lowers_its_rules() {
    let untyped = MODEL.replace("type_attribute = \"type\"\n", "");
    let other = |key: &str| {
        format!(
            "[entity.Note]\nattributes = {{ noteId = \"string\" }}\nkey = [\"{key}\", \"USER\"]\n[entity.User]"
        )
    };
    let rule = "key of User, which Note may have too";
    assert_eq!(lost(&untyped, "[entity.User]", &other("USER#{noteId}")), [rule]);
    assert_eq!(lost(&untyped, "[entity.User]", &other("NOTE#{noteId}")), [""; 0]);
    assert_eq!(lost(MODEL, "[entity.User]", &other("USER#{noteId}")), [""; 0], "their types differ");
    let same = other("USER#{noteId}").replace("[entity.Note]", "[entity.Note]\ntype = \"User\"");
    assert_eq!(lost(MODEL, "[entity.User]", &same), [rule]);
}

#[test]
fn choices_are_texts() {
    let lost = |new: &str| lost(MODEL, "email = \"string\"", &format!("email = \"{new}\""));
    assert_eq!(lost("a@b|c@d"), [""; 0]);
    assert_eq!(lost("a@b|7"), [""; 0]);
}

#[test]
fn what_a_change_of_another_entity_lowers_is_named() {
    let doc = support::with_table(
        r#"
[entity.Doc]
attributes = { docId = "id", v = "int", title = "string" }
key = ["DOC#{docId}", "V#{v:06}"]
[entity.DocCopy]
copies = "Doc"
attributes = { docId = "id", v = "int", title = "string", slot = "string" }
key = ["COPY#{slot}", "C#{docId}"]
"#,
    );
    let key = "key = [\"DOC#{docId}\", \"V#{v:06}\"]";
    assert_eq!(
        lost(&doc, key, &format!("{key}\nversions = \"v\"")),
        ["copy DocCopy of Doc"],
        "only the newest has a copy"
    );
    assert_eq!(
        lost(
            &doc,
            "title = \"string\" }\nkey = [\"DOC",
            "title = \"string\", slot = \"string?\" }\nkey = [\"DOC"
        ),
        ["copy DocCopy of Doc"],
        "an original without a slot has no copy"
    );
    let post = support::with_table(
        r#"
[entity.Post]
attributes = { postId = "id", n = "int" }
key = ["POST#{postId}", "POST"]
[entity.Comment]
attributes = { postId = "id", commentId = "id" }
key = ["POST#{postId}", "C#{commentId}"]
"#,
    );
    let key = "key = [\"POST#{postId}\", \"POST\"]";
    assert_eq!(
        lost(&post, key, &format!("{key}\naggregates = {{ n = \"count Comment\" }}")),
        ["value of n in Post"],
        "an aggregate may be absent"
    );
}

#[test]
fn items_that_a_narrower_key_leaves_to_another_entity_are_named() {
    let text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\n\
        [entity.User]\nattributes = { userId = \"string\", email = \"string\" }\nkey = [\"{userId}\", \"U\"]\n\
        [entity.Any]\nattributes = { x = \"string\" }\nkey = [\"{x}\", \"U\"]\n";
    for kind in ["A|B", "id", "date"] {
        assert_eq!(
            lost(text, "userId = \"string\"", &format!("userId = \"{kind}\"")),
            ["key of User"],
            "{kind}"
        );
    }
    let apart = text.replace("\"{x}\", \"U\"", "\"{x}\", \"X\"");
    assert_eq!(lost(&apart, "userId = \"string\"", "userId = \"id\""), [""; 0]);
}

/// Sessions that expire, and tasks whose priority a request filters by though their key holds it.
const SESSIONS: &str = r#"
[index.GSI1]
keys = ["G1", "G2"]
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
unique = ["userId"]
[entity.Session]
attributes = { sessionId = "id", exp = "int?" }
key = ["S#{sessionId}", "S"]
ttl = "exp"
[entity.Task]
attributes = { taskId = "id", userId = "id", priority = "int" }
key = ["USER#{userId}", "TASK#{taskId}#{priority}"]
index.GSI1 = { key = ["TASK#{taskId}", "T"] }
[pattern]
urgent = { in = ["userId"], where = "priority < 3", out = "Task*" }
"#;

#[test]
fn attributes_that_items_had_to_lack_or_have_beside_their_keys_are_named() {
    let model = support::with_table(SESSIONS);
    let lost = |from: &str, to: &str| lost(&model, from, to);
    assert_eq!(lost("ttl = \"exp\"\n", ""), ["ttl exp"]);
    let user = "{ userId = \"id\" }";
    assert_eq!(lost(user, "{ userId = \"id\", exp = \"int\" }"), ["absence of exp in User"]);
    assert_eq!(lost(user, "{ userId = \"id\", G1 = \"string?\" }"), ["absence of G1 in User"]);
    let rule = "value of priority in Task, outside keys: requests filter by it";
    assert_eq!(lost(", where = \"priority < 3\"", ""), [rule]);
    assert_eq!(lost(user, "{ userId = \"id\", name = \"string?\" }"), [""; 0]);
    assert_eq!(
        lost(
            "[entity.Session]",
            "[entity.Token]\nattributes = { tokenId = \"id\", exp = \"int\" }\nkey = [\"T#{tokenId}\", \"T\"]\n[entity.Session]"
        ),
        [""; 0]
    );
    assert_eq!(lost("priority < 3", "priority < 5"), [""; 0]);
    let outside = model.replace("#{priority}\"", "\"");
    let unfiltered = outside.replace(", where = \"priority < 3\"", "");
    let kept = lost_rules(&support::model(&outside), &support::model(&unfiltered));
    assert_eq!(kept, [""; 0], "no key holds it");
}

#[test]
fn an_attribute_called_shard_does_not_become_a_number_of_any_shard() {
    let model = support::with_table(
        "[entity.Part]\nattributes = { partId = \"id\", shard = \"int\" }\nkey = [\"PART#{partId}\", \"{shard}\"]\n",
    );
    assert_eq!(lost(&model, "[entity.Part]", "[entity.Part]\nshard = { count = 9 }"), ["key of Part"]);
}
