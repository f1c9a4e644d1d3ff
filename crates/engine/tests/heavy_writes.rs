//! Writes with expensive conditions, concurrent with other writes of the same items: no update is lost, and no decision is based on an
//! outdated item.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use support::{Database, with_large_items};

const ITEMS: usize = 8;
/// A condition that examines the whole item this often is not evaluated by the writer itself.
const EVALUATIONS: usize = 40;

/// An update of one item, with a condition that is expensive if `heavy`.
fn update(number: usize, heavy: bool) -> Value {
    let comparisons = vec!["NOT contains(#text, :other)"; if heavy { EVALUATIONS } else { 1 }];
    json!({
        "TableName": "Heavy", "Key": {"pk": {"S": number.to_string()}},
        "UpdateExpression": "SET document.#count = document.#count + :one ADD #count :one",
        "ConditionExpression": comparisons.join(" AND "),
        "ExpressionAttributeNames": {"#count": "count", "#text": "text"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":other": {"S": "aaab"}},
    })
}

async fn counts(database: &Database<MemoryStore>) -> Vec<(String, String)> {
    let mut counts = Vec::new();
    for number in 0..ITEMS {
        let key = json!({"TableName": "Heavy", "Key": {"pk": {"S": number.to_string()}}});
        let item = database.succeed("GetItem", key).await["Item"].take();
        let text = |value: &Value| value["N"].as_str().unwrap().to_owned();
        counts.push((text(&item["count"]), text(&item["document"]["M"]["count"])));
    }
    counts
}

#[tokio::test]
async fn no_update_is_lost() {
    let database = with_large_items("Heavy", ITEMS, 200_000).await;
    let transactions = async {
        for _ in 0..4 {
            let updates: Vec<_> = (0..ITEMS).map(|number| json!({"Update": update(number, true)})).collect();
            database.succeed("TransactWriteItems", json!({"TransactItems": updates})).await;
        }
    };
    let alone = async {
        for _ in 0..4 {
            database.succeed("UpdateItem", update(0, true)).await;
        }
    };
    let light = async {
        for round in 0..16 {
            database.succeed("UpdateItem", update(round % ITEMS, false)).await;
            tokio::task::spawn_blocking(|| std::thread::sleep(std::time::Duration::from_millis(1)))
                .await
                .unwrap();
        }
    };
    tokio::join!(transactions, alone, light);
    let expected = |number| if number == 0 { 4 + 4 + 2 } else { 4 + 2 }.to_string();
    let expected: Vec<_> = (0..ITEMS).map(|number| (expected(number), expected(number))).collect();
    assert_eq!(counts(&database).await, expected);
    database.assert_clean();
}

#[tokio::test]
async fn an_expensive_condition_still_holds_when_the_item_is_written() {
    let database = with_large_items("Heavy", ITEMS, 200_000).await;
    // Only the first of them may succeed; both are expensive.
    let first = |name: &str| {
        let mut request = update(0, true);
        let condition =
            format!("attribute_not_exists(winner) AND {}", request["ConditionExpression"].as_str().unwrap());
        request["ConditionExpression"] = json!(condition);
        request["UpdateExpression"] = json!("SET winner = :name, #count = :one");
        request["ExpressionAttributeValues"][":name"] = json!({"S": name});
        request
    };
    let (one, two) =
        tokio::join!(database.call("UpdateItem", first("one")), database.call("UpdateItem", first("two")));
    let refused = [&one, &two].into_iter().filter(|answer| answer.get("__type").is_some()).count();
    assert_eq!(refused, 1, "{one} {two}");
}

#[tokio::test]
async fn an_expensive_filter_applies_to_items_fetched_for_index_entries() {
    let database = Database::new(MemoryStore::default());
    let element = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let index = json!({
        "IndexName": "local", "KeySchema": [element("pk", "HASH"), element("kind", "RANGE")],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    });
    let table = json!({
        "TableName": "Heavy", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [element("pk", "HASH"), element("sk", "RANGE")],
        "AttributeDefinitions": [definition("pk"), definition("sk"), definition("kind")],
        "LocalSecondaryIndexes": [index],
    });
    database.succeed("CreateTable", table).await;
    for number in 0..4 {
        let text = format!("{}{}", "a".repeat(200_000), if number % 2 == 0 { "b" } else { "" });
        let item = json!({
            "pk": {"S": "p"}, "sk": {"S": number.to_string()}, "kind": {"S": "k"}, "text": {"S": text},
        });
        database.succeed("PutItem", json!({"TableName": "Heavy", "Item": item})).await;
    }
    let filter = vec!["contains(#text, :ab)"; EVALUATIONS].join(" AND ");
    let scan = json!({
        "TableName": "Heavy", "IndexName": "local", "FilterExpression": filter,
        "ExpressionAttributeNames": {"#text": "text"}, "ExpressionAttributeValues": {":ab": {"S": "ab"}},
    });
    let answer = database.succeed("Scan", scan).await;
    assert_eq!((&answer["Count"], &answer["ScannedCount"]), (&json!(2), &json!(4)));
    let keys: Vec<_> =
        answer["Items"].as_array().unwrap().iter().map(|item| item["sk"]["S"].clone()).collect();
    assert_eq!(keys, [json!("0"), json!("2")]);
}

/// As on AWS, the items of a transaction have at most 4 MB in total, including those that updates produce.
#[tokio::test]
async fn a_transaction_writes_at_most_4_mb() {
    let database = with_large_items("Heavy", ITEMS, 200_000).await;
    for number in ITEMS..24 {
        let item = json!({"pk": {"S": number.to_string()}, "text": {"S": "a".repeat(200_000)}});
        database.succeed("PutItem", json!({"TableName": "Heavy", "Item": item})).await;
    }
    let updates = |items: usize| {
        let update = |number: usize| {
            let values = json!({":one": {"N": "1"}});
            json!({"Update": {
                "TableName": "Heavy", "Key": {"pk": {"S": number.to_string()}}, "UpdateExpression": "ADD n :one",
                "ExpressionAttributeValues": values,
            }})
        };
        json!({"TransactItems": (0..items).map(update).collect::<Vec<_>>()})
    };
    database.succeed("TransactWriteItems", updates(20)).await;
    let refused = database.call("TransactWriteItems", updates(24)).await;
    assert!(refused["message"].as_str().unwrap().contains("cannot exceed 4MB"), "{refused}");
    let read = json!({"TableName": "Heavy", "Key": {"pk": {"S": "3"}}, "ProjectionExpression": "n"});
    assert_eq!(database.succeed("GetItem", read).await["Item"]["n"]["N"], "1");
}
