//! An item is in an index if it has the index's key attributes, whatever gives it these: attributes, aggregates, the type, or keys that are generated
//! for the table or for other indexes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::Severity::{Error, Warning};
use partita_design::audit::stale_keys;
use partita_design::item::Value;
use partita_design::keys::keyspace::Keyspace;
use partita_design::plan::plan;
use partita_design::report::explain;
use partita_design::{Source, read, toml_writer};
use support::{codes, findings, has, items_of, model, violations, with_table};

/// Two entities whose items have the partition key of GSI1; only orders have a declared entry in GSI2, over the same attribute and a number.
fn orders_and_parcels(second: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[index.GSI2]\nkeys = [\"{second}\", \"weight\"]\n\
         [entity.Order]\nattributes = {{ userId = \"id\", orderId = \"id\", shopId = \"id\", weight = \"int\" }}\nkey = [\"USER#{{userId}}\", \"ORDER#{{orderId}}\"]\n\
         index.GSI1 = {{ key = [\"SHOP#{{shopId}}\", \"ORDER#{{orderId}}\"] }}\nindex.GSI2 = {{ key = [\"SHOP#{{shopId}}\", \"{{weight}}\"] }}\nexpect = {{ count = 200 }}\n\
         [entity.Parcel]\nattributes = {{ userId = \"id\", parcelId = \"id\", shopId = \"id\", weight = \"int\" }}\nkey = [\"USER#{{userId}}\", \"PARCEL#{{parcelId}}\"]\n\
         index.GSI1 = {{ key = [\"SHOP#{{shopId}}\", \"PARCEL#{{parcelId}}\"] }}\nexpect = {{ count = 200 }}\n\
         [pattern]\nofUser = {{ in = [\"userId\"], out = [\"Order*\", \"Parcel*\"] }}\nofShop = {{ in = [\"shopId\"], out = [\"Order*\", \"Parcel*\"] }}\n\
         heaviest = {{ in = [\"shopId\"], out = \"Order*\", order = \"weight desc\", limit = 2 }}\n"
    ))
}

#[test]
fn a_key_that_is_generated_for_another_index_brings_items_into_an_index() {
    let shared = orders_and_parcels("G1");
    assert_eq!(codes(&shared, "pattern.heaviest"), ["P109"]);
    let shared = model(&shared);
    let heaviest = shared.patterns.iter().find(|pattern| pattern.name == "heaviest").unwrap();
    let plan = plan(&Keyspace::new(&shared), heaviest).unwrap();
    assert_eq!((plan.steps[0].extras[0].name.as_str(), plan.steps[0].limit), ("Parcel", None));
    assert_eq!(codes(&orders_and_parcels("G3"), "pattern.heaviest"), Vec::<&str>::new());
}

#[test]
fn a_local_index_holds_what_has_a_key_of_a_global_one() {
    let local = |key: &str| {
        with_table(&format!(
            "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[index.ByTime]\nlocal = true\nkeys = [\"PK\", \"{key}\"]\n\
             [entity.Account]\nattributes = {{ orgId = \"id\", accountId = \"id\", state = \"OPEN|CLOSED\" }}\nkey = [\"ORG#{{orgId}}\", \"ACCOUNT#{{accountId}}\"]\n\
             index.GSI1 = {{ key = [\"STATE#{{state}}\", \"{{accountId}}\"], when = \"state == 'OPEN'\" }}\n\
             [entity.Bill]\nattributes = {{ orgId = \"id\", billId = \"ulid\", day = \"date\" }}\nkey = [\"ORG#{{orgId}}\", \"BILL#{{billId}}\"]\n\
             index.ByTime = {{ key = [\"{{day}}#{{billId}}\"] }}\n\
             [pattern]\nbills = {{ in = [\"orgId\"], out = \"Bill*\", order = \"day desc\", limit = 3 }}\n"
        ))
    };
    assert!(codes(&local("G2"), "pattern.bills").contains(&"P109"));
    assert!(!codes(&local("L1"), "pattern.bills").contains(&"P109"));
    let shared = model(&local("G2"));
    let when = &shared.entity("Account").unwrap().index_key("ByTime").unwrap().when;
    assert_eq!(when.to_string(), "state == 'OPEN'", "only open accounts have the attribute");
}

