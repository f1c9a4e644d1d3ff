//! What a request gives its expressions: names for `#n`, values for `:v`, and which of them were used.
//!
//! In come the two maps of a request; out go lookups, and AWS's complaints about the maps themselves.

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
    pub fn new() -> ExpressionNames {
        ExpressionNames::default()
    }

    /// The whole map of a request, checked: not empty, and every key a placeholder.
    pub fn from_entries(
        entries: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ExpressionNames, ExpressionError> {
        let entries = entries.into_iter().map(|(placeholder, name)| (placeholder, name.into()));
        Placeholders::from_entries(entries, NAMES, '#').map(ExpressionNames)
    }

    /// Adds a name; an earlier one of the same placeholder is replaced. Complete the map before parsing.
    pub fn insert(&mut self, placeholder: &str, name: &str) {
        self.0.insert(placeholder.to_owned(), name.into());
    }

    pub fn get(&self, placeholder: &str) -> Option<&str> {
        self.position(placeholder).map(|position| &*self.0.0[position].1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// Placeholders and names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.0.iter().map(|(placeholder, name)| (placeholder.as_str(), &**name))
    }

    fn position(&self, placeholder: &str) -> Option<usize> {
        self.0.position(placeholder).ok()
    }

    /// `ExpressionAttributeNames contains invalid key: …`, unless this is `#` and letters, digits or `_`.
    pub fn check_placeholder(placeholder: &str) -> Result<(), ExpressionError> {
        check_placeholder(placeholder, NAMES, '#')
    }

    /// The error for names in a request without any expression.
    pub fn without_expression() -> ExpressionError {
        Problem::NamesWithoutExpression.into()
    }
}

/// `ExpressionAttributeValues`: `:v` → value, in the order of the placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpressionValues(Placeholders<Value>);

impl ExpressionValues {
    pub fn new() -> ExpressionValues {
        ExpressionValues::default()
    }

    /// The whole map of a request, checked: not empty, and every key a placeholder.
    pub fn from_entries(
        entries: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<ExpressionValues, ExpressionError> {
        Placeholders::from_entries(entries, VALUES, ':').map(ExpressionValues)
    }

    /// Adds a value; an earlier one of the same placeholder is replaced. Complete the map before parsing.
    pub fn insert(&mut self, placeholder: &str, value: Value) {
        self.0.insert(placeholder.to_owned(), value);
    }

    pub fn get(&self, placeholder: &str) -> Option<&Value> {
        self.position(placeholder).map(|position| &self.0.0[position].1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.0.is_empty()
    }

    /// Placeholders and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.0.iter().map(|(placeholder, value)| (placeholder.as_str(), value))
    }

    fn position(&self, placeholder: &str) -> Option<usize> {
        self.0.position(placeholder).ok()
    }

    /// `ExpressionAttributeValues contains invalid key: …`, unless this is `:` and letters, digits or `_`.
    pub fn check_placeholder(placeholder: &str) -> Result<(), ExpressionError> {
        check_placeholder(placeholder, VALUES, ':')
    }

    /// The error for values in a request none of whose expressions (named here) is present.
    pub fn without_expression(expressions: &[&str]) -> ExpressionError {
        let verb = if expressions.len() > 1 { "are" } else { "is" };
        Problem::ValuesWithoutExpression(format!("{} {verb} null", expressions.join(" and "))).into()
    }
}

/// The error for a request that has both expressions and their legacy forms.
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

/// Entries sorted by placeholder, each placeholder once.
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

/// Which placeholders the expressions of one request have used. All of them must see the same two maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    names: Vec<bool>,
    values: Vec<bool>,
}

impl Usage {
    pub fn new() -> Usage {
        Usage::default()
    }

    /// Looks a name up and remembers that it was used.
    pub(crate) fn name<'a>(&mut self, names: &'a ExpressionNames, placeholder: &str) -> Option<&'a Arc<str>> {
        let position = names.position(placeholder)?;
        mark(&mut self.names, position);
        Some(&names.0.0[position].1)
    }

    /// Looks a value up and remembers that it was used.
    pub(crate) fn value<'a>(&mut self, values: &'a ExpressionValues, placeholder: &str) -> Option<&'a Value> {
        let position = values.position(placeholder)?;
        mark(&mut self.values, position);
        Some(&values.0.0[position].1)
    }

    /// The error for names that no expression has used, if there are any.
    pub fn unused_names(&self, names: &ExpressionNames) -> Option<ExpressionError> {
        unused(&self.names, names.iter().map(|entry| entry.0), NAMES)
    }

    /// The error for values that no expression has used, if there are any.
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
    fn maps_are_checked_as_a_whole() {
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
    fn unused_placeholders_are_named() {
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
    fn requests_without_expressions_are_told_so() {
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
