//! Writes checked against a model, and requests attributed to its patterns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use partita_design::audit::attribution::{
    ObservedRead, ObservedSort, attribute_read, attribute_write, request_shapes,
};
use partita_design::audit::{
    EntityWrite, ItemChange, Violation, WriteGrouping, check_item, check_request, check_update,
};
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
    check_item(&shop(), &attributes)
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
    assert_eq!(rules(changed("GSI2SK", Some("2026-04-05T10:30:01Z#01K3ZYEJW856WCXCN1Z497PADR"))), ["index"]);
    assert!(changed("status", Some("PAID"))[0].message.contains("GSI2PK must be absent"));
    let marker: Attributes = [("PK".to_owned(), "UNIQUE#User#email#a@b".to_owned())].into();
    assert_eq!(check_item(&shop(), &marker), []);
}

#[test]
fn an_update_that_omits_an_index_key_is_reported() {
    let key: Attributes = order().into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect();
    let with = |names: &[&str]| check_update(&shop(), &key, &names.iter().copied().collect::<BTreeSet<_>>());
    let stale = with(&["status"]);
    assert_eq!(stale.len(), 2);
    assert!(stale[0].message.contains("status of Order changes, and GSI2PK"), "{}", stale[0].message);
    assert_eq!(with(&["status", "GSI2PK", "GSI2SK"]), []);
    assert_eq!(with(&["total"]), []);
}

#[test]
fn generated_items_violate_no_rule() {
    for entry in std::fs::read_dir(support::root().join("models")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let model = support::model(&std::fs::read_to_string(&path).unwrap());
        for made in generate::Generator::new(&model, 5, 150).items() {
            let attributes = attributes(&made);
            assert_eq!(check_item(&model, &attributes), [], "{}: {attributes:?}", path.display());
        }
    }
}

#[test]
fn requests_are_attributed_to_patterns() {
    let shapes = request_shapes(&shop());
    let user = "USER#01K6TH9480QZKHFWEAZCG61FZ7";
    let read = |sort, forward, limited| ObservedRead {
        query: true,
        index: None,
        partition: user,
        sort,
        forward,
        limited,
    };
    assert_eq!(
        attribute_read(&shapes, &read(ObservedSort::BeginsWith("ORDER#"), false, true)),
        Some("recentOrders")
    );
    assert_eq!(attribute_read(&shapes, &read(ObservedSort::None, false, true)), Some("userWithOrders"));
    assert_eq!(
        attribute_read(&shapes, &read(ObservedSort::Range("ORDER#2026-04"), true, false)),
        Some("ordersBetween")
    );
    let get = ObservedRead { query: false, ..read(ObservedSort::Equals(user), true, false) };
    assert_eq!(attribute_read(&shapes, &get), Some("userById"));
    let index = ObservedRead {
        index: Some("GSI2"),
        partition: "STATUS#PENDING#0",
        ..read(ObservedSort::None, true, false)
    };
    assert_eq!(attribute_read(&shapes, &index), Some("pendingOrders"));
    assert_eq!(attribute_read(&shapes, &read(ObservedSort::BeginsWith("INVOICE#"), true, false)), None);
}

#[test]
fn copies_and_unique_values_need_a_transaction() {
    let text = std::fs::read_to_string(support::root().join("models/shop-pending-orders.toml")).unwrap();
    let model = support::model(&text);
    let set = |name: &str, attribute: &str| EntityWrite {
        entity: model.entity(name).unwrap(),
        attributes: Attributes::new(),
        change: ItemChange::Update(BTreeSet::from([attribute.to_owned()])),
    };
    let alone = check_request(&model, &[set("Order", "status")], &[], WriteGrouping::Single);
    assert!(alone[0].message.contains("without its copy OrderById"), "{}", alone[0].message);
    let both = [set("Order", "status"), set("OrderById", "status")];
    assert_eq!(check_request(&model, &both, &[], WriteGrouping::Transaction), []);
    assert_eq!(check_request(&model, &both[..1], &[], WriteGrouping::Transaction)[0].rule, "copy");
    assert_eq!(check_request(&model, &[set("Order", "note")], &[], WriteGrouping::Single), []);
    let put = |name: &str, id: &str| EntityWrite {
        entity: model.entity(name).unwrap(),
        attributes: [("orderId".to_owned(), id.to_owned())].into(),
        change: ItemChange::Put,
    };
    assert_eq!(
        check_request(&model, &[put("Order", "1"), put("OrderById", "1")], &[], WriteGrouping::Batch),
        []
    );
    assert_eq!(
        check_request(&model, &[put("Order", "1"), put("OrderById", "2")], &[], WriteGrouping::Batch)[0].rule,
        "copy"
    );
}

#[test]
fn unique_values_are_written_with_their_markers() {
    let shop = shop();
    let user = |keys: &[&str], change: ItemChange, grouping| {
        let attributes = [("email".to_owned(), "a@b".to_owned())].into();
        let written = [EntityWrite { entity: shop.entity("User").unwrap(), attributes, change }];
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let found = check_request(&shop, &written, &keys, grouping);
        found.iter().map(|violation| violation.rule).collect::<Vec<_>>()
    };
    let marker = ["USER#1", "UNIQUE#User#email#a@b"];
    for grouping in [WriteGrouping::Batch, WriteGrouping::Transaction] {
        assert_eq!(user(&marker[..1], ItemChange::Put, grouping), ["unique"]);
        assert_eq!(user(&marker, ItemChange::Put, grouping), [""; 0]);
        assert_eq!(user(&["USER#1", "EMAIL#a@b"], ItemChange::Put, grouping), [""; 0], "a custom marker");
    }
    assert_eq!(user(&marker, ItemChange::Put, WriteGrouping::Single), ["unique"]);
    assert_eq!(user(&marker[..1], ItemChange::Delete, WriteGrouping::Single), ["unique"]);
    assert_eq!(
        user(&marker[..1], ItemChange::Update(BTreeSet::from(["name".to_owned()])), WriteGrouping::Single),
        [""; 0]
    );
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
}
