//! Decisions judged by a model: each rule with what breaks it, and with what keeps it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Model;
use partita_design::audit::check_item;
use partita_design::audit::judge::{Change, judge};
use partita_design::audit::table::TableAudit;
use partita_design::item::{Item, Value};
use support::{change, item};

const MODEL: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id", email = "string", name = { type = "string", optional = true } }
key = ["USER#{userId}", "USER"]
unique = ["email"]
[entity.Task]
attributes = { taskId = "id", userId = "id", status = "OPEN|DONE", revision = "int" }
key = ["USER#{userId}", "TASK#{taskId}"]
lock = "revision"
index = { GSI1 = { key = ["STATUS#{status}", "{taskId}"], when = "status == 'OPEN'" } }
[entity.Order]
attributes = { orderId = "id", userId = "id", total = "int", note = { type = "string", optional = true } }
key = ["USER#{userId}", "ORDER#{orderId}"]
[entity.OrderById]
copies = "Order"
attributes = { orderId = "id", userId = "id", total = "int" }
key = ["ORDER#{orderId}", "ORDER"]
[entity.Post]
attributes = { postId = "id" }
key = ["POST#{postId}", "POST"]
aggregates = { comments = "count Comment" }
[entity.Comment]
attributes = { postId = "id", commentId = "id" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
[entity.Version]
attributes = { docId = "id", version = "int", content = "string" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:08}"]
versions = "version"
[entity.Latest]
copies = "Version"
identity = "docId"
attributes = { docId = "id", version = "int", content = "string" }
key = ["DOC#{docId}", "LATEST"]
"#;

fn model() -> Model {
    support::model(MODEL)
}

/// A check that an item does not exist.
fn absent(key: &str) -> Change {
    Change { key: item(key), old: None, new: None }
}

fn verdict(changes: &[Change]) -> Vec<(usize, &'static str)> {
    judge(&model(), changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
}

const FINE: [(usize, &str); 0] = [];

fn user(id: &str, email: &str) -> String {
    format!("PK=USER#{id} SK=USER type=User userId={id} email={email}")
}

fn marker(email: &str) -> String {
    format!("PK=UNIQUE#User#email#{email} SK=UNIQUE#User#email#{email}")
}

#[test]
fn an_index_key_is_judged_as_it_results() {
    let open =
        "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=OPEN revision=1 GSI1PK=STATUS#OPEN GSI1SK=t";
    let done = "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=DONE revision=2";
    assert_eq!(verdict(&[change("", open)]), FINE);
    assert_eq!(verdict(&[change(open, done)]), FINE);
    let again = done.replace("revision=2", "revision=3");
    assert_eq!(verdict(&[change(done, &again)]), FINE, "an item outside a sparse index");
    for wrong in [
        open.replace("status=OPEN revision=1", "status=DONE revision=2"),
        open.replace("revision=1 GSI1PK=STATUS#OPEN", "revision=2 GSI1PK=STATUS#WRONG"),
        open.replace("revision=1", "revision=2").replace(" GSI1SK=t", ""),
    ] {
        assert_eq!(verdict(&[change(open, &wrong)])[0], (0, "index"), "{wrong}");
    }
}

#[test]
fn a_null_is_not_part_of_an_index_key() {
    let text = MODEL.replace("unique = [\"email\"]", "index = { GSI1 = { key = [\"NAME\", \"{name}\"] } }");
    let model = support::model(&text);
    let mut user = item(&user("u", "a@b"));
    assert_eq!(check_item(&model, &user), [], "an absent name");
    user.insert("name".to_owned(), Value::Null);
    let messages: Vec<String> = check_item(&model, &user).into_iter().map(|found| found.message).collect();
    let expected = "name is null, and the keys of GSI1 are made from it: leave the attribute out instead";
    assert_eq!(messages, [expected]);
}

/// Plans rest on it: an index for items that have `a` proves a pattern whose items have it.
#[test]
fn a_null_is_not_part_of_an_index_key_that_lacks_another_attribute() {
    let text = MODEL
        .replace(
            "unique = [\"email\"]",
            "index = { GSI1 = { key = [\"NAME#{name}#{phone}\", \"{userId}\"] } }",
        )
        .replace("name = {", "phone = \"string?\", name = {");
    let model = support::model(&text);
    let mut user = item(&user("u", "a@b"));
    user.insert("name".to_owned(), Value::Null);
    let found = check_item(&model, &user);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.starts_with("name is null"), "{found:?}");
}

#[test]
fn an_item_has_its_type_and_keeps_it() {
    assert_eq!(verdict(&[change("", "PK=USER#u SK=TASK#t status=OPEN")]), [(0, "type")]);
    let order = "PK=USER#u SK=ORDER#o type=Order orderId=o userId=u total=1";
    let task = order.replace("type=Order", "type=Task");
    assert_eq!(verdict(&[change(order, &task)])[0], (0, "key"));
    // Deleting a wrong item repairs it; changing it without repairing it does not.
    assert_eq!(verdict(&[change("PK=X SK=Y", "")]), FINE);
    assert_eq!(verdict(&[change("PK=X SK=Y", "PK=X SK=Y more=z")]), [(0, "type")]);
    assert_eq!(verdict(&[change("PK=X SK=Y", "PK=X SK=Y")]), FINE, "nothing changes");
}

#[test]
fn a_marker_comes_and_goes_with_its_value() {
    let (one, two) = (user("u", "a@b"), user("v", "a@b"));
    assert_eq!(verdict(&[change("", &one), change("", &marker("a@b"))]), FINE);
    assert_eq!(verdict(&[change("", &one)]), [(0, "unique")], "no marker");
    let put_over = change(&marker("a@b"), &format!("{} more=x", marker("a@b")));
    assert_eq!(verdict(&[change("", &two), put_over.clone()]), [(0, "unique")], "the value is taken");
    assert_eq!(verdict(&[change(&one, &format!("{one} name=x")), put_over]), FINE, "it is its own");
    assert_eq!(verdict(&[change("", &marker("a@b"))]), [(0, "unique")], "a marker alone");
    assert_eq!(verdict(&[change(&marker("a@b"), "")]), [(0, "unique")], "the item stays");
    assert_eq!(verdict(&[change(&one, "")]), [(0, "unique")], "the marker stays");
    assert_eq!(verdict(&[change(&one, ""), change(&marker("a@b"), "")]), FINE);
    let renamed = user("u", "c@d");
    let create = change("", &marker("c@d"));
    assert_eq!(verdict(&[change(&one, &renamed), create.clone()]), [(0, "unique")], "the old marker stays");
    assert_eq!(verdict(&[change(&one, &renamed), change(&marker("a@b"), "")]), [(0, "unique")]);
    assert_eq!(verdict(&[change(&one, &renamed), change(&marker("a@b"), ""), create.clone()]), FINE);
    assert_eq!(verdict(&[change("", &one), change("", &two), change("", &marker("a@b"))]), [(2, "unique")]);
    // Repairs: a missing marker is put next to a check of its item.
    assert_eq!(verdict(&[change(&one, &one), change("", &marker("a@b"))]), FINE);
    let odd = "PK=UNIQUE#User#email#c@d SK=other";
    assert_eq!(verdict(&[change("", &renamed), change("", odd)]), [(0, "unique"), (1, "key")]);
    // Two items exchange their values; both markers stay.
    let exchanged = [change(&one, &user("u", "x@y")), change(&user("v", "x@y"), &user("v", "a@b"))];
    assert_eq!(verdict(&exchanged), FINE);
}

/// Expired before its item, a marker would let another item take the value.
#[test]
fn a_marker_expires_when_its_item_does() {
    let model = support::model(
        &MODEL
            .replace("type_attribute", "ttl = \"exp\"\ntype_attribute")
            .replace("email = \"string\", name", "email = \"string\", exp = \"int?\", name"),
    );
    let rules = |changes: &[Change]| -> Vec<(usize, &str)> {
        judge(&model, changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
    };
    let until = |text: String, exp: &str| format!("{text} exp={exp}");
    let (plain, one, later) = (user("u", "a@b"), until(user("u", "a@b"), "9"), until(user("u", "a@b"), "10"));
    let [never, soon, late] = [marker("a@b"), until(marker("a@b"), "9"), until(marker("a@b"), "10")];
    for (new, marker, is_right) in [
        (&one, &soon, true),
        (&one, &late, false),
        (&one, &never, false),
        (&plain, &never, true),
        (&plain, &soon, false),
    ] {
        let decision = [change("", new), change("", marker)];
        assert_eq!(rules(&decision).is_empty(), is_right, "{new} {marker}");
        let stored = [item(new), item(marker)];
        assert_eq!(support::violations(&model, &stored).is_empty(), is_right, "{new} {marker}");
    }
    assert_eq!(rules(&[change(&one, &later)]), [(0, "unique")], "the marker expires before it");
    assert_eq!(rules(&[change(&one, &later), change(&soon, &late)]), FINE);
    assert_eq!(rules(&[change(&one, &plain), change(&soon, &never)]), FINE);
    assert_eq!(rules(&[change(&one, &later), change(&soon, &soon)]), [(0, "unique")]);
    assert_eq!(rules(&[change(&soon, &late)]), [(0, "unique")], "the item stays as it was");
    assert_eq!(rules(&[change(&one, &format!("{one} name=x"))]), FINE);
    assert_eq!(rules(&[change(&one, ""), change(&soon, "")]), FINE);
    let other = |exp: &str| until(user("v", "a@b"), exp);
    assert_eq!(rules(&[change(&one, ""), change("", &other("9"))]), FINE, "the marker stays");
    assert_eq!(rules(&[change(&one, ""), change("", &other("10"))]), [(1, "unique")]);
    assert_eq!(rules(&[change(&one, ""), change("", &other("10")), change(&soon, &late)]), FINE);
}

#[test]
fn a_copy_is_written_with_its_original() {
    let order = |total: &str| format!("PK=USER#u SK=ORDER#o type=Order orderId=o userId=u total={total}");
    let copy = |total: &str| format!("PK=ORDER#o SK=ORDER type=OrderById orderId=o userId=u total={total}");
    let both = |old: &str, new: &str| {
        let text = |make: &dyn Fn(&str) -> String, total: &str| {
            if total.is_empty() { String::new() } else { make(total) }
        };
        [change(&text(&order, old), &text(&order, new)), change(&text(&copy, old), &text(&copy, new))]
    };
    for (old, new) in [("", "1"), ("1", "2"), ("2", "")] {
        assert_eq!(verdict(&both(old, new)), FINE);
        let [original, copied] = both(old, new);
        assert_eq!(verdict(&[original]), [(0, "copy")], "{old} → {new}");
        assert_eq!(verdict(&[copied]), [(0, "copy")], "{old} → {new}");
    }
    let differing = [change("", &order("1")), change("", &copy("2"))];
    assert_eq!(verdict(&differing), [(0, "copy")]);
    assert_eq!(verdict(&[change(&order("1"), &format!("{} note=x", order("1")))]), FINE, "not in the copy");
    // Another user's order with the same id would take over the copy.
    let stolen = "PK=USER#w SK=ORDER#o type=Order orderId=o userId=w total=1";
    let theirs = copy("1").replace("userId=u", "userId=w");
    assert_eq!(verdict(&[change("", stolen), change(&copy("1"), &theirs)]), [(0, "copy")]);
    // It may after the first one is gone.
    assert_eq!(verdict(&[change(&order("1"), ""), change("", stolen), change(&copy("1"), &theirs)]), FINE);
    // Repairs: a missing copy next to a check of its original, an orphan next to a check that there is none.
    assert_eq!(verdict(&[change(&order("1"), &order("1")), change("", &copy("1"))]), FINE);
    assert_eq!(verdict(&[change(&copy("1"), ""), absent("PK=USER#u SK=ORDER#o")]), FINE);
    assert_eq!(verdict(&[change(&copy("1"), ""), change(&order("1"), &order("1"))]), [(0, "copy")]);
}

/// An order, and a copy of it.
fn copied_order(copy: &str) -> String {
    format!(
        "[entity.Order]\nattributes = {{ orderId = \"id\", userId = \"id\", total = \"int\" }}\n\
         key = [\"USER#{{userId}}\", \"ORDER#{{orderId}}\"]\n[entity.Copy]\ncopies = \"Order\"\n{copy}\n"
    )
}

fn verdict_of(copy: &str, changes: &[Change]) -> Vec<(usize, &'static str)> {
    let model = support::model(&support::with_table(&copied_order(copy)));
    judge(&model, changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
}

#[test]
fn two_originals_never_share_a_copy() {
    let verdict = |changes: &[Change]| {
        let copy =
            "attributes = { orderId = \"id\", total = \"int\" }\nkey = [\"ORDER#{orderId}\", \"COPY\"]";
        verdict_of(copy, changes)
    };
    let order = |user: &str| format!("PK=USER#{user} SK=ORDER#o type=Order orderId=o userId={user} total=1");
    let copy = "PK=ORDER#o SK=COPY type=Copy orderId=o total=1";
    let create = |user: &str| change("", &order(user));
    assert_eq!(verdict(&[create("u"), change("", copy)]), FINE);
    assert_eq!(verdict(&[create("v"), change(copy, copy)]), [(0, "copy")], "it is that of another");
    assert_eq!(verdict(&[create("u"), create("v"), change("", copy)]), [(0, "copy")]);
    let moved = [change(&order("u"), ""), create("v"), change(copy, copy)];
    assert_eq!(verdict(&moved), FINE, "the other one is deleted");
    assert_eq!(verdict(&[change(&order("u"), ""), change(copy, copy)]), [(0, "copy")]);
    assert_eq!(verdict(&[change(&order("u"), ""), change(copy, "")]), FINE);
}

#[test]
fn each_version_may_have_a_copy() {
    let text = "[entity.Draft]\nattributes = { docId = \"id\", version = \"int\", text = \"string\" }\n\
                identity = [\"docId\", \"version\"]\nversions = \"version\"\nkey = [\"DOC#{docId}\", \"V#{version}\"]\n\
                [entity.Copy]\ncopies = \"Draft\"\nattributes = { docId = \"id\", version = \"int\", text = \"string\" }\n\
                identity = [\"docId\", \"version\"]\nkey = [\"COPY#{docId}\", \"V#{version}\"]\n";
    let model = support::model(&support::with_table(text));
    let draft = |version: i64| {
        format!("PK=DOC#d SK=V#{version} type=Draft docId=d version={version} text=t{version}")
    };
    let copy = |version: i64| draft(version).replace("Draft", "Copy").replace("PK=DOC", "PK=COPY");
    for version in 1..3 {
        let both = [change("", &draft(version)), change("", &copy(version))];
        assert_eq!(judge(&model, &both), []);
        assert_eq!(judge(&model, &both[..1])[0].1.rule, "copy");
    }
    let mut audit = TableAudit::new(&model);
    (1..3).for_each(|version| [draft(version), copy(version)].iter().for_each(|one| audit.add(&item(one))));
    assert_eq!(audit.finish().1.len(), 0);
}

#[test]
fn the_newest_version_may_have_the_number_0_in_its_key() {
    let ver = "[entity.Ver]\nattributes = { docId = \"id\", version = { type = \"int\", min = 1 } }\n\
               identity = [\"docId\", \"version\"]\nversions = \"version\"\nkey = [\"DOC#{docId}\", \"V#{version:06}\"]\n";
    let latest = "[entity.Latest]\ncopies = \"Ver\"\nlatest = true\nidentity = \"docId\"\n\
                  attributes = { docId = \"id\", version = \"int\" }\nkey = [\"DOC#{docId}\", \"V#000000\"]\n";
    let item = |kind: &str, key: i64, version: i64| {
        format!("PK=DOC#d SK=V#{key:06} type={kind} docId=d version={version}")
    };
    for text in [format!("{ver}{latest}"), format!("{latest}{ver}")] {
        let model = support::model(&support::with_table(&text));
        let first = [change("", &item("Ver", 1, 1)), change("", &item("Latest", 0, 1))];
        assert_eq!(judge(&model, &first), []);
        let second = [change("", &item("Ver", 2, 2)), change(&item("Latest", 0, 1), &item("Latest", 0, 2))];
        assert_eq!(judge(&model, &second), []);
        assert_eq!(judge(&model, &second[..1])[0].1.rule, "version");
    }
}

#[test]
fn a_table_without_the_keys_of_its_model_is_not_written() {
    let mut put = change("", "PK=USER#u type=User userId=u email=a@b");
    put.key.remove("SK");
    let found = judge(&model(), &[put]);
    assert_eq!(found[0].1.message, "the table has no key SK: its keys are not those of the model");
}

#[test]
fn pairs_of_different_values_are_different_pairs() {
    let copy = "attributes = { orderId = \"string\", userId = \"string\", total = \"int\", place = \"string\" }\n\
                key = [\"PLACE#{place}\", \"{userId}#{orderId}\"]";
    let order = |user: &str, order: &str, total: i64| {
        let texts =
            [("PK", format!("USER#{user}")), ("SK", format!("ORDER#{order}")), ("type", "Order".to_owned())];
        let texts = texts.into_iter().chain([("userId", user.to_owned()), ("orderId", order.to_owned())]);
        let mut item: Item = texts.map(|(name, text)| (name.to_owned(), Value::String(text))).collect();
        item.insert("total".to_owned(), Value::Number(total.to_string()));
        item
    };
    let copied = |mut item: Item| {
        let text = |name: &str, item: &Item| match &item[name] {
            Value::String(text) => text.clone(),
            _ => String::new(),
        };
        let sort = format!("{}#{}", text("userId", &item), text("orderId", &item));
        let texts = [
            ("PK", "PLACE#x".to_owned()),
            ("SK", sort),
            ("type", "Copy".to_owned()),
            ("place", "x".to_owned()),
        ];
        item.extend(texts.map(|(name, text)| (name.to_owned(), Value::String(text))));
        item
    };
    let model = support::model(&support::with_table(&copied_order(copy).replace("\"id\"", "\"string\"")));
    let mut audit = TableAudit::new(&model);
    for one in [order("1", "2, userId 3", 1), order("1, orderId 2", "3", 2)] {
        audit.add(&copied(one.clone()));
        audit.add(&one);
    }
    assert_eq!(audit.finish().1.get("copy"), None);
}

#[test]
fn a_copy_whose_key_does_not_follow_is_shown_as_it_was() {
    let verdict = |changes: &[Change]| {
        let copy = "attributes = { orderId = \"id\", userId = \"id\", total = \"int\" }\nshard = { count = 4 }\n\
                    key = [\"COPY#{shard}\", \"ORDER#{userId}#{orderId}\"]";
        verdict_of(copy, changes)
    };
    let order = |total: i64| format!("PK=USER#u SK=ORDER#o type=Order orderId=o userId=u total={total}");
    let copy = |shard: i64, total: i64| {
        format!("PK=COPY#{shard} SK=ORDER#u#o type=Copy orderId=o userId=u total={total}")
    };
    let update = || change(&order(1), &order(2));
    assert_eq!(verdict(&[change("", &order(1)), change("", &copy(0, 1))]), FINE);
    assert_eq!(
        verdict(&[change("", &order(1)), change("", &copy(0, 1)), change("", &copy(1, 1))])[0].1,
        "copy"
    );
    assert_eq!(verdict(&[update(), change(&copy(0, 1), &copy(0, 2))]), FINE);
    assert_eq!(verdict(&[update(), change("", &copy(1, 2))]), [(0, "copy")], "the former copy stays");
    assert_eq!(verdict(&[update(), change(&copy(0, 1), ""), change("", &copy(1, 2))]), FINE, "it moves");
    assert_eq!(verdict(&[update(), change(&copy(0, 1), &copy(0, 1)), change("", &copy(1, 2))])[0].1, "copy");
    let check = || change(&order(1), &order(1));
    assert_eq!(verdict(&[check(), change("", &copy(1, 1))])[0].1, "copy", "there is one already");
    assert_eq!(verdict(&[change(&order(1), ""), change(&copy(0, 1), "")]), FINE);
    assert_eq!(verdict(&[change(&order(1), "")]), [(0, "copy")]);
}

#[test]
fn versions_are_numbered_without_gaps() {
    let version = |n: i64| format!("PK=DOC#d SK=V#{n:08} type=Version docId=d version={n} content=c{n}");
    let latest = |n: i64| format!("PK=DOC#d SK=LATEST type=Latest docId=d version={n} content=c{n}");
    let add = |n: i64| change("", &version(n));
    assert_eq!(verdict(&[add(1), change("", &latest(1))]), FINE);
    assert_eq!(verdict(&[add(2), change(&latest(1), &latest(2))]), FINE);
    assert_eq!(verdict(&[add(2), add(3), change(&latest(1), &latest(3))]), FINE);
    assert_eq!(verdict(&[add(3), change(&latest(1), &latest(3))]), [(0, "version")], "skipped");
    assert_eq!(verdict(&[add(1), change(&latest(1), &latest(1))]), [(0, "version")], "not new");
    assert_eq!(verdict(&[add(2), change("", &latest(2))]), [(0, "version")], "the first is 1");
    assert_eq!(verdict(&[add(2)]), [(0, "version")], "without the copy");
    assert_eq!(verdict(&[change(&latest(2), &latest(1))]), [(0, "version")], "an older version");
    // The keys of versions leave out the number 0.
    assert_eq!(verdict(&[change("", &version(0)), change("", &latest(0))])[0], (0, "key"));
    let edited = version(2).replace("content=c2", "content=x");
    assert_eq!(verdict(&[change(&version(2), &edited)]), [(0, "version")]);
    assert_eq!(verdict(&[change(&version(2), &edited), change(&latest(2), &latest(2))]), [(0, "version")]);
    assert_eq!(verdict(&[change(&version(2), &edited), change(&latest(3), &latest(3))]), FINE);
    let edited_latest = latest(2).replace("content=c2", "content=x");
    assert_eq!(verdict(&[change(&version(2), &edited), change(&latest(2), &edited_latest)]), FINE);
    // Back to the version before.
    let remove = |n: i64| change(&version(n), "");
    let back = [remove(3), change(&version(2), &version(2)), change(&latest(3), &latest(2))];
    assert_eq!(verdict(&back), FINE);
    assert_eq!(verdict(&[remove(3), change(&latest(3), &latest(2))]), [(0, "version")]);
    // The oldest are removed first, the last one with its copy.
    let newest = || change(&latest(3), &latest(3));
    let gone = |n: i64| absent(&format!("PK=DOC#d SK=V#{n:08}"));
    assert_eq!(verdict(&[remove(1), newest()]), FINE);
    assert_eq!(verdict(&[remove(2), newest()]), [(0, "version")]);
    assert_eq!(verdict(&[remove(2), gone(1), newest()]), FINE);
    assert_eq!(verdict(&[remove(3), change(&latest(3), "")]), [(0, "version")]);
    assert_eq!(verdict(&[remove(3), gone(2), change(&latest(3), "")]), FINE);
    assert_eq!(verdict(&[remove(1), remove(2), remove(3), change(&latest(3), "")]), FINE);
    // A missing copy is put next to a check of its version.
    assert_eq!(verdict(&[change(&version(2), &version(2)), change("", &latest(2))]), FINE);
    let huge = format!("PK=DOC#d SK=LATEST type=Latest docId=d version={} content=c", i64::MAX);
    assert_eq!(verdict(&[add(2), change(&huge, &latest(2))])[0].1, "version");
}

#[test]
fn an_aggregate_is_kept_with_its_items() {
    let post = |comments: i64| format!("PK=POST#p SK=POST type=Post postId=p comments={comments}");
    let comment = "PK=POST#p SK=COMMENT#c type=Comment postId=p commentId=c";
    assert_eq!(verdict(&[change("", &post(0))]), FINE);
    assert_eq!(verdict(&[change("", comment), change(&post(0), &post(1))]), FINE);
    assert_eq!(verdict(&[change("", comment)]), [(0, "aggregate")]);
    assert_eq!(verdict(&[change(&post(1), &post(2))]), [(0, "aggregate")]);
    assert_eq!(verdict(&[change("", comment), change(&post(0), &post(2))]), [(0, "aggregate")]);
    assert_eq!(verdict(&[change(comment, ""), change(&post(1), &post(0))]), FINE);
}

#[test]
fn values_are_of_their_types() {
    let task = "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=DONE revision=1";
    assert_eq!(verdict(&[change("", task)]), FINE);
    for wrong in ["revision=x", "status=LOST", "taskId=7"] {
        let name = wrong.split_once('=').unwrap().0;
        let words: Vec<&str> =
            task.split(' ').filter(|word| !word.starts_with(&format!("{name}="))).collect();
        let found = verdict(&[change("", &format!("{} {wrong}", words.join(" ")))]);
        assert!(found.contains(&(0, "value")), "{wrong}: {found:?}");
    }
}

#[test]
fn a_locked_item_counts_its_changes() {
    let task = |revision: &str| {
        format!("PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=DONE revision={revision}")
    };
    assert_eq!(verdict(&[change("", &task("7"))]), FINE);
    assert_eq!(verdict(&[change(&task("7"), &task("8"))]), FINE);
    for wrong in [
        task("9"),
        task("6"),
        format!("{} note=x", task("7")),
        task("x"),
        task("7").replace(" revision=7", ""),
    ] {
        assert!(verdict(&[change(&task("7"), &wrong)]).contains(&(0, "lock")), "{wrong}");
    }
    assert_eq!(verdict(&[change(&task("7"), "")]), FINE);
    let huge = ["99999999999999999999", "100000000000000000000", "1"].map(|text| {
        let mut changed = change(&task("7"), &task("8"));
        let revision = Value::Number(text.to_owned());
        changed.new.as_mut().unwrap().insert("revision".to_owned(), revision);
        changed.new.unwrap()
    });
    let next = |new: &Item| {
        let key = change(&task("7"), "").key;
        verdict(&[Change { key, old: Some(huge[0].clone()), new: Some(new.clone()) }])
    };
    assert_eq!(next(&huge[1]), FINE);
    assert_eq!(next(&huge[2]), [(0, "lock")]);
    let message = |new: &str| judge(&model(), &[change(&task("7"), new)]).remove(0).1.message;
    assert!(
        message(&format!("{} note=x", task("7")))
            .starts_with("Task changes, but its revision stays 7: set revision = 8")
    );
    assert!(message(&task("9")).starts_with("revision of Task is 9, but 7 is stored: set revision = 8"));
}

#[test]
fn a_marker_is_known_by_its_whole_key() {
    let one = user("u", "a@b");
    let odd = "PK=UNIQUE#User#email#a@b SK=bogus";
    assert_eq!(verdict(&[change(&marker("a@b"), ""), absent(odd)]), [(0, "unique")]);
    assert_eq!(verdict(&[change(&marker("a@b"), ""), change(odd, "")]), [(0, "unique")]);
    assert_eq!(verdict(&[change("", &one), absent(odd)]), [(0, "unique")]);
    assert_eq!(verdict(&[change(odd, "")]), FINE, "it is no marker");
}

#[test]
fn a_number_in_a_key_has_one_spelling() {
    let model = support::model(&MODEL.replace("V#{version:08}", "V#{version}"));
    let found = |changes: &[Change]| -> Vec<(usize, &str)> {
        judge(&model, changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
    };
    let version =
        |key: &str, n: i64| format!("PK=DOC#d SK=V#{key} type=Version docId=d version={n} content=c{n}");
    let latest = |n: i64| format!("PK=DOC#d SK=LATEST type=Latest docId=d version={n} content=c{n}");
    assert_eq!(found(&[change("", &version("2", 2)), change(&latest(1), &latest(2))]), FINE);
    let remove = || change(&version("2", 2), "");
    let newest = || change(&latest(3), &latest(3));
    assert_eq!(found(&[remove(), newest()]), [(0, "version")], "version 1 may exist");
    assert_eq!(found(&[remove(), absent("PK=DOC#d SK=V#1"), newest()]), FINE);
    for other in ["01", "1.0", "1.00", "+1", "1e0"] {
        let check = absent(&format!("PK=DOC#d SK=V#{other}"));
        assert_eq!(found(&[remove(), check, newest()]), [(0, "version")], "{other}");
        let spelled = change("", &version(other, 1));
        assert!(found(&[spelled, change("", &latest(1))]).contains(&(0, "key")), "{other}");
    }
    // Another spelling does not take the place of a version in the same transaction.
    assert_eq!(found(&[remove(), absent("PK=DOC#d SK=V#2.00"), newest()]), [(0, "version")]);
}

#[test]
fn an_item_counts_though_only_its_key_has_the_value() {
    let post = |comments: i64| format!("PK=POST#p SK=POST type=Post comments={comments}");
    let comment = "PK=POST#p SK=COMMENT#c type=Comment";
    assert_eq!(verdict(&[change("", comment), change(&post(0), &post(1))]), FINE);
    assert_eq!(verdict(&[change("", comment)]), [(0, "aggregate")]);
    assert_eq!(verdict(&[change(comment, "")]), [(0, "aggregate")]);
}

#[test]
fn a_copy_is_deleted_only_with_its_own_original() {
    let copy = "PK=ORDER#o SK=ORDER type=OrderById orderId=o userId=u total=1";
    assert_eq!(verdict(&[change(copy, ""), absent("PK=USER#w SK=ORDER#o")]), [(0, "copy")]);
    assert_eq!(verdict(&[change(copy, ""), absent("PK=USER#u SK=ORDER#o")]), FINE);
    // The copy does not show whose order it is: only the deletion itself is evidence.
    let model = support::model(&MODEL.replace(
        "copies = \"Order\"\nattributes = { orderId = \"id\", userId = \"id\", total",
        "copies = \"Order\"\nattributes = { orderId = \"id\", total",
    ));
    let copy = copy.replace(" userId=u", "");
    let order = "PK=USER#u SK=ORDER#o type=Order orderId=o userId=u total=1";
    assert_eq!(judge(&model, &[change(&copy, ""), change(order, "")]), []);
    assert_eq!(judge(&model, &[change(&copy, ""), absent("PK=USER#w SK=ORDER#o")])[0].1.rule, "copy");
}

#[test]
fn the_time_to_judge_a_write_is_bounded() {
    let mut text = "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\"]\n".to_owned();
    for entity in 0..25 {
        let names: Vec<String> = (0..39).map(|number| format!("a{number}")).collect();
        let attributes: Vec<String> = names.iter().map(|name| format!("{name} = \"string\"")).collect();
        let key: String = names.iter().map(|name| format!("{{{name}}}")).collect();
        let attributes = attributes.join(", ").replacen("string", "int", 1);
        text += &format!("[entity.E{entity}]\nattributes = {{ {attributes} }}\nkey = [\"{key}\"]\n");
    }
    let model = support::model(&text);
    assert!(partita_design::audit::effort::parts_per_item(&model) <= 1_000, "the most that can be attached");
    let put = change("", &format!("PK={}", "x".repeat(2_000)));
    let start = std::time::Instant::now();
    assert_eq!(judge(&model, &[put])[0].1.rule, "key");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn null_is_not_a_unique_value() {
    let text = MODEL.replace("email = \"string\"", "email = \"string?\"");
    let model = support::model(&text);
    let mut put = change("", "PK=USER#u SK=USER type=User userId=u");
    assert!(judge(&model, std::slice::from_ref(&put)).is_empty(), "absent");
    put.new.as_mut().unwrap().insert("email".to_owned(), Value::Null);
    let found = judge(&model, &[put]);
    assert!(found.iter().all(|(_, violation)| violation.rule != "unique"), "{found:?}");
}

#[test]
fn the_condition_of_an_index_looks_into_sets() {
    let text = MODEL.replace("status = \"OPEN|DONE\",", "status = \"OPEN|DONE\", tags = \"set\",");
    let model = support::model(&text.replace("status == 'OPEN'", "contains(tags, 'x')"));
    let task = "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=OPEN revision=1";
    let found = |keys: &str, tag: &str| -> Vec<&str> {
        let mut put = change("", &format!("{task}{keys}"));
        let tags = Value::StringSet(vec![tag.to_owned()]);
        put.new.as_mut().unwrap().insert("tags".to_owned(), tags);
        judge(&model, &[put]).into_iter().map(|(_, violation)| violation.rule).collect()
    };
    let keys = " GSI1PK=STATUS#OPEN GSI1SK=t";
    assert_eq!(found(keys, "x"), [""; 0]);
    assert_eq!(found("", "xy"), [""; 0]);
    assert_eq!(found("", "x"), ["index"; 2]);
    assert_eq!(found(keys, "xy"), ["index"; 2]);
}

#[test]
fn null_adds_nothing_to_a_sum() {
    let text = MODEL.replace("comments = \"count Comment\"", "points = \"sum Comment.points\"");
    let model =
        support::model(&text.replace("commentId = \"id\" }", "commentId = \"id\", points = \"int?\" }"));
    let found = |points: i64| {
        let mut comment = change("", "PK=POST#p SK=COMMENT#c type=Comment postId=p commentId=c");
        comment.new.as_mut().unwrap().insert("points".to_owned(), Value::Null);
        let post = |points: i64| format!("PK=POST#p SK=POST type=Post postId=p points={points}");
        let changes = [
            comment,
            change(&post(5), &post(points)),
            change("", "PK=POST#p SK=COMMENT#d type=Comment postId=p commentId=d points=2"),
        ];
        let found = judge(&model, &changes);
        found.iter().any(|(_, violation)| violation.rule == "aggregate")
    };
    assert!(!found(7));
    assert!(found(99), "the sum is judged all the same");
}

/// The other attributes show where in a key the shard is.
#[test]
fn a_shard_is_found_beside_values_that_contain_the_delimiter() {
    for (kind, key) in
        [("date", "DUE-{x}-{shard}"), ("date", "DUE-{shard}-{x}"), ("string", "{x}-{shard}-{room}")]
    {
        let model = support::model(&format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\n[index.G]\nkeys = [\"GP\", \"GS\"]\n\
             [entity.Stay]\nattributes = {{ stayId = \"ulid\", x = \"{kind}\", room = \"id\" }}\n\
             key = [\"STAY-{{stayId}}\", \"STAY\"]\n\
             index.G = {{ key = [\"{key}\", \"{{stayId}}\"], shard = {{ by = \"stayId\", count = 3 }} }}"
        ));
        let mut items = support::items_of(&model, 40);
        assert_eq!(support::violations(&model, &items), "", "{key}");
        if kind == "string" {
            for item in &mut items {
                let old = item["x"].as_text().unwrap().to_owned();
                item.insert("x".to_owned(), Value::String("a-1-b".to_owned()));
                let key = item["GP"].as_text().unwrap().replacen(&old, "a-1-b", 1);
                item.insert("GP".to_owned(), Value::String(key));
            }
            assert_eq!(support::violations(&model, &items), "", "{key}");
        }
    }
}

#[test]
fn a_shard_is_the_one_that_readers_compute() {
    let sharded = |shard: &str| {
        let text = MODEL.replace(
            "STATUS#{status}\", \"{taskId}\"], when = \"status == 'OPEN'\"",
            "STATUS#{status}#{shard:03}\", \"{taskId}\"], SHARD",
        );
        support::model(&text.replace("SHARD", &format!("shard = {{ {shard} }}, when = \"status == 'OPEN'\"")))
    };
    let task = "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=OPEN revision=1 GSI1SK=t";
    let admitted = |shard: &str, keys: &[&str]| -> Vec<String> {
        let model = sharded(shard);
        let fits = |key: &&&str| {
            judge(&model, &[change("", &format!("{task} GSI1PK=STATUS#OPEN#{key}"))]).is_empty()
        };
        keys.iter().filter(fits).map(|key| (*key).to_owned()).collect()
    };
    let keys = ["000", "001", "002", "003", "004", "005", "0", "00", "0000", "-01", "00x"];
    // zlib.crc32(b"t") % 5 is 2.
    assert_eq!(admitted("by = \"taskId\", count = 5", &keys), ["002"]);
    assert_eq!(admitted("by = \"taskId\", hash = \"crc32\", count = 5", &keys), ["002"]);
    let all = ["000", "001", "002", "003", "004"];
    assert_eq!(admitted("by = \"taskId\", hash = \"other\", count = 5", &keys), all);
    assert_eq!(admitted("count = 5", &keys), all);
    // Without the attribute, the shard follows from the value in the key.
    let model = sharded("by = \"taskId\", count = 5");
    let bare = |shard: &str| format!("{task} GSI1PK=STATUS#OPEN#{shard}").replace(" taskId=t", "");
    assert_eq!(judge(&model, &[change("", &bare("002"))]), []);
    assert_eq!(judge(&model, &[change("", &bare("001"))])[0].1.rule, "index");
}

#[test]
fn an_attribute_called_shard_is_compared_with_the_key() {
    let text = MODEL
        .replace("attributes = { postId = \"id\" }", "attributes = { postId = \"id\", shard = \"int\" }");
    let model = support::model(
        &text.replace("[\"POST#{postId}\", \"POST\"]", "[\"POST#{postId}\", \"POST#{shard}\"]"),
    );
    let post = |key: i64, shard: &str| {
        change("", &format!("PK=POST#p SK=POST#{key} type=Post postId=p comments=0{shard}"))
    };
    assert_eq!(judge(&model, &[post(7, " shard=7")]), []);
    assert_eq!(judge(&model, &[post(7, "")]), []);
    assert_eq!(judge(&model, &[post(7, " shard=8")])[0].1.rule, "key");
}

/// Boards of several items each, which together have the aggregates of their cards.
const BOARDS: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Board]
attributes = { boardId = "id?", part = "id" }
identity = "boardId"
key = ["BOARD#{part}", "BOARD"]
aggregates = { cards = "count Card", weight = "sum Card.weight", urgent = "count Card where contains(tags, 'urgent')", top = "max Card.weight" }
[entity.Card]
attributes = { cardId = "id", boardId = "id?", weight = "decimal?", tags = "set?" }
key = ["CARD#{cardId}", "CARD"]
"#;

/// Judges the changes, and audits what they result in together with other items.
fn judged_and_audited(changes: &[Change], others: &[Item]) -> (bool, bool) {
    let model = support::model(BOARDS);
    let mut audit = partita_design::audit::table::TableAudit::new(&model);
    let after = changes.iter().filter_map(|change| change.new.as_ref());
    after.chain(others).for_each(|item| audit.add(item));
    (judge(&model, changes).is_empty(), audit.finish().1.is_empty())
}

fn board(part: &str, id: &str, aggregates: &str) -> String {
    format!("PK=BOARD#{part} SK=BOARD type=Board part={part} boardId={id} {aggregates}")
}

fn card(id: &str, board: &str, weight: &str) -> String {
    format!("PK=CARD#{id} SK=CARD type=Card cardId={id} boardId={board} weight={weight}")
}

#[test]
fn sums_are_exact_or_refused() {
    let nines = "9".repeat(38);
    let one = |weight: &str| Value::Number(weight.to_owned());
    let mut large = change("", &card("a", "b", "0"));
    large.new.as_mut().unwrap().insert("weight".to_owned(), one(&nines));
    for (weight, sum, fits) in [
        ("1", format!("1{}", "0".repeat(38)), true),
        ("0.5", format!("{}", u128::MAX), false),
        ("1e-20", nines.clone(), false),
        ("1e100", format!("1{}", "0".repeat(100)), false),
    ] {
        let mut small = change("", &card("c", "b", "0"));
        small.new.as_mut().unwrap().insert("weight".to_owned(), one(weight));
        let mut parent = change("", &board("p", "b", "cards=2"));
        let parent_item = parent.new.as_mut().unwrap();
        parent_item.insert("weight".to_owned(), one(&sum));
        let top = if weight == "1e100" { "1e100" } else { &nines };
        parent_item.insert("top".to_owned(), one(top));
        let found = judged_and_audited(&[large.clone(), small, parent], &[]);
        assert_eq!(found, (fits, fits), "{weight}");
    }
}

#[test]
fn an_aggregate_looks_into_sets() {
    let tagged = |tag: &str| {
        let mut put = change("", &card("a", "b", "1"));
        put.new.as_mut().unwrap().insert("tags".to_owned(), Value::StringSet(vec![tag.to_owned()]));
        put
    };
    let parent =
        |urgent: i64| change("", &board("p", "b", &format!("cards=1 weight=1 top=1 urgent={urgent}")));
    assert_eq!(judged_and_audited(&[tagged("urgent"), parent(1)], &[]), (true, true));
    assert_eq!(judged_and_audited(&[tagged("urgent"), parent(0)], &[]), (false, false));
    assert_eq!(judged_and_audited(&[tagged("not urgent"), parent(0)], &[]), (true, true));
    assert_eq!(judged_and_audited(&[tagged("not urgent"), parent(1)], &[]), (false, false));
}

#[test]
fn an_item_without_a_parent_counts_nowhere() {
    let mut lost = change("", &card("a", "b", "1"));
    lost.new.as_mut().unwrap().insert("boardId".to_owned(), Value::Null);
    assert_eq!(judged_and_audited(&[lost.clone()], &[]), (true, true));
    let mut parent = change("", &board("p", "b", "cards=1 weight=1 top=1"));
    parent.new.as_mut().unwrap().insert("boardId".to_owned(), Value::Null);
    assert_eq!(judged_and_audited(&[lost, parent], &[]), (true, true), "nothing says what it counts");
}

#[test]
fn items_of_one_identity_have_an_aggregate_together() {
    let (one, two) = (board("p", "b", "cards=1 weight=5 top=5"), board("q", "b", "cards=0 weight=0"));
    let old = card("a", "b", "5");
    let others = [item(&old)];
    // A second part starts at nothing, and takes a share only of what the first gives up.
    let first = item(&one);
    let with_first = [others[0].clone(), first];
    assert_eq!(judged_and_audited(&[change("", &two)], &with_first), (true, true));
    assert_eq!(
        judged_and_audited(&[change("", &one.replace("#p", "#q").replace("part=p", "part=q"))], &with_first),
        (false, false)
    );
    let half = |part: &str, cards: i64| board(part, "b", &format!("cards={cards} weight=5 top=5"));
    let moved = [
        change(&half("p", 1), &half("p", 0)),
        change(&board("q", "b", "cards=0 weight=0"), &board("q", "b", "cards=1 weight=0")),
    ];
    assert_eq!(judged_and_audited(&moved, &others), (true, true));
    // What is seen does not show that the greatest value leaves; a greater one does.
    let gone = change(&old, "");
    let parts =
        [change(&board("q", "b", "cards=0 weight=0 top=4"), &board("q", "b", "cards=-1 weight=-5 top=4"))];
    let (accepted, _) = judged_and_audited(&[gone, parts[0].clone()], &[]);
    assert!(!accepted);
    // An identity that changes leaves nothing behind.
    assert_eq!(
        judged_and_audited(&[change(&one, &one.replace("boardId=b", "boardId=x"))], &others),
        (false, false)
    );
    let renamed = [
        change(&one, &one.replace("boardId=b", "boardId=x")),
        change(&old, &old.replace("boardId=b", "boardId=x")),
    ];
    assert_eq!(judged_and_audited(&renamed, &[]), (false, true), "another part may have the greatest value");
    let sums = support::model(&BOARDS.replace(", top = \"max Card.weight\"", ""));
    assert_eq!(judge(&sums, &renamed), []);
}

#[test]
fn mixed_values_have_one_order() {
    let model = support::model(
        &BOARDS
            .replace("weight = \"decimal?\"", "weight = \"9|10|1a?\"")
            .replace("weight = \"sum Card.weight\", ", ""),
    );
    let values = [
        Value::String("9".into()),
        Value::String("10".into()),
        Value::String("1a".into()),
        Value::Number("10".into()),
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let mut audit = partita_design::audit::table::TableAudit::new(&model);
        for number in order {
            let mut card = item(&card(&format!("c{number}"), "b", "0"));
            card.insert("weight".to_owned(), values[number].clone());
            audit.add(&card);
        }
        let mut board = item(&board("p", "b", "cards=4"));
        board.insert("top".to_owned(), Value::String("9".into()));
        audit.add(&board);
        // Choices are strings; what breaks that rule still has its place in the order.
        let violations = audit.finish().1;
        assert_eq!(violations.keys().copied().collect::<Vec<_>>(), ["value"], "{violations:?}");
    }
}

/// A table without a sort key, whose keys are the attributes themselves.
const SESSIONS: &str = r#"
format = 1
[table]
name = "T"
keys = ["token"]
[entity.Session]
attributes = { token = "string", email = "string", userId = "id?" }
identity = "token"
key = ["{token}"]
unique = ["email"]
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}"]
aggregates = { sessions = "count Session" }
"#;

#[test]
fn unique_values_have_markers_in_a_table_without_a_sort_key() {
    let model = support::model(SESSIONS);
    let change = |old: &str, new: &str| {
        let mut change = change(old, new);
        let either = change.old.as_ref().or(change.new.as_ref()).unwrap();
        change.key = [("token".to_owned(), either["token"].clone())].into();
        change
    };
    let found = |changes: &[Change]| -> Vec<&str> {
        judge(&model, changes).into_iter().map(|(_, violation)| violation.rule).collect()
    };
    let session = |token: &str, email: &str| format!("token={token} email={email}");
    let marker = |email: &str| format!("token=UNIQUE#Session#email#{email}");
    assert_eq!(found(&[change("", &session("s", "a@b")), change("", &marker("a@b"))]), [""; 0]);
    assert_eq!(found(&[change("", &session("s", "a@b"))]), ["unique"]);
    assert_eq!(found(&[change(&session("s", "a@b"), ""), change(&marker("a@b"), "")]), [""; 0]);
    assert_eq!(found(&[change(&session("s", "a@b"), "")]), ["unique"]);
    // A session with the key of a marker is a marker, and counts nowhere.
    let forged = format!("{} email=c@d userId=u", marker("a@b"));
    assert_eq!(found(&[change("", &forged)]), ["unique"]);
    assert_eq!(found(&[change("", &session("s", "a@b")), change("", &forged)]), [""; 0]);
    let mut audit = partita_design::audit::table::TableAudit::new(&model);
    [session("s", "a@b"), forged].iter().for_each(|text| audit.add(&item(text)));
    assert!(audit.finish().1.is_empty());
}

#[test]
fn one_of_two_items_gives_up_the_value_that_both_have() {
    let (one, two) = (user("u", "a@b"), user("v", "a@b"));
    let shown = || change(&two, &two);
    assert_eq!(verdict(&[change(&one, ""), shown()]), FINE, "the marker stays with the other");
    assert_eq!(verdict(&[change(&one, "")]), [(0, "unique")]);
    assert_eq!(verdict(&[change(&one, ""), change(&marker("a@b"), ""), shown()]), [(1, "unique")]);
    let renamed = [change(&one, &user("u", "c@d")), change("", &marker("c@d")), shown()];
    assert_eq!(verdict(&renamed), FINE);
}

#[test]
fn an_index_whose_key_has_an_optional_attribute_is_sparse() {
    let text = MODEL.replace("revision = \"int\"", "revision = \"int\", due = \"date?\"").replace(
        "STATUS#{status}\", \"{taskId}\"], when = \"status == 'OPEN'\"",
        "DUE#{due}\", \"{taskId}\"]",
    );
    let model = support::model(&text);
    let task = "PK=USER#u SK=TASK#t type=Task taskId=t userId=u status=OPEN revision=1";
    let found = |more: &str| -> Vec<&str> {
        judge(&model, &[change("", &format!("{task} {more}"))]).into_iter().map(|(_, own)| own.rule).collect()
    };
    assert_eq!(found(""), [""; 0]);
    assert_eq!(found("due=2026-01-02 GSI1PK=DUE#2026-01-02 GSI1SK=t"), [""; 0]);
    assert_eq!(found("due=2026-01-02"), ["index"; 2]);
    assert_eq!(found("GSI1PK=DUE#2026-01-02 GSI1SK=t"), ["index"; 2], "it stays after the attribute");
    let mut audit = partita_design::audit::table::TableAudit::new(&model);
    let generator = partita_design::generate::Generator::new(&model, 1, 200);
    let tasks = model.entity("Task").unwrap();
    let items: Vec<Item> = (0..50).map(|number| generator.item(tasks, number)).collect();
    items.iter().for_each(|item| audit.add(item));
    let violations = audit.finish().1;
    assert!(!violations.contains_key("index"), "{violations:?}");
}

#[test]
fn a_child_needs_its_parent_only_where_it_is_counted() {
    let order = "PK=USER#nobody SK=TASK#t type=Task taskId=t userId=nobody status=DONE revision=1";
    assert_eq!(verdict(&[change("", order)]), FINE);
    let comment = "PK=POST#none SK=COMMENT#c type=Comment postId=none commentId=c";
    assert_eq!(verdict(&[change("", comment)]), [(0, "aggregate")]);
    assert_eq!(verdict(&[change("", comment), absent("PK=POST#none SK=POST")]), [(0, "aggregate")]);
}

/// Tasks whose priority is in their sort key, and a pattern that has to filter by it.
fn prioritised(pattern: &str) -> Model {
    support::model(&format!(
        r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Task]
attributes = {{ taskId = "id", userId = "id", priority = "int" }}
key = ["USER#{{userId}}", "TASK#{{taskId}}#{{priority}}"]
[pattern]
{pattern}
"#
    ))
}

#[test]
fn a_value_that_a_filter_tests_is_an_attribute() {
    let in_the_key = change("", "PK=USER#u SK=TASK#t#1 type=Task");
    let beside_the_key = change("", "PK=USER#u SK=TASK#t#1 type=Task priority=1");
    let rules = |model: &Model, change: &Change| -> Vec<&'static str> {
        judge(model, std::slice::from_ref(change)).into_iter().map(|(_, broken)| broken.rule).collect()
    };
    let planned = prioritised("urgent = { in = ['userId', 'priority'], out = 'Task*' }");
    assert_eq!(rules(&planned, &in_the_key), ["value"]);
    assert_eq!(rules(&planned, &beside_the_key), [""; 0]);
    let conditional = prioritised("urgent = { in = ['userId'], where = 'priority < 3', out = 'Task*' }");
    assert_eq!(rules(&conditional, &in_the_key), ["value"]);
    let declared = prioritised(
        "urgent = { in = ['userId'], where = 'priority < 3', out = 'Task*', request = { condition = \"PK = 'USER#{userId}'\", filter = 'priority < 3' } }",
    );
    assert_eq!(rules(&declared, &in_the_key), ["value"]);
    let all = prioritised("all = { in = ['userId'], out = 'Task*' }");
    assert_eq!(rules(&all, &in_the_key), [""; 0], "nothing filters by it");
}

#[test]
fn what_an_index_an_expiry_or_a_lock_rests_on_is_an_attribute() {
    let sessions = |declared: &str, pattern: &str| {
        let text = support::with_table(&format!(
            r#"
[index.ByEnd]
keys = ["userId", "endsAt"]
[entity.Session]
attributes = {{ userId = "id", sessionId = "id", endsAt = "int", revision = "int" }}
key = ["USER#{{userId}}", "S#{{endsAt:010}}#{{revision:04}}#{{sessionId}}"]
{declared}
[pattern]
{pattern}
"#
        ));
        support::model(&text)
    };
    let rules = |model: &Model, attributes: &str| -> Vec<String> {
        let change = change("", &format!("PK=USER#u SK=S#0000000009#0001#s type=Session {attributes}"));
        judge(model, &[change]).into_iter().map(|(_, broken)| broken.message).collect()
    };
    let of_user = "ofUser = { in = ['userId'], out = 'Session*' }";
    let by_end = "byEnd = { in = ['userId'], out = 'Session*', order = 'endsAt desc', fields = ['sessionId', 'endsAt'], \
                  request = { index = 'ByEnd', condition = \"userId = '{userId}'\" } }";
    assert_eq!(rules(&sessions("", of_user), ""), [""; 0]);
    let indexed = sessions("", by_end);
    let broken = rules(&indexed, "endsAt=9");
    assert!(broken.len() == 1 && broken[0].contains("userId is only in a key"), "{broken:?}");
    assert!(broken[0].contains("requests read ByEnd, which holds items by it"), "{broken:?}");
    assert_eq!(rules(&indexed, "userId=u endsAt=9"), [""; 0]);
    let expiring = rules(&sessions("ttl = 'endsAt'", of_user), "");
    assert!(expiring.len() == 1 && expiring[0].contains("items expire by it"), "{expiring:?}");
    let locked = rules(&sessions("lock = 'revision'", of_user), "");
    assert!(locked.len() == 1 && locked[0].contains("updates compare it"), "{locked:?}");
}

/// An item with the keys of an index is in it, whatever the model says.
#[test]
fn no_item_is_in_an_index_that_its_entity_has_no_entry_in() {
    let text = support::with_table(
        r#"
[index.GSI1]
keys = ["G1", "G2"]
[index.ByState]
keys = ["state"]
[entity.User]
attributes = { userId = "id", state = "string?" }
key = ["USER#{userId}", "USER"]
unique = ["userId"]
[entity.Order]
attributes = { orderId = "id", state = "A|B" }
key = ["O#{orderId}", "O"]
index.GSI1 = { key = ["ST#{state}", "{orderId}"] }
index.ByState = { key = ["{state}"] }
"#,
    );
    let model = support::model(&text);
    let item = |pairs: &[(&str, &str)]| -> Item {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned()))).collect()
    };
    let user = [("PK", "USER#1"), ("SK", "USER"), ("type", "User"), ("userId", "1")];
    let marker = [("PK", "UNIQUE#User#userId#1"), ("SK", "UNIQUE#User#userId#1")];
    let wrong = |own: &[(&str, &str)], more: &[(&str, &str)]| -> Vec<String> {
        let found = check_item(&model, &item(&[own, more].concat())).into_iter();
        found.map(|violation| format!("{}: {}", violation.rule, violation.message)).collect()
    };
    let stray = [("G1", "ST#A")];
    assert_eq!(wrong(&user, &[("state", "A")]), [""; 0], "an attribute of its own");
    assert_eq!(wrong(&user, &stray), ["index: G1 must be absent: GSI1 holds no User"]);
    assert_eq!(wrong(&marker, &[]), [""; 0]);
    assert_eq!(wrong(&marker, &stray), ["index: G1 must be absent: GSI1 holds no marker"]);
}

