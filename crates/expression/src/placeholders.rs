//! The placeholders of a request: names for `#n`, values for `:v`, and which of them were used.
//!
//! Also produces AWS's errors about the two maps themselves.

use crate::ExpressionError;
use crate::error::Problem;
use partita_value::Value;
use partita_value::limits::PLACEHOLDER_BYTES;
use std::sync::Arc;

const NAMES: &str = "ExpressionAttributeNames";
const VALUES: &str = "ExpressionAttributeValues";

/// `ExpressionAttributeNames`: `#n` → attribute name, in the order of the placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionNames(Placeholders<Arc<str>>);

impl ExpressionNames {
    /// Creates an empty map.
    pub fn new() -> ExpressionNames {
        ExpressionNames::default()
    }

    /// Creates the map of a request. Checks that it is not empty and that every key is a placeholder.
    pub fn from_entries(
        entries: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ExpressionNames, ExpressionError> {
        let entries = entries.into_iter().map(|(placeholder, name)| (placeholder, name.into()));
        Placeholders::from_entries(entries, NAMES, '#').map(ExpressionNames)
    }

    /// Adds a name or replaces the one of the same placeholder. The map must be complete before parsing begins.
    pub fn insert(&mut self, placeholder: &str, name: &str) {
        self.0.insert(placeholder.to_owned(), name.into());
    }

    /// Returns the name of a placeholder.
    pub fn get(&self, placeholder: &str) -> Option<&str> {
        self.position(placeholder).map(|position| &*self.0.0[position].1)
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// Iterates over placeholders and names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.0.iter().map(|(placeholder, name)| (placeholder.as_str(), &**name))
    }

    fn position(&self, placeholder: &str) -> Option<usize> {
        self.0.position(placeholder).ok()
    }

    /// Checks that a placeholder is `#` and letters, digits or `_`; otherwise the error is
    /// `ExpressionAttributeNames contains invalid key: …`.
    pub fn check_placeholder(placeholder: &str) -> Result<(), ExpressionError> {
        check_placeholder(placeholder, NAMES, '#')
    }

    /// Returns the error for names in a request without any expression.
    pub fn without_expression() -> ExpressionError {
        Problem::NamesWithoutExpression.into()
    }
}

/// `ExpressionAttributeValues`: `:v` → value, in the order of the placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionValues(Placeholders<Value>);

impl ExpressionValues {
    /// Creates an empty map.
    pub fn new() -> ExpressionValues {
        ExpressionValues::default()
    }

    /// Creates the map of a request. Checks that it is not empty and that every key is a placeholder.
    pub fn from_entries(
        entries: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<ExpressionValues, ExpressionError> {
        Placeholders::from_entries(entries, VALUES, ':').map(ExpressionValues)
    }

    /// Adds a value or replaces the one of the same placeholder. The map must be complete before parsing begins.
    pub fn insert(&mut self, placeholder: &str, value: Value) {
        self.0.insert(placeholder.to_owned(), value);
    }

    /// Returns the value of a placeholder.
    pub fn get(&self, placeholder: &str) -> Option<&Value> {
        self.position(placeholder).map(|position| &self.0.0[position].1)
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// Iterates over placeholders and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.0.iter().map(|(placeholder, value)| (placeholder.as_str(), value))
    }

    fn position(&self, placeholder: &str) -> Option<usize> {
        self.0.position(placeholder).ok()
    }

    /// Checks that a placeholder is `:` and letters, digits or `_`; otherwise the error is
    /// `ExpressionAttributeValues contains invalid key: …`.
    pub fn check_placeholder(placeholder: &str) -> Result<(), ExpressionError> {
        check_placeholder(placeholder, VALUES, ':')
    }

    /// Returns the error for values in a request that has none of the named expressions.
    pub fn without_expression(expressions: &[&str]) -> ExpressionError {
        let verb = if expressions.len() > 1 { "are" } else { "is" };
        Problem::ValuesWithoutExpression(format!("{} {verb} null", expressions.join(" and "))).into()
    }
}

/// Returns the error for a request that has both expressions and their legacy forms.
pub fn mixed_parameters(legacy: &[&str], expressions: &[&str]) -> ExpressionError {
    Problem::MixedParameters(legacy.join(", "), expressions.join(", ")).into()
}

fn check_placeholder(placeholder: &str, map: &'static str, sigil: char) -> Result<(), ExpressionError> {
    let valid = placeholder.strip_prefix(sigil).is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    if !valid {
        return Err(Problem::PlaceholderSyntax(map, placeholder.to_owned()).into());
    }
    if placeholder.len() > PLACEHOLDER_BYTES {
        return Err(Problem::PlaceholderLength(map, placeholder.to_owned()).into());
    }
    Ok(())
}

/// Entries sorted by placeholder, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placeholders<T>(Vec<(String, T)>);

impl<T> Default for Placeholders<T> {
    fn default() -> Placeholders<T> {
        Placeholders(Vec::new())
    }
}

impl<T> Placeholders<T> {
    fn from_entries(
        entries: impl IntoIterator<Item = (String, T)>,
        map: &'static str,
        sigil: char,
    ) -> Result<Placeholders<T>, ExpressionError> {
        let mut placeholders = Placeholders::default();
        for (placeholder, content) in entries {
            check_placeholder(&placeholder, map, sigil)?;
            placeholders.insert(placeholder, content);
        }
        if placeholders.0.is_empty() {
            return Err(Problem::EmptyMap(map).into());
        }
        Ok(placeholders)
    }

