//! Writes checked against a model, and requests attributed to its patterns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::attribution::attribute_write;
use partita_design::audit::observed_read::{
    ObservedRead, ObservedSort, Proposal, RequestShapes, attribute_read, attribute_scan, propose_pattern,
    request_shapes,
};
use partita_design::audit::{EntityWrite, ItemChange, Violation, check_item};
use partita_design::item::{Attributes, Item, Value};
use partita_design::{Model, generate};
use std::collections::BTreeSet;

fn shop() -> Model {
    support::model(&std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap())
}

fn order() -> Item {
    let (user, id) = ("01K6TH9480QZKHFWEAZCG61FZ7", "01K3ZYEJW856WCXCN1Z497PADR");
    let time = "2026-04-05T10:30:00Z";
    let pairs = [
        ("EntityType", "Order".to_owned()),
        ("PK", format!("USER#{user}")),
        ("SK", format!("ORDER#{time}#{id}")),
        ("GSI1PK", format!("ORDER#{id}")),
        ("GSI1SK", format!("ORDER#{id}")),
        ("GSI2PK", "STATUS#PENDING#0".to_owned()),
        ("GSI2SK", format!("{time}#{id}")),
        ("orderId", id.to_owned()),
        ("userId", user.to_owned()),
        ("createdAt", time.to_owned()),
        ("status", "PENDING".to_owned()),
        ("total", "10".to_owned()),
    ];
    let value = |(name, text): (&str, String)| {
        let value = if name == "total" { Value::Number(text) } else { Value::String(text) };
        (name.to_owned(), value)
    };
    pairs.into_iter().map(value).collect()
}

fn changed(name: &str, value: Option<&str>) -> Vec<Violation> {
    let mut item = order();
    item.remove(name);
    if let Some(value) = value {
        item.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    check_item(&shop(), &item)
}

#[test]
fn items_are_checked_against_their_templates() {
    assert_eq!(check_item(&shop(), &order()), []);
    let rules = |violations: Vec<Violation>| violations.iter().map(|v| v.rule).collect::<Vec<_>>();
    assert_eq!(rules(changed("EntityType", None)), ["type"]);
    assert!(changed("EntityType", Some("Ordr"))[0].message.contains("did you mean Order?"));
    assert_eq!(rules(changed("PK", Some("CUSTOMER#1"))), ["key"]);
    assert_eq!(rules(changed("userId", Some("01K6TH9480QZKHFWEAZCG61FZ8"))), ["key"]);
    assert_eq!(rules(changed("GSI1PK", None)), ["index"]);
    assert_eq!(rules(changed("status", Some("LOST"))), ["index", "index", "value"]);
    assert_eq!(rules(changed("GSI2SK", Some("2026-04-05T10:30:01Z#01K3ZYEJW856WCXCN1Z497PADR"))), ["index"]);
    assert!(changed("status", Some("PAID"))[0].message.contains("GSI2PK must be absent"));
    let marker = |sort: &str| -> Item {
        let keys = [("PK", "UNIQUE#User#email#a@b"), ("SK", sort)];
        keys.map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).into()
    };
    assert_eq!(check_item(&shop(), &marker("UNIQUE#User#email#a@b")), []);
    assert!(
        check_item(&shop(), &marker("X"))[0].message.contains("all its keys must be UNIQUE#User#email#a@b")
    );
    assert_eq!(rules(changed("PK", Some("UNIQUE#Order#status#X"))), ["key"], "statuses are not unique");
}

#[test]
fn generated_items_violate_no_rule() {
    let folders = ["models", "crates/design/tests/good"].map(|folder| support::root().join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let model = support::model(&std::fs::read_to_string(&path).unwrap());
        for made in generate::Generator::new(&model, 5, 150).items() {
            assert_eq!(check_item(&model, &made), [], "{}: {made:?}", path.display());
        }
    }
}