/// Without its marker or its copy, what is left breaks a rule.
#[test]
fn nothing_expires_that_declares_no_expiry() {
    let text = support::with_table(
        r#"
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
unique = ["userId"]
[entity.Session]
attributes = { sessionId = "id", exp = "int" }
key = ["S#{sessionId}", "S"]
ttl = "exp"
unique = ["sessionId"]
"#,
    );
    let model = support::model(&text);
    let wrong = |texts: &[(&str, &str)]| -> Vec<String> {
        let mut item: Item = texts
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned())))
            .collect();
        item.insert("exp".to_owned(), Value::Number("1".to_owned()));
        check_item(&model, &item).into_iter().map(|violation| violation.message).collect()
    };
    let marker = |key| wrong(&[("PK", key), ("SK", key)]);
    let message = "exp must be absent: items with it expire, and User declares no expiry";
    assert_eq!(wrong(&[("PK", "USER#1"), ("SK", "USER"), ("type", "User"), ("userId", "1")]), [message]);
    assert_eq!(marker("UNIQUE#User#userId#1"), [message]);
    assert_eq!(wrong(&[("PK", "S#1"), ("SK", "S"), ("type", "Session"), ("sessionId", "1")]), [""; 0]);
    assert_eq!(marker("UNIQUE#Session#sessionId#1"), [""; 0]);
}