#[test]
fn aggregates_are_keys_whether_they_are_listed_or_not() {
    let ranked = |aggregate: &str| {
        with_table(&format!(
            "[index.ByTotal]\nkeys = [\"region\", \"total\"]\n\
             [entity.Customer]\nattributes = {{ customerId = \"id\", region = \"id\" }}\nkey = [\"CUSTOMER#{{customerId}}\", \"CUSTOMER\"]\naggregates = {{ {aggregate} = \"count Order\" }}\n\
             [entity.Order]\nattributes = {{ customerId = \"id\", orderId = \"id\" }}\nkey = [\"CUSTOMER#{{customerId}}\", \"ORDER#{{orderId}}\"]\n\
             [entity.Shop]\nattributes = {{ shopId = \"id\", region = \"id\", total = \"int\" }}\nkey = [\"SHOP#{{shopId}}\", \"SHOP\"]\n\
             [pattern]\nlargest = {{ in = [\"region\"], out = \"Shop*\", order = \"total desc\", limit = 2 }}\n"
        ))
    };
    assert_eq!(codes(&ranked("total"), "pattern.largest"), ["P109"]);
    assert_eq!(codes(&ranked("orders"), "pattern.largest"), Vec::<&str>::new());
}

#[test]
fn an_index_over_the_type_holds_every_type() {
    let text = with_table(
        "[index.ByType]\nkeys = [\"type\", \"day\"]\n\
         [entity.Note]\nattributes = { noteId = \"id\", day = \"date\" }\nkey = [\"NOTE#{noteId}\", \"NOTE\"]\nindex.ByType = { key = [\"Note\", \"{day}\"] }\n\
         [entity.Task]\nattributes = { taskId = \"id\", day = \"date\" }\nkey = [\"TASK#{taskId}\", \"TASK\"]\n\
         [pattern]\nnotes = { out = \"Note*\", order = \"day desc\", limit = 5 }\ntasks = { out = \"Task*\", order = \"day desc\", limit = 5 }\n",
    );
    assert!(!has(&text, "P114", Error) && !has(&text, "P222", Error) && !has(&text, "P109", Warning));
    let wrong = text.replace("key = [\"Note\", \"{day}\"]", "key = [\"NOTES\", \"{day}\"]");
    assert!(has(&wrong, "P222", Error), "an item has one type");
}

/// A task is in Open while it is open, and in Mine while somebody has it; both indexes have the partition key G1.
fn tasks(open: &str, mine: &str) -> String {
    with_table(&format!(
        "[index.Open]\nkeys = [\"G1\", \"G2\"]\n[index.Mine]\nkeys = [{mine}]\n\
         [entity.Task]\nattributes = {{ taskId = \"id\", teamId = \"id\", state = \"OPEN|DONE\", day = \"date\", holder = \"id?\" }}\nkey = [\"TASK#{{taskId}}\", \"TASK\"]\n\
         index.Open = {{ key = [\"TEAM#{{teamId}}\", \"{{taskId}}\"]{open} }}\n\
         index.Mine = {{ key = [\"TEAM#{{teamId}}\", \"{{day}}\"], when = \"exists(holder)\" }}\n\
         [write]\nfinish = {{ update = \"Task\", set = [\"state\"] }}\n"
    ))
}

#[test]
fn a_condition_keeps_nothing_out_of_an_index_over_keys_of_another() {
    let refused = |text: &str| match read(&Source::new("t.toml", text)) {
        Ok(_) => None,
        Err(findings) => Some(findings[0].message.clone()),
    };
    let message = refused(&tasks("", "\"G1\", \"day\"")).unwrap();
    assert_eq!(
        message,
        "`when` does not keep items out of Mine: Task has G1 for Open too, and an item that has all keys of Mine is in it, whether exists(holder) or not"
    );
    assert!(refused(&tasks(", when = \"state == 'OPEN'\"", "\"G1\", \"day\"")).is_some());
    assert!(refused(&tasks(", when = \"exists(holder) and state == 'OPEN'\"", "\"G1\", \"day\"")).is_none());
    assert!(refused(&tasks("", "\"G1\", \"G3\"")).is_none(), "what no task without a holder has is G3");
    assert!(refused(&tasks("", "\"G3\", \"day\"")).is_none());
}

