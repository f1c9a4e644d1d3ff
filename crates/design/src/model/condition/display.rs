//! Conditions as text, as a model has them.

use super::{Comparison, Condition, Constant, Test};
use std::fmt;

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |parts: &[Condition], word: &str, bracketed: fn(&Condition) -> bool| {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| if bracketed(part) { format!("({part})") } else { part.to_string() })
                .collect();
            parts.join(word)
        };
        match self {
            Condition::All(parts) => out.write_str(&join(parts, " and ", |part| {
                matches!(part, Condition::Any(_) | Condition::All(_))
            })),
            Condition::Any(parts) => {
                out.write_str(&join(parts, " or ", |part| matches!(part, Condition::Any(_))))
            }
            Condition::Not(part) => match part.as_ref() {
                Condition::Test(Test { attribute, comparison: Comparison::Exists, .. }) => {
                    write!(out, "missing({attribute})")
                }
                Condition::Test(_) => write!(out, "not {part}"),
                _ => write!(out, "not ({part})"),
            },
            Condition::Test(test) => test.fmt(out),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.attribute;
        match &self.comparison {
            Comparison::Is(comparator, value) => write!(out, "{name} {} {value}", comparator.symbol()),
            Comparison::Among(values) => {
                let values: Vec<String> = values.iter().map(Constant::to_string).collect();
                write!(out, "{name} in ({})", values.join(", "))
            }
            Comparison::Between(from, to) => write!(out, "{name} between {from} and {to}"),
            Comparison::Exists => write!(out, "exists({name})"),
            Comparison::BeginsWith(text) => write!(out, "begins_with({name}, {})", quoted(text)),
            Comparison::Contains(text) => write!(out, "contains({name}, {})", quoted(text)),
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Text(text) => out.write_str(&quoted(text)),
            other => out.write_str(other.as_str()),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
