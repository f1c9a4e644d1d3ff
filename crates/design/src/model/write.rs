//! Declared writes of a model.

use super::Entity;
use super::expression::{Aliases, Clause, ConditionExpression, Operand, UpdateExpression};
use crate::source::Span;
use std::fmt;

/// The most actions of a transaction.
pub const MAX_ACTIONS: usize = 100;

/// A write that the application makes.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// The name of the write.
    pub name: String,
    /// What it writes.
    pub actions: Vec<Action>,
    /// Whether the actions form one transaction.
    pub transact: bool,
    /// Whether the actions are sent as a BatchWriteItem.
    pub batch: bool,
    /// The markers of unique values that it writes, as the model lists them.
    pub markers: Vec<MarkerAction>,
    /// Writes per second.
    pub rps: Option<f64>,
    /// Writes per second in a year.
    pub rps_in_a_year: Option<f64>,
    /// The peak of the writes, as a multiple of their mean.
    pub peak: Option<f64>,
    /// Where the write is declared.
    pub span: Span,
}

/// What an action does to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Puts an item that must not exist.
    Create,
    /// Puts an item, whether it exists or not.
    Put,
    /// Updates attributes of an item.
    Update,
    /// Deletes an item.
    Delete,
}

/// One action of a write.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it does.
    pub verb: Verb,
    /// The name of the entity.
    pub entity: String,
    /// Whether it writes as many items as are expected per parent.
    pub many: bool,
    /// The attributes of the entity that an update changes.
    pub set: Vec<String>,
    /// The update expression that the application sends.
    pub expression: Option<UpdateExpression>,
    /// The condition expression that the application sends.
    pub condition: Option<ConditionExpression>,
    /// What the aliases of both stand for, if not for the attribute of the same name.
    pub names: Aliases,
    /// Example values of their placeholders.
    pub values: Aliases,
}

/// What a write does to the item that keeps values unique: it creates or deletes it, or updates its expiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerAction {
    /// What it does.
    pub verb: Verb,
    /// The name of the entity.
    pub entity: String,
    /// The attributes that are unique together.
    pub unique: Vec<String>,
}

impl Verb {
    /// Returns the word for it in a model.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Put => "put",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }

    /// Parses the word for it in a model.
    pub fn parse(text: &str) -> Option<Verb> {
        [Verb::Create, Verb::Put, Verb::Update, Verb::Delete].into_iter().find(|verb| verb.name() == text)
    }
}

impl Action {
    /// Returns whether it updates the attribute by which the items of its entity expire, and leaves some unique values as they are.
    pub fn prolongs(&self, entity: &Entity, unique: &[String]) -> bool {
        self.verb == Verb::Update
            && entity.ttl.as_ref().is_some_and(|ttl| self.set.contains(ttl))
            && !unique.iter().any(|name| self.set.contains(name))
    }

    /// Returns the declared value that its expression sets an attribute to.
    pub fn declared_value(&self, attribute: &str) -> Option<&str> {
        let mut own = self.assigned().filter(|(name, _)| *name == attribute);
        own.find_map(|(_, placeholder)| self.values.get(placeholder)).map(String::as_str)
    }

    /// Returns whether its expression sets an attribute to the value of this placeholder.
    pub fn assigns(&self, placeholder: &str) -> bool {
        self.assigned().any(|(_, own)| own == placeholder)
    }

    /// The attributes that its expression sets to the values of placeholders.
    fn assigned(&self) -> impl Iterator<Item = (&str, &str)> {
        let changes = self.expression.iter().flat_map(|expression| &expression.changes);
        changes.filter(|change| change.is_whole() && change.clause == Clause::Set).filter_map(|change| {
            match &change.value {
                Some(Operand::Value(placeholder)) => {
                    Some((change.path.attribute.as_str(), placeholder.as_str()))
                }
                _ => None,
            }
        })
    }

    /// Creates an action on one item that sets nothing.
    pub fn new(verb: Verb, entity: &str) -> Action {
        Action {
            verb,
            entity: entity.to_owned(),
            many: false,
            set: Vec::new(),
            expression: None,
            condition: None,
            names: Aliases::new(),
            values: Aliases::new(),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = if self.many { "*" } else { "" };
        write!(out, "{} {}{many}", self.verb.name(), self.entity)?;
        if self.set.is_empty() { Ok(()) } else { write!(out, " set {}", self.set.join(", ")) }
    }
}

impl Write {
    /// Returns whether the model lists the markers that it creates and deletes; otherwise they follow from the actions.
    pub fn lists_markers(&self) -> bool {
        self.markers.iter().any(|marker| marker.verb != Verb::Update)
    }

    /// Returns whether it writes a single item, and what belongs to that.
    pub fn is_of_one_item(&self) -> bool {
        self.actions.len() == 1 && !self.actions[0].many
    }

    /// Returns whether the model lists that a marker is created, deleted or updated.
    pub fn has_marker(&self, verb: Verb, entity: &Entity, unique: &[String]) -> bool {
        let is_it =
            |own: &MarkerAction| own.verb == verb && own.entity == entity.name && own.unique == *unique;
        self.markers.iter().any(is_it)
    }

    /// Returns the subject of findings about it: `write.placeOrder`.
    pub fn subject(&self) -> String {
        format!("write.{}", self.name)
    }
}
