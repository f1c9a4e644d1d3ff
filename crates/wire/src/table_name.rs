//! The table an item operation names: by its name or by its ARN.

use crate::validation::Validation;
use partita_api::Exception;
use partita_value::names::{self, TableName};
use std::fmt::Display;

/// Shortest table name; an empty one is told against a bound of its own.
const MIN_LENGTH: usize = 3;
const MAX_LENGTH: usize = 255;

/// Refuses a name that cannot be a table's. Told alone, before anything else is checked.
pub(crate) fn check<T: AsRef<str>>(path: impl Display, sent: Option<&T>) -> Result<(), Exception> {
    let Some(sent) = sent.map(AsRef::as_ref) else { return Ok(()) };
    let name = name_in(sent);
    let mut validation = Validation::new();
    if !names::has_name_characters(name) {
        validation.pattern(path, sent, crate::validation::NAME_PATTERN);
    } else {
        let min = if name.is_empty() { 1 } else { MIN_LENGTH };
        validation.length(path, sent, name.len(), min, MAX_LENGTH);
    }
    validation.finish()
}

/// The table behind a name or ARN that was checked.
pub(crate) fn resolve(sent: &str) -> TableName {
    TableName::from_request(sent)
}

fn name_in(sent: &str) -> &str {
    names::table_of_arn(sent).unwrap_or(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str) -> String {
        check("tableName", Some(&name)).map_or_else(|exception| exception.message, |()| "ok".into())
    }

    #[test]
    fn names_and_arns_are_accepted() {
        for name in ["abc", "A.b-c_9", "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"] {
            assert_eq!(message(name), "ok", "{name}");
        }
        assert_eq!(resolve("arn:aws:dynamodb:eu-west-1:000000000000:table/Music").as_str(), "Music");
        assert_eq!(resolve("Music").as_str(), "Music");
    }

    #[test]
    fn others_are_refused_for_one_reason() {
        let error = |value: &str, constraint: &str| {
            format!(
                "1 validation error detected: Value '{value}' at 'tableName' failed to satisfy constraint: {constraint}"
            )
        };
        assert_eq!(message(""), error("", "Member must have length greater than or equal to 1"));
        assert_eq!(message("ab"), error("ab", "Member must have length greater than or equal to 3"));
        let long = "a".repeat(256);
        assert_eq!(message(&long), error(&long, "Member must have length less than or equal to 255"));
        for bad in ["x!", "bad table!@#", "arn:aws:s3:::bucket", "arn:aws:dynamodb:eu-west-1:1:table/a b"] {
            assert_eq!(
                message(bad),
                error(bad, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
            );
        }
    }
}
