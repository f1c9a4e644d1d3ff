//! ExportTableToPointInTime: a body → which table goes where; and the export that was started.

use crate::exchange::*;
use crate::export::export_description;
use crate::export::export_filter::FilterMembers;
use crate::json::{Reader, Writer};
use crate::members::{Choice, Millis, Named, chosen, length, read_valid_request, required, structure};
use crate::table::table_settings::{invalid, invalid_request};
use crate::validation::present;
use partita_api::exchange::ObjectTarget;
use partita_api::export::export_table_to_point_in_time::*;
use partita_api::export::{ExportFormat, ExportView};
use partita_api::{Exception, Request};
use partita_value::names::{TableName, table_of_arn};
use std::borrow::Cow;

#[derive(Clone, Copy)]
enum ExportType {
    Full,
    Incremental,
}

impl Named for ExportType {
    const NAMES: &'static [(&'static str, ExportType)] =
        &[("FULL_EXPORT", ExportType::Full), ("INCREMENTAL_EXPORT", ExportType::Incremental)];
}

impl Named for ExportFormat {
    const NAMES: &'static [(&'static str, ExportFormat)] =
        &[("DYNAMODB_JSON", ExportFormat::DynamoDbJson), ("ION", ExportFormat::Ion)];
}

impl Named for ExportView {
    const NAMES: &'static [(&'static str, ExportView)] =
        &[("NEW_IMAGE", ExportView::NewImage), ("NEW_AND_OLD_IMAGES", ExportView::NewAndOldImages)];
}

structure! {
    struct ExportMembers<'a> {
        table_arn: Cow<'a, str> = "TableArn", required, length(1, 1_024);
        client_token: Cow<'a, str> = "ClientToken", client_token;
        bucket: Cow<'a, str> = "S3Bucket", required, bucket_name;
        bucket_owner: Cow<'a, str> = "S3BucketOwner", account_id;
        prefix: Cow<'a, str> = "S3Prefix", length(0, PREFIX_CHARACTERS);
        sse_algorithm: Choice<'a, ObjectEncryption> = "S3SseAlgorithm";
        kms_key: Cow<'a, str> = "S3SseKmsKeyId", length(1, KMS_KEY_CHARACTERS);
        format: Choice<'a, ExportFormat> = "ExportFormat";
        export_type: Choice<'a, ExportType> = "ExportType";
        incremental: IncrementalSpecification<'a> = "IncrementalExportSpecification";
        time: Millis = "ExportTime";
        filter: FilterMembers<'a> = "FilterSpecification";
    }
}

structure! {
    struct IncrementalSpecification<'a> as "IncrementalExportSpecification" {
        from: Millis = "ExportFromTime";
        to: Millis = "ExportToTime";
        view: Choice<'a, ExportView> = "ExportViewType";
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ExportMembers = read_valid_request(reader)?;
    let incremental = incremental(chosen(&members.export_type), members.incremental.as_ref())?;
    if incremental.is_some() && members.time.is_some() {
        return Err(invalid_request(
            "When Export Type is Incremental Export, Export Time should not be provided",
        ));
    }
    members.filter.as_ref().map(FilterMembers::parse).transpose()?;
    let arn = present(members.table_arn)?;
    let table = table_of_arn(&arn).ok_or_else(|| invalid("tableArn is not a valid ARN"))?;
    Ok(Request::ExportTableToPointInTime(ExportTableToPointInTime {
        table: TableName::new(table),
        at_millis: members.time.map(|time| time.0),
        client_token: members.client_token.map(Cow::into_owned),
        target: ObjectTarget {
            bucket: present(members.bucket)?.into_owned(),
            bucket_owner: members.bucket_owner.map(Cow::into_owned),
            prefix: members.prefix.map(Cow::into_owned),
            sse_algorithm: members.sse_algorithm.map(|algorithm| algorithm.text().to_owned()),
            kms_key: members.kms_key.map(Cow::into_owned),
        },
        format: chosen(&members.format).unwrap_or_default(),
        incremental,
        filter: members.filter.as_ref().map(FilterMembers::text),
    }))
}

/// A specification belongs to an incremental export, and to no other.
fn incremental(
    export_type: Option<ExportType>,
    specification: Option<&IncrementalSpecification<'_>>,
) -> Result<Option<IncrementalExport>, Exception> {
    match (export_type, specification) {
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
        (Some(ExportType::Incremental), Some(specification)) => match specification.from {
            Some(from) => Ok(Some(IncrementalExport {
                from_millis: from.0,
                to_millis: specification.to.map(|to| to.0),
                view: chosen(&specification.view).unwrap_or_default(),
            })),
            None => Err(invalid_request("ExportFromTime must be provided in IncrementalExportSpecification")),
        },
    }
}

pub(crate) fn encode(output: &ExportTableToPointInTimeOutput, json: &mut Writer) {
    export_description::encode(&output.export, json);
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
