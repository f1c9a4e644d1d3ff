//! ExportTableToPointInTime: a body → which table goes where; and the export that was started.

use crate::exchange::{check_client_token, check_encryption, check_place, owned};
use crate::export::describe_export::encode_export;
use crate::export::export_filter::SentFilter;
use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, check_length, invalid, invalid_request, read_structure};
use crate::validation::{Validation, present};
use partita_api::exchange::ObjectTarget;
use partita_api::export::export_table_to_point_in_time::*;
use partita_api::export::{ExportFormat, ExportView};
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
    filter: Option<SentFilter<'a>>,
}

#[derive(Default)]
struct SentIncremental<'a> {
    from: Option<i64>,
    to: Option<i64>,
    view: Text<'a>,
}

#[derive(Clone, Copy)]
enum ExportType {
    Full,
    Incremental,
}

/// What satisfies the model, where it is not as sent.
struct Checked {
    format: ExportFormat,
    export_type: Option<ExportType>,
    view: ExportView,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let Checked { format, export_type, view } = check(&sent)?;
    let incremental = incremental(export_type, sent.incremental.as_ref(), view)?;
    if incremental.is_some() && sent.time.is_some() {
        return Err(invalid_request(
            "When Export Type is Incremental Export, Export Time should not be provided",
        ));
    }
    sent.filter.as_ref().map(SentFilter::parse).transpose()?;
    let arn = present(sent.table_arn)?;
    let table = table_of_arn(&arn).ok_or_else(|| invalid("tableArn is not a valid ARN"))?;
    Ok(Request::ExportTableToPointInTime(ExportTableToPointInTime {
        table: TableName::new(table),
        at_millis: sent.time,
        client_token: owned(sent.client_token),
        target: ObjectTarget {
            bucket: present(sent.bucket)?.into_owned(),
            bucket_owner: owned(sent.bucket_owner),
            prefix: owned(sent.prefix),
            sse_algorithm: owned(sent.sse_algorithm),
            kms_key: owned(sent.kms_key),
        },
        format,
        incremental,
        filter: sent.filter.as_ref().map(SentFilter::text),
    }))
}

/// Every member against the model; what fails is told together.
fn check(sent: &Sent<'_>) -> Result<Checked, Exception> {
    let mut validation = Validation::new();
    validation.required("tableArn", &sent.table_arn);
    check_length(&mut validation, "tableArn", &sent.table_arn, 1, 1024);
    check_client_token(&mut validation, &sent.client_token);
    validation.required("s3Bucket", &sent.bucket);
    check_place(&mut validation, "", "s3Prefix", &sent.bucket, &sent.bucket_owner, &sent.prefix);
    check_encryption(&mut validation, "", &sent.sse_algorithm, &sent.kms_key);
    let formats = [("DYNAMODB_JSON", ExportFormat::DynamoDbJson), ("ION", ExportFormat::Ion)];
    let format = validation.one_of("exportFormat", sent.format.as_deref(), &formats);
    let types = [("FULL_EXPORT", ExportType::Full), ("INCREMENTAL_EXPORT", ExportType::Incremental)];
    let export_type = validation.one_of("exportType", sent.kind.as_deref(), &types);
    let views = [("NEW_IMAGE", ExportView::NewImage), ("NEW_AND_OLD_IMAGES", ExportView::NewAndOldImages)];
    let view = sent.incremental.as_ref().and_then(|incremental| incremental.view.as_deref());
    let view = validation.one_of("incrementalExportSpecification.exportViewType", view, &views);
    validation.finish()?;
    Ok(Checked { format: format.unwrap_or_default(), export_type, view: view.unwrap_or_default() })
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "TableArn" => sent.table_arn = reader.text()?,
            "ExportTime" => sent.time = reader.time()?,
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
            "FilterSpecification" => sent.filter = SentFilter::read(reader)?,
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
        "ExportFromTime" => sent.from = reader.time()?,
        "ExportToTime" => sent.to = reader.time()?,
        "ExportViewType" => sent.view = reader.text()?,
        _ => reader.skip()?,
    }
    Ok(())
}