/// A copy without the number of its version does not show which is the newest, but it does not change alone.
#[test]
fn a_copy_of_the_newest_version_is_not_deleted_alone() {
    let text = support::with_table(
        r#"
[entity.Doc]
attributes = { docId = "id", v = "int", title = "string" }
key = ["DOC#{docId}", "V#{v:06}"]
versions = "v"
[entity.Latest]
copies = "Doc"
latest = true
attributes = { docId = "id", title = "string" }
key = ["L#{docId}", "L"]
"#,
    );
    let model = support::model(&text);
    let item = |pairs: &[(&str, &str)]| -> Item {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned()))).collect()
    };
    let key = item(&[("PK", "L#1"), ("SK", "L")]);
    let latest = item(&[("PK", "L#1"), ("SK", "L"), ("type", "Latest"), ("docId", "1"), ("title", "a")]);
    let mut doc =
        item(&[("PK", "DOC#1"), ("SK", "V#000001"), ("type", "Doc"), ("docId", "1"), ("title", "a")]);
    doc.insert("v".to_owned(), Value::Number("1".to_owned()));
    let doc_key = item(&[("PK", "DOC#1"), ("SK", "V#000001")]);
    let shown = Change { key: doc_key, old: Some(doc.clone()), new: Some(doc) };
    let deleted = Change { key: key.clone(), old: Some(latest.clone()), new: None };
    let repaired = Change { key, old: None, new: Some(latest) };
    let messages = |changes: &[Change]| -> Vec<String> {
        judge(&model, changes).into_iter().map(|(_, violation)| violation.message).collect()
    };
    assert_eq!(
        messages(std::slice::from_ref(&deleted)),
        ["Latest is written without a version of its original Doc"]
    );
    assert_eq!(
        messages(std::slice::from_ref(&repaired)),
        ["Latest is written without a version of its original Doc"]
    );
    assert_eq!(messages(&[repaired, shown]), [""; 0]);
}