#[test]
fn an_item_has_a_shared_key_if_one_of_the_indexes_holds_it() {
    let model = model(&tasks(", when = \"state == 'OPEN'\"", "\"G1\", \"G3\""));
    let items = items_of(&model, 40);
    assert_eq!(violations(&model, &items), "");
    let text = |item: &partita_design::item::Item, name: &str| item.get(name).and_then(Value::to_text);
    let done = |item: &&partita_design::item::Item| text(item, "state").as_deref() == Some("DONE");
    let held = items.iter().filter(done).find(|item| item.contains_key("holder")).unwrap();
    assert!(held.contains_key("G1") && !held.contains_key("G2"));
    let mut lacking = held.clone();
    lacking.remove("G1");
    assert_eq!(violations(&model, &[lacking]).matches("G1 is missing").count(), 1);
    let free = items.iter().filter(done).find(|item| !item.contains_key("holder")).unwrap();
    let mut stray = free.clone();
    stray.insert("G1".to_owned(), held["G1"].clone());
    assert_eq!(violations(&model, &[stray]).matches("G1 must be absent").count(), 1);
}

#[test]
fn an_update_changes_a_shared_key_once_and_only_where_it_follows() {
    let always = model(&tasks("", "\"G1\", \"G3\""));
    let stale = |set: &str| -> Vec<String> {
        let found = stale_keys(&always, &always.entities[0], &[set].into());
        found.iter().map(|own| own.key.to_owned()).collect()
    };
    assert_eq!(stale("holder"), ["G3"], "every task has G1");
    assert_eq!(stale("teamId"), ["G1"]);
    let sparse = model(&tasks(", when = \"state == 'OPEN'\"", "\"G1\", \"G3\""));
    let found = stale_keys(&sparse, &sparse.entities[0], &["state", "holder"].into());
    let causes: Vec<(&str, usize)> = found.iter().map(|own| (own.key, own.causes.len())).collect();
    assert_eq!(causes, [("G1", 2), ("G2", 1), ("G3", 1)]);
}

#[test]
fn what_holds_an_entity_without_being_declared_is_not_written_down() {
    let model = model(&orders_and_parcels("G1"));
    assert!(model.entity("Parcel").unwrap().index_key("GSI2").is_some_and(|own| own.is_implied));
    let written = toml_writer::write(&model, "");
    assert_eq!(written.matches("index.GSI2 =").count(), 1, "{written}");
    let again = support::model(&written);
    assert!(again.entity("Parcel").unwrap().index_key("GSI2").is_some());
}

