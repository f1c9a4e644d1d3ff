//! StartBulkPutItems: a body → files, the table they go to and what is told about them; and the operation that was started.

use crate::bulk_operation::describe_bulk_operation::encode_operation;
use crate::exchange::{SentPlace, check_client_token, check_compression, check_encryption, owned};
use crate::json::{Reader, Writer};
use crate::table::table_name;
use crate::table::table_settings::{Text, invalid, read_structure};
use crate::validation::{Validation, present};
use partita_api::bulk_operation::start_bulk_put_items::{StartBulkPutItems, StartBulkPutItemsOutput};
use partita_api::bulk_operation::{BulkInput, BulkOutput, OutputType, PerformanceTier};
use partita_api::exchange::{InputCompression, InputFormat, ObjectTarget};
use partita_api::{Exception, Request};
use std::borrow::Cow;

/// The slowest that an operation can be told to write.
const FEWEST_WRITE_UNITS: i64 = 1_024;

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    client_token: Text<'a>,
    input: Option<SentInput<'a>>,
    output: Option<SentOutput<'a>>,
    table: Text<'a>,
    max_write_units: Option<i64>,
    tier: Text<'a>,
}

#[derive(Default)]
struct SentInput<'a> {
    place: SentPlace<'a>,
    format: Text<'a>,
    compression: Text<'a>,
}

#[derive(Default)]
struct SentOutput<'a> {
    place: SentPlace<'a>,
    sse_algorithm: Text<'a>,
    kms_key: Text<'a>,
    types: Option<Vec<Cow<'a, str>>>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    table_name::check("tableName", sent.table.as_ref())?;
    let mut validation = Validation::new();
    check_client_token(&mut validation, &sent.client_token);
    let input = validation.required("inputS3Configuration", &sent.input);
    let (format, compression) = input.map_or((None, None), |input| input.check(&mut validation));
    let output = validation.required("outputS3Configuration", &sent.output);
    let types = output.and_then(|output| output.check(&mut validation));
    validation.required("tableName", &sent.table);
    validation.at_least("maxWriteRequestUnits", sent.max_write_units, FEWEST_WRITE_UNITS);
    let tiers = [("STANDARD", PerformanceTier::Standard), ("ACCELERATED", PerformanceTier::Accelerated)];
    let tier = validation.one_of("performanceTier", sent.tier.as_deref(), &tiers);
    validation.finish()?;
    let table_name = present(sent.table)?.into_owned();
    Ok(Request::StartBulkPutItems(StartBulkPutItems {
        table: table_name::resolve(&table_name),
        table_name,
        client_token: owned(sent.client_token),
        output: present(sent.output)?.resolve(types.unwrap_or_default())?,
        input: BulkInput {
            source: present(sent.input)?.place.source()?,
            format: present(format)?,
            compression: compression.unwrap_or_default(),
        },
        max_write_units: sent.max_write_units.map(i64::unsigned_abs),
        tier: tier.unwrap_or_default(),
    }))
}

impl SentInput<'_> {
    fn check(&self, validation: &mut Validation) -> (Option<InputFormat>, Option<InputCompression>) {
        let path = "inputS3Configuration";
        validation.required(format_args!("{path}.s3Bucket"), &self.place.bucket);
        self.place.check(validation, &format!("{path}."));
        validation.required(format_args!("{path}.inputFormat"), &self.format);
        let formats = [("DYNAMODB_JSON", InputFormat::DynamoDbJson), ("ION", InputFormat::Ion)];
        let format = validation.one_of(format_args!("{path}.inputFormat"), self.format.as_deref(), &formats);
        let compression_path = format!("{path}.inputCompressionType");
        (format, check_compression(validation, &compression_path, &self.compression))
    }
}