/// An empty text is in no key, neither of the table nor of an index.
#[test]
fn an_empty_text_makes_no_key() {
    let text = support::with_table(
        r#"
[index.GSI1]
keys = ["G1", "G2"]
[entity.E]
attributes = { id = "id", x = "string" }
key = ["E#{id}", "E"]
index.GSI1 = { key = ["G#{x}", "{id}"] }
"#,
    );
    let model = support::model(&text);
    let rules = |x: &str| -> Vec<&str> {
        let key = format!("G#{x}");
        let pairs =
            [("PK", "E#1"), ("SK", "E"), ("type", "E"), ("id", "1"), ("x", x), ("G1", &key), ("G2", "1")];
        let item: Item = pairs
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Value::String((*text).to_owned())))
            .collect();
        check_item(&model, &item).into_iter().map(|violation| violation.rule).collect()
    };
    assert_eq!(rules("a"), [""; 0]);
    assert_eq!(rules(""), ["index"]);
}

/// A user whose copy does not show whose it is.
const USERS_BY_EMAIL: &str = r#"
[entity.User]
attributes = { userId = "id", email = "id" }
key = ["USER#{userId}", "USER"]
[entity.UserByEmail]
copies = "User"
attributes = { email = "id" }
key = ["EMAIL#{email}", "USER"]
"#;

