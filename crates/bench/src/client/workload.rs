//! The workloads: a table of orders with about 1 KB per item, twenty orders per user and one global index.

use partita_auth::{Credential, Signer};
use serde_json::{Value, json};
use std::fmt::Write;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

pub const TABLE: &str = "Bench";
const ORDERS_PER_USER: u64 = 20;
const REQUESTS: u64 = 20_000;

/// Whether a workload only reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WorkloadKind {
    Read,
    Write,
}

pub struct Workload {
    pub name: &'static str,
    pub kind: WorkloadKind,
    pub operation: &'static str,
    /// Number of different requests to prepare.
    requests: u64,
    body: fn(u64, u64) -> Value,
}

/// All workloads; `body` gets the number of the request and the number of items in the table.
pub const WORKLOADS: &[Workload] = &[
    read(
        "get",
        "GetItem",
        REQUESTS,
        |i, n| json!({"TableName": TABLE, "Key": key(spread(i, n)), "ConsistentRead": true}),
    ),
    read("get_projected", "GetItem", REQUESTS, |i, n| {
        json!({"TableName": TABLE, "Key": key(spread(i, n)), "ProjectionExpression": "orderId, #t, #l[0].sku",
            "ExpressionAttributeNames": {"#t": "total", "#l": "lines"}})
    }),
    read("query", "Query", REQUESTS, |i, n| {
        json!({"TableName": TABLE, "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)",
            "ScanIndexForward": false, "Limit": 10,
            "ExpressionAttributeValues": {":p": user(i, n), ":s": {"S": "ORDER#"}}})
    }),
    read("query_gsi", "Query", REQUESTS, |i, _| {
        json!({"TableName": TABLE, "IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :p", "Limit": 10,
            "ExpressionAttributeValues": {":p": {"S": format!("STATUS#shipped#{}", i % 97)}}})
    }),
    read("query_filter", "Query", REQUESTS, |i, n| {
        json!({"TableName": TABLE, "KeyConditionExpression": "PK = :p",
            "FilterExpression": "#s = :st AND contains(tags, :t)", "ExpressionAttributeNames": {"#s": "status"},
            "ExpressionAttributeValues": {":p": user(i, n), ":st": {"S": "pending"}, ":t": {"S": "web"}}})
    }),
    read("batch_get25", "BatchGetItem", REQUESTS / 20, |i, n| {
        let keys: Vec<_> = (0..25).map(|j| key(spread(i * 25 + j, n))).collect();
        json!({"RequestItems": {TABLE: {"Keys": keys}}})
    }),
    read("scan_page", "Scan", 100, |_, _| json!({"TableName": TABLE, "Limit": 100})),
    write("put_new", "PutItem", 60_000, |i, _| json!({"TableName": TABLE, "Item": item(i, "n", false)})),
    write("put_indexed", "PutItem", 60_000, |i, _| json!({"TableName": TABLE, "Item": item(i, "g", true)})),
    write("update", "UpdateItem", REQUESTS, |i, n| update(spread(i, n))),
    write("update_hot", "UpdateItem", 100, |_, _| update(0)),
    write("transact4", "TransactWriteItems", 30_000, |i, _| {
        let puts: Vec<_> = (0..4)
            .map(|j| {
                json!({"Put": {"TableName": TABLE, "Item": item(i * 4 + j, "t", false),
                "ConditionExpression": "attribute_not_exists(PK)"}})
            })
            .collect();
        json!({"TransactItems": puts})
    }),
    write("batch_write25", "BatchWriteItem", 8_000, |i, _| {
        let puts: Vec<_> =
            (0..25).map(|j| json!({"PutRequest": {"Item": item(i * 25 + j, "b", false)}})).collect();
        json!({"RequestItems": {TABLE: puts}})
    }),
];

const fn read(
    name: &'static str,
    operation: &'static str,
    requests: u64,
    body: fn(u64, u64) -> Value,
) -> Workload {
    Workload { name, kind: WorkloadKind::Read, operation, requests, body }
}

const fn write(
    name: &'static str,
    operation: &'static str,
    requests: u64,
    body: fn(u64, u64) -> Value,
) -> Workload {
    Workload { name, kind: WorkloadKind::Write, operation, requests, body }
}

impl Workload {
    /// Prepares requests. Writes of new items are not repeated in another `pass`.
    pub fn requests(&self, request_builder: &RequestBuilder, items: u64, pass: u64) -> Rc<Vec<Vec<u8>>> {
        let first = pass * self.requests;
        let numbers = first..first + self.requests;
        Rc::new(
            numbers
                .map(|i| request_builder.request(self.operation, &(self.body)(i, items).to_string()))
                .collect(),
        )
    }
}