#[test]
fn requests_are_attributed_to_patterns() {
    let shapes = request_shapes(&shop());
    let user = "USER#01K6TH9480QZKHFWEAZCG61FZ7";
    let read = |sort, forward, limit| ObservedRead {
        query: true,
        batch: false,
        index: None,
        partition: user,
        sort,
        forward,
        limit,
    };
    assert_eq!(
        attribute_read(&shapes, &read(ObservedSort::BeginsWith("ORDER#"), false, Some(10))),
        Some("recentOrders")
    );
    assert_eq!(attribute_read(&shapes, &read(ObservedSort::None, false, Some(10))), Some("userWithOrders"));
    assert_eq!(
        attribute_read(
            &shapes,
            &read(ObservedSort::Range { from: Some("ORDER#2026-04"), to: Some("ORDER#~") }, true, None)
        ),
        Some("ordersBetween")
    );
    let get = ObservedRead { query: false, ..read(ObservedSort::Equals(user), true, None) };
    assert_eq!(attribute_read(&shapes, &get), Some("userById"));
    let index = ObservedRead {
        index: Some("GSI2"),
        partition: "STATUS#PENDING#0",
        ..read(ObservedSort::None, true, None)
    };
    assert_eq!(attribute_read(&shapes, &index), Some("pendingOrders"));
    assert_eq!(attribute_read(&shapes, &read(ObservedSort::BeginsWith("INVOICE#"), true, None)), None);
    // A condition that selects nothing more does not change the pattern.
    let between = |from, to| ObservedSort::Range { from: Some(from), to: Some(to) };
    let attributed = |read: ObservedRead<'_>| attribute_read(&shapes, &read);
    assert_eq!(attributed(read(between("ORDER#", "ORDER#~"), false, Some(10))), Some("recentOrders"));
    assert_eq!(attributed(read(ObservedSort::BeginsWith("ORD"), false, Some(10))), Some("recentOrders"));
    assert_eq!(attributed(read(ObservedSort::Equals(user), true, None)), Some("userById"));
    let items = ObservedRead {
        partition: "ORDER#01K3ZYEJW856WCXCN1Z497PADR",
        ..read(ObservedSort::BeginsWith("ITEM#"), true, None)
    };
    assert_eq!(attributed(items), Some("orderItems"));
}

#[test]
fn every_entity_that_an_index_finds_is_completed_from_the_table() {
    let model = support::model(&support::with_table(
        "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\nproject = \"KEYS_ONLY\"\n\
         [entity.User]\nattributes = { userId = \"id\", teamId = \"id\", name = \"string\" }\nkey = [\"USER#{userId}\", \"PROFILE\"]\n\
         index.GSI1 = { key = [\"TEAM#{teamId}\", \"USER#{userId}\"] }\n\
         [entity.Paper]\nattributes = { paperId = \"id\", teamId = \"id\", body = \"string\" }\nkey = [\"PAPER#{paperId}\", \"TEXT\"]\n\
         index.GSI1 = { key = [\"TEAM#{teamId}\", \"PAPER#{paperId}\"] }\n\
         [pattern]\nall = { in = [\"teamId\"], out = [\"User*\", \"Paper*\"], hydrate = true }\n",
    ));
    let shapes = request_shapes(&model);
    for (partition, sort) in [("USER#u1", "PROFILE"), ("PAPER#p1", "TEXT")] {
        let read = ObservedRead {
            query: false,
            batch: true,
            index: None,
            partition,
            sort: ObservedSort::Equals(sort),
            forward: true,
            limit: None,
        };
        assert_eq!(attribute_read(&shapes, &read), Some("all"), "{partition}");
    }
}

