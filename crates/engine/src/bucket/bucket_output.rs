//! The output layout of exports and bulk operations: `PREFIX/AWSDynamoDB/ID/…`, with manifests next to the data.

use crate::bucket::Bucket;
use partita_api::exchange::{ExchangeFailure, ObjectTarget};
use partita_exchange::manifest::{self, DataFile};
use serde::Serialize;

/// The manifest that lists the data files.
pub const FILES: &str = "manifest-files.json";
const SUMMARY: &str = "manifest-summary.json";

/// The key of an output object of an export or bulk operation.
pub fn output_key(target: &ObjectTarget, id: &str, name: &str) -> String {
    let prefix = target.prefix.as_deref().unwrap_or_default().trim_end_matches('/');
    let separator = if prefix.is_empty() { "" } else { "/" };
    format!("{prefix}{separator}AWSDynamoDB/{id}/{name}")
}

/// Writes the manifests, the summary last: where it exists, the output is complete. Returns the summary's key.
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