    fn position(&self, placeholder: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|entry| entry.0.as_str().cmp(placeholder))
    }

    fn insert(&mut self, placeholder: String, content: T) {
        match self.position(&placeholder) {
            Ok(position) => self.0[position].1 = content,
            Err(position) => self.0.insert(position, (placeholder, content)),
        }
    }
}

/// Records which placeholders the expressions of one request use. All of them must be bound to the same two maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    names: Vec<bool>,
    values: Vec<bool>,
}

impl Usage {
    /// Creates a record in which nothing is used.
    pub fn new() -> Usage {
        Usage::default()
    }

    /// Looks up a name and marks it as used.
    pub(crate) fn name<'a>(&mut self, names: &'a ExpressionNames, placeholder: &str) -> Option<&'a Arc<str>> {
        let position = names.position(placeholder)?;
        mark(&mut self.names, position);
        Some(&names.0.0[position].1)
    }

    /// Looks up a value and marks it as used.
    pub(crate) fn value<'a>(&mut self, values: &'a ExpressionValues, placeholder: &str) -> Option<&'a Value> {
        let position = values.position(placeholder)?;
        mark(&mut self.values, position);
        Some(&values.0.0[position].1)
    }

    /// Returns the error for names that no expression used, if there are any.
    pub fn unused_names(&self, names: &ExpressionNames) -> Option<ExpressionError> {
        unused(&self.names, names.iter().map(|entry| entry.0), NAMES)
    }

    /// Returns the error for values that no expression used, if there are any.
    pub fn unused_values(&self, values: &ExpressionValues) -> Option<ExpressionError> {
        unused(&self.values, values.iter().map(|entry| entry.0), VALUES)
    }
}

fn mark(used: &mut Vec<bool>, position: usize) {
    if used.len() <= position {
        used.resize(position + 1, false);
    }
    used[position] = true;
}

fn unused<'a>(
    used: &[bool],
    placeholders: impl Iterator<Item = &'a str>,
    map: &'static str,
) -> Option<ExpressionError> {
    let is_unused = |position: usize| !used.get(position).copied().unwrap_or(false);
    let keys: Vec<&str> =
        placeholders.enumerate().filter(|(position, _)| is_unused(*position)).map(|(_, key)| key).collect();
    (!keys.is_empty()).then(|| Problem::Unused(map, keys.join(", ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_placeholders_and_empty_maps_are_rejected() {
        let entries = |key: &str| vec![(key.to_owned(), "a".to_owned())];
        let message = |key: &str| ExpressionNames::from_entries(entries(key)).unwrap_err().to_string();
        for key in ["a", "", "#", "#a-b", ":a", "#ä"] {
            let expected =
                format!("ExpressionAttributeNames contains invalid key: Syntax error; key: \"{key}\"");
            assert_eq!(message(key), expected);
        }
        assert!(ExpressionNames::from_entries(entries("#_1a")).is_ok());
        assert!(message(&format!("#{}", "a".repeat(255))).contains("too long"));
        let empty = ExpressionValues::from_entries([]).unwrap_err();
        assert_eq!(empty.to_string(), "ExpressionAttributeValues must not be empty");
    }

    #[test]
    fn unused_placeholders_are_reported() {
        let (mut names, mut values, mut usage) =
            (ExpressionNames::new(), ExpressionValues::new(), Usage::new());
        names.insert("#b", "b");
        names.insert("#a", "x");
        names.insert("#a", "a");
        values.insert(":v", Value::string("v"));
        assert_eq!(usage.name(&names, "#b"), Some(&"b".into()));
        assert_eq!(usage.name(&names, "#c"), None);
        let expected = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}";
        assert_eq!(usage.unused_names(&names).unwrap().to_string(), expected);
        let expected = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}";
        assert_eq!(usage.unused_values(&values).unwrap().to_string(), expected);
        usage.value(&values, ":v");
        usage.name(&names, "#a");
        assert_eq!((usage.unused_names(&names), usage.unused_values(&values)), (None, None));
        assert_eq!(names.get("#a"), Some("a"));
    }

    #[test]
    fn placeholders_without_expressions_are_rejected() {
        assert_eq!(
            ExpressionValues::without_expression(&["ConditionExpression"]).to_string(),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"
        );
        assert_eq!(
            ExpressionValues::without_expression(&["UpdateExpression", "ConditionExpression"]).to_string(),
            "ExpressionAttributeValues can only be specified when using expressions: \
             UpdateExpression and ConditionExpression are null"
        );
        assert_eq!(
            mixed_parameters(&["Expected"], &["ConditionExpression"]).to_string(),
            "Can not use both expression and non-expression parameters in the same request: \
             Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
        );
    }
}
