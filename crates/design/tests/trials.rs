//! Plans that are carried out: which items a call means, and what the caller does with those that a request returns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::exchange::item_json;
use partita_design::generate::Generator;
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::plan::trial::{
    Page, PreparedPlan, asked_model, asks_for_all, calls, counted_model, difference, expected, known,
};
use serde_json::json;

const MODEL: &str = r#"
[entity.Path]
attributes = { pathId = "id", tags = "set", length = "int", note = "string?" }
key = ["PATH#{pathId}", "PATH"]
[pattern]
tagged = { in = ["pathId"], where = "contains(tags, 'meadow')", out = "Path" }
long = { in = ["pathId"], where = "length >= 50 or exists(surface)", out = ["Path", "Road*"], order = "roadId desc", limit = 2 }
[entity.Road]
attributes = { pathId = "id", roadId = "id", length = "int", surface = "string?" }
key = ["PATH#{pathId}", "ROAD#{roadId}"]
"#;

#[test]
fn sets_are_tested_as_sets() {
    let model = support::model(&support::with_table(MODEL));
    let path = |id: &str, tag: &str| {
        let key = format!("PATH#{id}");
        let item = json!({ "PK": { "S": key }, "SK": { "S": "PATH" }, "pathId": { "S": id }, "tags": { "SS": [tag, "hill"] }, "length": { "N": "7" } });
        item_json::decode(&item).unwrap()
    };
    let items = [path("1", "meadow"), path("2", "forest")];
    let calls = calls(&model.patterns[0], &known(&model, &items), 5);
    assert_eq!(calls.len(), 1);
    assert_eq!(expected(&model, &model.patterns[0], &calls[0], &known(&model, &items)).count, 1);
}

#[test]
fn a_condition_on_one_of_its_attributes_concerns_an_entity() {
    let model = support::model(&support::with_table(MODEL));
    let item = json!({ "PK": { "S": "PATH#1" }, "SK": { "S": "PATH" }, "pathId": { "S": "1" }, "tags": { "SS": ["a"] }, "length": { "N": "7" } });
    let items = [item_json::decode(&item).unwrap()];
    let pattern = &model.patterns[1];
    let keys = Keyspace::new(&model);
    let plan = plan(&keys, pattern).unwrap();
    let call = partita_design::plan::trial::Call {
        values: [("pathId".to_owned(), "1".to_owned())].into(),
        range: None,
    };
    let wanted = expected(&model, pattern, &call, &known(&model, &items));
    let send = |_: &'static str, _: &serde_json::Value| {
        Ok::<_, ()>(Page { items: items.to_vec(), ..Page::default() })
    };
    let answer =
        PreparedPlan::new(&model, pattern, &plan, &known(&model, &items)).execute(&call, send).unwrap();
    assert_eq!(difference((&model, pattern), &wanted, &answer.items, &items), None);
}

#[test]
fn the_single_item_beside_a_list_is_not_in_its_order() {
    let model = support::model(&support::with_table(
        r#"
[entity.Customer]
attributes = { customerId = "id", at = "date" }
key = ["CUSTOMER#{customerId}", "PROFILE"]
[entity.Order]
attributes = { customerId = "id", orderId = "id", at = "date" }
key = ["CUSTOMER#{customerId}", "ORDER#{at}#{orderId}"]
[pattern]
overview = { in = ["customerId"], out = ["Customer", "Order*"], order = "at desc", limit = 1 }
since = { in = ["customerId"], range = { by = "at", from = "2026-02-01" }, out = "Order*" }
"#,
    ));
    let item = |key: &str, at: &str, order: &str| {
        let item = json!({ "PK": { "S": "CUSTOMER#1" }, "SK": { "S": key }, "customerId": { "S": "1" }, "at": { "S": at }, "orderId": { "S": order } });
        item_json::decode(&item).unwrap()
    };
    let order = item("ORDER#2026-02-03#7", "2026-02-03", "7");
    let items = [item("PROFILE", "2026-05-05", "none"), order];
    let all = known(&model, &items);
    let pattern = &model.patterns[0];
    let call = calls(pattern, &all, 1).remove(0);
    let wanted = expected(&model, pattern, &call, &all);
    assert_eq!(difference((&model, pattern), &wanted, &items, &items), None);
    let since = calls(&model.patterns[1], &all, 1).remove(0);
    assert_eq!(
        since.range,
        Some(("2026-02-01".to_owned(), "2026-02-03".to_owned())),
        "of orders, from the declared start"
    );
}

