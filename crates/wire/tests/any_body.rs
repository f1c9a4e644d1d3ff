//! Decoding never panics, whatever the body.

use partita_api::Operation;
use partita_wire::{Rejection, decode, encode_exception, is_json};
use proptest::prelude::*;

/// Valid bodies, which have most members of the operations.
const BODIES: &[&str] = &[
    r##"{"TableName":"Music","Item":{"pk":{"S":"a"},"m":{"M":{"l":{"L":[{"N":"1.5e3"},{"NULL":true}]}}},"b":{"BS":["AA=="]}},"ConditionExpression":"attribute_not_exists(#p) AND v < :v","ExpressionAttributeNames":{"#p":"pk"},"ExpressionAttributeValues":{":v":{"NS":["1","2"]}},"ReturnValues":"ALL_OLD"}"##,
    r##"{"TableName":"Music","Key":{"pk":{"S":"\u00e4\ud83d\ude00"}},"UpdateExpression":"SET #c = if_not_exists(#c, :z) + :c ADD s :s","ExpressionAttributeNames":{"#c":"count"},"ExpressionAttributeValues":{":c":{"N":"7"},":z":{"N":"0"},":s":{"SS":["x"]}}}"##,
    r#"{"TableName":"Music","Key":{"pk":{"S":"a"}},"AttributeUpdates":{"a":{"Value":{"S":"x"}},"b":{"Action":"DELETE"}},"Expected":{"a":{"Exists":false},"b":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"x"}]}},"ConditionalOperator":"OR"}"#,
    r##"{"TableName":"Music","IndexName":"index","KeyConditionExpression":"pk = :p AND begins_with(sk, :s)","FilterExpression":"size(#f) > :n","ProjectionExpression":"a.b[0], #f","ExpressionAttributeNames":{"#f":"f"},"ExpressionAttributeValues":{":p":{"S":"a"},":s":{"S":"b"},":n":{"N":"0"}},"Limit":5,"ExclusiveStartKey":{"pk":{"S":"a"}}}"##,
    r#"{"TableName":"Music","KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},"QueryFilter":{"a":{"ComparisonOperator":"NULL"}},"AttributesToGet":["a"],"Segment":0,"TotalSegments":2}"#,
    r#"{"RequestItems":{"Music":{"Keys":[{"pk":{"S":"a"}}],"AttributesToGet":["x"]}},"ReturnConsumedCapacity":"TOTAL"}"#,
    r#"{"RequestItems":{"Music":[{"PutRequest":{"Item":{"pk":{"B":"AAEC"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"b"}}}}]}}"#,
    r#"{"TransactItems":[{"Put":{"TableName":"Music","Item":{"pk":{"S":"a"}}}},{"ConditionCheck":{"TableName":"Music","Key":{"pk":{"S":"d"}},"ConditionExpression":"attribute_exists(pk)"}}],"ClientRequestToken":"t"}"#,
    r#"{"TransactItems":[{"Get":{"TableName":"Music","Key":{"pk":{"S":"a"}},"ProjectionExpression":"a"}}]}"#,
    r#"{"TableName":"Music","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"index","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],"Tags":[{"Key":"a","Value":"b"}]}"#,
    r#"{"StreamArn":"arn:aws:dynamodb:us-east-1:123456789012:table/Music/stream/2026-11-15T18:44:54.123","ShardId":"shardId-00000001794700800000-00000000","ShardIteratorType":"AT_SEQUENCE_NUMBER","SequenceNumber":"100000000000000000001","ShardIterator":"AAEC","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":"shardId-00000001794700800000-00000000"},"Limit":5}"#,
    r#"{"TableName":"Music","BackupName":"nightly","TargetTableName":"Copy","BackupArn":"arn:aws:dynamodb:us-east-1:123456789012:table/Music/backup/01794700800000-a1b2c3d4","BillingModeOverride":"PROVISIONED","ProvisionedThroughputOverride":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},"GlobalSecondaryIndexOverride":[{"IndexName":"index","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}],"LocalSecondaryIndexOverride":[],"SSESpecificationOverride":{"Enabled":true,"SSEType":"KMS"}}"#,
    r#"{"SourceTableName":"Music","TargetTableName":"Copy","RestoreDateTime":1794700800.123,"TableName":"Music","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7},"Limit":3,"TimeRangeLowerBound":1e9,"TimeRangeUpperBound":2e9,"BackupType":"ALL"}"#,
    r##"{"TableArn":"arn:aws:dynamodb:us-east-1:123456789012:table/Music","S3Bucket":"bucket","ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification":{"ExportFromTime":1794700800,"ExportToTime":1794700900.5,"ExportViewType":"NEW_IMAGE"},"FilterSpecification":{"KeyConditionExpression":"pk = :p","FilterExpression":"#s > :n","ProjectionExpression":"pk, #s","ExpressionAttributeNames":{"#s":"size"},"ExpressionAttributeValues":{":p":{"S":"a"},":n":{"N":"1"}}}}"##,
];

