//! Key conditions, which select the keys of a Query with one comparison per attribute.
//!
//! They come from a condition, parsed and bound like any other, or from the legacy `KeyConditions`. The
//! engine checks which attributes are keys and their types.

use crate::condition::{Node, Operand};
use crate::error::Problem;
use crate::syntax::{Comparator, Function};
use crate::{Condition, ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Usage};
use partita_value::Value;

/// A bound key condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition {
    /// Terms that must all hold, in the order written, at most one per attribute.
    pub terms: Vec<KeyTerm>,
}

/// A comparison of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTerm {
    /// The name of the attribute.
    pub attribute: String,
    /// The comparison of its value.
    pub comparison: KeyComparison,
}

/// A comparison that selects a range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyComparison {
    /// Equal to the value.
    Equal(Value),
    /// Less than the value.
    Less(Value),
    /// Less than or equal to the value.
    LessOrEqual(Value),
    /// Greater than the value.
    Greater(Value),
    /// Greater than or equal to the value.
    GreaterOrEqual(Value),
    /// Between the two values, inclusive.
    Between(Value, Value),
    /// Begins with the value.
    BeginsWith(Value),
    /// A legacy operator that does not select a range. AWS rejects it only once it knows the table.
    NotIndexable,
}

impl KeyComparison {
    /// Creates the comparison of an attribute with a value, or, if `reversed`, of a value with an attribute. Returns
    /// `None` for `<>`, which does not select a range.
    pub fn from_comparator(comparator: Comparator, reversed: bool, value: Value) -> Option<KeyComparison> {
        match (comparator, reversed) {
            (Comparator::Equal, _) => Some(KeyComparison::Equal(value)),
            (Comparator::NotEqual, _) => None,
            (Comparator::Less, false) | (Comparator::Greater, true) => Some(KeyComparison::Less(value)),
            (Comparator::Greater, false) | (Comparator::Less, true) => Some(KeyComparison::Greater(value)),
            (Comparator::LessOrEqual, false) | (Comparator::GreaterOrEqual, true) => {
                Some(KeyComparison::LessOrEqual(value))
            }
            (Comparator::GreaterOrEqual, false) | (Comparator::LessOrEqual, true) => {
                Some(KeyComparison::GreaterOrEqual(value))
            }
        }
    }

    /// Returns the values that the attribute is compared with.
    pub fn operands(&self) -> impl Iterator<Item = &Value> {
        let values = match self {
            KeyComparison::Equal(value)
            | KeyComparison::Less(value)
            | KeyComparison::LessOrEqual(value)
            | KeyComparison::Greater(value)
            | KeyComparison::GreaterOrEqual(value)
            | KeyComparison::BeginsWith(value) => [Some(value), None],
            KeyComparison::Between(from, to) => [Some(from), Some(to)],
            KeyComparison::NotIndexable => [None, None],
        };
        values.into_iter().flatten()
    }
}

impl KeyCondition {
    /// Parses and binds a `KeyConditionExpression`.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<KeyCondition, ExpressionError> {
        let condition = Condition::parse(ExpressionKind::KeyCondition, text, names, values, usage)?;
        KeyCondition::from_condition(&condition)
    }

    /// Converts a bound condition. This is the second half of [`KeyCondition::parse`]: AWS checks a request's other
    /// expressions in between.
    pub fn from_condition(condition: &Condition) -> Result<KeyCondition, ExpressionError> {
        let mut terms = Vec::new();
        collect(&condition.node, &mut terms)?;
        Ok(KeyCondition { terms })
    }
}

fn collect(node: &Node, terms: &mut Vec<KeyTerm>) -> Result<(), Problem> {
    match node {
        Node::And(nodes) => nodes.iter().try_for_each(|node| collect(node, terms)),
        Node::Or(_) => Err(Problem::KeyOperator("OR")),
        Node::Not(_) => Err(Problem::KeyOperator("NOT")),
        Node::In(..) => Err(Problem::KeyOperator("IN")),
        Node::Compare(Comparator::NotEqual, ..) => Err(Problem::KeyOperator("<>")),
        Node::Exists(_) => Err(Problem::KeyOperator(Function::AttributeExists.name())),
        Node::NotExists(_) => Err(Problem::KeyOperator(Function::AttributeNotExists.name())),
        Node::HasType(..) => Err(Problem::KeyOperator(Function::AttributeType.name())),
        Node::Contains(..) => Err(Problem::KeyOperator(Function::Contains.name())),
        Node::Compare(comparator, left, right) => comparison(*comparator, left, right, terms),
        Node::Between(operand, from, to) => {
            first_operand("BETWEEN", operand)?;
            let attribute = only_attribute(&[operand, from, to], terms)?;
            let comparison = KeyComparison::Between(value(from)?, value(to)?);
            terms.push(KeyTerm { attribute, comparison });
            Ok(())
        }
        Node::BeginsWith(operand, prefix) => {
            first_operand(Function::BeginsWith.name(), operand)?;
            let attribute = only_attribute(&[operand, prefix], terms)?;
            let comparison = KeyComparison::BeginsWith(value(prefix)?);
            terms.push(KeyTerm { attribute, comparison });
            Ok(())
        }
    }
}

fn comparison(
    comparator: Comparator,
    left: &Operand,
    right: &Operand,
    terms: &mut Vec<KeyTerm>,
) -> Result<(), Problem> {
    let attribute = only_attribute(&[left, right], terms)?;
    let reversed = matches!(right, Operand::Path(_));
    let value = value(if reversed { left } else { right })?;
    let comparison =
        KeyComparison::from_comparator(comparator, reversed, value).ok_or(Problem::KeyOperator("<>"))?;
    terms.push(KeyTerm { attribute, comparison });
    Ok(())
}

fn first_operand(operator: &'static str, operand: &Operand) -> Result<(), Problem> {
    match operand {
        Operand::Path(_) => Ok(()),
        _ => Err(Problem::KeyFirstOperand(operator)),
    }
}

/// Returns the one attribute among the operands, which must not occur in an earlier term.
fn only_attribute(operands: &[&Operand], terms: &[KeyTerm]) -> Result<String, Problem> {
    let mut attribute: Option<&str> = None;
    for operand in operands {
        match operand {
            Operand::Path(_) if attribute.is_some() => return Err(Problem::KeyTwoAttributes),
            Operand::Path(path) if path.is_nested() => return Err(Problem::KeyNestedAttribute),
            Operand::Path(path) => attribute = Some(&path.root),
            Operand::Size(_) | Operand::Test(_) => return Err(Problem::KeyNestedOperation),
            Operand::Value(_) => {}
        }
    }
    let attribute = attribute.ok_or(Problem::KeyNoAttribute)?;
    if terms.iter().any(|term| term.attribute == attribute) {
        return Err(Problem::KeyRepeated);
    }
    Ok(attribute.to_owned())
}

fn value(operand: &Operand) -> Result<Value, Problem> {
    match operand {
        Operand::Value(value) => Ok(value.clone()),
        Operand::Path(_) => Err(Problem::KeyTwoAttributes),
        Operand::Size(_) | Operand::Test(_) => Err(Problem::KeyNestedOperation),
    }
}