#[test]
fn keys_are_judged_where_they_are_made() {
    let text = with_table(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[index.Turned]\nkeys = [\"G2\", \"G1\"]\n\
         [entity.Order]\nattributes = { orderId = \"id\", day = \"date\", shopId = \"id\" }\nkey = [\"ORDER#{orderId}\", \"ORDER\"]\n\
         index.GSI1 = { key = [\"SHOP#{shopId}\", \"{day}#{orderId}\"] }\n",
    );
    assert!(!has(&text, "P204", Warning), "{:?}", findings(&text));
}

/// Orders in two indexes with one partition key, and with these shards.
fn sharded(first: &str, second: &str) -> String {
    with_table(&format!(
        "[index.GSI1]\nkeys = [\"G1\", \"G2\"]\n[index.GSI2]\nkeys = [\"G1\", \"G3\"]\n\
         [entity.Order]\nattributes = {{ orderId = \"id\", state = \"id\", day = \"date\" }}\nkey = [\"ORDER#{{orderId}}\", \"ORDER\"]\n\
         index.GSI1 = {{ key = [\"STATE#{{state}}#{{shard}}\", \"{{day}}\"], shard = {{ {first} }} }}\n\
         index.GSI2 = {{ key = [\"STATE#{{state}}#{{shard}}\", \"{{orderId}}\"], shard = {{ {second} }} }}\n"
    ))
}

#[test]
fn a_shared_key_has_one_shard() {
    let computed = "by = \"orderId\", count = 3";
    for other in ["count = 3", "by = \"orderId\", count = 10", "by = \"state\", count = 3"] {
        let text = sharded(other, computed);
        assert!(has(&text, "P222", Error), "{other}");
        let model = model(&text);
        let wrong = |number: u64| {
            let mut item = items_of(&model, 1).remove(0);
            let state = item["state"].to_text().unwrap_or_default();
            item.insert("G1".to_owned(), Value::String(format!("STATE#{state}#{number}")));
            !violations(&model, &[item]).is_empty()
        };
        assert!((0..3).filter(|number| wrong(*number)).count() >= 2, "{other}: either declaration holds");
    }
    assert!(!has(&sharded(computed, computed), "P222", Error));
    let local = |shard: &str| {
        with_table(&format!(
            "[index.ByDay]\nlocal = true\nkeys = [\"PK\", \"day\"]\n\
             [entity.Order]\nattributes = {{ orderId = \"id\", state = \"id\", day = \"date\" }}\nkey = [\"STATE#{{state}}#{{shard}}\", \"ORDER#{{orderId}}\"]\n\
             shard = {{ count = 10 }}\nindex.ByDay = {{ key = [\"STATE#{{state}}#{{shard}}\", \"{{day}}\"], shard = {{ {shard} }} }}\n"
        ))
    };
    assert!(has(&local(computed), "P222", Error) && !has(&local("count = 10"), "P222", Error));
}

/// Open orders are in one index, and those that are not done in another; both have the sort key GSK.
fn lasting(expression: &str) -> String {
    with_table(&format!(
        "[index.Open]\nkeys = [\"G1\", \"GSK\"]\n[index.Current]\nkeys = [\"G2\", \"GSK\"]\n\
         [entity.Order]\nattributes = {{ orderId = \"id\", userId = \"id\", state = \"OPEN|PAID|DONE\", day = \"date\" }}\nkey = [\"ORDER#{{orderId}}\", \"ORDER\"]\n\
         index.Open = {{ key = [\"USER#{{userId}}\", \"{{day}}#{{orderId}}\"], when = \"state == 'OPEN'\" }}\n\
         index.Current = {{ key = [\"STATE#{{state}}\", \"{{day}}#{{orderId}}\"], when = \"state != 'DONE'\" }}\n\
         [write]\npay = {{ update = \"Order\", values = {{ ':s' = 'PAID' }}, names = {{ '#s' = 'state' }}, expression = \"SET #s = :s, G2 = :k{expression}\" }}\n\
         close = {{ update = \"Order\", set = [\"state\"] }}\n"
    ))
}

#[test]
fn an_update_keeps_a_shared_key_while_one_index_holds_the_item() {
    let help = |expression: &str| -> Vec<String> {
        let found = findings(&lasting(expression)).into_iter().filter(|own| own.code == "P508");
        found.map(|own| own.help).collect()
    };
    assert_eq!(help(", GSK = :g REMOVE G1"), Vec::<String>::new());
    assert_eq!(help(" REMOVE G1"), ["also set GSK: SET GSK = :gsk"]);
    assert_eq!(
        help(" REMOVE G1, GSK"),
        ["SET GSK instead: without, queries of the index do not return the item"]
    );
    assert_eq!(
        help(", G1 = :g, GSK = :g"),
        ["REMOVE G1 instead: otherwise queries of the index still return the item"]
    );
    let explained = explain::text(&model(&lasting(", GSK = :g REMOVE G1")), Some("close"));
    for line in [
        "also set or remove G1: it exists only when state == 'OPEN'\n",
        "also set or remove G2: it exists only when state != 'DONE'\n",
        "also set or remove GSK: it exists only when state == 'OPEN' or state != 'DONE'\n",
    ] {
        assert!(explained.contains(line), "{explained}");
    }
}