#[test]
fn a_read_of_more_than_a_pattern_declares_is_not_attributed_to_it() {
    const TEXT: &str = r#"
format = 1
[table]
name = "T"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "USER"]
[entity.Order]
attributes = { userId = "id", orderId = "id", status = "OPEN|DONE", at = "timestamp" }
key = ["USER#{userId}", "ORDER#{status}#{at}#{orderId}"]
[entity.Event]
attributes = { userId = "id", at = "timestamp" }
key = ["USER#{userId}", "EVENT#{at}"]
[entity.Box]
attributes = { boxId = "id", at = "timestamp" }
key = ["BOX#{boxId}", "AT#{at}"]
[pattern]
events = { in = ["userId"], range = "at", out = "Event*" }
open = { in = ["userId", "status"], range = "at", out = "Order*" }
orders = { in = ["userId"], out = "Order*" }
boxes = { in = ["boxId"], range = "at", out = "Box*" }
"#;
    let shapes = request_shapes(&support::model(TEXT));
    let without_orders = TEXT.replace("orders = { in = [\"userId\"], out = \"Order*\" }\n", "");
    let fewer_shapes = request_shapes(&support::model(&without_orders));
    let attributed = |partition: &str, sort| attributed(&shapes, None, partition, sort);
    let between = |from, to| ObservedSort::Range { from, to };
    let of_user = |from, to| attributed("USER#u", between(from, to));
    // Ranges of the caller, whatever the bounds.
    assert_eq!(of_user(Some("EVENT#2026-01"), Some("EVENT#2026-02")), Some("events"));
    assert_eq!(of_user(Some("EVENT#"), Some("EVENT#~")), Some("events"));
    assert_eq!(of_user(Some("EVENT#2026"), Some("EVENT$")), Some("events"), "nothing is in between");
    assert_eq!(of_user(None, Some("EVENT#2026")), Some("events"), "nothing is below");
    assert_eq!(attributed("USER#u", ObservedSort::BeginsWith("EVENT#2026-04")), Some("events"));
    assert_eq!(of_user(Some("ORDER#OPEN#2026"), Some("ORDER#OPEN#2027")), Some("open"));
    assert_eq!(attributed("USER#u", ObservedSort::BeginsWith("ORDER#OPEN#2026")), Some("open"));
    assert_eq!(of_user(Some("ORDER#"), Some("ORDER#~")), Some("orders"));
    assert_eq!(
        attributed("BOX#b", between(Some("AT#2026"), None)),
        Some("boxes"),
        "it is alone in its collection"
    );
    assert_eq!(attributed("BOX#b", between(None, None)), Some("boxes"));
    // They read orders, other states, or the user as well.
    for (from, to) in [
        (Some("EVENT#2026-01"), Some("ORDER#~")),
        (Some("EVENT#2026-01"), None),
        (Some("A"), Some("ZZZ")),
        (None, None),
        (Some("ORDER#OPEN#2026"), None),
        (None, Some("ORDER#OPEN#2026")),
        (Some("ORDER#"), Some("USER")),
        (Some("ORDER#"), None),
    ] {
        assert_eq!(of_user(from, to), None, "{from:?} to {to:?}");
    }
    let states = between(Some("ORDER#DONE#2026"), Some("ORDER#OPEN#2027"));
    assert_eq!(attributed("USER#u", states), Some("orders"));
    assert_eq!(self::attributed(&fewer_shapes, None, "USER#u", states), None, "it reads two states");
}

/// Returns the pattern of a read that takes no limit, in ascending order.
fn attributed<'s>(
    shapes: &'s RequestShapes,
    index: Option<&str>,
    partition: &str,
    sort: ObservedSort<'_>,
) -> Option<&'s str> {
    let (query, batch, forward, limit) = (true, false, true, None);
    attribute_read(shapes, &ObservedRead { query, batch, index, partition, sort, forward, limit })
}

#[test]
fn bounds_and_listed_values_are_those_of_the_pattern() {
    let text = support::with_table(
        r#"
[index.GSI1]
keys = ["GSI1PK", "GSI1SK"]
[entity.User]
attributes = { userId = "id" }
key = ["USER#{userId}", "PROFILE"]
[entity.Event]
attributes = { userId = "id", at = "timestamp", state = "A|B|C", level = "int" }
key = ["USER#{userId}", "{at}"]
index.GSI1 = { key = ["STATE#{state}#{level:02}", "{at}"] }
[pattern]
events = { in = ["userId"], range = "at", out = "Event*" }
jobs = { where = "state in ('A', 'B') and level in (7, 8)", out = "Event*" }
"#,
    );
    let shapes = request_shapes(&support::model(&text));
    let of_user = |sort| attributed(&shapes, None, "USER#u", sort);
    let between = |from, to| ObservedSort::Range { from: Some(from), to: Some(to) };
    assert_eq!(of_user(between("2026-01", "2026-02")), Some("events"));
    assert_eq!(of_user(between("0", "A")), Some("events"));
    assert_eq!(of_user(ObservedSort::BeginsWith("2026")), Some("events"));
    assert_eq!(of_user(ObservedSort::Equals("2026-01-01T00:00:00Z")), Some("events"));
    for sort in [
        between("A", "Z"),
        between("2026", "Z"),
        ObservedSort::BeginsWith("P"),
        ObservedSort::Equals("PROFILE"),
        ObservedSort::None,
    ] {
        assert_eq!(of_user(sort), None, "{sort:?} returns the user");
    }
    let of_state = |key: &str| attributed(&shapes, Some("GSI1"), key, ObservedSort::None);
    assert_eq!(of_state("STATE#A#07"), Some("jobs"));
    assert_eq!([of_state("STATE#C#07"), of_state("STATE#A#09")], [None, None], "nobody asks for these");
}