fn update(order: u64) -> Value {
    json!({"TableName": TABLE, "Key": key(order), "UpdateExpression": "SET #v = #v + :one, #s = :s",
        "ConditionExpression": "attribute_exists(PK)", "ExpressionAttributeNames": {"#v": "version", "#s": "note2"},
        "ExpressionAttributeValues": {":one": {"N": "1"}, ":s": {"S": "touched"}}})
}

fn spread(i: u64, items: u64) -> u64 {
    (i * 7919 + 13) % items
}

fn user(i: u64, items: u64) -> Value {
    json!({"S": format!("USER#{:07}", i * 31 % (items / ORDERS_PER_USER).max(1))})
}

fn key(order: u64) -> Value {
    let item = item(order, "", false);
    json!({"PK": item["PK"], "SK": item["SK"]})
}

/// Returns an order of about 1 KB in its user's item collection.
pub fn item(i: u64, tag: &str, indexed: bool) -> Value {
    serde_json::from_str(&item_text(i, tag, indexed)).unwrap_or_default()
}

/// Returns the same as text, for loading tables with millions of items.
pub fn item_text(i: u64, tag: &str, indexed: bool) -> String {
    let (user, order) = (i / ORDERS_PER_USER, i % ORDERS_PER_USER);
    let status = if i.is_multiple_of(7) { "pending" } else { "shipped" };
    let month = 1 + order % 12;
    let mut text = String::with_capacity(1_400);
    // Writing to a String does not fail.
    let _ = write!(
        text,
        r##"{{"PK":{{"S":"USER#{tag}{user:07}"}},"SK":{{"S":"ORDER#2026-{month:02}-05#{order:05}"}},"entityType":{{"S":"ORDER"}},"orderId":{{"S":"{tag}{i:09}"}},"total":{{"N":"{}.99"}},"status":{{"S":"{status}"}},{LINES},"tags":{{"SS":["express","fragile","web"]}},"version":{{"N":"1"}},"note":{{"S":""##,
        i % 9973
    );
    text.extend(std::iter::repeat_n('x', 600));
    text.push_str("\"}");
    if indexed {
        let (shard, second) = (i % 97, i % 60);
        let _ = write!(
            text,
            r##","GSI1PK":{{"S":"STATUS#{status}#{shard}"}},"GSI1SK":{{"S":"2026-04-05T10:30:{second:02}Z#{i:09}"}}"##
        );
    }
    text.push('}');
    text
}

const LINES: &str = r#""lines":{"L":[{"M":{"sku":{"S":"SKU-00000"},"qty":{"N":"1"},"gift":{"BOOL":true}}},{"M":{"sku":{"S":"SKU-00001"},"qty":{"N":"2"},"gift":{"BOOL":false}}},{"M":{"sku":{"S":"SKU-00002"},"qty":{"N":"3"},"gift":{"BOOL":true}}},{"M":{"sku":{"S":"SKU-00003"},"qty":{"N":"4"},"gift":{"BOOL":false}}}]}"#;

/// Returns the body of a BatchWriteItem request for at most 25 items.
pub fn batch_text(numbers: std::ops::Range<u64>, indexed: bool) -> String {
    let mut text = format!(r#"{{"RequestItems":{{"{TABLE}":["#);
    for (position, i) in numbers.enumerate() {
        text.push_str(if position > 0 { r#",{"PutRequest":{"Item":"# } else { r#"{"PutRequest":{"Item":"# });
        text.push_str(&item_text(i, "", indexed));
        text.push_str("}}");
    }
    text.push_str("]}}");
    text
}

/// Returns the body of the CreateTable request.
pub fn create_table() -> Value {
    let definition = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let keys = |hash: &str, range: &str| json!([{"AttributeName": hash, "KeyType": "HASH"}, {"AttributeName": range, "KeyType": "RANGE"}]);
    let definitions = ["PK", "SK", "GSI1PK", "GSI1SK"].map(definition);
    json!({"TableName": TABLE, "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": definitions, "KeySchema": keys("PK", "SK"),
        "GlobalSecondaryIndexes": [{"IndexName": "GSI1", "Projection": {"ProjectionType": "ALL"}, "KeySchema": keys("GSI1PK", "GSI1SK")}]})
}

/// Builds signed requests like an SDK.
pub struct RequestBuilder {
    host: String,
    signer: Signer,
}

impl RequestBuilder {
    pub fn new(host: &str, credential: Credential) -> RequestBuilder {
        RequestBuilder { host: host.to_owned(), signer: Signer::new(credential, "us-east-1") }
    }

    pub fn request(&self, operation: &str, body: &str) -> Vec<u8> {
        let target = format!("DynamoDB_20120810.{operation}");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs() as i64);
        let mut request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in self.signer.headers(&self.host, &target, body.as_bytes(), now) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        request.push_str(body);
        request.into_bytes()
    }
}