fn decode_as_everything(body: &[u8]) {
    for operation in Operation::ALL {
        match decode(*operation, body) {
            Ok(request) => {
                assert!(is_json(body));
                let _ = format!("{request:?}");
            }
            Err(Rejection::Malformed(exception)) => {
                assert!(!is_json(body));
                assert!(is_json(&encode_exception(&exception)));
            }
            Err(Rejection::Invalid(exception)) => {
                assert!(body.is_empty() || is_json(body));
                assert!(is_json(&encode_exception(&exception)));
            }
        }
    }
}

#[test]
fn every_operation_handles_valid_bodies() {
    BODIES.iter().for_each(|body| decode_as_everything(body.as_bytes()));
}

#[test]
fn deep_bodies_are_refused() {
    let deep = |open: &str, close: &str, depth: usize| [open.repeat(depth), close.repeat(depth)].concat();
    for depth in [31, 33, 300, 100_000] {
        decode_as_everything(deep("[", "]", depth).as_bytes());
        let value = deep(r#"{"M":{"a":"#, "}}", depth);
        decode_as_everything(format!(r#"{{"TableName":"abc","Item":{{"a":{value}}}}}"#).as_bytes());
        let expression = deep("(", ")", depth);
        let body = format!(r#"{{"TableName":"abc","Item":{{}},"ConditionExpression":"{expression}"}}"#);
        decode_as_everything(body.as_bytes());
    }
}

/// A body with some of its bytes replaced, removed or repeated.
fn damaged_body() -> impl Strategy<Value = Vec<u8>> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, any::<u8>(), 1..20usize), 1..4);
    (prop::sample::select(BODIES), damage).prop_map(|(body, damage)| {
        let mut body = body.as_bytes().to_vec();
        for (position, kind, byte, length) in damage {
            let at = position.index(body.len());
            let end = (at + length).min(body.len());
            match kind {
                0 => body[at] = byte,
                1 if end - at < body.len() => drop(body.drain(at..end)),
                _ => {
                    let piece = body[at..end].to_vec();
                    body.splice(at..at, piece);
                }
            }
        }
        body
    })
}

/// Values of every JSON type.
const VALUES: &[&str] =
    &["null", "1", "-0.5", "true", "\"\"", "\"x\"", "[]", "{}", "[1]", r#"{"S":"x"}"#, r#"{"x":{}}"#];

/// A body with one or two values replaced by values of any type, still JSON.
fn replaced_body() -> impl Strategy<Value = String> {
    let replacement = (any::<prop::sample::Index>(), prop::sample::select(VALUES));
    (prop::sample::select(BODIES), prop::collection::vec(replacement, 1..3)).prop_map(
        |(body, replacements)| {
            let mut tree: serde_json::Value = serde_json::from_str(body).expect("the bodies are JSON");
            for (position, value) in replacements {
                let count = count(&tree);
                let value = serde_json::from_str(value).expect("the values are JSON");
                replace_at(&mut tree, &mut position.index(count), value);
            }
            tree.to_string()
        },
    )
}

fn count(tree: &serde_json::Value) -> usize {
    1 + match tree {
        serde_json::Value::Array(elements) => elements.iter().map(count).sum(),
        serde_json::Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn replace_at(tree: &mut serde_json::Value, left: &mut usize, value: serde_json::Value) -> bool {
    if *left == 0 {
        *tree = value;
        return true;
    }
    *left -= 1;
    match tree {
        serde_json::Value::Array(elements) => {
            elements.iter_mut().any(|one| replace_at(one, left, value.clone()))
        }
        serde_json::Value::Object(members) => {
            members.values_mut().any(|one| replace_at(one, left, value.clone()))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes(body: Vec<u8>) {
        decode_as_everything(&body);
    }

    #[test]
    fn damaged_bodies(body in damaged_body()) {
        decode_as_everything(&body);
    }

    #[test]
    fn bodies_with_values_of_other_types(body in replaced_body()) {
        decode_as_everything(body.as_bytes());
    }
}