#[test]
fn values_compare_as_their_type_does() {
    let text = |kind: &str| {
        support::with_table(&format!(
            "[entity.Cow]\nattributes = {{ p = \"id\", cowId = \"id\", c = \"{kind}\" }}\nkey = [\"P#{{p}}\", \"COW#{{cowId}}\"]\n\
             [pattern]\ncows = {{ in = [\"p\"], range = {{ by = \"c\", from = \"1\", to = \"2\" }}, out = \"Cow*\", order = \"c asc\" }}\n\
             open = {{ in = [\"p\"], range = \"c\", out = \"Cow*\" }}\n"
        ))
    };
    let item = |(number, c): (usize, &&str), tag: &str| {
        let item = json!({ "PK": { "S": "P#1" }, "SK": { "S": format!("COW#{number}") }, "p": { "S": "1" }, "cowId": { "S": number.to_string() }, "c": { tag: c } });
        item_json::decode(&item).unwrap()
    };
    let texts = ["10", "1", "2", "inf", "1e0", "9007199254740993", "9007199254740992"];
    let order = |kind: &str, tag: &str, texts: &[&str]| {
        let model = support::model(&text(kind));
        let items: Vec<_> = texts.iter().enumerate().map(|one| item(one, tag)).collect();
        let all = known(&model, &items);
        let call = calls(&model.patterns[0], &all, 1).remove(0);
        let found = expected(&model, &model.patterns[0], &call, &all).order.unwrap().join(" ");
        (found, calls(&model.patterns[1], &all, 1).remove(0).range.unwrap())
    };
    let bounds = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(order("1|10|2", "S", &texts[..3]), ("1 10 2".to_owned(), bounds("1", "2")));
    assert_eq!(order("string", "S", &texts).0, "1 10 1e0 2");
    let numbers = ["10", "2", "1", "9007199254740993", "9007199254740992"];
    assert_eq!(order("int", "N", &numbers), ("1 2".to_owned(), bounds("2", "9007199254740992")));
}

#[test]
fn what_lacks_the_value_of_a_link_leads_nowhere() {
    let text = support::with_table(
        "[entity.Rider]\nattributes = { riderId = \"id\", badge = \"id?\" }\nkey = [\"RIDER#{riderId}\", \"RIDER\"]\n\
         [entity.Fine]\nattributes = { stationId = \"id\", fineId = \"id\", badge = \"id?\" }\nkey = [\"STATION#{stationId}\", \"FINE#{fineId}\"]\n\
         [index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n\
         [pattern]\nfined = { in = [\"stationId\"], via = { entity = \"Fine\", match = [\"badge\"] }, out = \"Rider*\" }\n",
    )
    .replace("\"RIDER\"]\n", "\"RIDER\"]\nindex.GSI1 = { key = [\"BADGE#{badge}\", \"RIDER\"] }\n");
    let model = support::model(&text);
    let item = |key: [&str; 2], entity: &str, id: [&str; 2]| {
        let item = json!({ "PK": { "S": key[0] }, "SK": { "S": key[1] }, "type": { "S": entity }, id[0]: { "S": id[1] }, "stationId": { "S": "s" } });
        item_json::decode(&item).unwrap()
    };
    let mut rider = item(["RIDER#r", "RIDER"], "Rider", ["riderId", "r"]);
    rider.remove("stationId");
    let items = [rider, item(["STATION#s", "FINE#f"], "Fine", ["fineId", "f"])];
    let known = known(&model, &items);
    let calls = calls(&model.patterns[0], &known, 5);
    assert_eq!(calls.len(), 1);
    assert_eq!(expected(&model, &model.patterns[0], &calls[0], &known).count, 0);
}

#[test]
fn a_single_item_that_is_chosen_by_an_order_is_the_first() {
    let text = support::with_table(
        "[entity.Edition]\nattributes = { bookId = \"id\", number = \"int\" }\nidentity = [\"bookId\", \"number\"]\n\
         key = [\"BOOK#{bookId}\", \"E#{number:04}\"]\n\
         [pattern]\nnewest = { in = [\"bookId\"], out = \"Edition\", order = \"number desc\" }\n",
    );
    let model = support::model(&text);
    let edition = |number: u32| {
        let item = json!({ "PK": { "S": "BOOK#b" }, "SK": { "S": format!("E#{number:04}") }, "type": { "S": "Edition" }, "bookId": { "S": "b" }, "number": { "N": number.to_string() } });
        item_json::decode(&item).unwrap()
    };
    let items = [edition(1), edition(2), edition(10)];
    let known = known(&model, &items);
    let calls = calls(&model.patterns[0], &known, 5);
    let wanted = expected(&model, &model.patterns[0], &calls[0], &known);
    assert_eq!((wanted.count, wanted.order.clone()), (1, Some(vec!["10".to_owned()])));
    assert_eq!(difference((&model, &model.patterns[0]), &wanted, &items[2..], &items), None);
    assert!(difference((&model, &model.patterns[0]), &wanted, &items[..1], &items).is_some());
}