/// What returns the same items is the same read.
#[test]
fn a_wider_read_that_returns_nothing_else_is_attributed() {
    let text = support::with_table(
        r#"
[entity.Show]
attributes = { showId = "id" }
key = ["SHOW#{showId}", "META"]
[entity.Seat]
attributes = { showId = "id", row = { type = "int", min = 1, max = 200 }, part = "id" }
key = ["SHOW#{showId}", "SEAT#R{row:03}#{part}"]
[entity.Waiting]
attributes = { showId = "id", part = "id" }
key = ["SHOW#{showId}", "WAIT#{part}"]
[pattern]
seatMap = { in = ["showId"], out = ["Show", "Seat*"] }
"#,
    );
    let model = support::model(&text);
    let shapes = request_shapes(&model);
    let of_show = |from, to| attributed(&shapes, None, "SHOW#s", ObservedSort::Range { from, to });
    assert_eq!(of_show(Some("META"), Some("SEAT#~")), Some("seatMap"));
    assert_eq!(of_show(Some("A"), Some("T")), Some("seatMap"));
    assert_eq!(of_show(None, Some("T")), Some("seatMap"));
    assert_eq!(attributed(&shapes, None, "SHOW#s", ObservedSort::BeginsWith("SEAT")), Some("seatMap"));
    assert_eq!(attributed(&shapes, None, "SHOW#s", ObservedSort::Equals("META")), Some("seatMap"));
    assert_eq!(of_show(Some("META"), Some("Z")), None, "it returns who waits");
    assert_eq!(attributed(&shapes, None, "SHOW#s", ObservedSort::Equals("WAIT#p")), None);
}

/// What a client sends as an id may be no possible value: the request of the pattern finds nothing, and is not refused.
#[test]
fn a_declared_read_with_an_impossible_value_is_attributed() {
    let text = support::with_table(
        r#"
[entity.Post]
attributes = { postId = "id" }
key = ["POST#{postId}", "POST#{postId}"]
[entity.Comment]
attributes = { postId = "id", at = "timestamp" }
key = ["POST#{postId}", "COMMENT#{at}"]
[pattern]
postById = { in = ["postId"], out = "Post" }
comments = { in = ["postId"], out = "Comment*" }
"#,
    );
    let shapes = request_shapes(&support::model(&text));
    let of_post = |key: &str, sort| attributed(&shapes, None, key, sort);
    assert_eq!(of_post("POST#a#b", ObservedSort::Equals("POST#a#b")), Some("postById"));
    assert_eq!(of_post("POST#", ObservedSort::Equals("POST#")), Some("postById"));
    assert_eq!(of_post("POST#p", ObservedSort::BeginsWith("COMMENT#x")), Some("comments"));
    assert_eq!(of_post("POST#p", ObservedSort::BeginsWith("COMENT#")), None, "a misspelled start");
    assert_eq!(of_post("PST#p", ObservedSort::Equals("PST#p")), None);
}

#[test]
fn a_call_of_a_pattern_takes_as_many_requests_as_its_plan() {
    let shapes = request_shapes(&support::model(&support::with_table(
        r#"
[entity.Vote]
attributes = { pollId = "id", voteId = "id" }
shard = { count = 4, by = "voteId" }
key = ["POLL#{pollId}#{shard}", "VOTE#{voteId}"]
[pattern]
votes = { in = ["pollId"], out = "Vote*" }
unserved = { in = ["voteId"], out = "Vote" }
"#,
    )));
    assert_eq!(shapes.requests_per_call().collect::<Vec<_>>(), [("votes", 4.0)]);
}

