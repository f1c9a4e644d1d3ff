//! Validation of single members against the service model: presence, length, pattern, enum values, range. Failures are
//! reported together, ten at most, in the order of the checks.

use partita_api::Exception;
use partita_value::names;
use std::fmt::{Display, Write};

/// AWS reports no more errors than this.
const MAX_ERRORS: usize = 10;
/// No error is added to a text longer than this: errors may repeat long names.
const MAX_TEXT_BYTES: usize = 65_536;
/// The characters of table and index names.
pub(crate) const NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";

/// Unwraps a member that validation has found present. If it is missing, that is our bug, not the client's.
pub(crate) fn present<T>(member: Option<T>) -> Result<T, Exception> {
    member.ok_or_else(|| Exception::internal("A required member was not checked"))
}

/// Collects validation errors. Paths are AWS's: lower camel case, `keySchema.1.member.keyType`.
#[derive(Default)]
pub(crate) struct Validation {
    count: usize,
    errors: String,
}

impl Validation {
    pub(crate) fn new() -> Validation {
        Validation::default()
    }

    /// Records that the value of a member does not satisfy a constraint.
    pub(crate) fn fail(&mut self, path: impl Display, value: impl Display, constraint: impl Display) {
        self.record(format_args!("Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"));
    }

    /// Records an error with a text of its own.
    pub(crate) fn record(&mut self, error: impl Display) {
        if self.count == MAX_ERRORS || self.errors.len() > MAX_TEXT_BYTES {
            return;
        }
        self.count += 1;
        let separator = if self.errors.is_empty() { "" } else { "; " };
        // Writing into a String never fails.
        let _ = write!(self.errors, "{separator}{error}");
    }

    /// Records an error if the member is missing; returns the member.
    pub(crate) fn required<'t, T>(&mut self, path: impl Display, value: &'t Option<T>) -> Option<&'t T> {
        if value.is_none() {
            self.record(format_args!(
                "Value null at '{path}' failed to satisfy constraint: Member must not be null"
            ));
        }
        value.as_ref()
    }

    /// Checks the length of a text (in characters), a list or a map.
    pub(crate) fn length(
        &mut self,
        path: impl Display,
        value: impl Display,
        length: usize,
        min: usize,
        max: usize,
    ) {
        if length < min {
            self.fail(&path, &value, format_args!("Member must have length greater than or equal to {min}"));
        }
        if length > max {
            self.fail(&path, &value, format_args!("Member must have length less than or equal to {max}"));
        }
    }

    /// Records that a text does not match its pattern.
    pub(crate) fn pattern(&mut self, path: impl Display, value: &str, pattern: &str) {
        self.fail(path, value, format_args!("Member must satisfy regular expression pattern: {pattern}"));
    }

    pub(crate) fn at_least<N: PartialOrd + Display>(&mut self, path: impl Display, value: Option<N>, min: N) {
        if let Some(value) = value.filter(|value| *value < min) {
            self.fail(path, value, format_args!("Member must have value greater than or equal to {min}"));
        }
    }

    pub(crate) fn at_most<N: PartialOrd + Display>(&mut self, path: impl Display, value: Option<N>, max: N) {
        if let Some(value) = value.filter(|value| *value > max) {
            self.fail(path, value, format_args!("Member must have value less than or equal to {max}"));
        }
    }

    /// Checks the name of a table or an index: its characters, then its length.
    pub(crate) fn resource_name(&mut self, path: impl Display, name: &str, min: usize) {
        if name.is_empty() || !names::has_name_characters(name) {
            self.pattern(&path, name, NAME_PATTERN);
        }
        self.length(&path, name, name.chars().count(), min, 255);
    }

    /// Returns the value of an enum member, and records an error if it is unknown. `names` lists all values in AWS's order.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        path: impl Display,
        value: Option<&str>,
        names: &[(&str, T)],
    ) -> Option<T> {
        let value = value?;
        let found = names.iter().find(|(name, _)| *name == value);
        if found.is_none() {
            let all = names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            self.fail(path, value, format_args!("Member must satisfy enum value set: [{all}]"));
        }
        found.map(|(_, value)| *value)
    }

    /// Returns an exception with all recorded errors, if there are any.
    pub(crate) fn finish(self) -> Result<(), Exception> {
        match self.count {
            0 => Ok(()),
            1 => Err(Exception::validation(format!("1 validation error detected: {}", self.errors))),
            n => Err(Exception::validation(format!("{n} validation errors detected: {}", self.errors))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(validation: Validation) -> String {
        validation.finish().unwrap_err().message
    }

    #[test]
    fn one_error_is_reported_alone() {
        let mut validation = Validation::new();
        validation.required("tableName", &None::<()>);
        assert_eq!(
            message(validation),
            "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null"
        );
    }

    #[test]
    fn several_errors_are_reported_in_order() {
        let mut validation = Validation::new();
        validation.resource_name("tableName", "a!", 3);
        validation.one_of("keySchema.1.member.keyType", Some("X"), &[("HASH", 0), ("RANGE", 1)]);
        validation.at_least("limit", Some(0), 1);
        assert_eq!(
            message(validation),
            "4 validation errors detected: \
             Value 'a!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
             Value 'a!' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3; \
             Value 'X' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]; \
             Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
        );
    }

    #[test]
    fn at_most_ten_errors_are_reported() {
        let mut validation = Validation::new();
        (0..20).for_each(|i| validation.fail(format_args!("list.{i}"), "x", "no"));
        let message = message(validation);
        assert!(message.starts_with("10 validation errors detected: "));
        assert!(message.contains("list.9'") && !message.contains("list.10'"));
    }
}