impl SentOutput<'_> {
    fn check(&self, validation: &mut Validation) -> Option<Vec<OutputType>> {
        let path = "outputS3Configuration";
        self.place.check(validation, &format!("{path}."));
        check_encryption(validation, &format!("{path}."), &self.sse_algorithm, &self.kms_key);
        let sent = validation.required(format_args!("{path}.outputType"), &self.types)?;
        let all = [
            (OutputType::Error.name(), OutputType::Error),
            (OutputType::ConditionCheckFailure.name(), OutputType::ConditionCheckFailure),
        ];
        let known = sent.iter().enumerate().filter_map(|(i, name)| {
            validation.one_of(format_args!("{path}.outputType.{}.member", i + 1), Some(name), &all)
        });
        let mut types: Vec<OutputType> = known.collect();
        types.sort();
        types.dedup();
        Some(types)
    }

    /// The rules that the service model does not have.
    fn resolve(self, types: Vec<OutputType>) -> Result<BulkOutput, Exception> {
        let Some(bucket) = self.place.bucket else {
            return Err(invalid("S3Bucket must be specified in OutputS3Configuration"));
        };
        if types.is_empty() {
            return Err(invalid("OutputType must contain at least one value"));
        }
        if self.kms_key.is_some() && self.sse_algorithm.as_deref() != Some("KMS") {
            return Err(invalid("S3SseKmsKeyId can only be specified if S3SseAlgorithm is KMS"));
        }
        let target = ObjectTarget {
            bucket: bucket.into_owned(),
            bucket_owner: owned(self.place.owner),
            prefix: owned(self.place.prefix),
            sse_algorithm: owned(self.sse_algorithm),
            kms_key: owned(self.kms_key),
        };
        Ok(BulkOutput { target, types })
    }
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "ClientToken" => sent.client_token = reader.text()?,
            "InputS3Configuration" => {
                sent.input = read_structure(reader, "InputS3Configuration", read_input)?;
            }
            "OutputS3Configuration" => {
                sent.output = read_structure(reader, "OutputS3Configuration", read_output)?;
            }
            "TableName" => sent.table = reader.text()?,
            "MaxWriteRequestUnits" => sent.max_write_units = reader.long()?,
            "PerformanceTier" => sent.tier = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

fn read_input<'a>(input: &mut SentInput<'a>, reader: &mut Reader<'a>, name: &str) -> Result<(), Exception> {
    match name {
        "InputFormat" => input.format = reader.text()?,
        "InputCompressionType" => input.compression = reader.text()?,
        _ if input.place.read(reader, name)? => {}
        _ => reader.skip()?,
    }
    Ok(())
}

fn read_output<'a>(
    output: &mut SentOutput<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "S3SseAlgorithm" => output.sse_algorithm = reader.text()?,
        "S3SseKmsKeyId" => output.kms_key = reader.text()?,
        "OutputType" => output.types = reader.text_list()?,
        _ if output.place.read(reader, name)? => {}
        _ => reader.skip()?,
    }
    Ok(())
}

pub(crate) fn encode(output: &StartBulkPutItemsOutput, json: &mut Writer) {
    encode_operation(&output.operation, json);
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::bulk_operation::start_bulk_put_items::StartBulkPutItems;
    use partita_api::bulk_operation::{OutputType, PerformanceTier};
    use partita_api::exchange::{InputCompression, InputFormat};
    use partita_api::{Operation, Request};

    fn start(body: &str) -> StartBulkPutItems {
        match decoded(Operation::StartBulkPutItems, body) {
            Request::StartBulkPutItems(request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn refused(body: &str) -> String {
        refusal(Operation::StartBulkPutItems, body)
    }

    #[test]
    fn what_is_left_out_has_defaults() {
        let request = start(
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
    fn everything_is_read() {
        let request = start(
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
    fn what_is_wrong_is_told_together() {
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
                ("'$'", "clientToken", "Member must satisfy regular expression pattern: ^[^\\$]+$"),
                ("null", "inputS3Configuration.s3Bucket", NOT_NULL),
                (
                    "'CSV'",
                    "inputS3Configuration.inputFormat",
                    "Member must satisfy enum value set: [DYNAMODB_JSON, ION]"
                ),
                (
                    "'LZ4'",
                    "inputS3Configuration.inputCompressionType",
                    "Member must satisfy enum value set: [GZIP, ZSTD, NONE]"
                ),
                (
                    "'X'",
                    "outputS3Configuration.s3SseAlgorithm",
                    "Member must satisfy enum value set: [AES256, KMS]"
                ),
                (
                    "'ALL'",
                    "outputS3Configuration.outputType.2.member",
                    "Member must satisfy enum value set: [ERROR, CONDITION_CHECK_FAILURE]"
                ),
                ("'1023'", "maxWriteRequestUnits", "Member must have value greater than or equal to 1024"),
                ("'FAST'", "performanceTier", "Member must satisfy enum value set: [STANDARD, ACCELERATED]"),
            ])
        );
    }

    #[test]
    fn outputs_have_rules_of_their_own() {
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
