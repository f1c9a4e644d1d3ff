//! ExportTableToPointInTime: a body → which table goes where; and the export that was started.

use crate::attribute_value::SentValue;
use crate::describe_export::encode_export;
use crate::exchange::{check_client_token, check_encryption, check_place, owned};
use crate::json::{Reader, Shape, Writer};
use crate::table_settings::{Text, check_length, read_structure};
use crate::validation::{Validation, present};
use partita_api::exchange::ObjectTarget;
use partita_api::export::ExportFormat;
use partita_api::export_table_to_point_in_time::*;
use partita_api::{Exception, Request};
use partita_value::names::{TableName, table_of_arn};

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    table_arn: Text<'a>,
    time: Option<i64>,
    client_token: Text<'a>,
    bucket: Text<'a>,
    bucket_owner: Text<'a>,
    prefix: Text<'a>,
    sse_algorithm: Text<'a>,
    kms_key: Text<'a>,
    format: Text<'a>,
    kind: Text<'a>,
    incremental: Option<SentIncremental<'a>>,
    filter: Option<SentFilter>,
}

#[derive(Default)]
struct SentIncremental<'a> {
    view: Text<'a>,
}

/// A filter; none can be given yet.
#[derive(Default)]
struct SentFilter;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let mut validation = Validation::new();
    validation.required("tableArn", &sent.table_arn);
    check_length(&mut validation, "tableArn", &sent.table_arn, 1, 1024);
    check_client_token(&mut validation, &sent.client_token);
    validation.required("s3Bucket", &sent.bucket);
    check_place(&mut validation, "", "s3Prefix", &sent.bucket, &sent.bucket_owner, &sent.prefix);
    check_encryption(&mut validation, "", &sent.sse_algorithm, &sent.kms_key);
    let formats = [("DYNAMODB_JSON", ExportFormat::DynamoDbJson), ("ION", ExportFormat::Ion)];
    let format = validation.one_of("exportFormat", sent.format.as_deref(), &formats);
    let kinds = [("FULL_EXPORT", false), ("INCREMENTAL_EXPORT", true)];
    let incremental = validation.one_of("exportType", sent.kind.as_deref(), &kinds).unwrap_or(false);
    let views = [("NEW_IMAGE", ()), ("NEW_AND_OLD_IMAGES", ())];
    let view = sent.incremental.as_ref().and_then(|incremental| incremental.view.as_deref());
    validation.one_of("incrementalExportSpecification.exportViewType", view, &views);
    validation.finish()?;
    if sent.filter.is_some() {
        return Err(Exception::validation("FilterSpecification is not supported"));
    }
    if sent.incremental.is_some() && !incremental {
        return Err(Exception::validation(
            "IncrementalExportSpecification can only be specified for an INCREMENTAL_EXPORT",
        ));
    }
    let arn = present(sent.table_arn)?;
    let table = table_of_arn(&arn).ok_or_else(|| Exception::validation("Invalid TableArn"))?;
    Ok(Request::ExportTableToPointInTime(ExportTableToPointInTime {
        table: TableName::new(table),
        time: sent.time,
        client_token: owned(sent.client_token),
        target: ObjectTarget {
            bucket: present(sent.bucket)?.into_owned(),
            bucket_owner: owned(sent.bucket_owner),
            prefix: owned(sent.prefix),
            sse_algorithm: owned(sent.sse_algorithm),
            kms_key: owned(sent.kms_key),
        },
        format: format.unwrap_or_default(),
        incremental,
    }))
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "TableArn" => sent.table_arn = reader.text()?,
            "ExportTime" => sent.time = reader.long()?,
            "ClientToken" => sent.client_token = reader.text()?,
            "S3Bucket" => sent.bucket = reader.text()?,
            "S3BucketOwner" => sent.bucket_owner = reader.text()?,
            "S3Prefix" => sent.prefix = reader.text()?,
            "S3SseAlgorithm" => sent.sse_algorithm = reader.text()?,
            "S3SseKmsKeyId" => sent.kms_key = reader.text()?,
            "ExportFormat" => sent.format = reader.text()?,
            "ExportType" => sent.kind = reader.text()?,
            "IncrementalExportSpecification" => {
                sent.incremental =
                    read_structure(reader, "IncrementalExportSpecification", read_incremental)?;
            }
            "FilterSpecification" => {
                sent.filter = read_structure(reader, "FilterSpecification", read_filter)?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

fn read_incremental<'a>(
    sent: &mut SentIncremental<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "ExportFromTime" | "ExportToTime" => drop(reader.long()?),
        "ExportViewType" => sent.view = reader.text()?,
        _ => reader.skip()?,
    }
    Ok(())
}

fn read_filter(_: &mut SentFilter, reader: &mut Reader<'_>, name: &str) -> Result<(), Exception> {
    match name {
        "FilterExpression" | "ProjectionExpression" | "KeyConditionExpression" => drop(reader.text()?),
        "ExpressionAttributeNames" => drop(reader.text_map()?),
        "ExpressionAttributeValues" => {
            reader
                .map(Shape::Map("AttributeValue"), |reader, _| SentValue::read_element(reader).map(drop))?;
        }
        _ => reader.skip()?,
    }
    Ok(())
}

pub(crate) fn encode(output: &ExportTableToPointInTimeOutput, json: &mut Writer) {
    encode_export(&output.export, json);
}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode};
    use partita_api::export_table_to_point_in_time::ExportTableToPointInTime;
    use partita_api::{Operation, Request};

    fn export(body: &str) -> Result<ExportTableToPointInTime, String> {
        match decode(Operation::ExportTableToPointInTime, body.as_bytes()) {
            Ok(Request::ExportTableToPointInTime(request)) => Ok(request),
            Err(Rejection::Invalid(exception)) => Err(exception.message),
            other => panic!("{other:?}"),
        }
    }

    const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/Music";

    #[test]
    fn names_a_table_and_a_bucket() {
        let request = export(&format!(r#"{{"TableArn":"{ARN}","S3Bucket":"my.bucket-1"}}"#)).unwrap();
        assert_eq!((request.table.as_str(), request.target.bucket.as_str()), ("Music", "my.bucket-1"));
        assert!(!request.incremental && request.time.is_none());
    }

    #[test]
    fn buckets_that_cannot_be_are_told() {
        for bucket in ["..", "../x", "a", "-a", "a/b", "a-", "ü2"] {
            let told = export(&format!(r#"{{"TableArn":"{ARN}","S3Bucket":"{bucket}"}}"#)).unwrap_err();
            assert!(told.contains("at 's3Bucket' failed to satisfy constraint"), "{bucket}: {told}");
        }
        assert!(
            export("{}").unwrap_err().starts_with("2 validation errors detected: Value null at 'tableArn'")
        );
        assert_eq!(export(r#"{"TableArn":"Music","S3Bucket":"bucket"}"#).unwrap_err(), "Invalid TableArn");
    }
}
