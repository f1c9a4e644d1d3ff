//! What an item that was read must meet to be part of the answer, where the key condition does not see to it.

use crate::model::condition::Condition;
use std::fmt;

/// What an item must meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// The attribute has the value of the input of the same name.
    Input(String),
    /// A part of the pattern's condition holds.
    Condition(Condition),
    /// The attribute is within the range.
    Range(String),
}

impl Requirement {
    /// Returns the attributes that it concerns.
    pub fn attributes(&self) -> Vec<&str> {
        match self {
            Requirement::Input(name) | Requirement::Range(name) => vec![name],
            Requirement::Condition(part) => part.attributes().into_iter().collect(),
        }
    }

    /// Returns whether it is a condition of alternatives, which stands in parentheses beside others.
    fn is_alternative(&self) -> bool {
        matches!(self, Requirement::Condition(Condition::Any(_)))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Input(name) => write!(out, "{name} = :{name}"),
            Requirement::Condition(part) => write!(out, "{part}"),
            Requirement::Range(by) => write!(out, "{by} BETWEEN :from AND :to"),
        }
    }
}

/// Returns the text of requirements that are to be met together.
pub fn all_of(requirements: &[Requirement]) -> String {
    let one = |requirement: &Requirement| match requirements.len() > 1 && requirement.is_alternative() {
        true => format!("({requirement})"),
        false => requirement.to_string(),
    };
    requirements.iter().map(one).collect::<Vec<_>>().join(" and ")
}
