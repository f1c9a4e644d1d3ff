//! The key condition: what a Query asks of the keys, one comparison an attribute.
//!
//! In comes a condition (parsed and bound like any other) or the legacy `KeyConditions`; out go terms
//! that all must hold. Which attributes are keys, and of which type, is the engine's to check.

use crate::condition::{Node, Operand};
use crate::error::Problem;
use crate::syntax::{Comparator, Function};
use crate::{Condition, ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Usage};
use partita_value::Value;

/// Terms joined by AND, in the order written; no attribute comes twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition {
    pub terms: Vec<KeyTerm>,
}

/// One attribute and what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTerm {
    pub attribute: String,
    pub comparison: KeyComparison,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyComparison {
    Equal(Value),
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    /// From and to, both included.
    Between(Value, Value),
    BeginsWith(Value),
    /// A legacy operator that no range of keys answers. AWS refuses it only once it knows the table.
    NotIndexable,
}

impl KeyComparison {
    /// An attribute compared with a value, or, `turned`, a value with an attribute; none for `<>`, which no range answers.
    pub fn with(comparator: Comparator, turned: bool, value: Value) -> Option<KeyComparison> {
        match (comparator, turned) {
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

    /// What the attribute is compared with.
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
    /// Parses and binds.
    pub fn parse(
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<KeyCondition, ExpressionError> {
        let condition = Condition::parse(ExpressionKind::KeyCondition, text, names, values, usage)?;
        KeyCondition::from_condition(&condition)
    }

    /// The second half of [`KeyCondition::parse`]: AWS looks at a request's other expressions before it.
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
    let turned = matches!(right, Operand::Path(_));
    let value = value(if turned { left } else { right })?;
    let comparison = KeyComparison::with(comparator, turned, value).ok_or(Problem::KeyOperator("<>"))?;
    terms.push(KeyTerm { attribute, comparison });
    Ok(())
}

fn first_operand(operator: &'static str, operand: &Operand) -> Result<(), Problem> {
    match operand {
        Operand::Path(_) => Ok(()),
        _ => Err(Problem::KeyFirstOperand(operator)),
    }
}

/// The one attribute among the operands, which no earlier term may have.
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
