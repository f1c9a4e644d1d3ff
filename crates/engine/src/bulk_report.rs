//! What a bulk operation tells about records that it did not put. Lines are stored with the operation until there are enough
//! of them for an object, so that none is lost or told twice, whenever the process ends.

use crate::bucket::Bucket;
use partita_api::bulk_operation::OutputType;
use partita_api::exchange::ExchangeFailure;
use partita_exchange::compression::Compression;
use partita_exchange::item_writer::{FailedPut, encode_failed_put};
use partita_exchange::manifest::DataFile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BulkReports {
    /// What is in no object yet.
    waiting: BTreeMap<OutputType, Lines>,
    pub files: Vec<DataFile>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lines {
    text: String,
    count: u64,
}

impl BulkReports {
    pub fn add(&mut self, kind: OutputType, failed: &FailedPut<'_>) {
        let mut line = Vec::new();
        encode_failed_put(failed, &mut line);
        let lines = self.waiting.entry(kind).or_default();
        lines.text.push_str(&String::from_utf8_lossy(&line));
        lines.count += 1;
    }

    /// Writes those that have become as long as this. An object's name depends on its number only, so that a repetition
    /// replaces it.
    pub fn write(
        &mut self,
        bucket: &Bucket,
        key: impl Fn(&str) -> String,
        least_bytes: usize,
    ) -> Result<(), ExchangeFailure> {
        for (kind, lines) in &mut self.waiting {
            if lines.count == 0 || lines.text.len() < least_bytes {
                continue;
            }
            let name = format!("data/{}/{:06}.json.gz", kind.name(), self.files.len());
            let bytes = Compression::Gzip.piece(lines.text.clone().into_bytes());
            bucket.write(&key(&name), &bytes)?;
            self.files.push(DataFile::new(key(&name), &bytes, lines.count));
            *lines = Lines::default();
        }
        Ok(())
    }
}