#[test]
fn an_undeclared_read_gets_the_line_to_paste() {
    let text = std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap();
    let (user, time) = ("USER#01K6TH9480QZKHFWEAZCG61FZ7", "2026-04-05T10:30:00Z");
    let one = format!("ORDER#{time}#01K3ZYEJW856WCXCN1Z497PADR");
    let read = |sort| ObservedRead {
        query: true,
        batch: false,
        index: None,
        partition: user,
        sort,
        forward: true,
        limit: None,
    };
    let cases = [
        (ObservedRead { query: false, ..read(ObservedSort::Equals(&one)) }, "createdAt"),
        (ObservedRead { forward: false, limit: Some(5), ..read(ObservedSort::None) }, "limit = 5"),
        (
            read(ObservedSort::Range { from: Some("ORDER#2026-01"), to: Some("ORDER#2026-02") }),
            "range = \"createdAt\"",
        ),
        (ObservedRead { index: Some("GSI1"), partition: &one[..6], ..read(ObservedSort::None) }, "none"),
    ];
    let line = |read: &ObservedRead<'_>| match propose_pattern(&shop(), &request_shapes(&shop()), read)? {
        Proposal::Line(line) => Some(line),
        other => panic!("{other:?}"),
    };
    let lines: Vec<Option<String>> = cases.iter().map(|(read, _)| line(read)).collect();
    assert_eq!(lines[3], None);
    for (line, (read, contained)) in lines.iter().flatten().zip(&cases) {
        assert!(line.contains(contained), "{line}");
        let model = support::model(&text.replace("[write]", &format!("{line}\n[write]")));
        let attributed = attribute_read(&request_shapes(&model), read).map(str::to_owned);
        assert!(attributed.is_some(), "{line} does not declare {read:?}");
    }
    assert_eq!(attribute_scan(&shop(), None), None);
    let scan = "report = { out = \"Order*\", request = { scan = true } }\n[write]";
    assert_eq!(attribute_scan(&support::model(&text.replace("[write]", scan)), None), Some("report"));
}

/// A line that would not admit the read is not proposed.
#[test]
fn an_undeclared_read_of_a_declared_item_names_the_request_of_its_pattern() {
    let text = |pattern: &str| {
        support::with_table(&format!(
            "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n[entity.Gym]\nattributes = {{ gymId = \"id\" }}\nkey = [\"GYM#{{gymId}}\", \"GYM\"]\n\
             index.GSI1 = {{ key = [\"GYM#{{gymId}}\", \"GYM\"] }}\n[pattern]\n{pattern}"
        ))
    };
    let on_index = ObservedRead {
        query: true,
        batch: false,
        index: Some("GSI1"),
        partition: "GYM#g1",
        sort: ObservedSort::BeginsWith("GY"),
        forward: true,
        limit: None,
    };
    for (pattern, start) in [
        ("gym = { in = [\"gymId\"], out = \"Gym\" }", "pattern gym asks for the same items and is sent as "),
        ("", "add gymByGymId = { in = [\"gymId\"], out = \"Gym\" } to [pattern], which is sent as "),
    ] {
        let request = format!("{start}GetItem on the table, PK = \"GYM#{{gymId}}\" and SK = \"GYM\"");
        let model = support::model(&text(pattern));
        assert_eq!(
            propose_pattern(&model, &request_shapes(&model), &on_index),
            Some(Proposal::OtherRequest(request))
        );
        // In the table it is another way to write the same read.
        let in_table = ObservedRead { index: None, ..on_index.clone() };
        let expected = (!pattern.is_empty()).then_some("gym");
        assert_eq!(attribute_read(&request_shapes(&model), &in_table), expected);
    }
}

/// A batch of articles belongs to the pattern that follows favourites to them, a single one to the pattern that reads one.
#[test]
fn what_a_relationship_leads_to_is_attributed_to_the_pattern_that_follows_it() {
    let text = std::fs::read_to_string(support::root().join("models/content-management.toml")).unwrap();
    let shapes = request_shapes(&support::model(&text));
    let get = |batch| ObservedRead {
        query: false,
        batch,
        index: None,
        partition: "ARTICLE#a1",
        sort: ObservedSort::Equals("METADATA"),
        forward: true,
        limit: None,
    };
    assert_eq!(attribute_read(&shapes, &get(true)), Some("favoriteArticles"));
    assert_eq!(attribute_read(&shapes, &get(false)), Some("articleById"));
}

