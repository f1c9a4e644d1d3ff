//! ImportTable: a body → files and the table that they make; and the import that was started.
//!
//! `TableCreationParameters` are the members of CreateTable and are read as such. The import shows them again.

use crate::exchange::{SentPlace, check_client_token, check_compression, owned};
use crate::import::describe_import::encode_import;
use crate::json::{Reader, Writer};
use crate::table::create_table;
use crate::table::table_creation_parameters;
use crate::table::table_settings::{Text, read_structure};
use crate::validation::{Validation, present};
use partita_api::exchange::InputFormat;
use partita_api::import::CsvOptions;
use partita_api::import::import_table::{ImportTable, ImportTableOutput};
use partita_api::{Exception, Request};
use partita_value::limits;

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    client_token: Text<'a>,
    source: Option<SentPlace<'a>>,
    format: Text<'a>,
    csv: Option<SentCsv<'a>>,
    compression: Text<'a>,
    table: Option<&'a str>,
}

#[derive(Default)]
struct SentCsv<'a> {
    delimiter: Text<'a>,
    header: Option<Vec<std::borrow::Cow<'a, str>>>,
}

#[derive(Default)]
struct SentOptions<'a> {
    csv: Option<SentCsv<'a>>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let mut validation = Validation::new();
    check_client_token(&mut validation, &sent.client_token);
    if let Some(source) = validation.required("s3BucketSource", &sent.source) {
        validation.required("s3BucketSource.s3Bucket", &source.bucket);
        source.check(&mut validation, "s3BucketSource.");
    }
    validation.required("inputFormat", &sent.format);
    let formats =
        [("DYNAMODB_JSON", InputFormat::DynamoDbJson), ("ION", InputFormat::Ion), ("CSV", InputFormat::Csv)];
    let format = validation.one_of("inputFormat", sent.format.as_deref(), &formats);
    let compression = check_compression(&mut validation, "inputCompressionType", &sent.compression);
    check_csv(&mut validation, sent.csv.as_ref());
    validation.required("tableCreationParameters", &sent.table);
    validation.finish()?;
    if sent.csv.is_some() && format != Some(InputFormat::Csv) {
        return Err(Exception::validation("Csv options can only be specified for InputFormat CSV"));
    }
    check_header_size(sent.csv.as_ref())?;
    let text = present(sent.table)?;
    let Request::CreateTable(table) = create_table::decode(Reader::new(text.as_bytes())?)? else {
        return Err(Exception::internal("CreateTable was decoded as another request"));
    };
    Ok(Request::ImportTable(ImportTable {
        table_parameters: table_creation_parameters::encoded(&table),
        table,
        client_token: owned(sent.client_token),
        source: present(sent.source)?.source()?,
        format: present(format)?,
        csv: sent.csv.map(|csv| CsvOptions {
            delimiter: csv.delimiter.as_deref().and_then(|delimiter| delimiter.chars().next()),
            header: csv.header.map(|names| names.into_iter().map(|name| name.into_owned()).collect()),
        }),
        compression: compression.unwrap_or_default(),
    }))
}

fn check_csv(validation: &mut Validation, csv: Option<&SentCsv<'_>>) {
    let Some(csv) = csv else { return };
    let path = "inputFormatOptions.csv";
    if let Some(delimiter) = csv.delimiter.as_deref()
        && ![",", ";", ":", "|", "\t", " "].contains(&delimiter)
    {
        validation.pattern(format_args!("{path}.delimiter"), delimiter, "[,;:|\\t ]");
    }
    if let Some(header) = &csv.header {
        validation.length(format_args!("{path}.headerList"), "[...]", header.len(), 1, 255);
        for (i, name) in header.iter().enumerate() {
            let path = format!("{path}.headerList.{}.member", i + 1);
            if !name.bytes().all(|b| (0x20..=0x7e).contains(&b) && b != b'"' && b != b',') {
                validation.pattern(&path, name, "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*");
            }
            validation.length(&path, name, name.chars().count(), 1, 65_536);
        }
    }
}

