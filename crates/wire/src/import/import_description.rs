//! `ImportTableDescription` → JSON.

use crate::exchange::{encode_failure, encode_location};
use crate::json::{Seconds, Writer};
use partita_api::exchange::ObjectSource;
use partita_api::import::{CsvOptions, Import};

pub(crate) fn encode(import: &Import, json: &mut Writer) {
    json.object(|json| {
        json.name("ImportTableDescription").object(|json| {
            json.member("ImportArn", &import.arn)
                .member("ImportStatus", import.status.name())
                .member("TableArn", &import.table_arn)
                .member("TableId", &import.table_id)
                .member("ClientToken", &import.client_token);
            encode_source(&import.source, json);
            json.member("ErrorCount", &import.errors).member("InputFormat", import.format.name());
            if let Some(csv) = &import.csv {
                encode_csv(csv, json);
            }
            json.member("InputCompressionType", import.compression.name());
            json.name("TableCreationParameters")
                .written_by(|out| out.extend_from_slice(import.table_parameters.as_bytes()));
            json.member("StartTime", &Seconds(import.started_millis))
                .member("EndTime", &import.ended_millis.map(Seconds))
                .member("ProcessedSizeBytes", &import.processed_bytes)
                .member("ProcessedItemCount", &import.processed_items)
                .member("ImportedItemCount", &import.imported_items);
            encode_failure(import.failure.as_ref(), json);
        });
    });
}

pub(crate) fn encode_source(source: &ObjectSource, json: &mut Writer) {
    json.name("S3BucketSource")
        .object(|json| encode_location(&source.bucket, &source.bucket_owner, &source.prefix, json));
}

fn encode_csv(csv: &CsvOptions, json: &mut Writer) {
    json.name("InputFormatOptions").object(|json| {
        json.name("Csv").object(|json| {
            json.member("Delimiter", &csv.delimiter.map(String::from));
            if let Some(header) = &csv.header {
                json.strings("HeaderList", header.iter().map(String::as_str));
            }
        });
    });
}
