//! DescribeExport: a body → the ARN of an export; and how far it is.

use crate::exchange::{encode_failure, encode_text, encode_time, read_arn};
use crate::json::{Reader, Writer};
use partita_api::exchange::ExchangeStatus;
use partita_api::export::describe_export::{DescribeExport, DescribeExportOutput};
use partita_api::export::{Export, ExportScope};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeExport(DescribeExport { arn: read_arn(reader, "ExportArn", "exportArn")? }))
}

pub(crate) fn encode(output: &DescribeExportOutput, json: &mut Writer) {
    encode_export(&output.export, json);
}

pub(crate) fn encode_export(export: &Export, json: &mut Writer) {
    json.object(|json| {
        json.name("ExportDescription").object(|json| {
            json.name("ExportArn").string(&export.arn);
            json.name("ExportStatus").string(export.status.name());
            encode_time("StartTime", Some(export.started_millis), json);
            encode_time("EndTime", export.ended_millis, json);
            encode_text("ExportManifest", export.manifest.as_ref(), json);
            json.name("TableArn").string(&export.table_arn);
            json.name("TableId").string(&export.table_id);
            if export.scope == ExportScope::Full {
                encode_time("ExportTime", Some(export.export_time_millis), json);
            }
            encode_text("ClientToken", export.client_token.as_ref(), json);
            json.name("S3Bucket").string(&export.target.bucket);
            encode_text("S3BucketOwner", export.target.bucket_owner.as_ref(), json);
            encode_text("S3Prefix", export.target.prefix.as_ref(), json);
            json.name("S3SseAlgorithm").string(export.target.sse_algorithm.as_deref().unwrap_or("AES256"));
            encode_text("S3SseKmsKeyId", export.target.kms_key.as_ref(), json);
            encode_failure(export.failure.as_ref(), json);
            json.name("ExportFormat").string(export.format.name());
            if export.status == ExchangeStatus::Completed {
                json.name("BilledSizeBytes").integer(export.bytes);
                json.name("ItemCount").integer(export.items);
            }
            json.name("ExportType").string(export.scope.name());
            encode_scope(export.scope, json);
            if let Some(filter) = &export.filter {
                // It was read as JSON before it was kept.
                json.name("FilterSpecification").written_by(|out| out.extend_from_slice(filter.as_bytes()));
            }
        });
    });
}

fn encode_scope(scope: ExportScope, json: &mut Writer) {
    let ExportScope::Incremental(window) = scope else { return };
    json.name("IncrementalExportSpecification").object(|json| {
        encode_time("ExportFromTime", Some(window.from_millis), json);
        encode_time("ExportToTime", Some(window.to_millis), json);
        json.name("ExportViewType").string(window.view.name());
    });
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::testing::encoded;
    use partita_api::Response;
    use partita_api::exchange::{ExchangeStatus, ObjectTarget};
    use partita_api::export::describe_export::DescribeExportOutput;
    use partita_api::export::*;
    use serde_json::{Value, json};

    pub(crate) fn export(scope: ExportScope, filter: Option<&str>) -> Export {
        Export {
            arn: "a".into(),
            table_arn: "t".into(),
            table_id: "i".into(),
            status: ExchangeStatus::InProgress,
            started_millis: 1_000,
            ended_millis: None,
            export_time_millis: 500,
            scope,
            filter: filter.map(str::to_owned),
            format: ExportFormat::default(),
            target: ObjectTarget { bucket: "b".into(), ..ObjectTarget::default() },
            client_token: None,
            manifest: None,
            items: 0,
            bytes: 0,
            failure: None,
        }
    }

    pub(crate) fn incremental() -> ExportScope {
        ExportScope::Incremental(ExportWindow {
            from_millis: 1_500,
            to_millis: 2_000,
            view: ExportView::NewImage,
        })
    }

    fn described(export: Export) -> Value {
        let body = encoded(Response::DescribeExport(DescribeExportOutput { export }));
        serde_json::from_str::<Value>(&body).unwrap()["ExportDescription"].clone()
    }

    #[test]
    fn a_full_export_shows_its_moment() {
        assert_eq!(
            described(export(ExportScope::Full, None)),
            json!({"ExportArn": "a", "ExportStatus": "IN_PROGRESS", "StartTime": 1.0, "TableArn": "t", "TableId": "i", "ExportTime": 0.5,
                "S3Bucket": "b", "S3SseAlgorithm": "AES256", "ExportFormat": "DYNAMODB_JSON", "ExportType": "FULL_EXPORT"})
        );
    }

    #[test]
    fn an_incremental_export_shows_its_window_and_its_filter() {
        let filter = r#"{"FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"S":"x"}}}"#;
        let shown = described(export(incremental(), Some(filter)));
        assert_eq!(shown["ExportType"], json!("INCREMENTAL_EXPORT"));
        assert_eq!(shown.get("ExportTime"), None);
        assert_eq!(
            shown["IncrementalExportSpecification"],
            json!({"ExportFromTime": 1.5, "ExportToTime": 2.0, "ExportViewType": "NEW_IMAGE"})
        );
        assert_eq!(shown["FilterSpecification"], serde_json::from_str::<Value>(filter).unwrap());
    }
}