/// Any client may write an attribute that the model does not have.
#[test]
fn an_undeclared_attribute_does_not_show_whose_copy_it_is() {
    let model = support::model(&support::with_table(USERS_BY_EMAIL));
    let verdict = |changes: &[Change]| -> Vec<(usize, &'static str)> {
        judge(&model, changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
    };
    let copy = "PK=EMAIL#a SK=USER type=UserByEmail email=a";
    let named = |user: &str| format!("{copy} userId={user}");
    let missing = absent("PK=USER#u9 SK=USER");
    assert_eq!(verdict(&[change(copy, &named("u9"))]), FINE);
    assert_eq!(verdict(&[change(&named("u9"), ""), missing]), [(0, "copy")]);
    let other = "PK=USER#u2 SK=USER type=User userId=u2 email=a";
    let taken = [change("", other), change(&named("u2"), &named("u2"))];
    assert_eq!(verdict(&taken), [(0, "copy")], "it is that of another");
}

#[test]
fn an_undeclared_attribute_does_not_show_a_random_shard() {
    let text = r#"
[entity.Job]
attributes = { jobId = "id", state = "string" }
key = ["JOB#{shard}", "J#{jobId}"]
shard = { count = 4 }
[entity.JobById]
copies = "Job"
attributes = { jobId = "id", state = "string" }
key = ["JOBID#{jobId}", "JOB"]
"#;
    let model = support::model(&support::with_table(text));
    let copy = "PK=JOBID#j SK=JOB type=JobById jobId=j state=x shard=3";
    let found = judge(&model, &[change(copy, ""), absent("PK=JOB#3 SK=J#j")]);
    assert_eq!(found[0].1.message, "JobById is deleted, and its original Job is not");
}

/// Without a value of the attribute that computes its shard, an original has no copy.
#[test]
fn an_undeclared_attribute_makes_no_key_of_a_copy() {
    let text = copied_order(
        "attributes = { orderId = \"id\", region = \"id?\" }\nkey = [\"COPY#{shard}\", \"ORDER#{orderId}\"]\n\
         shard = { by = \"region\", count = 4 }",
    );
    let text = text.replacen("total = \"int\"", "total = \"int\", region = \"id?\"", 1);
    let model = support::model(&support::with_table(&text));
    let order = "PK=USER#u SK=ORDER#o type=Order orderId=o userId=u total=1";
    for undeclared in ["", " shard=3"] {
        let order = format!("{order}{undeclared}");
        assert_eq!(judge(&model, &[change("", &order)]), []);
        let mut audit = TableAudit::new(&model);
        audit.add(&item(&order));
        assert!(audit.finish().1.is_empty(), "{undeclared}");
    }
}

/// Pages of a month, in versions: two times in one month are of one page.
const PAGES: &str = r#"
[entity.Page]
attributes = { siteId = "id", day = "timestamp", rev = "int", body = "string" }
key = ["SITE#{siteId}#{day:month}", "V#{rev:04}"]
versions = "rev"
[entity.Newest]
copies = "Page"
latest = true
attributes = { siteId = "id", day = "timestamp", rev = "int", body = "string" }
key = ["SITE#{siteId}#{day:month}", "LATEST"]
"#;

fn page(day: &str, rev: i64) -> String {
    let month = &day[..7];
    format!("PK=SITE#s#{month} SK=V#{rev:04} type=Page siteId=s day={day}T00:00:00Z rev={rev} body=b{rev}")
}

fn newest_page(day: &str, rev: i64) -> String {
    page(day, rev).replace(&format!("V#{rev:04} type=Page"), "LATEST type=Newest")
}

fn judged_by(model: &Model, changes: &[Change]) -> Vec<(usize, &'static str)> {
    judge(model, changes).into_iter().map(|(number, violation)| (number, violation.rule)).collect()
}

#[test]
fn a_time_whose_month_is_in_the_key_identifies_by_its_month() {
    let model = support::model(&support::with_table(PAGES));
    let verdict = |changes: &[Change]| judged_by(&model, changes);
    let (fifth, ninth) = ("2026-01-05", "2026-01-09");
    let first = [change("", &page(fifth, 1)), change("", &newest_page(fifth, 1))];
    assert_eq!(verdict(&first), FINE);
    let second = [change("", &page(ninth, 2)), change(&newest_page(fifth, 1), &newest_page(ninth, 2))];
    assert_eq!(verdict(&second), FINE, "the ordinary second version");
    assert_eq!(verdict(&second[..1]), [(0, "version")]);
    let moved =
        [change(&page(fifth, 2), &page(ninth, 2)), change(&newest_page(fifth, 2), &newest_page(ninth, 2))];
    assert_eq!(verdict(&moved), FINE);
    let mut audit = TableAudit::new(&model);
    let items = [page(fifth, 1), page(ninth, 2), newest_page(ninth, 2)];
    items.iter().for_each(|text| audit.add(&item(text)));
    assert!(audit.finish().1.is_empty(), "what is accepted is clean");
    // That a version does not exist is shown by its key, which holds the month.
    let oldest = [
        change(&page(ninth, 2), ""),
        absent("PK=SITE#s#2026-01 SK=V#0001"),
        change(&newest_page(ninth, 3), &newest_page(ninth, 3)),
    ];
    assert_eq!(verdict(&oldest), FINE);
    assert_eq!(verdict(&[oldest[0].clone(), oldest[2].clone()]), [(0, "version")]);
    let other_month = absent("PK=SITE#s#2026-02 SK=V#0001");
    assert_eq!(verdict(&[oldest[0].clone(), other_month, oldest[2].clone()]), [(0, "version")]);
}

#[test]
fn messages_name_the_month_that_identifies() {
    let model = support::model(&support::with_table(PAGES));
    let mut audit = TableAudit::new(&model);
    ["2026-01-05", "2026-02-05"].iter().for_each(|day| audit.add(&item(&page(day, 1))));
    let missing = &audit.finish().1["copy"].examples;
    assert_eq!(missing[0], "the copy Newest of Page with siteId s, day 2026-01 is missing");
    assert_eq!(missing.len(), 2);
}

/// The key of a copy that holds the day of pages of a month changes with it, and shows nothing where no copy is.
#[test]
fn a_copy_whose_key_holds_more_of_a_time_moves() {
    let text = PAGES.replace("day:month}\", \"LATEST", "day:day}\", \"LATEST");
    let model = support::model(&support::with_table(&text));
    let (fifth, ninth) = ("2026-01-05", "2026-01-09");
    let newest = |day: &str, rev: i64| newest_page(day, rev).replace("s#2026-01", &format!("s#{day}"));
    let verdict = |changes: &[Change]| judged_by(&model, changes);
    let shown = change(&page(ninth, 1), &page(ninth, 1));
    let second = |copies: &[Change]| [&[change("", &page(ninth, 2)), shown.clone()], copies].concat();
    let moved = [change(&newest(fifth, 1), ""), change("", &newest(ninth, 2))];
    assert_eq!(verdict(&second(&moved)), FINE);
    let edited = page(ninth, 1).replace("b1", "x");
    let other = newest(fifth, 1).replace("b1", "x");
    assert_eq!(verdict(&[change(&page(ninth, 1), &edited), change("", &other)]), [(0, "version")]);
}

/// A copy that becomes that of another original leaves the first without one.
#[test]
fn a_copy_of_one_original_does_not_become_that_of_another() {
    let text = PAGES
        .replace("{day:month}\", \"V", "{day:day}\", \"V")
        .replace("siteId = \"id\", day = \"timestamp\", rev = \"int\", body = \"string\" }\nkey = [\"SITE#{siteId}#{day:month}\", \"LATEST\"]", "siteId = \"id\", day = \"timestamp\", body = \"string\" }\nkey = [\"SITE#{siteId}\", \"LATEST\"]");
    let model = support::model(&support::with_table(&text));
    let page = |day: &str, rev: i64| page(day, rev).replace("s#2026-01", &format!("s#{day}"));
    let newest = |day: &str, rev: i64| {
        let text = newest_page(day, rev).replace("s#2026-01", "s");
        text.replace(&format!(" rev={rev}"), "")
    };
    let (fifth, ninth) = ("2026-01-05", "2026-01-09");
    let changes = [change(&page(fifth, 1), ""), change(&newest(fifth, 1), &newest(ninth, 1))];
    assert!(!judged_by(&model, &changes).is_empty(), "there is no page of the ninth");
}

#[test]
fn without_a_count_nothing_shows_what_remains_of_a_greatest_value() {
    let text = MODEL
        .replace("comments = \"count Comment\"", "best = \"max Comment.points\"")
        .replace("commentId = \"id\" }", "commentId = \"id\", points = \"int\" }");
    let post = "PK=POST#p SK=POST type=Post postId=p best=3";
    let comment = "PK=POST#p SK=COMMENT#c type=Comment postId=p commentId=c points=3";
    let judged = |text: &str, post: &str, changes: [&str; 2]| -> Vec<String> {
        let changes = [change(post, changes[0]), change(comment, changes[1])];
        let found = judge(&support::model(text), &changes).into_iter();
        found.map(|(_, violation)| violation.message).collect()
    };
    let remedy = "declare one in aggregates of Post";
    let gone = "best of Post with postId p is deleted, and without a count of the same items nothing shows that none of max Comment.points remain";
    assert_eq!(judged(&text, post, ["", ""]), [format!("{gone}: {remedy}")]);
    let left = "best of Post with postId p leaves with its item, and without a count of the same items nothing shows which of max Comment.points remain";
    let without = post.replace(" best=3", "");
    assert_eq!(judged(&text, post, [&without, ""]), [format!("{left}: {remedy}")]);
    let counted = text.replace("best = ", "comments = \"count Comment\", best = ");
    assert_eq!(judged(&counted, &format!("{post} comments=1"), ["", ""]), [""; 0]);
}
