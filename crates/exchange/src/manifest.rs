//! The files that stand beside an export's data and a bulk operation's reports: a summary, a list of the data files, and their
//! checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use partita_value::calendar::date_of;
use serde::{Deserialize, Serialize};

/// `manifest-summary.json`, in the order in which AWS writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary<'a> {
    pub version: &'static str,
    pub export_arn: &'a str,
    pub start_time: String,
    pub end_time: String,
    pub table_arn: &'a str,
    pub table_id: &'a str,
    pub export_time: String,
    pub s3_bucket: &'a str,
    pub s3_prefix: Option<&'a str>,
    pub s3_sse_algorithm: &'a str,
    pub s3_sse_kms_key_id: Option<&'a str>,
    pub manifest_files_s3_key: String,
    pub billed_size_bytes: u64,
    pub item_count: u64,
    pub output_format: &'a str,
    pub export_type: &'a str,
}

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

/// The version of the summary's format.
pub const VERSION: &str = "2020-06-30";

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

pub fn summary(summary: &impl Serialize) -> Vec<u8> {
    json(summary)
}

pub fn files(files: &[DataFile]) -> Vec<u8> {
    files.iter().flat_map(|file| [json(file), b"\n".to_vec()].concat()).collect()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| unreachable!("a manifest is plain data"))
}

/// What stands in the `.md5` file beside a manifest.
pub fn checksum(bytes: &[u8]) -> Vec<u8> {
    STANDARD.encode(Md5::digest(bytes)).into_bytes()
}

/// `2020-11-04T07:28:34.028Z`
pub fn timestamp(millis: u64) -> String {
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_of(days as i64);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_aws_writes_them() {
        assert_eq!(timestamp(1_604_474_914_028), "2020-11-04T07:28:34.028Z");
    }

    #[test]
    fn data_files_have_both_checksums() {
        let file = DataFile::new("p/AWSDynamoDB/1-a/data/x.json.gz".to_owned(), b"abc", 7);
        assert_eq!(
            String::from_utf8_lossy(&files(&[file])),
            "{\"itemCount\":7,\"md5Checksum\":\"kAFQmDzST7DWlj99KOF/cg==\",\"etag\":\"900150983cd24fb0d6963f7d28e17f72-1\",\"dataFileS3Key\":\"p/AWSDynamoDB/1-a/data/x.json.gz\"}\n"
        );
    }
}