#[test]
fn writes_are_attributed_to_declared_writes() {
    let shop = shop();
    let done = |name: &str, change: ItemChange| EntityWrite {
        entity: shop.entity(name).unwrap(),
        attributes: Attributes::new(),
        change,
    };
    let status = || done("Order", ItemChange::Update(BTreeSet::from(["status".to_owned()])));
    assert_eq!(attribute_write(&shop, &[status()], false), Some("setStatus"));
    let order = [
        done("Order", ItemChange::Put),
        done("OrderItem", ItemChange::Put),
        done("OrderItem", ItemChange::Put),
    ];
    assert_eq!(attribute_write(&shop, &order, true), Some("placeOrder"));
    assert_eq!(attribute_write(&shop, &order, false), None);
    assert_eq!(attribute_write(&shop, &[done("Order", ItemChange::Delete)], false), None);
    // The marker of a new user's email makes it a transaction.
    let user = [done("User", ItemChange::Put)];
    assert_eq!(attribute_write(&shop, &user, true), attribute_write(&shop, &user, false));
    assert_eq!(attribute_write(&shop, &user, true), Some("register"));
}

#[test]
fn updates_are_attributed_by_the_attributes_that_they_set() {
    let text = support::with_table(
        r#"
[index.ByStatus]
keys = ["SPK", "SSK"]
[entity.Order]
attributes = { orderId = "id", status = "NEW|SHIPPED", shippedAt = "timestamp?", total = "decimal", note = "string?", revision = "int" }
key = ["ORDER#{orderId}", "O"]
lock = "revision"
index.ByStatus = { key = ["STATUS#{status}", "{orderId}"] }
[pattern]
order = { in = ["orderId"], out = "Order" }
[write]
two = { transact = ["create Order", "create Order"] }
place = { transact = ["create Order"] }
setStatus = { update = "Order", set = ["status"] }
ship = { update = "Order", set = ["status", "shippedAt"] }
charge = { update = "Order", expression = "SET #total = :total, revision = revision + :one", condition = "revision = :revision" }
"#,
    );
    let model = support::model(&text);
    let order = model.entity("Order").unwrap();
    let write = |change: ItemChange| EntityWrite { entity: order, attributes: Attributes::new(), change };
    let update = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        attribute_write(&model, &[write(ItemChange::Update(names))], false)
    };
    assert_eq!(update(&["status"]), Some("setStatus"));
    assert_eq!(update(&["status", "SPK", "revision"]), Some("setStatus"));
    assert_eq!(update(&["status", "shippedAt", "SPK"]), Some("ship"));
    assert_eq!(update(&["shippedAt"]), Some("ship"));
    assert_eq!(update(&["total", "revision"]), Some("charge"));
    assert_eq!(update(&["note"]), None);
    assert_eq!(update(&["status", "note"]), None);
    assert_eq!(update(&["status", "unknown"]), None);
    let put = || write(ItemChange::Put);
    assert_eq!(attribute_write(&model, &[put()], true), Some("place"));
    assert_eq!(attribute_write(&model, &[put(), put()], true), Some("two"));
}

#[test]
fn copies_that_move_and_versions_that_go_are_part_of_their_writes() {
    let text = support::with_table(
        r#"
[entity.Version]
attributes = { docId = "id", version = "int", folder = "id" }
identity = ["docId", "version"]
key = ["DOC#{docId}", "V#{version:04}"]
versions = "version"
[entity.Latest]
copies = "Version"
latest = true
identity = "docId"
attributes = { docId = "id", version = "int", folder = "id" }
key = ["FOLDER#{folder}", "DOC#{docId}"]
[write]
save = { transact = ["create Version", "put Latest"] }
undo = { transact = ["delete Version", "delete Latest", "put Latest"] }
prune = { delete = "Version" }
"#,
    );
    let model = support::model(&text);
    let write = |name: &str, change: ItemChange| EntityWrite {
        entity: model.entity(name).unwrap(),
        attributes: Attributes::new(),
        change,
    };
    let moved = || [write("Latest", ItemChange::Delete), write("Latest", ItemChange::Put)];
    for (change, name) in [(ItemChange::Put, "save"), (ItemChange::Delete, "undo")] {
        let [old, new] = moved();
        let version = || write("Version", change.clone());
        assert_eq!(attribute_write(&model, &[version(), new.clone()], true), Some(name));
        assert_eq!(attribute_write(&model, &[version(), old, new], true), Some(name));
    }
    let pruned = [write("Version", ItemChange::Delete)];
    assert_eq!(attribute_write(&model, &pruned, true), Some("prune"));
}

