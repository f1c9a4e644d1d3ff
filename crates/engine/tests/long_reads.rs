//! Reads in slices, concurrent with deletions: a page is complete, or an error.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use serde_json::{Value, json};
use support::with_large_items;

/// A scan that examines every item so often that it takes many slices.
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
async fn a_scan_of_a_table_or_index_that_is_deleted_meanwhile_is_an_error() {
    for index in [None, Some("byKind")] {
        let database = with_large_items("Long", 60, 16_000).await;
        assert_eq!(database.call("Scan", scan(index)).await["Count"], 60);
        let deletion = match index {
            None => ("DeleteTable", json!({"TableName": "Long"})),
            Some(index) => {
                let updates = json!([{"Delete": {"IndexName": index}}]);
                ("UpdateTable", json!({"TableName": "Long", "GlobalSecondaryIndexUpdates": updates}))
            }
        };
        let (scanned, deleted) =
            tokio::join!(database.call("Scan", scan(index)), database.call(deletion.0, deletion.1));
        assert!(deleted.get("__type").is_none(), "{deleted}");
        assert!(scanned.get("__type").is_some(), "{} of 60", scanned["Count"]);
    }
}
