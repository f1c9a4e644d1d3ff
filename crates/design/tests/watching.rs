//! Writes held against a model, and requests attributed to its patterns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::attribution::{Seen, SeenSort, pattern, shapes};
use partita_design::audit::{Attributes, Violation, Written, item, together, update};
use partita_design::{Model, generate};
use std::collections::BTreeSet;

fn shop() -> Model {
    support::model(&std::fs::read_to_string(support::root().join("models/shop-orders.toml")).unwrap())
}

fn order() -> Attributes {
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
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn changed(name: &str, value: Option<&str>) -> Vec<Violation> {
    let mut attributes = order();
    attributes.remove(name);
    if let Some(value) = value {
        attributes.insert(name.to_owned(), value.to_owned());
    }
    item(&shop(), &attributes)
}

#[test]
fn items_are_held_against_their_templates() {
    assert_eq!(item(&shop(), &order()), []);
    let rules = |violations: Vec<Violation>| violations.iter().map(|v| v.rule).collect::<Vec<_>>();
    assert_eq!(rules(changed("EntityType", None)), ["type"]);
    assert!(changed("EntityType", Some("Ordr"))[0].message.contains("did you mean Order?"));
    assert_eq!(rules(changed("PK", Some("CUSTOMER#1"))), ["key"]);
    assert_eq!(rules(changed("userId", Some("01K6TH9480QZKHFWEAZCG61FZ8"))), ["key"]);
    assert_eq!(rules(changed("GSI1PK", None)), ["index"]);
    assert_eq!(rules(changed("GSI2SK", Some("2026-04-05T10:30:01Z#01K3ZYEJW856WCXCN1Z497PADR"))), ["index"]);
    assert!(changed("status", Some("PAID"))[0].message.contains("GSI2PK must be absent"));
    let marker: Attributes = [("PK".to_owned(), "UNIQUE#User#email#a@b".to_owned())].into();
    assert_eq!(item(&shop(), &marker), []);
}

#[test]
fn an_update_that_forgets_an_index_key_is_named() {
    let key: Attributes = order().into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect();
    let with = |names: &[&str]| update(&shop(), &key, &names.iter().copied().collect::<BTreeSet<_>>());
    let stale = with(&["status"]);
    assert_eq!(stale.len(), 2);
    assert!(stale[0].message.contains("status of Order changes, and GSI2PK"), "{}", stale[0].message);
    assert_eq!(with(&["status", "GSI2PK", "GSI2SK"]), []);
    assert_eq!(with(&["total"]), []);
}

#[test]
fn generated_items_are_never_in_violation() {
    for entry in std::fs::read_dir(support::root().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let model = support::model(&std::fs::read_to_string(&path).unwrap());
        for made in generate::Generator::new(&model, 5, 150).items() {
            let text = |value: &serde_json::Value| {
                let plain = value
                    .get("S")
                    .or_else(|| value.get("N"))
                    .and_then(|text| text.as_str())
                    .map(str::to_owned);
                plain.or_else(|| Some(value.get("BOOL")?.as_bool()?.to_string())).unwrap_or_default()
            };
            let attributes: Attributes =
                made.iter().map(|(name, value)| (name.clone(), text(value))).collect();
            assert_eq!(item(&model, &attributes), [], "{}: {attributes:?}", path.display());
        }
    }
}

#[test]
fn requests_are_attributed_to_patterns() {
    let shapes = shapes(&shop());
    let user = "USER#01K6TH9480QZKHFWEAZCG61FZ7";
    let seen =
        |sort, forward, limited| Seen { query: true, index: None, partition: user, sort, forward, limited };
    assert_eq!(pattern(&shapes, &seen(SeenSort::BeginsWith("ORDER#"), false, true)), Some("recentOrders"));
    assert_eq!(pattern(&shapes, &seen(SeenSort::None, false, true)), Some("userWithOrders"));
    assert_eq!(pattern(&shapes, &seen(SeenSort::Range("ORDER#2026-04"), true, false)), Some("ordersBetween"));
    let get = Seen { query: false, ..seen(SeenSort::Equals(user), true, false) };
    assert_eq!(pattern(&shapes, &get), Some("userById"));
    let index =
        Seen { index: Some("GSI2"), partition: "STATUS#PENDING#0", ..seen(SeenSort::None, true, false) };
    assert_eq!(pattern(&shapes, &index), Some("pendingOrders"));
    assert_eq!(pattern(&shapes, &seen(SeenSort::BeginsWith("INVOICE#"), true, false)), None);
}

#[test]
fn copies_and_unique_values_need_a_transaction() {
    let text = std::fs::read_to_string(support::root().join("models/shop-pending-orders.toml")).unwrap();
    let model = support::model(&text);
    let written = |name: &str, touched: Option<&str>| Written {
        entity: model.entity(name).unwrap(),
        touched: touched.map(|name| BTreeSet::from([name.to_owned()])),
    };
    let alone = together(&model, &[written("Order", Some("status"))], false);
    assert!(alone[0].message.contains("without its copy OrderById"), "{}", alone[0].message);
    let both = [written("Order", Some("status")), written("OrderById", Some("status"))];
    assert_eq!(together(&model, &both, true), []);
    assert_eq!(together(&model, &[written("Order", Some("note"))], false), []);
    let shop = shop();
    let user = |transaction| {
        together(&shop, &[Written { entity: shop.entity("User").unwrap(), touched: None }], transaction)
    };
    assert_eq!(user(false)[0].rule, "unique");
    assert_eq!(user(true), []);
}