/// An identifier does not contain the delimiter of its model, whichever that is.
#[test]
fn reads_are_attributed_with_the_delimiter_of_the_model() {
    let text = support::with_table(
        r#"
[entity.User]
attributes = { userId = "id" }
key = ["USER|{userId}", "USER|{userId}"]
[pattern]
userById = { in = ["userId"], out = "User" }
"#,
    );
    let shapes = request_shapes(&support::model(&text));
    let get = |key| attributed(&shapes, None, key, ObservedSort::Equals(key));
    assert_eq!(get("USER|a#b"), Some("userById"));
    assert_eq!(shapes.partition_template(None, "USER|a#b"), Some("USER|{userId}"));
    assert_eq!(shapes.partition_template(None, "USER|a|b"), None);
}

/// Entities that only their types tell apart, each with many attributes, and patterns that read them.
#[test]
#[expect(clippy::disallowed_methods, reason = "measures how long reads take to attribute")]
fn a_read_is_compared_with_each_template_once() {
    let attributes: String = (0..50).map(|number| format!(", a{number} = \"string?\"")).collect();
    let entities: String = (0..300)
        .map(|number| {
            format!(
                "[entity.E{number}]\nattributes = {{ x = \"id\"{attributes} }}\nkey = [\"{{x}}\", \"S\"]\n"
            )
        })
        .collect();
    let patterns: String = (0..600)
        .map(|number| format!("p{number} = {{ in = [\"x\"], out = \"E{}\" }}\n", number % 300))
        .collect();
    let model = support::model(&support::with_table(&format!("{entities}[pattern]\n{patterns}")));
    let shapes = request_shapes(&model);
    assert!(shapes.parts() < 5_000, "{}", shapes.parts());
    assert_eq!(shapes.parts_per_read(), 900, "a partition and a sort key for each entity, and a request");
    let start = std::time::Instant::now();
    for number in 0..100 {
        let key = format!("k{number}");
        assert!(attributed(&shapes, None, &key, ObservedSort::Equals("S")).is_some());
        assert_eq!(attributed(&shapes, None, &key, ObservedSort::Equals("T")), None);
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 10.0, "{seconds} s");
}

/// The line that declares a read of a model without its own line of a pattern; the read is then one of the pattern.
fn pasted(file: &str, removed: &str, read: &ObservedRead<'_>) -> String {
    let text = std::fs::read_to_string(support::root().join("models").join(file)).unwrap();
    let is_own = |line: &&str| line.split_whitespace().next() != Some(removed);
    let text: String = text.lines().filter(is_own).map(|line| format!("{line}\n")).collect();
    let model = support::model(&text);
    let shapes = request_shapes(&model);
    assert_eq!(attribute_read(&shapes, read), None, "{file}: {removed}");
    let Some(Proposal::Line(line)) = propose_pattern(&model, &shapes, read) else {
        panic!("{file}: {:?}", propose_pattern(&model, &shapes, read));
    };
    let declared = support::model(&text.replace("[pattern]\n", &format!("[pattern]\n{line}\n")));
    assert!(attribute_read(&request_shapes(&declared), read).is_some(), "{file}: {line}");
    line
}

fn query<'a>(index: Option<&'a str>, partition: &'a str, sort: ObservedSort<'a>) -> ObservedRead<'a> {
    ObservedRead { query: true, batch: false, index, partition, sort, forward: true, limit: None }
}

#[test]
fn the_line_of_a_sparse_index_has_its_condition() {
    let featured = query(Some("GSI3"), "FEATURED", ObservedSort::None);
    let line = pasted("featured-articles.toml", "featured", &featured);
    assert!(line.contains("where = \"featured == true\", out = \"Article*\""), "{line}");
    assert!(line.contains("fields = [\"articleId\""), "the index has only some attributes: {line}");
    let pending = query(Some("GSI1"), "STATUS#pending", ObservedSort::None);
    let line = pasted("shop-pending-orders.toml", "pendingOrders", &pending);
    assert!(line.contains("{ where = \"status == 'pending'\", out = \"Order*\" }"), "{line}");
}

