//! StartBulkPutItems: decodes the source files, the table and the output for failed items; encodes the started operation.

use crate::bulk_operation::bulk_operation_description;
use crate::encryption::{EncryptionType, KMS_KEY_CHARACTERS};
use crate::exchange::*;
use crate::json::{Reader, Writer};
use crate::members::*;
use crate::table::table_name;
use crate::table::table_settings::invalid;
use crate::validation::{Validation, present};
use partita_api::bulk_operation::start_bulk_put_items::{StartBulkPutItems, StartBulkPutItemsOutput};
use partita_api::bulk_operation::{BulkInput, BulkOutput, OutputType, PerformanceTier};
use partita_api::exchange::{InputCompression, InputFormat, ObjectSource, ObjectTarget};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The lowest write rate of an operation.
const MIN_WRITE_UNITS: i64 = 1_024;

/// The formats of bulk operations: those of imports, except CSV.
#[derive(Clone, Copy)]
struct BulkFormat(InputFormat);

impl Named for BulkFormat {
    const NAMES: &'static [(&'static str, BulkFormat)] =
        &[("DYNAMODB_JSON", BulkFormat(InputFormat::DynamoDbJson)), ("ION", BulkFormat(InputFormat::Ion))];
}

enum_names!(PerformanceTier: "STANDARD" = Standard, "ACCELERATED" = Accelerated);
enum_names!(OutputType: "ERROR" = Error, "CONDITION_CHECK_FAILURE" = ConditionCheckFailure);

structure! {
    struct StartBulkPutItemsMembers<'a> {
        client_token: Cow<'a, str> = "ClientToken", client_token;
        input: InputMembers<'a> = "InputS3Configuration", required;
        output: OutputMembers<'a> = "OutputS3Configuration", required;
        table: Cow<'a, str> = "TableName", required;
        max_write_units: i64 = "MaxWriteRequestUnits", at_least(MIN_WRITE_UNITS);
        tier: Choice<'a, PerformanceTier> = "PerformanceTier";
    }

    /// The files to read.
    struct InputMembers<'a> as "InputS3Configuration" {
        bucket: Cow<'a, str> = "S3Bucket", required, bucket_name;
        owner: Cow<'a, str> = "S3BucketOwner", account_id;
        prefix: Cow<'a, str> = "S3KeyPrefix", length(0, PREFIX_CHARACTERS);
        format: Choice<'a, BulkFormat> = "InputFormat", required;
        compression: Choice<'a, InputCompression> = "InputCompressionType";
    }

    /// Where to write the items that were not put.
    struct OutputMembers<'a> as "OutputS3Configuration" {
        bucket: Cow<'a, str> = "S3Bucket", bucket_name;
        owner: Cow<'a, str> = "S3BucketOwner", account_id;
        prefix: Cow<'a, str> = "S3KeyPrefix", length(0, PREFIX_CHARACTERS);
        sse_algorithm: Choice<'a, EncryptionType> = "S3SseAlgorithm";
        kms_key: Cow<'a, str> = "S3SseKmsKeyId", length(1, KMS_KEY_CHARACTERS);
        types: Vec<Cow<'a, str>> = "OutputType", required, output_types;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: StartBulkPutItemsMembers = read_request(reader)?;
    table_name::check("tableName", members.table.as_ref())?;
    validate(&members)?;
    let table_name = present(members.table)?.into_owned();
    Ok(Request::StartBulkPutItems(StartBulkPutItems {
        table: table_name::resolve(&table_name),
        table_name,
        client_token: members.client_token.map(Cow::into_owned),
        output: present(members.output)?.resolve()?,
        input: present(members.input)?.resolve()?,
        max_write_units: members.max_write_units.map(i64::unsigned_abs),
        tier: chosen(&members.tier).unwrap_or_default(),
    }))
}

fn output_types(path: &Path<'_>, types: &Option<Vec<Cow<'_, str>>>, validation: &mut Validation) {
    for (index, name) in types.iter().flatten().enumerate() {
        validation.one_of(Path::Element(path, index + 1), Some(name), OutputType::NAMES);
    }
}

impl InputMembers<'_> {
    fn resolve(self) -> Result<BulkInput, Exception> {
        let source = ObjectSource {
            bucket: present(self.bucket)?.into_owned(),
            bucket_owner: self.owner.map(Cow::into_owned),
            prefix: self.prefix.map(Cow::into_owned),
        };
        let BulkFormat(format) = present(chosen(&self.format))?;
        Ok(BulkInput { source, format, compression: chosen(&self.compression).unwrap_or_default() })
    }
}

impl OutputMembers<'_> {
    /// The types of output, without duplicates.
    fn types(&self) -> Vec<OutputType> {
        let known = |text: &Cow<'_, str>| OutputType::NAMES.iter().find(|(name, _)| name == text);
        let known = self.types.iter().flatten().filter_map(known);
        let mut types: Vec<OutputType> = known.map(|(_, kind)| *kind).collect();
        types.sort();
        types.dedup();
        types
    }

    /// Checks the rules that the service model does not have.
    fn resolve(self) -> Result<BulkOutput, Exception> {
        let types = self.types();
        let Some(bucket) = self.bucket else {
            return Err(invalid("S3Bucket must be specified in OutputS3Configuration"));
        };
        if types.is_empty() {
            return Err(invalid("OutputType must contain at least one value"));
        }
        if self.kms_key.is_some() && chosen(&self.sse_algorithm) != Some(EncryptionType::Kms) {
            return Err(invalid("S3SseKmsKeyId can only be specified if S3SseAlgorithm is KMS"));
        }
        let target = ObjectTarget {
            bucket: bucket.into_owned(),
            bucket_owner: self.owner.map(Cow::into_owned),
            prefix: self.prefix.map(Cow::into_owned),
            sse_algorithm: self.sse_algorithm.map(|algorithm| algorithm.text().to_owned()),
            kms_key: self.kms_key.map(Cow::into_owned),
        };
        Ok(BulkOutput { target, types })
    }
}