/// A specification belongs to an incremental export, and to no other.
fn incremental(
    export_type: Option<ExportType>,
    sent: Option<&SentIncremental<'_>>,
    view: ExportView,
) -> Result<Option<IncrementalExport>, Exception> {
    match (export_type, sent) {
        (None | Some(ExportType::Full), None) => Ok(None),
        (None, Some(_)) => Err(invalid_request(
            "Export Type expected to be Incremental Export when incremental export specification is provided",
        )),
        (Some(ExportType::Full), Some(_)) => Err(invalid_request(
            "When Export Type is Full Export , Incremental Export Specification should not be provided",
        )),
        (Some(ExportType::Incremental), None) => Err(invalid_request(
            "Incremental Export Specification expected when export type is set as Incremental Export",
        )),
        (Some(ExportType::Incremental), Some(sent)) => match sent.from {
            Some(from_millis) => Ok(Some(IncrementalExport { from_millis, to_millis: sent.to, view })),
            None => Err(invalid_request("ExportFromTime must be provided in IncrementalExportSpecification")),
        },
    }
}

pub(crate) fn encode(output: &ExportTableToPointInTimeOutput, json: &mut Writer) {
    encode_export(&output.export, json);
}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode};
    use partita_api::export::ExportView;
    use partita_api::export::export_table_to_point_in_time::{ExportTableToPointInTime, IncrementalExport};
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
        assert!(request.incremental.is_none() && request.at_millis.is_none() && request.filter.is_none());
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
        assert_eq!(
            export(r#"{"TableArn":"Music","S3Bucket":"bucket"}"#).unwrap_err(),
            "One or more parameter values were invalid: tableArn is not a valid ARN"
        );
    }

    fn with(more: &str) -> Result<ExportTableToPointInTime, String> {
        export(&format!(r#"{{"TableArn":"{ARN}","S3Bucket":"bucket",{more}}}"#))
    }

    #[test]
    fn a_full_export_may_be_of_a_moment_and_filtered() {
        let filter = r#"{"FilterExpression":"a > :n","ExpressionAttributeValues":{":n":{"N":"1"}}}"#;
        let request =
            with(&format!(r#""ExportTime":1700000000.5,"FilterSpecification": {filter} "#)).unwrap();
        assert_eq!(request.at_millis, Some(1_700_000_000_500));
        assert_eq!(request.filter.as_deref(), Some(filter));
        assert_eq!(
            with(r#""FilterSpecification":{}"#).unwrap_err(),
            "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
        );
        assert_eq!(
            with(r#""FilterSpecification":{"FilterExpression":"a > :n"}"#).unwrap_err(),
            "Invalid FilterExpression: An expression attribute value used in expression is not defined; attribute value: :n"
        );
        assert_eq!(
            with(r#""FilterSpecification":{"FilterExpression":1}"#).unwrap_err(),
            "NUMBER_VALUE cannot be converted to String"
        );
    }

    #[test]
    fn an_incremental_export_is_of_the_changes_between_two_times() {
        let incremental = |specification: &str| {
            let members = r#""ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification""#;
            with(&format!("{members}:{specification}")).map(|request| request.incremental.unwrap())
        };
        assert_eq!(
            incremental(r#"{"ExportFromTime":1.25}"#).unwrap(),
            IncrementalExport { from_millis: 1_250, to_millis: None, view: ExportView::NewAndOldImages }
        );
        assert_eq!(
            incremental(r#"{"ExportFromTime":1,"ExportToTime":2,"ExportViewType":"NEW_IMAGE"}"#).unwrap(),
            IncrementalExport { from_millis: 1_000, to_millis: Some(2_000), view: ExportView::NewImage }
        );
        assert_eq!(
            incremental(r#"{"ExportViewType":"NEW_IMAGE"}"#).unwrap_err(),
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"
        );
        assert!(
            incremental(r#"{"ExportViewType":"NEW_IMAGES"}"#)
                .unwrap_err()
                .contains("at 'incrementalExportSpecification.exportViewType'")
        );
        assert_eq!(
            incremental(r#"{"ExportFromTime":1},"ExportTime":2"#).unwrap_err(),
            "Invalid Request: When Export Type is Incremental Export, Export Time should not be provided"
        );
    }

    #[test]
    fn the_specification_belongs_to_incremental_exports() {
        for (more, text) in [
            (
                r#""IncrementalExportSpecification":{"ExportFromTime":1}"#,
                "Invalid Request: Export Type expected to be Incremental Export when incremental export specification is provided",
            ),
            (
                r#""ExportType":"FULL_EXPORT","IncrementalExportSpecification":{}"#,
                "Invalid Request: When Export Type is Full Export , Incremental Export Specification should not be provided",
            ),
            (
                r#""ExportType":"INCREMENTAL_EXPORT""#,
                "Invalid Request: Incremental Export Specification expected when export type is set as Incremental Export",
            ),
        ] {
            assert_eq!(with(more).unwrap_err(), text);
        }
    }
}
