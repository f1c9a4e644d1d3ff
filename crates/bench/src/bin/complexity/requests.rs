//! Bodies of every operation in which one member is long, written as templates: `<<x%>>` repeats `x` with numbers in place
//! of `%`, `@text` is a long text, and `@spaces` makes a statement too long for the parse cache.

use crate::decoders::{list, shuffled};
use crate::long_members::long_members;
use crate::{DynamicCase, Work};
use partita_api::Operation;
use std::hint::black_box;

/// A body template and its smallest size.
struct BodyTemplate {
    name: &'static str,
    size: usize,
    operation: Operation,
    body: &'static str,
}

/// Bodies within AWS's limits at every size.
const ACCEPTED: &[BodyTemplate] = &[
    BodyTemplate {
        name: "batch_writes",
        size: 6,
        operation: Operation::BatchWriteItem,
        body: r#"{"RequestItems":{"Table":[<<{"DeleteRequest":{"Key":{"pk":{"N":"%"}}}}>>]}}"#,
    },
    BodyTemplate {
        name: "transact_writes",
        size: 25,
        operation: Operation::TransactWriteItems,
        body: r#"{"TransactItems":[<<{"Delete":{"TableName":"Table","Key":{"pk":{"N":"%"}}}}>>]}"#,
    },
    BodyTemplate {
        name: "transact_gets",
        size: 25,
        operation: Operation::TransactGetItems,
        body: r#"{"TransactItems":[<<{"Get":{"TableName":"Table","Key":{"pk":{"N":"%"}}}}>>]}"#,
    },
    BodyTemplate {
        name: "batch_statements",
        size: 6,
        operation: Operation::BatchExecuteStatement,
        body: r#"{"Statements":[<<{"Statement":"SELECT * FROM Music @spaces WHERE pk = %"}>>]}"#,
    },
    BodyTemplate {
        name: "transact_statements",
        size: 25,
        operation: Operation::ExecuteTransaction,
        body: r#"{"TransactStatements":[<<{"Statement":"DELETE FROM Music @spaces WHERE pk = %"}>>]}"#,
    },
    BodyTemplate {
        name: "statement_parameters",
        size: 25,
        operation: Operation::ExecuteStatement,
        body: r#"{"Statement":"SELECT * FROM Music @spaces WHERE pk IN [<<?>>]","Parameters":[<<{"N":"%"}>>]}"#,
    },
    BodyTemplate {
        name: "statement_token",
        size: 1_000,
        operation: Operation::ExecuteStatement,
        body: r#"{"Statement":"SELECT * FROM Music","NextToken":"@text"}"#,
    },
    BodyTemplate {
        name: "tags",
        size: 12,
        operation: Operation::TagResource,
        body: r#"{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Table","Tags":[<<{"Key":"k%","Value":"v"}>>]}"#,
    },
    BodyTemplate {
        name: "untag_keys",
        size: 12,
        operation: Operation::UntagResource,
        body: r#"{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Table","TagKeys":[<<"k%">>]}"#,
    },
    BodyTemplate {
        name: "global_indexes",
        size: 5,
        operation: Operation::CreateTable,
        body: r#"{"TableName":"Table","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},<<{"AttributeName":"a%","AttributeType":"S"}>>],"GlobalSecondaryIndexes":[<<{"IndexName":"index%","KeySchema":[{"AttributeName":"a%","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}>>]}"#,
    },
    BodyTemplate {
        name: "projected_attributes",
        size: 5,
        operation: Operation::CreateTable,
        body: r#"{"TableName":"Table","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"GlobalSecondaryIndexes":[{"IndexName":"index","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":[<<"a%">>]}}]}"#,
    },
    BodyTemplate {
        name: "import_header",
        size: 60,
        operation: Operation::ImportTable,
        body: r#"{"S3BucketSource":{"S3Bucket":"bucket"},"InputFormat":"CSV","InputFormatOptions":{"Csv":{"HeaderList":[<<"a%">>]}},"TableCreationParameters":{"TableName":"Table","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}}"#,
    },
    BodyTemplate {
        name: "export_filter",
        size: 24,
        operation: Operation::ExportTableToPointInTime,
        body: r#"{"TableArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Table","S3Bucket":"bucket","FilterSpecification":{"FilterExpression":"x IN (:a,:b<<,:v%>>)","ExpressionAttributeValues":{":a":{"N":"1"},":b":{"N":"2"},<<":v%":{"N":"%"}>>}}}"#,
    },
    BodyTemplate {
        name: "exclusive_start_key",
        size: 1_000,
        operation: Operation::Scan,
        body: r#"{"TableName":"Table","ExclusiveStartKey":{<<"a%":{"S":"x"}>>}}"#,
    },
    BodyTemplate {
        name: "delete_key",
        size: 1_000,
        operation: Operation::DeleteItem,
        body: r#"{"TableName":"Table","Key":{<<"a%":{"S":"x"}>>}}"#,
    },
];

/// Expands a template to a size.
fn expand(template: &str, n: usize) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("<<") {
        let (piece, after) = after.split_once(">>").unwrap_or((after, ""));
        text.push_str(before);
        // A leading comma is written once before the repetitions.
        let piece = piece.strip_prefix(',').map_or(piece, |piece| {
            text.push(',');
            piece
        });
        text.push_str(&list(n, |i| piece.replace('%', &shuffled(i).to_string())));
        rest = after;
    }
    text.push_str(rest);
    text.replace("@spaces", &" ".repeat(600)).replace("@text", &"x".repeat(8 * n))
}

/// Decodes all bodies of an operation; they are accepted if one of them is.
fn decode_all(operation: Operation, n: usize) -> Work {
    let bodies: Vec<String> = long_members(operation).iter().map(|template| expand(template, n)).collect();
    Box::new(move || {
        let accepted = bodies.iter().filter(|body| partita_wire::decode(operation, body.as_bytes()).is_ok());
        black_box(accepted.count()) > 0
    })
}

/// Every case of this file.
pub fn cases() -> impl Iterator<Item = DynamicCase> {
    let accepted = ACCEPTED.iter().map(|body| DynamicCase {
        name: body.name.to_owned(),
        size: body.size,
        prepare: Box::new(|n| crate::decoders::decode(body.operation, expand(body.body, n))),
    });
    let rejected = Operation::ALL.iter().map(|operation| DynamicCase {
        name: format!("{}_rejected", operation.name()),
        size: 300,
        prepare: Box::new(|n| decode_all(*operation, n)),
    });
    accepted.chain(rejected)
}