pub(crate) fn encode(output: &StartBulkPutItemsOutput, json: &mut Writer) {
    bulk_operation_description::encode(&output.operation, json);
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::bulk_operation::start_bulk_put_items::StartBulkPutItems;
    use partita_api::bulk_operation::{OutputType, PerformanceTier};
    use partita_api::exchange::{InputCompression, InputFormat};

    operation_tests!(StartBulkPutItems);

    #[test]
    fn omitted_members_have_defaults() {
        let request = decoded(
            r#"{"TableName":"arn:aws:dynamodb:us-east-1:123456789012:table/Music",
                "InputS3Configuration":{"S3Bucket":"in","InputFormat":"ION"},
                "OutputS3Configuration":{"S3Bucket":"out","OutputType":["ERROR"]}}"#,
        );
        assert_eq!((request.table.as_str(), &request.table_name[..4]), ("Music", "arn:"));
        assert_eq!(request.input.format, InputFormat::Ion);
        assert_eq!(request.input.compression, InputCompression::None);
        assert_eq!((request.tier, request.max_write_units), (PerformanceTier::Standard, None));
    }

    #[test]
    fn every_member_is_read() {
        let request = decoded(
            r#"{"TableName":"Music","ClientToken":"t","MaxWriteRequestUnits":1024,"PerformanceTier":"ACCELERATED",
                "InputS3Configuration":{"S3Bucket":"in","S3BucketOwner":"123456789012","S3KeyPrefix":"a/","InputFormat":"DYNAMODB_JSON","InputCompressionType":"ZSTD"},
                "OutputS3Configuration":{"S3Bucket":"out","S3BucketOwner":"123456789012","S3KeyPrefix":"b","S3SseAlgorithm":"KMS","S3SseKmsKeyId":"k",
                    "OutputType":["CONDITION_CHECK_FAILURE","ERROR","ERROR"]}}"#,
        );
        assert_eq!(request.input.source.prefix.as_deref(), Some("a/"));
        assert_eq!(request.output.target.kms_key.as_deref(), Some("k"));
        assert_eq!(request.output.types, [OutputType::Error, OutputType::ConditionCheckFailure]);
        assert_eq!((request.tier, request.max_write_units), (PerformanceTier::Accelerated, Some(1024)));
    }

    #[test]
    fn errors_are_reported_together() {
        assert_eq!(
            refused("{}"),
            errors(&[
                ("null", "inputS3Configuration", NOT_NULL),
                ("null", "outputS3Configuration", NOT_NULL),
                ("null", "tableName", NOT_NULL),
            ])
        );
        assert_eq!(
            refused(
                r#"{"TableName":"Music","ClientToken":"$","MaxWriteRequestUnits":1023,"PerformanceTier":"FAST",
                    "InputS3Configuration":{"InputFormat":"CSV","InputCompressionType":"LZ4"},
                    "OutputS3Configuration":{"S3SseAlgorithm":"X","OutputType":["ERROR","ALL"]}}"#
            ),
            errors(&[
                ("'$'", "clientToken", "satisfy regular expression pattern: ^[^\\$]+$"),
                ("null", "inputS3Configuration.s3Bucket", NOT_NULL),
                ("'CSV'", "inputS3Configuration.inputFormat", "satisfy enum value set: [DYNAMODB_JSON, ION]"),
                (
                    "'LZ4'",
                    "inputS3Configuration.inputCompressionType",
                    "satisfy enum value set: [GZIP, ZSTD, NONE]"
                ),
                ("'X'", "outputS3Configuration.s3SseAlgorithm", "satisfy enum value set: [AES256, KMS]"),
                (
                    "'ALL'",
                    "outputS3Configuration.outputType.2.member",
                    "satisfy enum value set: [ERROR, CONDITION_CHECK_FAILURE]"
                ),
                ("'1023'", "maxWriteRequestUnits", "have value greater than or equal to 1024"),
                ("'FAST'", "performanceTier", "satisfy enum value set: [STANDARD, ACCELERATED]"),
            ])
        );
    }

    #[test]
    fn outputs_have_rules_beyond_the_model() {
        let with = |output: &str| {
            refused(&format!(
                r#"{{"TableName":"Music","InputS3Configuration":{{"S3Bucket":"in","InputFormat":"ION"}},"OutputS3Configuration":{output}}}"#
            ))
        };
        assert!(with(r#"{"OutputType":["ERROR"]}"#).contains("S3Bucket must be specified"));
        assert!(with(r#"{"S3Bucket":"out","OutputType":[]}"#).contains("at least one value"));
        let key =
            r#"{"S3Bucket":"out","S3SseAlgorithm":"AES256","S3SseKmsKeyId":"k","OutputType":["ERROR"]}"#;
        assert!(with(key).contains("S3SseKmsKeyId can only be specified"));
    }
}