#[test]
fn a_number_is_not_the_start_of_another() {
    let text = support::with_table(
        "[entity.Seat]\nattributes = { hallId = \"id\", seat = \"int\" }\nidentity = [\"hallId\", \"seat\"]\nkey = [\"HALL#{hallId}\", \"SEAT#{seat:04}\"]\n\
         [pattern]\nseats = { in = [\"hallId\"], range = \"seat\", out = \"Seat*\" }\n",
    );
    let model = support::model(&text);
    let seat = |number: u32| {
        let item = json!({ "PK": { "S": "HALL#h" }, "SK": { "S": format!("SEAT#{number:04}") }, "type": { "S": "Seat" }, "hallId": { "S": "h" }, "seat": { "N": number.to_string() } });
        item_json::decode(&item).unwrap()
    };
    let items = [seat(7), seat(72)];
    let call = partita_design::plan::trial::Call {
        values: [("hallId".to_owned(), "h".to_owned())].into(),
        range: Some(("7".to_owned(), "7".to_owned())),
    };
    assert_eq!(expected(&model, &model.patterns[0], &call, &known(&model, &items)).count, 1);
}

/// Entities without a number, below parents without one.
const UNCOUNTED: &str = r#"
[entity.User]
attributes = { userId = "id", name = "string" }
key = ["USER#{userId}", "USER"]
[entity.Order]
attributes = { userId = "id", orderId = "ulid", shop = "id", status = "OPEN|PAID" }
key = ["USER#{userId}", "ORDER#{orderId}"]
index.GSI1 = { key = ["SHOP#{shop}#{status}", "{orderId}"] }
[entity.Note]
attributes = { userId = "id", noteId = "ulid" }
key = ["NOTES#{userId}", "NOTE#{noteId}"]
expect = { per = "User", average = 0.4 }
[pattern]
orders = { in = ["userId"], out = "Order*" }
userWithOrders = { in = ["userId"], out = ["User", "Order*"] }
ordersOfShop = { in = ["shop", "status"], out = "Order*" }
notes = { in = ["userId"], out = "Note*" }
"#;

#[test]
fn what_is_predicted_of_a_trial_is_what_its_calls_find() {
    let index = "[index.GSI1]\nkeys = [\"GSI1PK\", \"GSI1SK\"]\n";
    let model = support::model(&support::with_table(&format!("{index}{UNCOUNTED}")));
    let generator = Generator::new(&model, 1, 1000);
    let items: Vec<_> = generator.items().collect();
    let all = known(&model, &items);
    let counted = counted_model(&generator, &all);
    for pattern in &model.patterns {
        let asked = asked_model(&counted, pattern, &all);
        let seeded_keys = Keyspace::new(&asked);
        let plan = plan(&seeded_keys, pattern).unwrap();
        let calls = calls(pattern, &all, usize::MAX);
        let found: usize = calls.iter().map(|call| expected(&model, pattern, call, &all).count).sum();
        let mean = found as f64 / calls.len() as f64;
        let foretold = plan.steps[0].items.average;
        // Not every user has orders.
        let is_marked = !asks_for_all(pattern, &plan, &all);
        assert_eq!(is_marked, pattern.name == "userWithOrders");
        assert!(is_marked || (foretold - mean).abs() <= 0.02 * mean, "{}: {foretold}, {mean}", pattern.name);
    }
}

#[test]
fn calls_are_spread_over_all_keys_however_many_items_these_have() {
    let model = support::model(&support::with_table(MODEL));
    let road = |path: usize, road: usize| {
        let item = json!({ "PK": { "S": format!("PATH#{path:03}") }, "SK": { "S": format!("ROAD#{road}") }, "pathId": { "S": format!("{path:03}") }, "roadId": { "S": road.to_string() }, "length": { "N": "50" } });
        item_json::decode(&item).unwrap()
    };
    // The first of 100 paths has as many roads as all others.
    let items: Vec<_> =
        (0..100).map(|number| road(0, number)).chain((1..100).map(|path| road(path, 0))).collect();
    let asked: Vec<String> = calls(&model.patterns[1], &known(&model, &items), 10)
        .into_iter()
        .map(|call| call.values["pathId"].clone())
        .collect();
    assert_eq!(asked, ["000", "010", "020", "030", "040", "050", "060", "070", "080", "090"]);
}
