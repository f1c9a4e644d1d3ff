//! Members that exports, imports, bulk operations and backups share: buckets, ARNs, tokens, pages of lists.

pub mod change_line;
pub mod item_line;

use crate::json::{Reader, Writer};
use crate::members::{Path, enum_names, length, range, required};
use crate::validation::{Validation, present};
use partita_api::Exception;
use partita_api::exchange::{ExchangeFailure, InputCompression, ListPage};
use std::borrow::Cow;

/// The maximum and default number of results of a page.
const MAX_RESULTS: i32 = 25;
/// The maximum length of a key prefix in a bucket.
pub(crate) const PREFIX_CHARACTERS: usize = 1_024;

enum_names!(InputCompression: "GZIP" = Gzip, "ZSTD" = Zstd, "NONE" = None);

/// Requires a valid bucket name.
pub(crate) fn bucket_name(path: &Path<'_>, bucket: &Option<Cow<'_, str>>, validation: &mut Validation) {
    let Some(bucket) = bucket else { return };
    let edges = [bucket.chars().next(), bucket.chars().last()];
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let fits = bucket.len() >= 2
        && edges.iter().flatten().all(char::is_ascii_alphanumeric)
        && bucket.chars().all(inside);
    if !fits {
        validation.pattern(path, bucket, "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$");
    }
    validation.length(path, bucket, bucket.chars().count(), 0, 255);
}

/// Requires a valid account id.
pub(crate) fn account_id(path: &Path<'_>, owner: &Option<Cow<'_, str>>, validation: &mut Validation) {
    let is_account = |owner: &str| owner.len() == 12 && owner.bytes().all(|b| b.is_ascii_digit());
    if let Some(owner) = owner.as_deref().filter(|owner| !is_account(owner)) {
        validation.pattern(path, owner, "[0-9]{12}");
    }
}

/// Requires a valid client token of an export, an import or a bulk operation.
pub(crate) fn client_token(path: &Path<'_>, token: &Option<Cow<'_, str>>, validation: &mut Validation) {
    if let Some(token) = token.as_deref().filter(|token| token.is_empty() || token.contains('$')) {
        validation.pattern(path, token, "^[^\\$]+$");
    }
}

/// Reads a request whose only member is an ARN.
pub(crate) fn read_arn(reader: Reader<'_>, member: &'static str) -> Result<String, Exception> {
    let mut arn = None;
    reader.request(|reader, name| {
        if name == member {
            arn = reader.text()?;
        } else {
            reader.skip()?;
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    let path = Path::Member(&Path::Request, member);
    required(&path, &arn, &mut validation);
    length(&path, &arn, &mut validation, 37, 1_024);
    validation.finish()?;
    present(arn).map(Cow::into_owned)
}

/// Reads a request for a page of a list; `limit_member` is the name of the limit, which differs between operations.
pub(crate) fn read_page(reader: Reader<'_>, limit_member: &'static str) -> Result<ListPage, Exception> {
    let (mut table_arn, mut limit, mut token) = (None, None, None);
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
    length(&Path::Member(&Path::Request, "TableArn"), &table_arn, &mut validation, 1, 1_024);
    range(&Path::Member(&Path::Request, limit_member), &limit, &mut validation, 1, MAX_RESULTS);
    validation.finish()?;
    let start_after = token.as_deref().map(id_of_token).transpose()?;
    let limit = limit.unwrap_or(MAX_RESULTS).unsigned_abs() as usize;
    Ok(ListPage { table_arn: table_arn.map(Cow::into_owned), limit, start_after })
}

/// Encodes a token that conforms to AWS's service model: at least 112 hexadecimal digits, in groups of sixteen.
pub(crate) fn encode_next_token(id: Option<&String>, json: &mut Writer) {
    let Some(id) = id else { return };
    let hex: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    json.member("NextToken", &format!("{hex:0<112}"));
}

pub(crate) fn id_of_token(token: &str) -> Result<String, Exception> {
    let invalid = || Exception::validation("Invalid NextToken");
    let digits = token.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes: Option<Vec<u8>> = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
    let mut bytes = bytes.filter(|_| token.len().is_multiple_of(2)).ok_or_else(invalid)?;
    bytes.retain(|byte| *byte != 0);
    String::from_utf8(bytes).map_err(|_| invalid())
}

/// Encodes the location of objects.
pub(crate) fn encode_location(
    bucket: &str,
    owner: &Option<String>,
    prefix: &Option<String>,
    json: &mut Writer,
) {
    json.member("S3BucketOwner", owner).member("S3Bucket", bucket).member("S3KeyPrefix", prefix);
}

pub(crate) fn encode_failure(failure: Option<&ExchangeFailure>, json: &mut Writer) {
    let code = failure.map(|failure| &failure.code);
    let message = failure.map(|failure| &failure.message);
    json.member("FailureCode", &code).member("FailureMessage", &message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_trip() {
        let mut json = Writer::with_prefix(0, 64);
        json.object(|json| encode_next_token(Some(&"01712345678901-abcdef12".to_owned()), json));
        let text = String::from_utf8(json.finish()).unwrap();
        let token = text.trim_start_matches("{\"NextToken\":\"").trim_end_matches("\"}");
        assert_eq!((token.len(), token.len() % 16), (112, 0));
        assert_eq!(id_of_token(token).unwrap(), "01712345678901-abcdef12");
        for bad in ["x", "abc", "zz", "ü"] {
            assert!(id_of_token(bad).is_err(), "{bad}");
        }
    }
}
