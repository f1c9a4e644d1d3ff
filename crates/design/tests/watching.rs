//! Writes held against a model, and requests attributed to its patterns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::attribution::{Seen, SeenSort, pattern, shapes, write};
use partita_design::audit::{Bond, Change, Violation, Written, item, together, update};
use partita_design::item::{Attributes, attributes};
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
            let attributes = attributes(&made);
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
    let set = |name: &str, attribute: &str| Written {
        entity: model.entity(name).unwrap(),
        attributes: Attributes::new(),
        change: Change::Update(BTreeSet::from([attribute.to_owned()])),
    };
    let alone = together(&model, &[set("Order", "status")], &[], Bond::Alone);
    assert!(alone[0].message.contains("without its copy OrderById"), "{}", alone[0].message);
    let both = [set("Order", "status"), set("OrderById", "status")];
    assert_eq!(together(&model, &both, &[], Bond::Transaction), []);
    assert_eq!(together(&model, &both[..1], &[], Bond::Transaction)[0].rule, "copy");
    assert_eq!(together(&model, &[set("Order", "note")], &[], Bond::Alone), []);
    let put = |name: &str, id: &str| Written {
        entity: model.entity(name).unwrap(),
        attributes: [("orderId".to_owned(), id.to_owned())].into(),
        change: Change::Put,
    };
    assert_eq!(together(&model, &[put("Order", "1"), put("OrderById", "1")], &[], Bond::Batch), []);
    assert_eq!(
        together(&model, &[put("Order", "1"), put("OrderById", "2")], &[], Bond::Batch)[0].rule,
        "copy"
    );
}

#[test]
fn unique_values_go_with_their_markers() {
    let shop = shop();
    let user = |keys: &[&str], change: Change, bond| {
        let attributes = [("email".to_owned(), "a@b".to_owned())].into();
        let written = [Written { entity: shop.entity("User").unwrap(), attributes, change }];
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let found = together(&shop, &written, &keys, bond);
        found.iter().map(|violation| violation.rule).collect::<Vec<_>>()
    };
    let marker = ["USER#1", "UNIQUE#User#email#a@b"];
    for bond in [Bond::Batch, Bond::Transaction] {
        assert_eq!(user(&marker[..1], Change::Put, bond), ["unique"]);
        assert_eq!(user(&marker, Change::Put, bond), [""; 0]);
        assert_eq!(user(&["USER#1", "EMAIL#a@b"], Change::Put, bond), [""; 0], "a marker of one's own");
    }
    assert_eq!(user(&marker, Change::Put, Bond::Alone), ["unique"]);
    assert_eq!(user(&marker[..1], Change::Delete, Bond::Alone), ["unique"]);
    assert_eq!(user(&marker[..1], Change::Update(BTreeSet::from(["name".to_owned()])), Bond::Alone), [""; 0]);
}

#[test]
fn writes_are_attributed_to_declared_writes() {
    let shop = shop();
    let done = |name: &str, change: Change| Written {
        entity: shop.entity(name).unwrap(),
        attributes: Attributes::new(),
        change,
    };
    let status = || done("Order", Change::Update(BTreeSet::from(["status".to_owned()])));
    assert_eq!(write(&shop, &[status()], false), Some("setStatus"));
    let order = [done("Order", Change::Put), done("OrderItem", Change::Put), done("OrderItem", Change::Put)];
    assert_eq!(write(&shop, &order, true), Some("placeOrder"));
    assert_eq!(write(&shop, &order, false), None);
    assert_eq!(write(&shop, &[done("Order", Change::Delete)], false), None);
}
