//! Aggregates that an entity keeps about the items of another one: `commentCount = "count Comment"`.

use super::Entity;
use super::condition::Condition;
use crate::source::Span;
use crate::template::SHARD;
use std::fmt;

/// What an aggregate computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The number of items.
    Count,
    /// The sum of an attribute.
    Sum,
    /// The smallest value of an attribute.
    Min,
    /// The greatest value of an attribute.
    Max,
}

/// An attribute that summarises the items of another entity.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// The attribute that holds it.
    pub name: String,
    /// What it computes.
    pub function: Function,
    /// The entity whose items it summarises.
    pub of: String,
    /// The attribute of these items; empty for a count.
    pub attribute: String,
    /// Which of the items it includes.
    pub filter: Condition,
    /// Where it is declared.
    pub span: Span,
}

const FUNCTIONS: [(&str, Function); 4] =
    [("count", Function::Count), ("sum", Function::Sum), ("min", Function::Min), ("max", Function::Max)];

impl Function {
    /// Returns the word for it in a model.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// Returns whether it is computed by adding and subtracting, so that a deletion can undo it.
    pub fn is_additive(self) -> bool {
        matches!(self, Function::Count | Function::Sum)
    }
}

impl Aggregate {
    /// Returns whether it is the count of the items that another aggregate summarises.
    pub fn counts_for(&self, other: &Aggregate) -> bool {
        self.function == Function::Count && self.of == other.of && self.filter == other.filter
    }

    /// Parses `count Comment`, `sum Order.total` or `max Order.createdAt`, each with an optional `where`. The condition is
    /// returned as text.
    pub fn parse<'t>(name: &str, text: &'t str, span: Span) -> Option<(Aggregate, &'t str)> {
        let (head, filter) = text.split_once(" where ").unwrap_or((text, ""));
        let (word, what) = head.trim().split_once(' ')?;
        let (_, function) = FUNCTIONS.into_iter().find(|(known, _)| *known == word)?;
        let (of, attribute) = what.trim().split_once('.').unwrap_or((what.trim(), ""));
        if of.is_empty() || attribute.is_empty() != (function == Function::Count) {
            return None;
        }
        let (of, attribute) = (of.to_owned(), attribute.to_owned());
        let filter = filter.trim();
        Some((
            Aggregate { name: name.to_owned(), function, of, attribute, filter: Condition::default(), span },
            filter,
        ))
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.function.name(), self.of)?;
        if !self.attribute.is_empty() {
            write!(out, ".{}", self.attribute)?;
        }
        if self.filter.is_empty() { Ok(()) } else { write!(out, " where {}", self.filter) }
    }
}

impl Entity {
    /// Returns the attributes that tell which item it is: its identity, or the fields of its key.
    pub fn identifying(&self) -> Vec<&str> {
        if !self.identity.is_empty() {
            return self.identity.iter().map(String::as_str).collect();
        }
        match self.identity() {
            Some(id) => vec![id],
            None => self.key_fields().filter(|field| *field != SHARD).collect(),
        }
    }
}