#[test]
fn the_line_of_the_start_of_a_time_has_a_range() {
    for sort in [
        ObservedSort::BeginsWith("POST#2025-10-"),
        ObservedSort::Range { from: Some("POST#2025-10-01"), to: Some("POST#2025-10-31~") },
    ] {
        let line = pasted("blog.toml", "postsOfAuthor", &query(None, "AUTHOR#a", sort));
        assert!(line.contains("out = \"AuthorPost*\", range = \"publishedAt\""), "{line}");
    }
    let (from, to) = ("2025-02-03T23:21:44Z#COMMENT#c000000", "2025-02-03T23:21:44Z#zz");
    let sort = ObservedSort::Range { from: Some(from), to: Some(to) };
    let model = support::model(
        &std::fs::read_to_string(support::root().join("models/content-management.toml")).unwrap(),
    );
    let mut bare = model;
    bare.patterns.clear();
    let proposal = propose_pattern(&bare, &request_shapes(&bare), &query(Some("GSI2"), "ACTIVITY#u0", sort));
    assert!(matches!(proposal, Some(Proposal::Line(_))), "{proposal:?}");
}

/// A user beside whose profile orders are, with an index by the month of orders and one that holds open ones.
const ORDERS: &str = r#"
[index.GSI1]
keys = ["G1", "G2"]
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Order]
attributes = { userId = "id", orderId = "id", at = "timestamp" }
key = ["USER#{userId}", "ORDER#{at}#{orderId}"]
index.GSI1 = { key = ["MONTH#{at:month}", "{at}#{orderId}"] }
[entity.Friend]
attributes = { friendId = "id", userId = "id" }
key = ["FRIENDS#{friendId}", "OF#{userId}"]
[entity.Group]
attributes = { groupId = "id" }
key = ["FRIENDS#{groupId}", "GROUP"]
[pattern]
orders = { in = ["userId"], out = "Order*" }
"#;

#[test]
fn the_line_of_an_open_end_names_all_that_the_read_returns() {
    let model = support::model(&support::with_table(ORDERS));
    let shapes = request_shapes(&model);
    let proposal = |read: &ObservedRead<'_>| propose_pattern(&model, &shapes, read);
    let open = ObservedSort::Range { from: Some("ORDER#"), to: None };
    let line = "usersByUserId = { in = [\"userId\"], out = [\"User\", \"Order*\"] }";
    assert_eq!(proposal(&query(None, "USER#a", open)), Some(Proposal::Line(line.to_owned())));
    let newest = ObservedRead { forward: false, limit: Some(5), ..query(None, "USER#a", open) };
    assert!(matches!(proposal(&newest), Some(Proposal::Line(_))), "{:?}", proposal(&newest));
    let month = query(Some("GSI1"), "MONTH#2026-04", ObservedSort::None);
    let line = "orders2 = { out = \"Order*\", range = \"at\" }";
    assert_eq!(proposal(&month), Some(Proposal::Line(line.to_owned())));
    let differently = query(None, "FRIENDS#a", ObservedSort::None);
    let both = vec!["Friend".to_owned(), "Group".to_owned()];
    assert_eq!(proposal(&differently), Some(Proposal::Unplanned(both)), "their ids have two names");
    assert_eq!(proposal(&query(None, "USER#a", ObservedSort::BeginsWith("INVOICE#"))), None);
}

#[test]
fn a_line_to_add_has_a_name_of_its_own() {
    let text = support::with_table(
        r#"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "PROFILE"]
[entity.Order]
attributes = { userId = "id", orderId = "ulid" }
key = ["USER#{userId}", "ORDER#{orderId}"]
[pattern]
usersByUserId = { in = ["userId"], out = "User" }
"#,
    );
    let model = support::model(&text);
    let read = query(None, "USER#a", ObservedSort::None);
    let Some(Proposal::Line(line)) = propose_pattern(&model, &request_shapes(&model), &read) else {
        panic!("no line");
    };
    assert!(line.starts_with("usersByUserId2 = "), "{line}");
    let model = support::model(&format!("{text}{line}\n"));
    assert_eq!(attribute_read(&request_shapes(&model), &read), Some("usersByUserId2"));
}
