//! The files that accompany an export's data and a bulk operation's reports: a summary, a list of the data files, and
//! their checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use partita_api::export::{Export, ExportScope};
use partita_value::calendar::timestamp;
use serde::{Deserialize, Serialize};

/// An export's `manifest-summary.json`, with the members in AWS's order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportSummary<'a> {
    version: &'static str,
    export_arn: &'a str,
    start_time: String,
    end_time: String,
    table_arn: &'a str,
    table_id: &'a str,
    #[serde(flatten)]
    times: ExportTimes,
    s3_bucket: &'a str,
    s3_prefix: Option<&'a str>,
    s3_sse_algorithm: &'a str,
    s3_sse_kms_key_id: Option<&'a str>,
    manifest_files_s3_key: &'a str,
    billed_size_bytes: u64,
    item_count: u64,
    output_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_view: Option<&'static str>,
    export_type: &'static str,
}

/// The time of a full export, or the period of an incremental one.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum ExportTimes {
    Full { export_time: String },
    Incremental { export_from_time: String, export_to_time: String },
}

/// Returns the summary of a completed export whose list of data files is stored under `files_key`.
pub fn export_summary<'a>(export: &'a Export, ended_millis: u64, files_key: &'a str) -> ExportSummary<'a> {
    let (version, times, output_view) = match export.scope {
        ExportScope::Full => {
            (FULL_VERSION, ExportTimes::Full { export_time: timestamp(export.export_time_millis) }, None)
        }
        ExportScope::Incremental(window) => {
            let export_from_time = timestamp(window.from_millis);
            let export_to_time = timestamp(window.to_millis);
            let times = ExportTimes::Incremental { export_from_time, export_to_time };
            (INCREMENTAL_VERSION, times, Some(window.view.name()))
        }
    };
    ExportSummary {
        version,
        export_arn: &export.arn,
        start_time: timestamp(export.started_millis),
        end_time: timestamp(ended_millis),
        table_arn: &export.table_arn,
        table_id: &export.table_id,
        times,
        s3_bucket: &export.target.bucket,
        s3_prefix: export.target.prefix.as_deref(),
        s3_sse_algorithm: export.target.sse_algorithm.as_deref().unwrap_or("AES256"),
        s3_sse_kms_key_id: export.target.kms_key.as_deref(),
        manifest_files_s3_key: files_key,
        billed_size_bytes: export.bytes,
        item_count: export.items,
        output_format: export.format.name(),
        output_view,
        export_type: export.scope.name(),
    }
}

/// Version of the summary format of full exports.
const FULL_VERSION: &str = "2020-06-30";
/// Version of the summary format of incremental exports.
const INCREMENTAL_VERSION: &str = "2023-08-01";

/// The summary of a bulk operation's reports.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkSummary<'a> {
    pub version: &'static str,
    pub bulk_operation_arn: &'a str,
    pub bulk_operation_status: &'a str,
    pub start_time: String,
    pub end_time: String,
    pub table_arn: &'a str,
    pub table_id: &'a str,
    pub s3_bucket: &'a str,
    pub s3_prefix: Option<&'a str>,
    pub manifest_files_s3_key: &'a str,
    pub output_types: Vec<&'a str>,
    pub processed_item_count: u64,
    pub failed_item_count: u64,
    pub condition_check_failure_count: u64,
    pub processed_input_bytes: u64,
}

/// Version of the summary format of bulk operations.
pub const BULK_VERSION: &str = "2020-06-30";

/// A line of `manifest-files.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataFile {
    pub item_count: u64,
    pub md5_checksum: String,
    pub etag: String,
    pub data_file_s3_key: String,
}

impl DataFile {
    /// Describes a data file with this content.
    pub fn new(key: String, bytes: &[u8], item_count: u64) -> DataFile {
        let digest = Md5::digest(bytes);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        DataFile {
            item_count,
            md5_checksum: STANDARD.encode(digest),
            etag: format!("{hex}-1"),
            data_file_s3_key: key,
        }
    }
}

/// Returns the content of `manifest-files.json`.
pub fn encode_files(files: &[DataFile]) -> Vec<u8> {
    files.iter().flat_map(|file| [json(file), b"\n".to_vec()].concat()).collect()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| unreachable!("a manifest is plain data"))
}

/// Returns the content of `manifest-summary.json`.
pub fn encode_summary(summary: &impl Serialize) -> Vec<u8> {
    json(summary)
}

/// Returns the content of the `.md5` file of a manifest.
pub fn encode_checksum(bytes: &[u8]) -> Vec<u8> {
    STANDARD.encode(Md5::digest(bytes)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_api::exchange::ExchangeStatus;
    use partita_api::exchange::ObjectTarget;
    use partita_api::export::{ExportFormat, ExportView, ExportWindow};

    #[test]
    fn data_files_have_both_checksums() {
        let file = DataFile::new("p/AWSDynamoDB/1-a/data/x.json.gz".to_owned(), b"abc", 7);
        assert_eq!(
            String::from_utf8_lossy(&encode_files(&[file])),
            "{\"itemCount\":7,\"md5Checksum\":\"kAFQmDzST7DWlj99KOF/cg==\",\"etag\":\"900150983cd24fb0d6963f7d28e17f72-1\",\"dataFileS3Key\":\"p/AWSDynamoDB/1-a/data/x.json.gz\"}\n"
        );
    }

    fn export(scope: ExportScope) -> Export {
        Export {
            arn: "e".to_owned(),
            table_arn: "t".to_owned(),
            table_id: "i".to_owned(),
            status: ExchangeStatus::InProgress,
            started_millis: 0,
            ended_millis: None,
            export_time_millis: 1_604_474_914_028,
            scope,
            filter: None,
            format: ExportFormat::Ion,
            target: ObjectTarget { bucket: "b".to_owned(), ..ObjectTarget::default() },
            client_token: None,
            manifest: None,
            items: 3,
            bytes: 4,
            failure: None,
        }
    }

    #[test]
    fn summaries_describe_the_export() {
        let encoded = |scope| {
            let bytes = encode_summary(&export_summary(&export(scope), 1_000, "k"));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let start = r#""exportArn":"e","startTime":"1970-01-01T00:00:00.000Z","endTime":"1970-01-01T00:00:01.000Z","tableArn":"t","tableId":"i""#;
        let end = r#""s3Bucket":"b","s3Prefix":null,"s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,"manifestFilesS3Key":"k","billedSizeBytes":4,"itemCount":3,"outputFormat":"ION""#;
        assert_eq!(
            encoded(ExportScope::Full),
            format!(
                r#"{{"version":"2020-06-30",{start},"exportTime":"2020-11-04T07:28:34.028Z",{end},"exportType":"FULL_EXPORT"}}"#
            )
        );
        let window = ExportWindow { from_millis: 0, to_millis: 500, view: ExportView::NewImage };
        assert_eq!(
            encoded(ExportScope::Incremental(window)),
            format!(
                r#"{{"version":"2023-08-01",{start},"exportFromTime":"1970-01-01T00:00:00.000Z","exportToTime":"1970-01-01T00:00:00.500Z",{end},"outputView":"NEW_IMAGE","exportType":"INCREMENTAL_EXPORT"}}"#
            )
        );
    }
}
