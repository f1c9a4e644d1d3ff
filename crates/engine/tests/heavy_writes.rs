//! Writes that take long to decide, beside others of the same items: none is lost, and none is decided by what was.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use support::Database;

const ITEMS: usize = 8;
/// A condition that looks at the whole item so often is never the writer's own to decide.
const LOOKS: usize = 40;

async fn run(database: &Database<MemoryStore>, operation: &str, body: Value) -> Value {
    serde_json::from_str(&database.run(operation, &body.to_string()).await).unwrap()
}

async fn done(database: &Database<MemoryStore>, operation: &str, body: Value) -> Value {
    let answer = run(database, operation, body).await;
    assert!(answer.get("__type").is_none(), "{operation}: {answer}");
    answer
}

/// Items of 200 KB, each with an entry in an index.
async fn filled() -> Database<MemoryStore> {
    let database = Database::new(MemoryStore::default());
    let element = |name: &str| json!({"AttributeName": name, "KeyType": "HASH"});
    let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let index = json!({"IndexName": "byKind", "KeySchema": [element("kind")], "Projection": {"ProjectionType": "ALL"}});
    let table = json!({
        "TableName": "Heavy", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [element("pk")],
        "AttributeDefinitions": [definition("pk"), definition("kind")], "GlobalSecondaryIndexes": [index],
    });
    done(&database, "CreateTable", table).await;
    for number in 0..ITEMS {
        let item = json!({
            "pk": {"S": number.to_string()}, "kind": {"S": "large"}, "text": {"S": "a".repeat(200_000)},
            "document": {"M": {"count": {"N": "0"}}}, "count": {"N": "0"},
        });
        done(&database, "PutItem", json!({"TableName": "Heavy", "Item": item})).await;
    }
    database
}

/// An update of one item, under a condition that takes long if it is heavy.
fn update(number: usize, heavy: bool) -> Value {
    let looks = vec!["NOT contains(#text, :other)"; if heavy { LOOKS } else { 1 }];
    json!({
        "TableName": "Heavy", "Key": {"pk": {"S": number.to_string()}},
        "UpdateExpression": "SET document.#count = document.#count + :one ADD #count :one",
        "ConditionExpression": looks.join(" AND "),
        "ExpressionAttributeNames": {"#count": "count", "#text": "text"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":other": {"S": "aaab"}},
    })
}

async fn counts(database: &Database<MemoryStore>) -> Vec<(String, String)> {
    let mut counts = Vec::new();
    for number in 0..ITEMS {
        let key = json!({"TableName": "Heavy", "Key": {"pk": {"S": number.to_string()}}});
        let item = done(database, "GetItem", key).await["Item"].take();
        let text = |value: &Value| value["N"].as_str().unwrap().to_owned();
        counts.push((text(&item["count"]), text(&item["document"]["M"]["count"])));
    }
    counts
}

#[tokio::test]
async fn no_update_is_lost() {
    let database = filled().await;
    let transactions = async {
        for _ in 0..4 {
            let updates: Vec<_> = (0..ITEMS).map(|number| json!({"Update": update(number, true)})).collect();
            done(&database, "TransactWriteItems", json!({"TransactItems": updates})).await;
        }
    };
    let alone = async {
        for _ in 0..4 {
            done(&database, "UpdateItem", update(0, true)).await;
        }
    };
    let light = async {
        for round in 0..16 {
            done(&database, "UpdateItem", update(round % ITEMS, false)).await;
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
async fn what_a_heavy_condition_says_holds_when_it_is_written() {
    let database = filled().await;
    // Each wants to be the first; both take long.
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
        tokio::join!(run(&database, "UpdateItem", first("one")), run(&database, "UpdateItem", first("two")));
    let refused = [&one, &two].into_iter().filter(|answer| answer.get("__type").is_some()).count();
    assert_eq!(refused, 1, "{one} {two}");
}

#[tokio::test]
async fn a_filter_may_take_long_where_items_are_fetched_besides_their_entries() {
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
    done(&database, "CreateTable", table).await;
    for number in 0..4 {
        let text = format!("{}{}", "a".repeat(200_000), if number % 2 == 0 { "b" } else { "" });
        let item = json!({
            "pk": {"S": "p"}, "sk": {"S": number.to_string()}, "kind": {"S": "k"}, "text": {"S": text},
        });
        done(&database, "PutItem", json!({"TableName": "Heavy", "Item": item})).await;
    }
    let filter = vec!["contains(#text, :ab)"; LOOKS].join(" AND ");
    let scan = json!({
        "TableName": "Heavy", "IndexName": "local", "FilterExpression": filter,
        "ExpressionAttributeNames": {"#text": "text"}, "ExpressionAttributeValues": {":ab": {"S": "ab"}},
    });
    let answer = done(&database, "Scan", scan).await;
    assert_eq!((&answer["Count"], &answer["ScannedCount"]), (&json!(2), &json!(4)));
    let keys: Vec<_> =
        answer["Items"].as_array().unwrap().iter().map(|item| item["sk"]["S"].clone()).collect();
    assert_eq!(keys, [json!("0"), json!("2")]);
}

/// As AWS has it: the items of a transaction have 4 MB together at most, also those that updates make.
#[tokio::test]
async fn a_transaction_writes_no_more_than_it_may() {
    let database = filled().await;
    for number in ITEMS..24 {
        let item = json!({"pk": {"S": number.to_string()}, "text": {"S": "a".repeat(200_000)}});
        done(&database, "PutItem", json!({"TableName": "Heavy", "Item": item})).await;
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
    done(&database, "TransactWriteItems", updates(20)).await;
    let refused = run(&database, "TransactWriteItems", updates(24)).await;
    assert!(refused["message"].as_str().unwrap().contains("cannot exceed 4MB"), "{refused}");
    let read = json!({"TableName": "Heavy", "Key": {"pk": {"S": "3"}}, "ProjectionExpression": "n"});
    assert_eq!(done(&database, "GetItem", read).await["Item"]["n"]["N"], "1");
}
