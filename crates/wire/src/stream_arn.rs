//! Stream ARNs as requests name them: their length by the service model, then what they say.

use crate::table_settings::{Text, check_length};
use crate::validation::Validation;
use partita_api::{Exception, messages};
use partita_value::names::StreamName;

/// Notes an ARN whose length is out of bounds.
pub(crate) fn check(validation: &mut Validation, path: &str, arn: &Text<'_>) {
    check_length(validation, path, arn, 37, 1_024);
}

/// The stream that an ARN names, whether or not there is one.
pub(crate) fn resolve(arn: &str) -> Result<StreamName, Exception> {
    StreamName::from_arn(arn).ok_or_else(|| Exception::validation(messages::INVALID_STREAM_ARN))
}
