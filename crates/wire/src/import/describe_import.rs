//! DescribeImport: a body → the ARN of an import; and how far it is.

use crate::exchange::{encode_failure, encode_place, encode_text, encode_time, read_arn};
use crate::json::{Reader, Writer};
use partita_api::exchange::ObjectSource;
use partita_api::import::describe_import::{DescribeImport, DescribeImportOutput};
use partita_api::import::{CsvOptions, Import};
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    Ok(Request::DescribeImport(DescribeImport { arn: read_arn(reader, "ImportArn", "importArn")? }))
}

pub(crate) fn encode(output: &DescribeImportOutput, json: &mut Writer) {
    encode_import(&output.import, json);
}

pub(crate) fn encode_import(import: &Import, json: &mut Writer) {
    json.object(|json| {
        json.name("ImportTableDescription").object(|json| {
            json.name("ImportArn").string(&import.arn);
            json.name("ImportStatus").string(import.status.name());
            json.name("TableArn").string(&import.table_arn);
            json.name("TableId").string(&import.table_id);
            encode_text("ClientToken", import.client_token.as_ref(), json);
            encode_source(&import.source, json);
            json.name("ErrorCount").integer(import.errors);
            json.name("InputFormat").string(import.format.name());
            if let Some(csv) = &import.csv {
                encode_csv(csv, json);
            }
            json.name("InputCompressionType").string(import.compression.name());
            json.name("TableCreationParameters")
                .written_by(|out| out.extend_from_slice(import.table_parameters.as_bytes()));
            encode_time("StartTime", Some(import.started_millis), json);
            encode_time("EndTime", import.ended_millis, json);
            json.name("ProcessedSizeBytes").integer(import.processed_bytes);
            json.name("ProcessedItemCount").integer(import.processed_items);
            json.name("ImportedItemCount").integer(import.imported_items);
            encode_failure(import.failure.as_ref(), json);
        });
    });
}

pub(crate) fn encode_source(source: &ObjectSource, json: &mut Writer) {
    json.name("S3BucketSource").object(|json| {
        encode_place(&source.bucket, source.bucket_owner.as_ref(), source.prefix.as_ref(), json);
    });
}

fn encode_csv(csv: &CsvOptions, json: &mut Writer) {
    json.name("InputFormatOptions").object(|json| {
        json.name("Csv").object(|json| {
            if let Some(delimiter) = csv.delimiter {
                json.name("Delimiter").string(&delimiter.to_string());
            }
            if let Some(header) = &csv.header {
                json.name("HeaderList").array(|json| header.iter().for_each(|name| json.string(name)));
            }
        });
    });
}
