//! Declared writes of a model.

use crate::source::Span;

/// A write that the application makes.
#[derive(Clone, Debug)]
pub struct Write {
    /// The name of the write.
    pub name: String,
    /// What it writes.
    pub actions: Vec<Action>,
    /// Whether the actions form one transaction.
    pub transact: bool,
    /// Writes per second.
    pub rps: Option<f64>,
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
    /// The attributes that an update sets.
    pub set: Vec<String>,
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

impl Write {
    /// Returns the subject of findings about it: `write.placeOrder`.
    pub fn subject(&self) -> String {
        format!("write.{}", self.name)
    }
}
