//! Decoding of request bodies: long lists, maps, strings and numbers, valid and invalid.

use crate::{Case, Work};
use partita_api::Operation;
use std::hint::black_box;

/// Decodes a body.
pub fn decode(operation: Operation, body: String) -> Work {
    Box::new(move || black_box(partita_wire::decode(operation, body.as_bytes())).is_ok())
}

/// Joins `n` pieces with commas.
pub fn list(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect::<Vec<_>>().join(",")
}

/// Returns numbers in a scattered order.
pub fn shuffled(i: usize) -> usize {
    i.wrapping_mul(2_654_435_761) & 0xffff_ffff
}

fn names(n: usize) -> String {
    list(n, |i| format!("\"a{}\"", shuffled(i)))
}

fn put(item: String) -> Work {
    decode(Operation::PutItem, format!(r#"{{"TableName":"Table","Item":{{"pk":{{"S":"k"}},{item}}}}}"#))
}

fn get(more: String) -> Work {
    decode(Operation::GetItem, format!(r#"{{"TableName":"Table","Key":{{"pk":{{"S":"k"}}}},{more}}}"#))
}

fn scan(more: String) -> Work {
    decode(Operation::Scan, format!(r#"{{"TableName":"Table",{more}}}"#))
}

fn query(more: String) -> Work {
    decode(Operation::Query, format!(r#"{{"TableName":"Table",{more}}}"#))
}

fn update(more: String) -> Work {
    decode(Operation::UpdateItem, format!(r#"{{"TableName":"Table","Key":{{"pk":{{"S":"k"}}}},{more}}}"#))
}

fn create(more: String) -> Work {
    decode(
        Operation::CreateTable,
        format!(r#"{{"TableName":"Table","BillingMode":"PAY_PER_REQUEST",{more}}}"#),
    )
}

fn batch_get(keys: String) -> Work {
    decode(Operation::BatchGetItem, format!(r#"{{"RequestItems":{{"Table":{{"Keys":[{keys}]}}}}}}"#))
}

fn key(i: usize) -> String {
    format!(r#"{{"pk":{{"N":"{}"}}}}"#, shuffled(i))
}

fn statement(parameters: String) -> Work {
    let body = format!(r#"{{"Statement":"SELECT * FROM Music WHERE a = ?","Parameters":[{parameters}]}}"#);
    decode(Operation::ExecuteStatement, body)
}

const EQ: &str = r#"{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}"#;

pub const CASES: [&[Case]; 3] = [LISTS, VALUES, PLACEHOLDERS];

const LISTS: &[Case] = &[
    Case {
        name: "attributes_to_get",
        size: 4_000,
        prepare: |n| get(format!(r#""AttributesToGet":[{}]"#, names(n))),
    },
    Case {
        name: "attributes_to_get_twice_rejected",
        size: 4_000,
        prepare: |n| get(format!(r#""AttributesToGet":[{},"b","b"]"#, names(n))),
    },
    Case { name: "batch_get_keys", size: 25, prepare: |n| batch_get(list(n, key)) },
    Case { name: "batch_get_too_many_keys_rejected", size: 1_000, prepare: |n| batch_get(list(n, key)) },
    Case {
        name: "batch_get_empty_keys_rejected",
        size: 5_000,
        prepare: |n| batch_get(list(n, |_| "{}".into())),
    },
    Case {
        name: "batch_get_tables_rejected",
        size: 1_000,
        prepare: |n| {
            let tables = list(n, |i| format!(r#""T{}":{{"Keys":[{}]}}"#, shuffled(i), key(i)));
            decode(Operation::BatchGetItem, format!(r#"{{"RequestItems":{{{tables}}}}}"#))
        },
    },
    Case {
        name: "batch_writes_rejected",
        size: 1_000,
        prepare: |n| {
            let writes = list(n, |i| format!(r#"{{"DeleteRequest":{{"Key":{}}}}}"#, key(i)));
            decode(Operation::BatchWriteItem, format!(r#"{{"RequestItems":{{"Table":[{writes}]}}}}"#))
        },
    },
    Case {
        name: "batch_writes_wrong_rejected",
        size: 2_000,
        prepare: |n| {
            let writes = list(n, |_| r#"{"PutRequest":{}}"#.into());
            let body = format!(r#"{{"RequestItems":{{"{}":[{writes}]}}}}"#, "t".repeat(n));
            decode(Operation::BatchWriteItem, body)
        },
    },
    Case {
        name: "transact_writes_rejected",
        size: 1_000,
        prepare: |n| {
            let writes = list(n, |i| format!(r#"{{"Delete":{{"TableName":"Table","Key":{}}}}}"#, key(i)));
            decode(Operation::TransactWriteItems, format!(r#"{{"TransactItems":[{writes}]}}"#))
        },
    },
    Case {
        name: "transact_gets_rejected",
        size: 1_000,
        prepare: |n| {
            let gets = list(n, |i| format!(r#"{{"Get":{{"TableName":"Table","Key":{}}}}}"#, key(i)));
            decode(Operation::TransactGetItems, format!(r#"{{"TransactItems":[{gets}]}}"#))
        },
    },
    Case {
        name: "tags_rejected",
        size: 2_000,
        prepare: |n| {
            let tags = list(n, |i| format!(r#"{{"Key":"k{i}","Value":"v"}}"#));
            let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Table";
            decode(Operation::TagResource, format!(r#"{{"ResourceArn":"{arn}","Tags":[{tags}]}}"#))
        },
    },
    Case {
        name: "untag_keys_rejected",
        size: 4_000,
        prepare: |n| {
            let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Table";
            decode(Operation::UntagResource, format!(r#"{{"ResourceArn":"{arn}","TagKeys":[{}]}}"#, names(n)))
        },
    },
    Case {
        name: "attribute_definitions_rejected",
        size: 1_500,
        prepare: |n| {
            let all = list(n, |i| format!(r#"{{"AttributeName":"a{}","AttributeType":"S"}}"#, shuffled(i)));
            create(format!(
                r#""KeySchema":[{{"AttributeName":"a0","KeyType":"HASH"}}],"AttributeDefinitions":[{all}]"#
            ))
        },
    },
    Case {
        name: "key_schema_rejected",
        size: 1_500,
        prepare: |n| {
            let all = list(n, |i| format!(r#"{{"AttributeName":"a{i}","KeyType":"RANGE"}}"#));
            create(format!(r#""KeySchema":[{all}],"AttributeDefinitions":[]"#))
        },
    },
    Case {
        name: "empty_indexes_rejected",
        size: 5_000,
        prepare: |n| create(format!(r#""GlobalSecondaryIndexes":[{}]"#, list(n, |_| "{}".into()))),
    },
    Case {
        name: "non_key_attributes_rejected",
        size: 4_000,
        prepare: |n| {
            let projection = format!(r#"{{"ProjectionType":"INCLUDE","NonKeyAttributes":[{}]}}"#, names(n));
            create(format!(r#""GlobalSecondaryIndexes":[{{"IndexName":"index","Projection":{projection}}}]"#))
        },
    },
    Case {
        name: "batch_statements_rejected",
        size: 1_000,
        prepare: |n| {
            let all = list(n, |_| r#"{"Statement":"SELECT * FROM Music WHERE a = 1"}"#.into());
            decode(Operation::BatchExecuteStatement, format!(r#"{{"Statements":[{all}]}}"#))
        },
    },
];

const VALUES: &[Case] = &[
    Case {
        name: "item_attributes",
        size: 4_000,
        prepare: |n| put(list(n, |i| format!(r#""a{}":{{"N":"1"}}"#, shuffled(i)))),
    },
    Case {
        name: "item_same_attribute",
        size: 4_000,
        prepare: |n| put(list(n, |_| r#""a":{"NULL":true}"#.into())),
    },
    Case {
        name: "several_types_rejected",
        size: 4_000,
        prepare: |n| put(format!(r#""a":{{{}}}"#, list(n, |_| r#""S":"x""#.into()))),
    },
    Case { name: "string_set", size: 4_000, prepare: |n| put(format!(r#""a":{{"SS":[{}]}}"#, names(n))) },
    Case {
        name: "string_set_twice_rejected",
        size: 4_000,
        prepare: |n| put(format!(r#""a":{{"SS":[{},"b","b"]}}"#, names(n))),
    },
    Case {
        name: "number_set",
        size: 4_000,
        prepare: |n| put(format!(r#""a":{{"NS":[{}]}}"#, list(n, |i| format!("\"{}.5\"", shuffled(i))))),
    },
    Case {
        name: "binary_set",
        size: 4_000,
        prepare: |n| {
            put(format!(r#""a":{{"BS":[{}]}}"#, list(n, |i| format!("\"{:08}\"", shuffled(i) % 100_000_000))))
        },
    },
    Case {
        name: "list_value",
        size: 8_000,
        prepare: |n| put(format!(r#""a":{{"L":[{}]}}"#, list(n, |_| r#"{"NULL":true}"#.into()))),
    },
    Case {
        name: "map_value",
        size: 4_000,
        prepare: |n| {
            put(format!(r#""a":{{"M":{{{}}}}}"#, list(n, |i| format!(r#""a{}":{{"S":""}}"#, shuffled(i)))))
        },
    },
    Case {
        name: "nested_maps",
        size: 500,
        prepare: |n| {
            let nested = format!("{}{}{}", r#"{"M":{"a":"#.repeat(28), r#"{"S":"x"}"#, "}}".repeat(28));
            put(list(n, |i| format!(r#""a{}":{nested}"#, shuffled(i))))
        },
    },
    Case {
        name: "too_deep_rejected",
        size: 50,
        prepare: |n| put(format!(r#""a":{}{}"#, r#"{"L":["#.repeat(n), "]}".repeat(n))),
    },
    Case {
        name: "escapes",
        size: 20_000,
        prepare: |n| put(format!(r#""a":{{"S":"{}"}}"#, "\\u0041\\n".repeat(n))),
    },
    Case {
        name: "spaces_after_escapes",
        size: 20_000,
        prepare: |n| put(format!("\"a\":{{\"S\":\"{}\"}}{}", "\\n".repeat(n), " ".repeat(n))),
    },
    Case {
        name: "long_string",
        size: 100_000,
        prepare: |n| put(format!(r#""a":{{"S":"{}"}}"#, "x".repeat(n))),
    },
    Case {
        name: "long_binary",
        size: 100_000,
        prepare: |n| put(format!(r#""a":{{"B":"{}"}}"#, "abcd".repeat(n / 4))),
    },
    Case {
        name: "long_number_rejected",
        size: 50_000,
        prepare: |n| put(format!(r#""a":{{"N":"1{}"}}"#, "0".repeat(n))),
    },
    Case {
        name: "wrong_number_rejected",
        size: 50_000,
        prepare: |n| put(format!(r#""a":{{"N":"{}"}}"#, "1e".repeat(n))),
    },
    Case { name: "json_number", size: 50_000, prepare: |n| scan(format!(r#""Limit":1.{}"#, "1".repeat(n))) },
    Case {
        name: "unknown_members",
        size: 10_000,
        prepare: |n| scan(list(n, |_| r#""x":[{"a":1.5e3},null,true,"\t"]"#.into())),
    },
    Case {
        name: "encoded_item",
        size: 2_000,
        prepare: |n| {
            let item = partita_value::Item::build(|encoder| {
                for i in 0..n {
                    encoder.name(&format!("a{}", shuffled(i)));
                    encoder.string("\u{1}\u{2}x\"\\");
                }
            });
            let output =
                partita_api::item::get_item::GetItemOutput { item: Some(item), consumed_capacity: None };
            Box::new(move || !partita_wire::encode(&partita_api::Response::GetItem(output)).is_empty())
        },
    },
];

const PLACEHOLDERS: &[Case] = &[
    Case {
        name: "unused_names_rejected",
        size: 4_000,
        prepare: |n| {
            let names = list(n, |i| format!("\"#n{}\":\"a\"", shuffled(i)));
            get(format!("\"ProjectionExpression\":\"a\",\"ExpressionAttributeNames\":{{{names}}}"))
        },
    },
    Case {
        name: "unused_values_rejected",
        size: 4_000,
        prepare: |n| {
            let values = list(n, |i| format!(r#"":v{}":{{"S":"a"}}"#, shuffled(i)));
            scan(format!(r#""FilterExpression":"a = :v0","ExpressionAttributeValues":{{{values}}}"#))
        },
    },
    Case {
        name: "one_long_name_often",
        size: 75,
        prepare: |n| {
            let paths = list(n, |i| format!("#n[{i}]"));
            let name = "a".repeat(200 * n);
            get(format!(
                "\"ProjectionExpression\":\"{paths}\",\"ExpressionAttributeNames\":{{\"#n\":\"{name}\"}}"
            ))
        },
    },
    Case {
        name: "one_long_value_often",
        size: 35,
        prepare: |n| {
            let filter = (0..n).map(|_| "contains(a, :v)").collect::<Vec<_>>().join(" OR ");
            let value = "a".repeat(1_000 * n);
            scan(format!(
                r#""FilterExpression":"{filter}","ExpressionAttributeValues":{{":v":{{"S":"{value}"}}}}"#
            ))
        },
    },
    Case {
        name: "scan_filter",
        size: 2_000,
        prepare: |n| {
            scan(format!(r#""ScanFilter":{{{}}}"#, list(n, |i| format!(r#""a{}":{EQ}"#, shuffled(i)))))
        },
    },
    Case {
        name: "scan_filter_in",
        size: 4_000,
        prepare: |n| {
            let values = list(n, |i| format!(r#"{{"S":"{}"}}"#, shuffled(i)));
            scan(format!(
                r#""ScanFilter":{{"a":{{"ComparisonOperator":"IN","AttributeValueList":[{values}]}}}}"#
            ))
        },
    },
    Case {
        name: "key_conditions_rejected",
        size: 2_000,
        prepare: |n| {
            query(format!(r#""KeyConditions":{{{}}}"#, list(n, |i| format!(r#""a{}":{EQ}"#, shuffled(i)))))
        },
    },
    Case {
        name: "expected",
        size: 2_000,
        prepare: |n| {
            let all = list(n, |i| format!(r#""a{}":{{"Value":{{"S":"x"}}}}"#, shuffled(i)));
            update(format!(r#""Expected":{{{all}}}"#))
        },
    },
    Case {
        name: "attribute_updates",
        size: 2_000,
        prepare: |n| {
            let all = list(n, |i| format!(r#""a{}":{{"Value":{{"S":"x"}}}}"#, shuffled(i)));
            update(format!(r#""AttributeUpdates":{{{all}}}"#))
        },
    },
    Case {
        name: "statement_parameters_rejected",
        size: 4_000,
        prepare: |n| statement(list(n, |i| format!(r#"{{"N":"{i}"}}"#))),
    },
];
