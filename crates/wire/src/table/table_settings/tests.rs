//! Every body is decoded to a request or refused with a client error.

use crate::{Rejection, decode};
use partita_api::{ExceptionKind, Operation};
use proptest::prelude::*;
use serde_json::{Value, json};

const OPERATIONS: [Operation; 12] = [
    Operation::CreateTable,
    Operation::DeleteTable,
    Operation::DescribeEndpoints,
    Operation::DescribeLimits,
    Operation::DescribeTable,
    Operation::DescribeTimeToLive,
    Operation::ListTables,
    Operation::ListTagsOfResource,
    Operation::TagResource,
    Operation::UntagResource,
    Operation::UpdateTable,
    Operation::UpdateTimeToLive,
];

const TEXTS: [&str; 14] = [
    "a",
    "b",
    "abc",
    "S",
    "N",
    "HASH",
    "RANGE",
    "ALL",
    "INCLUDE",
    "PAY_PER_REQUEST",
    "PROVISIONED",
    "KMS",
    "NEW_IMAGE",
    "arn:aws:dynamodb:us-east-1:000000000000:table/abc",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => prop::sample::select(&TEXTS[..]).prop_map(|text| json!(text)),
        2 => (-2i64..20_000).prop_map(|number| json!(number)),
        1 => any::<bool>().prop_map(|value| json!(value)),
        1 => Just(Value::Null),
    ]
}

/// A structure with some of these members, each with a value of its type or, rarely, of another.
fn structure(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let member = |(name, value): (&'static str, BoxedStrategy<Value>)| {
        let value = prop_oneof![20 => value, 1 => scalar(), 1 => Just(json!([])), 1 => Just(json!({}))];
        prop::option::weighted(0.7, value).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    };
    let members: Vec<_> = members.into_iter().map(|named| member(named).boxed()).collect();
    members.prop_map(|members| Value::Object(members.into_iter().flatten().collect())).boxed()
}

fn list(element: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(element, 0..4).prop_map(Value::Array).boxed()
}

fn scalars(names: &[&'static str]) -> BoxedStrategy<Value> {
    structure(names.iter().map(|name| (*name, scalar().boxed())).collect())
}

fn units() -> BoxedStrategy<Value> {
    scalars(&["ReadCapacityUnits", "WriteCapacityUnits"])
}

fn index() -> BoxedStrategy<Value> {
    structure(vec![
        ("IndexName", scalar().boxed()),
        ("KeySchema", list(scalars(&["AttributeName", "KeyType"]))),
        (
            "Projection",
            structure(vec![
                ("ProjectionType", scalar().boxed()),
                ("NonKeyAttributes", list(scalar().boxed())),
            ]),
        ),
        ("ProvisionedThroughput", units()),
        ("OnDemandThroughput", scalars(&["MaxReadRequestUnits", "MaxWriteRequestUnits"])),
        ("WarmThroughput", scalars(&["ReadUnitsPerSecond", "WriteUnitsPerSecond"])),
    ])
}

fn body() -> BoxedStrategy<Value> {
    structure(vec![
        ("TableName", scalar().boxed()),
        ("AttributeDefinitions", list(scalars(&["AttributeName", "AttributeType"]))),
        ("KeySchema", list(scalars(&["AttributeName", "KeyType"]))),
        ("LocalSecondaryIndexes", list(index())),
        ("GlobalSecondaryIndexes", list(index())),
        (
            "GlobalSecondaryIndexUpdates",
            list(structure(vec![("Create", index()), ("Update", index()), ("Delete", index())])),
        ),
        ("BillingMode", scalar().boxed()),
        ("ProvisionedThroughput", units()),
        ("OnDemandThroughput", scalars(&["MaxReadRequestUnits", "MaxWriteRequestUnits"])),
        ("WarmThroughput", scalars(&["ReadUnitsPerSecond", "WriteUnitsPerSecond"])),
        ("StreamSpecification", scalars(&["StreamEnabled", "StreamViewType"])),
        ("SSESpecification", scalars(&["Enabled", "SSEType", "KMSMasterKeyId"])),
        ("Tags", list(scalars(&["Key", "Value"]))),
        ("TagKeys", list(scalar().boxed())),
        ("ResourceArn", scalar().boxed()),
        ("TimeToLiveSpecification", scalars(&["Enabled", "AttributeName"])),
        ("ExclusiveStartTableName", scalar().boxed()),
        ("Limit", scalar().boxed()),
    ])
}

proptest! {
    #[test]
    fn every_body_is_decoded_or_refused(body in body()) {
        for operation in OPERATIONS {
            match decode(operation, body.to_string().as_bytes()) {
                Ok(_) => {}
                Err(Rejection::Invalid(exception)) => {
                    prop_assert_ne!(exception.kind, ExceptionKind::InternalServerError);
                    prop_assert!(!exception.message.is_empty());
                }
                Err(Rejection::Malformed(exception)) => prop_assert!(false, "{operation:?}: {exception:?}"),
            }
        }
    }
}

/// Quadratic checks would take hours.
#[test]
fn checks_are_linear_in_definitions_and_indexes() {
    let names: Vec<String> = (0..20_000).map(|i| format!("name{i}")).collect();
    let key = |name: &String| json!([{"AttributeName": name, "KeyType": "HASH"}]);
    let indexes: Value = names
        .iter()
        .map(|name| json!({"IndexName": name, "KeySchema": key(name), "Projection": {"ProjectionType": "ALL"}}))
        .collect();
    let definitions: Value =
        names.iter().map(|name| json!({"AttributeName": name, "AttributeType": "S"})).collect();
    let body = json!({
        "TableName": "abc", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key(&names[0]),
        "AttributeDefinitions": definitions, "GlobalSecondaryIndexes": indexes,
    });
    match decode(Operation::CreateTable, body.to_string().as_bytes()) {
        Err(Rejection::Invalid(exception)) => assert_eq!(
            exception.message,
            "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of 20"
        ),
        other => panic!("{other:?}"),
    }
}
