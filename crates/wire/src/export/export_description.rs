//! `ExportDescription` → JSON.

use crate::exchange::encode_failure;
use crate::json::{Seconds, Writer};
use partita_api::exchange::ExchangeStatus;
use partita_api::export::{Export, ExportScope};

pub(crate) fn encode(export: &Export, json: &mut Writer) {
    json.object(|json| {
        json.name("ExportDescription").object(|json| {
            json.member("ExportArn", &export.arn)
                .member("ExportStatus", export.status.name())
                .member("StartTime", &Seconds(export.started_millis))
                .member("EndTime", &export.ended_millis.map(Seconds))
                .member("ExportManifest", &export.manifest)
                .member("TableArn", &export.table_arn)
                .member("TableId", &export.table_id);
            let is_full = export.scope == ExportScope::Full;
            json.member("ExportTime", &is_full.then_some(Seconds(export.export_time_millis)))
                .member("ClientToken", &export.client_token)
                .member("S3Bucket", &export.target.bucket)
                .member("S3BucketOwner", &export.target.bucket_owner)
                .member("S3Prefix", &export.target.prefix)
                .member("S3SseAlgorithm", export.target.sse_algorithm.as_deref().unwrap_or("AES256"))
                .member("S3SseKmsKeyId", &export.target.kms_key);
            encode_failure(export.failure.as_ref(), json);
            let is_complete = export.status == ExchangeStatus::Completed;
            json.member("ExportFormat", export.format.name())
                .member("BilledSizeBytes", &is_complete.then_some(export.bytes))
                .member("ItemCount", &is_complete.then_some(export.items))
                .member("ExportType", export.scope.name());
            encode_scope(export.scope, json);
            if let Some(filter) = &export.filter {
                // It was validated as JSON before it was stored.
                json.name("FilterSpecification").written_by(|out| out.extend_from_slice(filter.as_bytes()));
            }
        });
    });
}

fn encode_scope(scope: ExportScope, json: &mut Writer) {
    let ExportScope::Incremental(window) = scope else { return };
    json.name("IncrementalExportSpecification").object(|json| {
        json.member("ExportFromTime", &Seconds(window.from_millis))
            .member("ExportToTime", &Seconds(window.to_millis))
            .member("ExportViewType", window.view.name());
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
    fn a_full_export_reports_its_time() {
        assert_eq!(
            described(export(ExportScope::Full, None)),
            json!({"ExportArn": "a", "ExportStatus": "IN_PROGRESS", "StartTime": 1.0, "TableArn": "t", "TableId": "i", "ExportTime": 0.5,
                "S3Bucket": "b", "S3SseAlgorithm": "AES256", "ExportFormat": "DYNAMODB_JSON", "ExportType": "FULL_EXPORT"})
        );
    }

    #[test]
    fn an_incremental_export_reports_its_window_and_filter() {
        let filter = r#"{"FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"S":"x"}}}"#;
        let description = described(export(incremental(), Some(filter)));
        assert_eq!(description["ExportType"], json!("INCREMENTAL_EXPORT"));
        assert_eq!(description.get("ExportTime"), None);
        assert_eq!(
            description["IncrementalExportSpecification"],
            json!({"ExportFromTime": 1.5, "ExportToTime": 2.0, "ExportViewType": "NEW_IMAGE"})
        );
        assert_eq!(description["FilterSpecification"], serde_json::from_str::<Value>(filter).unwrap());
    }
}
