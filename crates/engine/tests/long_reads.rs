//! Reads in slices beside what changes the table: a page is whole, or an error.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use partita_store_memory::MemoryStore;
use serde_json::{Value, json};
use support::Database;

async fn run(database: &Database<MemoryStore>, operation: &str, body: Value) -> Value {
    serde_json::from_str(&database.run(operation, &body.to_string()).await).unwrap()
}

/// Items of 16 KB, each with an entry in an index.
async fn filled() -> Database<MemoryStore> {
    let database = Database::new(MemoryStore::default());
    let element = |name: &str| json!({"AttributeName": name, "KeyType": "HASH"});
    let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let index = json!({"IndexName": "byKind", "KeySchema": [element("kind")], "Projection": {"ProjectionType": "ALL"}});
    let table = json!({
        "TableName": "Long", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [element("pk")],
        "AttributeDefinitions": [definition("pk"), definition("kind")], "GlobalSecondaryIndexes": [index],
    });
    run(&database, "CreateTable", table).await;
    for number in 0..60 {
        let item =
            json!({"pk": {"S": number.to_string()}, "kind": {"S": "k"}, "text": {"S": "a".repeat(16_000)}});
        run(&database, "PutItem", json!({"TableName": "Long", "Item": item})).await;
    }
    database
}

/// Looks at every item so often that it takes many slices.
fn scan(index: Option<&str>) -> Value {
    let mut request = json!({
        "TableName": "Long", "FilterExpression": vec!["NOT contains(#text, :other)"; 60].join(" AND "),
        "ExpressionAttributeNames": {"#text": "text"}, "ExpressionAttributeValues": {":other": {"S": "aaab"}},
    });
    if let Some(index) = index {
        request["IndexName"] = json!(index);
    }
    request
}

#[tokio::test]
async fn a_page_of_what_is_deleted_meanwhile_is_an_error() {
    for index in [None, Some("byKind")] {
        let database = filled().await;
        assert_eq!(run(&database, "Scan", scan(index)).await["Count"], 60);
        let deletion = match index {
            None => ("DeleteTable", json!({"TableName": "Long"})),
            Some(index) => {
                let updates = json!([{"Delete": {"IndexName": index}}]);
                ("UpdateTable", json!({"TableName": "Long", "GlobalSecondaryIndexUpdates": updates}))
            }
        };
        let (scanned, deleted) =
            tokio::join!(run(&database, "Scan", scan(index)), run(&database, deletion.0, deletion.1));
        assert!(deleted.get("__type").is_none(), "{deleted}");
        assert!(scanned.get("__type").is_some(), "{} of 60", scanned["Count"]);
    }
}
