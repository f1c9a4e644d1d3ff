//! What the operations of exports, imports, bulk operations and backups share: names of buckets, ARNs, tokens, pages of lists, times.

pub mod change_line;
pub mod item_line;

use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, check_length};
use crate::validation::{Validation, present};
use partita_api::Exception;
use partita_api::exchange::{ExchangeFailure, InputCompression, ListPage, ObjectSource};

const MOST_RESULTS: i32 = 25;

/// Where objects lie, as sent inside of another structure.
#[derive(Default)]
pub(crate) struct SentPlace<'a> {
    pub(crate) bucket: Text<'a>,
    pub(crate) owner: Text<'a>,
    pub(crate) prefix: Text<'a>,
}

impl<'a> SentPlace<'a> {
    /// Reads a member if it is one of a place's; says whether it was.
    pub(crate) fn read(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<bool, Exception> {
        match name {
            "S3Bucket" => self.bucket = reader.text()?,
            "S3BucketOwner" => self.owner = reader.text()?,
            "S3KeyPrefix" => self.prefix = reader.text()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `path` ends with a dot.
    pub(crate) fn check(&self, validation: &mut Validation, path: &str) {
        check_place(validation, path, "s3KeyPrefix", &self.bucket, &self.owner, &self.prefix);
    }

    pub(crate) fn source(self) -> Result<ObjectSource, Exception> {
        Ok(ObjectSource {
            bucket: present(self.bucket)?.into_owned(),
            bucket_owner: owned(self.owner),
            prefix: owned(self.prefix),
        })
    }
}

pub(crate) fn owned(text: Text<'_>) -> Option<String> {
    text.map(|text| text.into_owned())
}

pub(crate) fn check_compression(
    validation: &mut Validation,
    path: &str,
    compression: &Text<'_>,
) -> Option<InputCompression> {
    let compressions = [
        ("GZIP", InputCompression::Gzip),
        ("ZSTD", InputCompression::Zstd),
        ("NONE", InputCompression::None),
    ];
    validation.one_of(path, compression.as_deref(), &compressions)
}

/// How objects that are written are encrypted; `path` ends with a dot if it is not empty.
pub(crate) fn check_encryption(
    validation: &mut Validation,
    path: &str,
    algorithm: &Text<'_>,
    kms_key: &Text<'_>,
) {
    let algorithms = [("AES256", ()), ("KMS", ())];
    validation.one_of(format_args!("{path}s3SseAlgorithm"), algorithm.as_deref(), &algorithms);
    check_length(validation, format_args!("{path}s3SseKmsKeyId"), kms_key, 1, 2048);
}

/// A bucket's name and owner and a prefix of keys.
pub(crate) fn check_place(
    validation: &mut Validation,
    path: &str,
    prefix_member: &str,
    bucket: &Text<'_>,
    owner: &Text<'_>,
    prefix: &Text<'_>,
) {
    if let Some(bucket) = bucket {
        check_bucket(validation, format_args!("{path}s3Bucket"), bucket);
    }
    if let Some(owner) =
        owner.as_deref().filter(|owner| owner.len() != 12 || !owner.bytes().all(|b| b.is_ascii_digit()))
    {
        validation.pattern(format_args!("{path}s3BucketOwner"), owner, "[0-9]{12}");
    }
    check_length(validation, format_args!("{path}{prefix_member}"), prefix, 0, 1024);
}

fn check_bucket(validation: &mut Validation, path: impl std::fmt::Display, bucket: &str) {
    let edges = [bucket.chars().next(), bucket.chars().last()];
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let fits = bucket.len() >= 2
        && edges.iter().flatten().all(char::is_ascii_alphanumeric)
        && bucket.chars().all(inside);
    if !fits {
        validation.pattern(&path, bucket, "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$");
    }
    validation.length(path, bucket, bucket.chars().count(), 0, 255);
}

pub(crate) fn check_client_token(validation: &mut Validation, token: &Text<'_>) {
    if let Some(token) = token.as_deref().filter(|token| token.is_empty() || token.contains('$')) {
        validation.pattern("clientToken", token, "^[^\\$]+$");
    }
}

/// Notes an ARN of any of these whose length is out of bounds.
pub(crate) fn check_arn_length(validation: &mut Validation, path: &str, arn: &Text<'_>) {
    check_length(validation, path, arn, 37, 1024);
}

/// A body that names one of these by its ARN.
pub(crate) fn read_arn(reader: Reader<'_>, member: &str, path: &str) -> Result<String, Exception> {
    let mut sent: Text<'_> = None;
    reader.request(|reader, name| {
        if name == member {
            sent = reader.text()?
        } else {
            reader.skip()?
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    validation.required(path, &sent);
    check_arn_length(&mut validation, path, &sent);
    validation.finish()?;
    present(sent).map(|arn| arn.into_owned())
}

/// A body that asks for a page of a list; `limit_member` is what AWS calls the limit here.
pub(crate) fn read_page(
    reader: Reader<'_>,
    limit_member: &str,
    limit_path: &str,
) -> Result<ListPage, Exception> {
    let (mut table_arn, mut limit, mut token): (Text<'_>, Option<i32>, Text<'_>) = (None, None, None);
    reader.request(|reader, name| {
        match name {
            "TableArn" => table_arn = reader.text()?,
            "NextToken" => token = reader.text()?,
            _ if name == limit_member => limit = reader.integer()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    check_length(&mut validation, "tableArn", &table_arn, 1, 1024);
    validation.at_least(limit_path, limit, 1);
    validation.at_most(limit_path, limit, MOST_RESULTS);
    validation.finish()?;
    let behind = token.as_deref().map(id_of_token).transpose()?;
    let limit = limit.unwrap_or(MOST_RESULTS).unsigned_abs() as usize;
    Ok(ListPage { table_arn: table_arn.map(|arn| arn.into_owned()), limit, behind })
}

/// A token as AWS's model wants it: at least 112 hexadecimal digits, in groups of sixteen.
pub(crate) fn encode_next_token(id: &str, json: &mut Writer) {
    let hex: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    json.name("NextToken").string(&format!("{hex:0<112}"));
}

pub(crate) fn id_of_token(token: &str) -> Result<String, Exception> {
    let invalid = || Exception::validation("Invalid NextToken");
    let digits = token.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes: Option<Vec<u8>> = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
    let mut bytes = bytes.filter(|_| token.len().is_multiple_of(2)).ok_or_else(invalid)?;
    bytes.retain(|byte| *byte != 0);
    String::from_utf8(bytes).map_err(|_| invalid())
}

pub(crate) fn encode_time(name: &str, millis: Option<u64>, json: &mut Writer) {
    if let Some(millis) = millis {
        json.name(name).double(millis as f64 / 1_000.0);
    }
}

pub(crate) fn encode_text(name: &str, text: Option<&String>, json: &mut Writer) {
    if let Some(text) = text {
        json.name(name).string(text);
    }
}

/// The members of a [`SentPlace`].
pub(crate) fn encode_place(bucket: &str, owner: Option<&String>, prefix: Option<&String>, json: &mut Writer) {
    encode_text("S3BucketOwner", owner, json);
    json.name("S3Bucket").string(bucket);
    encode_text("S3KeyPrefix", prefix, json);
}

pub(crate) fn encode_failure(failure: Option<&ExchangeFailure>, json: &mut Writer) {
    if let Some(failure) = failure {
        json.name("FailureCode").string(&failure.code);
        json.name("FailureMessage").string(&failure.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let mut json = Writer::behind(0, 64);
        json.object(|json| encode_next_token("01712345678901-abcdef12", json));
        let text = String::from_utf8(json.finish()).unwrap();
        let token = text.trim_start_matches("{\"NextToken\":\"").trim_end_matches("\"}");
        assert_eq!((token.len(), token.len() % 16), (112, 0));
        assert_eq!(id_of_token(token).unwrap(), "01712345678901-abcdef12");
        for bad in ["x", "abc", "zz", "ü"] {
            assert!(id_of_token(bad).is_err(), "{bad}");
        }
    }
}
