//! Conditions of `where` and `when`: `status == 'PENDING' and exists(dueDate)`.
//!
//! Conditions are conjunctions: one implies another exactly if each test of the other follows from one of its own.

use std::fmt;

/// One comparison of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The attribute has the value.
    Equals(String, String),
    /// The attribute does not have the value.
    Differs(String, String),
    /// The attribute exists.
    Exists(String),
    /// The attribute contains the text. Only filters can test that, after the read.
    Contains(String, String),
}

/// A conjunction of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The tests; a condition without tests always holds.
    pub tests: Vec<Test>,
}

impl Test {
    /// Returns the attribute that it tests.
    pub fn attribute(&self) -> &str {
        match self {
            Test::Equals(name, _) | Test::Differs(name, _) | Test::Exists(name) | Test::Contains(name, _) => {
                name
            }
        }
    }

    /// Returns whether a value, or its absence, meets the test.
    pub fn holds(&self, value: Option<&str>) -> bool {
        match self {
            Test::Equals(_, wanted) => value == Some(wanted),
            Test::Differs(_, excluded) => value != Some(excluded),
            Test::Exists(_) => value.is_some(),
            Test::Contains(_, part) => value.is_some_and(|value| value.contains(part.as_str())),
        }
    }

    fn implies(&self, other: &Test) -> bool {
        match (self, other) {
            (Test::Equals(name, value), Test::Differs(theirs, excluded)) => {
                name == theirs && value != excluded
            }
            (Test::Equals(name, _) | Test::Contains(name, _), Test::Exists(theirs)) => name == theirs,
            _ => self == other,
        }
    }

    fn parse(text: &str) -> Result<Test, String> {
        let text = text.trim();
        for (word, make) in
            [("==", Test::Equals as fn(_, _) -> _), ("!=", Test::Differs), (" = ", Test::Equals)]
        {
            if let Some((name, value)) = text.split_once(word) {
                return Ok(make(attribute(name)?, constant(value)?));
            }
        }
        if let Some(name) = call(text, "exists") {
            return Ok(Test::Exists(attribute(name)?));
        }
        if let Some((name, value)) = call(text, "contains").and_then(|inside| inside.split_once(',')) {
            return Ok(Test::Contains(attribute(name)?, constant(value)?));
        }
        Err(format!(
            "`{text}` is not a condition; write attribute == 'value', attribute != 'value', exists(attribute) or contains(attribute, 'text')"
        ))
    }
}

impl Condition {
    /// Parses tests joined by `and`.
    ///
    /// # Errors
    ///
    /// Returns a message that names the part that is not a test.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let tests: Result<Vec<Test>, String> = split_and(text).iter().map(|part| Test::parse(part)).collect();
        Ok(Condition { tests: tests? })
    }

    /// Returns whether whatever meets this condition also meets `other`.
    pub fn implies(&self, other: &Condition) -> bool {
        other.tests.iter().all(|wanted| self.tests.iter().any(|own| own.implies(wanted)))
    }

    /// Returns the value that the condition fixes for an attribute.
    pub fn fixed(&self, attribute: &str) -> Option<&str> {
        self.tests.iter().find_map(|test| match test {
            Test::Equals(name, value) if name == attribute => Some(value.as_str()),
            _ => None,
        })
    }

    /// Returns whether there are no tests.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }
}

/// Returns the parts between `and` in any case; quoted text is left alone.
pub fn split_and(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for word in text.split_inclusive(' ') {
        let quotes = word.matches('\'').count() % 2 == 1;
        if !quoted && word.trim().eq_ignore_ascii_case("and") {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push_str(word);
        }
        quoted ^= quotes;
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Returns the text between the parentheses of `name(…)`.
pub fn call<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.trim().strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')')
}

fn attribute(text: &str) -> Result<String, String> {
    let name = text.trim();
    let fine = !name.is_empty()
        && name.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character));
    if fine { Ok(name.to_owned()) } else { Err(format!("`{name}` does not name an attribute")) }
}

/// A quoted text, a number, `true` or `false`.
fn constant(text: &str) -> Result<String, String> {
    let text = text.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    if let Some(inside) = quoted {
        return Ok(inside.to_owned());
    }
    let plain = text == "true" || text == "false" || text.parse::<f64>().is_ok();
    if plain {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a value; put text in single quotes"))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tests: Vec<String> = self.tests.iter().map(Test::to_string).collect();
        out.write_str(&tests.join(" and "))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Test::Equals(name, value) => write!(out, "{name} == '{value}'"),
            Test::Differs(name, value) => write!(out, "{name} != '{value}'"),
            Test::Exists(name) => write!(out, "exists({name})"),
            Test::Contains(name, value) => write!(out, "contains({name}, '{value}')"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implication_is_per_part() {
        let parse = |text: &str| Condition::parse(text).unwrap();
        let pending = parse("status == 'PENDING' and exists(due)");
        assert!(pending.implies(&parse("status == 'PENDING'")));
        assert!(pending.implies(&parse("status != 'PAID'")));
        assert!(pending.implies(&parse("exists(status)")));
        assert!(!parse("exists(due)").implies(&pending));
        assert_eq!(pending.to_string(), "status == 'PENDING' and exists(due)");
        assert_eq!(pending.fixed("status"), Some("PENDING"));
        assert_eq!(parse("title == 'salt and pepper'").fixed("title"), Some("salt and pepper"));
        assert_eq!(parse("status == \"PAID\"").fixed("status"), Some("PAID"));
        assert!(Condition::parse("status").is_err());
        assert!(Condition::parse("status == PENDING").is_err());
    }
}
