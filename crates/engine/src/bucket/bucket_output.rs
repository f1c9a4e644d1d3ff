//! What exports and bulk operations write: `PREFIX/AWSDynamoDB/ID/…`, with manifests beside the data.

use crate::bucket::Bucket;
use partita_api::exchange::{ExchangeFailure, ObjectTarget};
use partita_exchange::manifest::{self, DataFile};
use serde::Serialize;

/// The list of the data files.
pub const FILES: &str = "manifest-files.json";
const SUMMARY: &str = "manifest-summary.json";

/// The key of one of the objects that an export or bulk operation writes.
pub fn output_key(target: &ObjectTarget, id: &str, name: &str) -> String {
    let prefix = target.prefix.as_deref().unwrap_or_default().trim_end_matches('/');
    let separator = if prefix.is_empty() { "" } else { "/" };
    format!("{prefix}{separator}AWSDynamoDB/{id}/{name}")
}

/// The manifests come last: where there is a summary, everything is there. Returns the summary's key.
pub fn write_manifests(
    bucket: &Bucket,
    key: impl Fn(&str) -> String,
    files: &[DataFile],
    summary: &impl Serialize,
) -> Result<String, ExchangeFailure> {
    let files = manifest::encode_files(files);
    bucket.write(&key(FILES), &files)?;
    bucket.write(&key("manifest-files.md5"), &manifest::encode_checksum(&files))?;
    let summary = manifest::encode_summary(summary);
    bucket.write(&key(SUMMARY), &summary)?;
    bucket.write(&key("manifest-summary.md5"), &manifest::encode_checksum(&summary))?;
    Ok(key(SUMMARY))
}
