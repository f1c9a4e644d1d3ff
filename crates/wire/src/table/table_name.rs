//! Tables in requests, by name or by ARN.

use crate::json::Reader;
use crate::members::{Member, Path, read_request, structure, validate};
use crate::validation::{NAME_PATTERN, Validation};
use partita_api::Exception;
use partita_value::names::{self, TableName};
use std::borrow::Cow;
use std::fmt::Display;

/// The minimum length of a table name; the error for an empty one has a bound of its own.
const MIN_LENGTH: usize = 3;
const MAX_LENGTH: usize = 255;

/// Refuses an invalid name of a table. It is reported alone, before anything else is checked.
pub(crate) fn check<T: AsRef<str>>(path: impl Display, name_or_arn: Option<&T>) -> Result<(), Exception> {
    let Some(name_or_arn) = name_or_arn.map(AsRef::as_ref) else { return Ok(()) };
    let name = names::table_of_arn(name_or_arn).unwrap_or(name_or_arn);
    let mut validation = Validation::new();
    if !names::has_name_characters(name) {
        validation.pattern(path, name_or_arn, NAME_PATTERN);
    } else {
        let min = if name.is_empty() { 1 } else { MIN_LENGTH };
        validation.length(path, name_or_arn, name.len(), min, MAX_LENGTH);
    }
    validation.finish()
}

/// The table of a name or an ARN that was checked.
pub(crate) fn resolve(name_or_arn: &str) -> TableName {
    TableName::from_request(name_or_arn)
}

/// Requires a valid name of a table or an index: its characters, then its length.
pub(crate) fn resource_name(path: &Path<'_>, name: &Option<Cow<'_, str>>, validation: &mut Validation) {
    if let Some(name) = name {
        validation.resource_name(path, name, MIN_LENGTH);
    }
}

/// The table of a control-plane request, by name or by ARN. A wrong length is reported alone and first, wrong characters together
/// with the failures of other members.
pub(crate) struct TableReference<'a>(Cow<'a, str>);

impl TableReference<'_> {
    /// Returns the table, if the member is present and the length of the name is valid.
    pub(crate) fn resolve(member: &Option<TableReference<'_>>) -> Result<TableName, Exception> {
        let Some(TableReference(name_or_arn)) = member else { return Err(missing_table_name()) };
        let table = resolve(name_or_arn);
        let length = table.as_str().chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) {
            let mut validation = Validation::new();
            validation.length("tableName", name_or_arn, length, MIN_LENGTH, MAX_LENGTH);
            check_characters("tableName", name_or_arn, &mut validation);
            validation.finish()?;
        }
        Ok(table)
    }
}

fn check_characters(path: impl Display, name_or_arn: &str, validation: &mut Validation) {
    let table = resolve(name_or_arn);
    if table.as_str().is_empty() || !names::has_name_characters(table.as_str()) {
        validation.pattern(path, name_or_arn, NAME_PATTERN);
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

/// AWS's error wherever a table is named by name or ARN.
pub(crate) fn missing_table_name() -> Exception {
    Exception::validation("The parameter 'TableName' is required but was not present in the request")
}

structure! {
    /// The member of a request that only names a table.
    struct OnlyTableName<'a> {
        table: TableReference<'a> = "TableName";
    }
}

/// Reads a request that only names a table.
pub(crate) fn read_only_table_name(reader: Reader<'_>) -> Result<TableName, Exception> {
    let members: OnlyTableName = read_request(reader)?;
    let table = TableReference::resolve(&members.table)?;
    validate(&members)?;
    Ok(table)
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
    fn other_names_are_refused_with_one_error() {
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