/// Names are part of an item, so together they are no longer than one may be.
fn check_header_size(csv: Option<&SentCsv<'_>>) -> Result<(), Exception> {
    let names = csv.and_then(|csv| csv.header.as_deref()).unwrap_or_default();
    match names.iter().map(|name| name.len()).sum::<usize>() > limits::ITEM_BYTES {
        true => Err(Exception::validation("HeaderList is longer than an item can be")),
        false => Ok(()),
    }
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "ClientToken" => sent.client_token = reader.text()?,
            "S3BucketSource" => sent.source = read_structure(reader, "S3BucketSource", read_source)?,
            "InputFormat" => sent.format = reader.text()?,
            "InputFormatOptions" => {
                let options = read_structure(reader, "InputFormatOptions", read_options)?;
                sent.csv = options.and_then(|options: SentOptions<'_>| options.csv);
            }
            "InputCompressionType" => sent.compression = reader.text()?,
            "TableCreationParameters" => sent.table = read_table(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

/// The text of the parameters. Wrong JSON types in them are told at once, as everywhere.
fn read_table<'a>(reader: &mut Reader<'a>) -> Result<Option<&'a str>, Exception> {
    let start = reader.offset();
    let present = read_structure(reader, "TableCreationParameters", |(): &mut (), reader, _| reader.skip())?;
    if present.is_none() {
        return Ok(None);
    }
    let text = reader.since(start);
    match create_table::decode(Reader::new(text.as_bytes())?) {
        Err(exception) if exception.kind == partita_api::ExceptionKind::SerializationException => {
            Err(exception)
        }
        _ => Ok(Some(text)),
    }
}

fn read_source<'a>(source: &mut SentPlace<'a>, reader: &mut Reader<'a>, name: &str) -> Result<(), Exception> {
    if source.read(reader, name)? { Ok(()) } else { reader.skip() }
}

fn read_options<'a>(
    options: &mut SentOptions<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "Csv" => options.csv = read_structure(reader, "CsvOptions", read_csv)?,
        _ => reader.skip()?,
    }
    Ok(())
}

fn read_csv<'a>(csv: &mut SentCsv<'a>, reader: &mut Reader<'a>, name: &str) -> Result<(), Exception> {
    match name {
        "Delimiter" => csv.delimiter = reader.text()?,
        "HeaderList" => csv.header = reader.text_list()?,
        _ => reader.skip()?,
    }
    Ok(())
}

pub(crate) fn encode(output: &ImportTableOutput, json: &mut Writer) {
    encode_import(&output.import, json);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(more: &str) -> Result<ImportTable, String> {
        let body = format!(
            r#"{{"S3BucketSource": {{"S3Bucket": "bucket"}}, "InputFormat": "CSV", {more}
                "TableCreationParameters": {{"TableName": "Target", "Unknown": "{}", "BillingMode": "PAY_PER_REQUEST",
                    "AttributeDefinitions": [{{"AttributeName": "pk", "AttributeType": "S"}}],
                    "KeySchema": [{{"AttributeName": "pk", "KeyType": "HASH"}}]}}}}"#,
            "x".repeat(10_000)
        );
        match decode(Reader::new(body.as_bytes()).unwrap()) {
            Ok(Request::ImportTable(import)) => Ok(import),
            Ok(_) => panic!("another request"),
            Err(exception) => Err(exception.message),
        }
    }

    #[test]
    fn the_table_is_kept_without_what_nobody_knows() {
        assert_eq!(
            decoded("").unwrap().table_parameters,
            r#"{"TableName":"Target","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}"#
        );
    }

    #[test]
    fn a_header_is_no_longer_than_an_item() {
        let header = |names: usize, length: usize| {
            let names: Vec<String> = (0..names).map(|n| format!("\"{n:0length$}\"")).collect();
            decoded(&format!(r#""InputFormatOptions": {{"Csv": {{"HeaderList": [{}]}}}},"#, names.join(",")))
        };
        assert_eq!(header(200, 2_000).unwrap().csv.unwrap().header.unwrap().len(), 200);
        assert_eq!(header(200, 2_100).unwrap_err(), "HeaderList is longer than an item can be");
    }
}
