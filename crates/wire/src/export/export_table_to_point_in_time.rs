//! ExportTableToPointInTime: decodes a table, a target and a scope; encodes the description of the started export.

use crate::encryption::{EncryptionType, KMS_KEY_CHARACTERS};
use crate::exchange::*;
use crate::export::export_description;
use crate::export::export_filter::FilterMembers;
use crate::json::{Reader, Writer};
use crate::members::{Choice, Millis, chosen, enum_names, length, read_valid_request, required, structure};
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

enum_names!(ExportType: "FULL_EXPORT" = Full, "INCREMENTAL_EXPORT" = Incremental);
enum_names!(ExportFormat: "DYNAMODB_JSON" = DynamoDbJson, "ION" = Ion);
enum_names!(ExportView: "NEW_IMAGE" = NewImage, "NEW_AND_OLD_IMAGES" = NewAndOldImages);

structure! {
    struct ExportMembers<'a> {
        table_arn: Cow<'a, str> = "TableArn", required, length(1, 1_024);
        client_token: Cow<'a, str> = "ClientToken", client_token;
        bucket: Cow<'a, str> = "S3Bucket", required, bucket_name;
        bucket_owner: Cow<'a, str> = "S3BucketOwner", account_id;
        prefix: Cow<'a, str> = "S3Prefix", length(0, PREFIX_CHARACTERS);
        sse_algorithm: Choice<'a, EncryptionType> = "S3SseAlgorithm";
        kms_key: Cow<'a, str> = "S3SseKmsKeyId", length(1, KMS_KEY_CHARACTERS);
        format: Choice<'a, ExportFormat> = "ExportFormat";
        export_type: Choice<'a, ExportType> = "ExportType";
        incremental: IncrementalSpecification<'a> = "IncrementalExportSpecification";
        time: Millis = "ExportTime";
        filter: FilterMembers<'a> = "FilterSpecification";
    }

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

/// A specification is required for an incremental export, and refused for any other.
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
    use crate::testing::*;
    use partita_api::export::ExportView;
    use partita_api::export::export_table_to_point_in_time::{ExportTableToPointInTime, IncrementalExport};

    operation_tests!(ExportTableToPointInTime);

    const ARN: &str = "arn:aws:dynamodb:us-east-1:123456789012:table/Music";

    #[test]
    fn a_table_and_a_bucket_are_read() {
        let request = decoded(&format!(r#"{{"TableArn":"{ARN}","S3Bucket":"my.bucket-1"}}"#));
        assert_eq!((request.table.as_str(), request.target.bucket.as_str()), ("Music", "my.bucket-1"));
        assert!(request.incremental.is_none() && request.at_millis.is_none() && request.filter.is_none());
    }

    #[test]
    fn invalid_buckets_are_refused() {
        for bucket in ["..", "../x", "a", "-a", "a/b", "a-", "ü2"] {
            let message = refused(&format!(r#"{{"TableArn":"{ARN}","S3Bucket":"{bucket}"}}"#));
            assert!(message.contains("at 's3Bucket' failed to satisfy constraint"), "{bucket}: {message}");
        }
        assert!(refused("{}").starts_with("2 validation errors detected: Value null at 'tableArn'"));
        assert_eq!(
            refused(r#"{"TableArn":"Music","S3Bucket":"bucket"}"#),
            "One or more parameter values were invalid: tableArn is not a valid ARN"
        );
    }

    fn with(more: &str) -> String {
        format!(r#"{{"TableArn":"{ARN}","S3Bucket":"bucket",{more}}}"#)
    }

    #[test]
    fn a_full_export_may_have_a_time_and_a_filter() {
        let filter = r#"{"FilterExpression":"a > :n","ExpressionAttributeValues":{":n":{"N":"1"}}}"#;
        let request =
            decoded(&with(&format!(r#""ExportTime":1700000000.5,"FilterSpecification": {filter} "#)));
        assert_eq!(request.at_millis, Some(1_700_000_000_500));
        assert_eq!(request.filter.as_deref(), Some(filter));
        assert_eq!(
            refused(&with(r#""FilterSpecification":{}"#)),
            "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
        );
        assert_eq!(
            refused(&with(r#""FilterSpecification":{"FilterExpression":"a > :n"}"#)),
            "Invalid FilterExpression: An expression attribute value used in expression is not defined; attribute value: :n"
        );
        assert_eq!(
            mismatch(&with(r#""FilterSpecification":{"FilterExpression":1}"#)),
            "NUMBER_VALUE cannot be converted to String"
        );
    }

    #[test]
    fn an_incremental_export_covers_the_changes_between_two_times() {
        let incremental = |specification: &str| {
            let members = r#""ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification""#;
            with(&format!("{members}:{specification}"))
        };
        let valid = |specification| decoded(&incremental(specification)).incremental.unwrap();
        let invalid = |specification| refused(&incremental(specification));
        assert_eq!(
            valid(r#"{"ExportFromTime":1.25}"#),
            IncrementalExport { from_millis: 1_250, to_millis: None, view: ExportView::NewAndOldImages }
        );
        assert_eq!(
            valid(r#"{"ExportFromTime":1,"ExportToTime":2,"ExportViewType":"NEW_IMAGE"}"#),
            IncrementalExport { from_millis: 1_000, to_millis: Some(2_000), view: ExportView::NewImage }
        );
        assert_eq!(
            invalid(r#"{"ExportViewType":"NEW_IMAGE"}"#),
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"
        );
        assert!(
            invalid(r#"{"ExportViewType":"NEW_IMAGES"}"#)
                .contains("at 'incrementalExportSpecification.exportViewType'")
        );
        assert_eq!(
            invalid(r#"{"ExportFromTime":1},"ExportTime":2"#),
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
            assert_eq!(refused(&with(more)), text);
        }
    }
}
