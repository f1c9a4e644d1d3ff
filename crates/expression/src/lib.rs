//! Expressions: what a request says about items in DynamoDB's little languages.
//!
//! Text becomes a syntax tree ([`ParsedCondition`], [`ParsedProjection`], [`ParsedUpdate`]), which depends
//! on the text alone; bound to the request's names and values it becomes a [`Condition`],
//! [`KeyCondition`], [`Projection`] or [`Update`], which owns all it needs and works on encoded items.
//! Every check sits at the first of the three stages that has the facts: text, placeholders, item. The
//! legacy parameters and the conditions and updates of PartiQL statements are lowered to the same bound forms.
//!
//! Knows nothing of JSON, tables or storage.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod binding;
mod condition;
mod condition_binding;
mod condition_parser;
mod document;
mod error;
mod evaluated;
mod key_condition;
mod legacy;
mod names;
mod number_order;
mod parsed_once;
mod parser;
mod path;
mod path_tree;
mod projection;
mod reserved_words;
mod selection;
mod sight;
pub mod syntax;
mod token;
mod update;
mod update_binding;
mod update_parser;

pub use condition::{Condition, Node, Operand, ParsedCondition};
pub use error::{ExpressionError, printed};
pub use key_condition::{KeyComparison, KeyCondition, KeyTerm};
pub use legacy::{LegacyCondition, LegacyOperator, LogicalOperator};
pub use names::{ExpressionNames, ExpressionValues, Usage, mixed_parameters};
pub use parsed_once::{Parsed, parsed_once};
pub use path::{Path, Step};
pub use projection::{Column, ParsedProjection, Projection};
pub use update::{AttributeAction, ParsedUpdate, Update};

use std::fmt;

/// Which member of a request an expression is; `Display` is the member's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionKind {
    Condition,
    Filter,
    KeyCondition,
    Projection,
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
