//! ImportTable: decodes the source files and the table to create; encodes the description of the started import.
//!
//! `TableCreationParameters` are decoded like a CreateTable request. Descriptions of the import repeat them.

use crate::exchange::*;
use crate::import::import_description;
use crate::json::{Reader, Shape, Writer};
use crate::members::*;
use crate::table::{new_table, table_creation_parameters};
use crate::validation::{Validation, present};
use partita_api::exchange::{InputCompression, InputFormat, ObjectSource};
use partita_api::import::CsvOptions;
use partita_api::import::import_table::{ImportTable, ImportTableOutput};
use partita_api::{Exception, ExceptionKind, Request};
use partita_value::limits;
use std::borrow::Cow;

enum_names!(InputFormat: "DYNAMODB_JSON" = DynamoDbJson, "ION" = Ion, "CSV" = Csv);

structure! {
    struct ImportTableMembers<'a> {
        client_token: Cow<'a, str> = "ClientToken", client_token;
        source: SourceMembers<'a> = "S3BucketSource", required;
        format: Choice<'a, InputFormat> = "InputFormat", required;
        compression: Choice<'a, InputCompression> = "InputCompressionType";
        options: FormatOptions<'a> = "InputFormatOptions";
        table: TableParameters<'a> = "TableCreationParameters", required;
    }

    /// The files to import.
    struct SourceMembers<'a> as "S3BucketSource" {
        bucket: Cow<'a, str> = "S3Bucket", required, bucket_name;
        owner: Cow<'a, str> = "S3BucketOwner", account_id;
        prefix: Cow<'a, str> = "S3KeyPrefix", length(0, PREFIX_CHARACTERS);
    }

    struct FormatOptions<'a> as "InputFormatOptions" {
        csv: CsvMembers<'a> = "Csv";
    }

    struct CsvMembers<'a> as "CsvOptions" {
        delimiter: Cow<'a, str> = "Delimiter", csv_delimiter;
        header: Vec<Cow<'a, str>> = "HeaderList", csv_header;
    }
}

/// The text of `TableCreationParameters`.
struct TableParameters<'a>(&'a str);

impl<'a> Member<'a> for TableParameters<'a> {
    /// Wrong JSON types inside are reported immediately, as everywhere.
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        let start = reader.offset();
        if !reader.structure(Shape::Structure("TableCreationParameters"), |reader, _| reader.skip())? {
            return Ok(None);
        }
        let text = reader.since(start);
        match new_table::decode(Reader::new(text.as_bytes())?) {
            Err(exception) if exception.kind == ExceptionKind::SerializationException => Err(exception),
            _ => Ok(Some(TableParameters(text))),
        }
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ImportTableMembers = read_valid_request(reader)?;
    let format = present(chosen(&members.format))?;
    let csv = members.options.and_then(|options| options.csv);
    if csv.is_some() && format != InputFormat::Csv {
        return Err(Exception::validation("Csv options can only be specified for InputFormat CSV"));
    }
    check_header_size(csv.as_ref())?;
    let table = new_table::decode(Reader::new(present(members.table)?.0.as_bytes())?)?;
    Ok(Request::ImportTable(ImportTable {
        table_parameters: table_creation_parameters::encoded(&table),
        table,
        client_token: members.client_token.map(Cow::into_owned),
        source: present(members.source)?.resolve()?,
        format,
        csv: csv.map(|csv| CsvOptions {
            delimiter: csv.delimiter.as_deref().and_then(|delimiter| delimiter.chars().next()),
            header: csv.header.map(|names| names.into_iter().map(Cow::into_owned).collect()),
        }),
        compression: chosen(&members.compression).unwrap_or_default(),
    }))
}

impl SourceMembers<'_> {
    fn resolve(self) -> Result<ObjectSource, Exception> {
        Ok(ObjectSource {
            bucket: present(self.bucket)?.into_owned(),
            bucket_owner: self.owner.map(Cow::into_owned),
            prefix: self.prefix.map(Cow::into_owned),
        })
    }
}

fn csv_delimiter(path: &Path<'_>, delimiter: &Option<Cow<'_, str>>, validation: &mut Validation) {
    if let Some(delimiter) = delimiter.as_deref()
        && ![",", ";", ":", "|", "\t", " "].contains(&delimiter)
    {
        validation.pattern(path, delimiter, "[,;:|\\t ]");
    }
}

fn csv_header(path: &Path<'_>, header: &Option<Vec<Cow<'_, str>>>, validation: &mut Validation) {
    let Some(header) = header else { return };
    validation.length(path, "[...]", header.len(), 1, 255);
    for (index, name) in header.iter().enumerate() {
        let path = Path::Element(path, index + 1);
        if !name.bytes().all(|b| (0x20..=0x7e).contains(&b) && b != b'"' && b != b',') {
            validation.pattern(path, name, "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*");
        }
        validation.length(path, name, name.chars().count(), 1, 65_536);
    }
}

/// Names are part of an item, so together they must not exceed the maximum size of one.
fn check_header_size(csv: Option<&CsvMembers<'_>>) -> Result<(), Exception> {
    let names = csv.and_then(|csv| csv.header.as_deref()).unwrap_or_default();
    match names.iter().map(|name| name.len()).sum::<usize>() > limits::ITEM_BYTES {
        true => Err(Exception::validation("HeaderList is longer than an item can be")),
        false => Ok(()),
    }
}

pub(crate) fn encode(output: &ImportTableOutput, json: &mut Writer) {
    import_description::encode(&output.import, json);
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
            Ok(other) => panic!("{other:?}"),
            Err(exception) => Err(exception.message),
        }
    }

    #[test]
    fn unknown_table_parameters_are_not_stored() {
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
