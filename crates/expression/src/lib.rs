//! DynamoDB's expression languages: conditions, filters, key conditions, projections and updates.
//!
//! Text is parsed into a syntax tree ([`ParsedCondition`], [`ParsedProjection`], [`ParsedUpdate`]), which
//! depends on the text alone. Bound to the request's names and values it becomes a [`Condition`],
//! [`KeyCondition`], [`Projection`] or [`Update`], which owns all it needs and works on encoded items.
//! Every check happens in the first of the three stages that has the facts: text, placeholders, item. The
//! legacy parameters and the conditions and updates of PartiQL statements are lowered to the same bound forms.
//!
//! ```
//! use partita_expression::{Condition, ExpressionKind, ExpressionNames, ExpressionValues, Update, Usage};
//! use partita_value::{AttributeValue, Item, Value};
//!
//! let mut names = ExpressionNames::new();
//! names.insert("#s", "status");
//! let mut values = ExpressionValues::new();
//! values.insert(":old", Value::string("open"));
//! values.insert(":new", Value::string("done"));
//! let mut usage = Usage::new();
//!
//! let kind = ExpressionKind::Condition;
//! let condition = Condition::parse(kind, "#s = :old", &names, &values, &mut usage)?;
//! let update = Update::parse("SET #s = :new", &names, &values, &mut usage)?;
//! // Every placeholder is used; otherwise this would be AWS's error message.
//! assert_eq!(usage.unused_values(&values), None);
//!
//! let item: Item = [("status", AttributeValue::S("open".into()))].into_iter().collect();
//! assert!(condition.matches(Some(item.view()))?);
//! let updated = update.apply(Some(item.view()), item.view())?;
//! assert_eq!(updated.get("status"), Some(Value::string("done").view()));
//! # Ok::<(), partita_expression::ExpressionError>(())
//! ```
//!
//! This crate has no dependency on JSON, tables or storage.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod binding;
mod condition;
mod error;
mod key_condition;
mod legacy_condition;
mod parse_cache;
mod path;
mod placeholders;
mod projection;
pub mod syntax;
mod update;

pub use condition::{Condition, Node, Operand, ParsedCondition};
pub use error::{ExpressionError, print_value};
pub use key_condition::{KeyComparison, KeyCondition, KeyTerm};
pub use legacy_condition::{LegacyCondition, LegacyOperator, LogicalOperator};
pub use parse_cache::{ParseCache, parse_cached};
pub use path::{Path, Step};
pub use placeholders::{ExpressionNames, ExpressionValues, Usage, mixed_parameters};
pub use projection::{Column, ParsedProjection, Projection};
pub use update::{AttributeAction, ParsedUpdate, Update};

use std::fmt;

/// The request member that holds an expression; `Display` is the member's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    /// `ConditionExpression`.
    Condition,
    /// `FilterExpression`.
    Filter,
    /// `KeyConditionExpression`.
    KeyCondition,
    /// `ProjectionExpression`.
    Projection,
    /// `UpdateExpression`.
    Update,
}

impl fmt::Display for ExpressionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExpressionKind::Condition => "ConditionExpression",
            ExpressionKind::Filter => "FilterExpression",
            ExpressionKind::KeyCondition => "KeyConditionExpression",
            ExpressionKind::Projection => "ProjectionExpression",
            ExpressionKind::Update => "UpdateExpression",
        })
    }
}
