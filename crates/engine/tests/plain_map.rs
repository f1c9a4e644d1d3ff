//! The engine against a plain map: random writes, deletes, reopenings and indexes that come and go; then
//! every way to read the table must tell the same as the map.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_api::item::*;
use partita_api::key_schema::*;
use partita_api::table::*;
use partita_api::*;
use partita_expression::{ExpressionNames, ExpressionValues, KeyCondition, Usage};
use partita_store::Store;
use partita_store_embedded::{EmbeddedStore, Options};
use partita_store_memory::MemoryStore;
use partita_value::names::TableName;
use partita_value::{AttributeValue, Item, Number, ScalarType, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::Database;

/// Partition, sort key → group (the index's key), padding bytes.
type Model = BTreeMap<(u8, i16), (Option<u8>, usize)>;

#[derive(Clone, Debug)]
enum Step {
    Put { partition: u8, sort: i16, group: Option<u8>, padding: usize },
    Delete { partition: u8, sort: i16 },
    Batch(Vec<(u8, i16, Option<u8>)>),
    AddIndex,
    RemoveIndex,
    Maintain,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let group = prop::option::of(0u8..4);
    let padding = prop_oneof![8 => 0usize..50, 1 => 1_000usize..9_000, 1 => Just(120_000)];
    let step = prop_oneof![
        10 => (0u8..6, -40i16..40, group.clone(), padding)
            .prop_map(|(partition, sort, group, padding)| Step::Put { partition, sort, group, padding }),
        4 => (0u8..6, -40i16..40).prop_map(|(partition, sort)| Step::Delete { partition, sort }),
        2 => prop::collection::btree_map((0u8..6, -40i16..40), group, 1..25).prop_map(|items| {
            Step::Batch(items.into_iter().map(|((partition, sort), group)| (partition, sort, group)).collect())
        }),
        1 => Just(Step::AddIndex),
        1 => Just(Step::RemoveIndex),
        1 => Just(Step::Maintain),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

fn number(value: i64) -> AttributeValue {
    AttributeValue::N(Number::parse(&value.to_string()).unwrap())
}

fn key(partition: u8, sort: i16) -> Item {
    [("pk", number(partition.into())), ("sk", number(sort.into()))].into_iter().collect()
}

fn item(partition: u8, sort: i16, group: Option<u8>, padding: usize) -> Item {
    let mut attributes = vec![
        ("pk", number(partition.into())),
        ("sk", number(sort.into())),
        ("padding", AttributeValue::S("x".repeat(padding))),
    ];
    attributes.extend(group.map(|group| ("group", AttributeValue::S(format!("G#{group}")))));
    attributes.into_iter().collect()
}

fn table() -> TableName {
    TableName::new("Model")
}

fn definition(name: &str) -> AttributeDefinition {
    let kind = if name == "group" { ScalarType::S } else { ScalarType::N };
    AttributeDefinition { name: name.into(), kind }
}

fn schema(partition: &str, sort: &str) -> KeySchema {
    let part = |name: &str| vec![KeyAttribute { name: name.into(), kind: definition(name).kind }];
    KeySchema { partition: part(partition), sort: part(sort) }
}

fn create_table() -> Request {
    Request::CreateTable(create_table::CreateTable {
        name: table(),
        attribute_definitions: vec![definition("pk"), definition("sk")],
        key: schema("pk", "sk"),
        local_indexes: vec![],
        global_indexes: vec![],
        billing_mode: BillingMode::PayPerRequest,
        throughput: None,
        on_demand: None,
        warm: None,
        stream: None,
        encryption: None,
        table_class: None,
        deletion_protection: false,
        resource_policy: None,
        tags: vec![],
    })
}

fn update_index(update: update_table::GlobalIndexUpdate) -> Request {
    Request::UpdateTable(update_table::UpdateTable {
        name: table(),
        attribute_definitions: vec![definition("pk"), definition("sk"), definition("group")],
        billing_mode: None,
        throughput: None,
        on_demand: None,
        warm: None,
        index_updates: vec![update],
        stream: None,
        encryption: None,
        table_class: None,
        deletion_protection: None,
    })
}

fn add_index() -> Request {
    let element = |name: &str, key_type| KeySchemaElement { name: name.into(), key_type };
    update_index(update_table::GlobalIndexUpdate::Create(update_table::NewIndex {
        name: "byGroup".into(),
        key_schema: vec![element("group", KeyType::Hash), element("sk", KeyType::Range)],
        projection: IndexProjection::KeysOnly,
        throughput: None,
        on_demand: None,
        warm: None,
    }))
}

fn put(item: Item) -> Request {
    Request::PutItem(put_item::PutItem {
        table: table(),
        item,
        condition: None,
        return_values: Default::default(),
        return_item_on_condition_failure: false,
        return_consumed_capacity: Default::default(),
        return_item_collection_metrics: false,
    })
}

fn delete(key: Item) -> Request {
    Request::DeleteItem(delete_item::DeleteItem {
        table: table(),
        key,
        condition: None,
        return_values: Default::default(),
        return_item_on_condition_failure: false,
        return_consumed_capacity: Default::default(),
        return_item_collection_metrics: false,
    })
}

fn query(index: Option<&str>, attribute: &str, value: Value, forward: bool, start: Option<Item>) -> Request {
    let (mut names, mut values) = (ExpressionNames::default(), ExpressionValues::default());
    names.insert("#a", attribute);
    values.insert(":v", value);
    let mut usage = Usage::default();
    Request::Query(query::Query {
        table: table(),
        index: index.map(str::to_owned),
        key_condition: KeyCondition::parse("#a = :v", &names, &values, &mut usage).unwrap(),
        filter: None,
        projection: None,
        select: None,
        limit: Some(7),
        consistent_read: false,
        scan_index_forward: forward,
        exclusive_start_key: start,
        return_consumed_capacity: Default::default(),
        legacy: false,
    })
}

/// All pages of a query, as partition and sort keys.
async fn query_all<S: Store>(
    database: &Database<S>,
    index: Option<&str>,
    attribute: &str,
    value: AttributeValue,
    forward: bool,
) -> Vec<(u8, i16)> {
    let mut found = Vec::new();
    let mut start = None;
    loop {
        let request = query(index, attribute, Value::from(&value), forward, start.take());
        let Response::Query(output) = database.engine.execute(request).await.unwrap() else {
            panic!("a query's output")
        };
        found.extend(output.page.items.unwrap().iter().map(keys_of));
        start = output.page.last_evaluated_key;
        if start.is_none() {
            return found;
        }
    }
}

fn keys_of(item: &Item) -> (u8, i16) {
    let whole =
        |name: &str| item.get(name).and_then(|value| value.as_number()).and_then(|n| n.to_i64()).unwrap();
    (whole("pk") as u8, whole("sk") as i16)
}

async fn scan_segments<S: Store>(database: &Database<S>, index: Option<&str>, total: u32) -> Vec<(u8, i16)> {
    let mut found = Vec::new();
    for number in 0..total {
        let mut start = None;
        loop {
            let request = Request::Scan(scan::Scan {
                table: table(),
                index: index.map(str::to_owned),
                filter: None,
                projection: None,
                select: None,
                limit: Some(5),
                consistent_read: false,
                segment: Some(scan::Segment { number, total }),
                exclusive_start_key: start.take(),
                return_consumed_capacity: Default::default(),
                legacy: false,
                past_damage: false,
            });
            let Response::Scan(output) = database.engine.execute(request).await.unwrap() else {
                panic!("a scan's output")
            };
            found.extend(output.page.items.unwrap().iter().map(keys_of));
            start = output.page.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
    }
    found.sort_unstable();
    found
}

async fn compare<S: Store>(database: &Database<S>, model: &Model, indexed: bool) {
    let all: Vec<_> = model.keys().copied().collect();
    assert_eq!(scan_segments(database, None, 3).await, all);
    for partition in 0..6 {
        let mut expected: Vec<_> = all.iter().copied().filter(|(p, _)| *p == partition).collect();
        assert_eq!(query_all(database, None, "pk", number(partition.into()), true).await, expected);
        expected.reverse();
        assert_eq!(query_all(database, None, "pk", number(partition.into()), false).await, expected);
    }
    let Response::DescribeTable(description) = database
        .engine
        .execute(Request::DescribeTable(describe_table::DescribeTable { name: table() }))
        .await
        .unwrap()
    else {
        panic!("a description")
    };
    assert_eq!(description.table.item_count as usize, model.len());
    let size: usize =
        model.iter().map(|((p, s), (group, padding))| item(*p, *s, *group, *padding).size()).sum();
    assert_eq!(description.table.size_bytes as usize, size);
    if indexed {
        let grouped = model.iter().filter(|(_, (group, _))| group.is_some());
        assert_eq!(description.table.global_indexes[0].item_count as usize, grouped.clone().count());
        let mut expected: Vec<_> = grouped.map(|(key, _)| *key).collect();
        expected.sort_unstable();
        assert_eq!(scan_segments(database, Some("byGroup"), 2).await, expected);
        for group in 0..4u8 {
            let mut expected: Vec<_> =
                model.iter().filter(|(_, (g, _))| *g == Some(group)).map(|(key, _)| *key).collect();
            let mut found =
                query_all(database, Some("byGroup"), "group", AttributeValue::S(format!("G#{group}")), true)
                    .await;
            assert!(found.is_sorted_by_key(|(_, sort)| *sort), "the index is in the order of its sort key");
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

async fn play<S: Store>(steps: &[Step], open: impl Fn() -> S) {
    let mut database = Database::new(open());
    database.engine.execute(create_table()).await.unwrap();
    let mut model = Model::new();
    let mut indexed = false;
    for step in steps {
        match step.clone() {
            Step::Put { partition, sort, group, padding } => {
                model.insert((partition, sort), (group, padding));
                database.engine.execute(put(item(partition, sort, group, padding))).await.unwrap();
            }
            Step::Delete { partition, sort } => {
                model.remove(&(partition, sort));
                database.engine.execute(delete(key(partition, sort))).await.unwrap();
            }
            Step::Batch(items) => {
                let mut writes = Vec::new();
                for (partition, sort, group) in items {
                    model.insert((partition, sort), (group, 3));
                    writes.push(batch_write_item::BatchWrite::Put(item(partition, sort, group, 3)));
                }
                let request = batch_write_item::BatchWriteItem {
                    tables: vec![(table(), writes)],
                    return_consumed_capacity: Default::default(),
                    return_item_collection_metrics: false,
                };
                database.engine.execute(Request::BatchWriteItem(request)).await.unwrap();
            }
            Step::AddIndex => indexed |= database.engine.execute(add_index()).await.is_ok(),
            Step::RemoveIndex => {
                let request =
                    update_index(update_table::GlobalIndexUpdate::Delete { name: "byGroup".into() });
                indexed &= database.engine.execute(request).await.is_err();
            }
            Step::Maintain => database.maintain().await,
            Step::Reopen => database = Database::reopen(database, &open),
        }
    }
    database.maintain().await;
    compare(&database, &model, indexed).await;
}

fn run<S: Store>(steps: &[Step], open: impl Fn() -> S) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(play(steps, open));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_in_memory_is_a_plain_map(steps in steps()) {
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, Step::Reopen)).collect();
        run(&steps, MemoryStore::new);
    }

    #[test]
    fn the_engine_on_disk_is_a_plain_map(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        run(&steps, || EmbeddedStore::open(folder.path(), Options::default()).unwrap());
    }
}
