//! `BulkOperationDescription` → JSON.

use crate::exchange::{encode_failure, encode_location};
use crate::json::{Seconds, Writer};
use partita_api::bulk_operation::{BulkInput, BulkOperation, BulkOutput};
use std::collections::BTreeMap;

pub(crate) fn encode(operation: &BulkOperation, json: &mut Writer) {
    json.object(|json| {
        json.name("BulkOperationDescription").object(|json| {
            encode_summary_members(operation, json);
            json.objects("TableDetails", [operation], |operation, json| {
                json.member("TableName", &operation.table_name).member("TableId", &operation.table_id);
            });
            json.member("ClientToken", &operation.client_token);
            encode_input(&operation.input, json);
            encode_output(&operation.output, json);
            json.member("ProcessedItemCount", &operation.processed_items)
                .member("ProcessedInputBytes", &operation.processed_bytes)
                .member("TotalInputBytes", &operation.total_bytes);
            encode_usage(operation, json);
            json.member("FailedItemCount", &operation.failed_items);
            encode_failure(operation.failure.as_ref(), json);
            json.member("MaxWriteRequestUnits", &operation.max_write_units)
                .member("PerformanceTier", operation.tier.name());
        });
    });
}

/// Encodes the members that a summary has as well.
pub(crate) fn encode_summary_members(operation: &BulkOperation, json: &mut Writer) {
    json.member("BulkOperationArn", &operation.arn)
        .member("BulkOperationStatus", operation.status.name())
        .member("StartTime", &Seconds(operation.started_millis))
        .member("EndTime", &operation.ended_millis.map(Seconds));
}

fn encode_input(input: &BulkInput, json: &mut Writer) {
    json.name("InputS3Configuration").object(|json| {
        let source = &input.source;
        encode_location(&source.bucket, &source.bucket_owner, &source.prefix, json);
        json.member("InputFormat", input.format.name())
            .member("InputCompressionType", input.compression.name());
    });
}

fn encode_output(output: &BulkOutput, json: &mut Writer) {
    json.name("OutputS3Configuration").object(|json| {
        let target = &output.target;
        encode_location(&target.bucket, &target.bucket_owner, &target.prefix, json);
        json.member("S3SseAlgorithm", &target.sse_algorithm).member("S3SseKmsKeyId", &target.kms_key);
        json.strings("OutputType", output.types.iter().map(|kind| kind.name()));
    });
}

fn encode_usage(operation: &BulkOperation, json: &mut Writer) {
    json.objects("BulkOperationUsage", [&operation.usage], |usage, json| {
        json.member("TableName", &operation.table_name).member("BulkPutBytes", &usage.total());
        json.name("Table").object(|json| json.name("BulkPutBytes").integer(usage.table));
        encode_index_usage("LocalSecondaryIndexes", &usage.local_indexes, json);
        encode_index_usage("GlobalSecondaryIndexes", &usage.global_indexes, json);
    });
}

fn encode_index_usage(name: &str, indexes: &BTreeMap<String, u64>, json: &mut Writer) {
    if indexes.is_empty() {
        return;
    }
    json.name(name).object(|json| {
        for (index, bytes) in indexes {
            json.name(index).object(|json| json.name("BulkPutBytes").integer(*bytes));
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::encoded;
    use partita_api::Response;
    use partita_api::bulk_operation::describe_bulk_operation::DescribeBulkOperationOutput;
    use partita_api::bulk_operation::*;
    use partita_api::exchange::{InputCompression, InputFormat, ObjectSource, ObjectTarget};

    fn operation() -> BulkOperation {
        let usage = BulkUsage {
            table: 7,
            local_indexes: [("l".to_owned(), 1)].into(),
            global_indexes: [("g".to_owned(), 2)].into(),
        };
        let source = ObjectSource { bucket: "in".to_owned(), ..ObjectSource::default() };
        let target = ObjectTarget { bucket: "out".to_owned(), ..ObjectTarget::default() };
        BulkOperation {
            arn: "arn".to_owned(),
            status: BulkStatus::InProgress,
            table_name: "T".to_owned(),
            table_arn: "arn:T".to_owned(),
            table_id: "id".to_owned(),
            client_token: None,
            input: BulkInput { source, format: InputFormat::Ion, compression: InputCompression::Zstd },
            output: BulkOutput { target, types: vec![OutputType::Error] },
            started_millis: 1_500,
            ended_millis: None,
            processed_items: 3,
            processed_bytes: 40,
            total_bytes: None,
            usage,
            failed_items: 1,
            failure: None,
            max_write_units: Some(1_024),
            tier: PerformanceTier::Standard,
        }
    }

    #[test]
    fn a_description_omits_unknown_members() {
        let output = DescribeBulkOperationOutput { operation: Box::new(operation()) };
        let json = encoded(Response::DescribeBulkOperation(output));
        for part in [
            r#""StartTime":1.5,"TableDetails":[{"TableName":"T","TableId":"id"}]"#,
            r#""InputS3Configuration":{"S3Bucket":"in","InputFormat":"ION","InputCompressionType":"ZSTD"}"#,
            r#""OutputS3Configuration":{"S3Bucket":"out","OutputType":["ERROR"]}"#,
            r#""BulkPutBytes":10,"Table":{"BulkPutBytes":7},"LocalSecondaryIndexes":{"l":{"BulkPutBytes":1}},"GlobalSecondaryIndexes":{"g":{"BulkPutBytes":2}}"#,
            r#""MaxWriteRequestUnits":1024,"PerformanceTier":"STANDARD""#,
        ] {
            assert!(json.contains(part), "{part} in {json}");
        }
        assert!(!json.contains("EndTime") && !json.contains("TotalInputBytes") && !json.contains("Failure"));
    }
}
