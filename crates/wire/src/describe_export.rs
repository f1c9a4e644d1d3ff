//! DescribeExport: a body → the ARN of an export; and how far it is.

use crate::exchange::{encode_failure, encode_text, encode_time, read_arn};
use crate::json::{Reader, Writer};
use partita_api::describe_export::{DescribeExport, DescribeExportOutput};
use partita_api::exchange::ExchangeStatus;
use partita_api::export::Export;
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
            encode_time("ExportTime", Some(export.export_time_millis), json);
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
            json.name("ExportType").string("FULL_EXPORT");
        });
    });
}
