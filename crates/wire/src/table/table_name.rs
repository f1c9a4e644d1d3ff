//! The table that a request is about: by its name or by its ARN.

use crate::json::Reader;
use crate::members::{Member, Path, read_request, structure, validate};
use crate::validation::{NAME_PATTERN, Validation};
use partita_api::Exception;
use partita_value::names::{self, TableName};
use std::borrow::Cow;
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
        validation.pattern(path, sent, NAME_PATTERN);
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

/// The name of a table or an index: its characters, then its length.
pub(crate) fn resource_name(path: &Path<'_>, name: &Option<Cow<'_, str>>, validation: &mut Validation) {
    if let Some(name) = name {
        validation.resource_name(path, name, MIN_LENGTH);
    }
}

/// The table of a control-plane request, by name or by ARN. A wrong length is reported before anything else is looked at; wrong
/// characters are reported together with the failures of other members.
pub(crate) struct TableReference<'a>(Cow<'a, str>);

impl TableReference<'_> {
    /// The table, if there is one and its name is neither too short nor too long.
    pub(crate) fn resolve(member: &Option<TableReference<'_>>) -> Result<TableName, Exception> {
        let Some(TableReference(sent)) = member else { return Err(missing_table_name()) };
        let table = resolve(sent);
        let length = table.as_str().chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) {
            let mut validation = Validation::new();
            validation.length("tableName", sent, length, MIN_LENGTH, MAX_LENGTH);
            check_characters("tableName", sent, &mut validation);
            validation.finish()?;
        }
        Ok(table)
    }
}

fn check_characters(path: impl Display, sent: &str, validation: &mut Validation) {
    let table = resolve(sent);
    if table.as_str().is_empty() || !names::has_name_characters(table.as_str()) {
        validation.pattern(path, sent, NAME_PATTERN);
    }
}

impl<'a> Member<'a> for TableReference<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        Ok(reader.text()?.map(TableReference))
    }

    fn check(&self, path: &Path<'_>, validation: &mut Validation) {
        check_characters(path, &self.0, validation);
    }
}

/// AWS says so wherever a table may be named by name or ARN.
pub(crate) fn missing_table_name() -> Exception {
    Exception::validation("The parameter 'TableName' is required but was not present in the request")
}

structure! {
    /// The members of a request that only names a table.
    struct OnlyTableName<'a> {
        table: TableReference<'a> = "TableName";
    }
}

/// A body that only names a table.
pub(crate) fn read_only_table_name(reader: Reader<'_>) -> Result<TableName, Exception> {
    let members: OnlyTableName = read_request(reader)?;
    let table = TableReference::resolve(&members.table)?;
    validate(&members)?;
    Ok(table)
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
