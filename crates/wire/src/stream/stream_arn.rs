//! ARNs of streams and ids of shards in requests.

use crate::members::{Path, length};
use crate::validation::Validation;
use partita_api::{Exception, messages};
use partita_value::names::StreamName;
use std::borrow::Cow;

/// Checks the length of the ARN of a stream.
pub(crate) fn arn_length(path: &Path<'_>, arn: &Option<Cow<'_, str>>, validation: &mut Validation) {
    length(path, arn, validation, 37, 1_024);
}

/// Checks the length of the id of a shard.
pub(crate) fn shard_id_length(path: &Path<'_>, id: &Option<Cow<'_, str>>, validation: &mut Validation) {
    length(path, id, validation, 28, 65);
}

/// The stream that an ARN names, whether or not it exists.
pub(crate) fn resolve(arn: &str) -> Result<StreamName, Exception> {
    StreamName::from_arn(arn).ok_or_else(|| Exception::validation(messages::INVALID_STREAM_ARN))
}
