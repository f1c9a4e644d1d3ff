//! The legacy parameters Expected, QueryFilter, ScanFilter and KeyConditions, lowered to the same conditions as
//! expressions.

use crate::condition::{Node, Operand};
use crate::error::Problem;
use crate::syntax::Comparator;
use crate::{Condition, ExpressionError, KeyComparison, KeyCondition, KeyTerm, Path};
use partita_value::Value;
use std::cmp::Ordering;

/// A `ComparisonOperator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyOperator {
    /// `EQ`: equal.
    Eq,
    /// `NE`: not equal.
    Ne,
    /// `LE`: less than or equal.
    Le,
    /// `LT`: less than.
    Lt,
    /// `GE`: greater than or equal.
    Ge,
    /// `GT`: greater than.
    Gt,
    /// `NOT_NULL`: the attribute exists.
    NotNull,
    /// `NULL`: the attribute does not exist.
    Null,
    /// `CONTAINS`: the attribute has this substring or element.
    Contains,
    /// `NOT_CONTAINS`: the attribute exists and does not have this substring or element.
    NotContains,
    /// `BEGINS_WITH`: the attribute has this prefix.
    BeginsWith,
    /// `IN`: equal to one of the operands.
    In,
    /// `BETWEEN`: between two operands, inclusive.
    Between,
}

/// A `ConditionalOperator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicalOperator {
    /// All conditions must hold.
    And,
    /// At least one condition must hold.
    Or,
}

/// One condition on a top-level attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyCondition {
    /// The name of the attribute.
    pub attribute: String,
    /// The comparison.
    pub operator: LegacyOperator,
    /// The values that the attribute is compared with.
    pub operands: Vec<Value>,
}

impl LegacyOperator {
    const ALL: [LegacyOperator; 13] = [
        LegacyOperator::Eq,
        LegacyOperator::Ne,
        LegacyOperator::Le,
        LegacyOperator::Lt,
        LegacyOperator::Ge,
        LegacyOperator::Gt,
        LegacyOperator::NotNull,
        LegacyOperator::Null,
        LegacyOperator::Contains,
        LegacyOperator::NotContains,
        LegacyOperator::BeginsWith,
        LegacyOperator::In,
        LegacyOperator::Between,
    ];

    /// Returns the operator of a name such as `BEGINS_WITH`.
    pub fn from_name(name: &str) -> Option<LegacyOperator> {
        LegacyOperator::ALL.into_iter().find(|operator| operator.name() == name)
    }

    /// Returns the name, such as `BEGINS_WITH`.
    pub fn name(self) -> &'static str {
        match self {
            LegacyOperator::Eq => "EQ",
            LegacyOperator::Ne => "NE",
            LegacyOperator::Le => "LE",
            LegacyOperator::Lt => "LT",
            LegacyOperator::Ge => "GE",
            LegacyOperator::Gt => "GT",
            LegacyOperator::NotNull => "NOT_NULL",
            LegacyOperator::Null => "NULL",
            LegacyOperator::Contains => "CONTAINS",
            LegacyOperator::NotContains => "NOT_CONTAINS",
            LegacyOperator::BeginsWith => "BEGINS_WITH",
            LegacyOperator::In => "IN",
            LegacyOperator::Between => "BETWEEN",
        }
    }

    fn accepts_count(self, count: usize) -> bool {
        match self {
            LegacyOperator::NotNull | LegacyOperator::Null => count == 0,
            LegacyOperator::In => count > 0,
            LegacyOperator::Between => count == 2,
            _ => count == 1,
        }
    }

    fn accepts_type(self, type_name: &str) -> bool {
        match self {
            LegacyOperator::Eq | LegacyOperator::Ne => true,
            LegacyOperator::NotNull | LegacyOperator::Null => true,
            LegacyOperator::Contains | LegacyOperator::NotContains => {
                matches!(type_name, "S" | "N" | "B" | "BOOL" | "NULL")
            }
            LegacyOperator::BeginsWith => matches!(type_name, "S" | "B"),
            _ => matches!(type_name, "S" | "N" | "B"),
        }
    }
}

impl LegacyCondition {
    fn check(&self) -> Result<(), Problem> {
        let operator = self.operator;
        if !operator.accepts_count(self.operands.len()) {
            return Err(Problem::LegacyOperandCount(operator.name()));
        }
        let types: Vec<&'static str> =
            self.operands.iter().map(|operand| operand.view().type_name()).collect();
        if types.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Problem::LegacyMixedTypes);
        }
        if let Some(type_name) = types.into_iter().find(|type_name| !operator.accepts_type(type_name)) {
            return Err(Problem::LegacyOperandType(operator.name(), type_name));
        }
        match (operator, self.operands.as_slice()) {
            (LegacyOperator::Between, [from, to])
                if from.view().compare(&to.view()).is_some_and(Ordering::is_gt) =>
            {
                Err(Problem::LegacyBoundOrder)
            }
            _ => Ok(()),
        }
    }

    /// Returns `None` if there are too few operands, which [`LegacyCondition::check`] rejects.
    fn into_node(self) -> Option<Node> {
        let path = Path::attribute(self.attribute);
        let mut operands = self.operands.into_iter().map(Operand::Value);
        let mut compare = |comparator: Comparator| {
            operands.next().map(|operand| Node::Compare(comparator, Operand::Path(path.clone()), operand))
        };
        match self.operator {
            LegacyOperator::Eq => compare(Comparator::Equal),
            LegacyOperator::Ne => compare(Comparator::NotEqual),
            LegacyOperator::Le => compare(Comparator::LessOrEqual),
            LegacyOperator::Lt => compare(Comparator::Less),
            LegacyOperator::Ge => compare(Comparator::GreaterOrEqual),
            LegacyOperator::Gt => compare(Comparator::Greater),
            LegacyOperator::NotNull => Some(Node::Exists(path)),
            LegacyOperator::Null => Some(Node::NotExists(path)),
            LegacyOperator::Contains => Some(Node::Contains(Operand::Path(path), operands.next()?)),
            // Not satisfied by an attribute that does not exist.
            LegacyOperator::NotContains => {
                let contains = Node::Contains(Operand::Path(path.clone()), operands.next()?);
                Some(Node::And(vec![Node::Exists(path), Node::Not(Box::new(contains))]))
            }
            LegacyOperator::BeginsWith => Some(Node::BeginsWith(Operand::Path(path), operands.next()?)),
            LegacyOperator::In => Some(Node::In(Operand::Path(path), operands.collect())),
            LegacyOperator::Between => {
                Some(Node::Between(Operand::Path(path), operands.next()?, operands.next()?))
            }
        }
    }

    fn into_key_term(self) -> Result<KeyTerm, Problem> {
        let mut operands = self.operands.into_iter();
        let mut operand = || operands.next().ok_or(Problem::LegacyOperandCount(self.operator.name()));
        let comparison = match self.operator {
            LegacyOperator::Eq => KeyComparison::Equal(operand()?),
            LegacyOperator::Le => KeyComparison::LessOrEqual(operand()?),
            LegacyOperator::Lt => KeyComparison::Less(operand()?),
            LegacyOperator::Ge => KeyComparison::GreaterOrEqual(operand()?),
            LegacyOperator::Gt => KeyComparison::Greater(operand()?),
            LegacyOperator::BeginsWith => KeyComparison::BeginsWith(operand()?),
            LegacyOperator::Between => KeyComparison::Between(operand()?, operand()?),
            _ => KeyComparison::NotIndexable,
        };
        Ok(KeyTerm { attribute: self.attribute, comparison })
    }
}

impl Condition {
    /// Lowers Expected, QueryFilter or ScanFilter. Without any conditions the result is always satisfied.
    pub fn from_legacy(
        conditions: Vec<LegacyCondition>,
        joined_by: LogicalOperator,
    ) -> Result<Condition, ExpressionError> {
        conditions.iter().try_for_each(LegacyCondition::check)?;
        let nodes: Vec<Node> = conditions.into_iter().filter_map(LegacyCondition::into_node).collect();
        Ok(Condition::from_node(match joined_by {
            LogicalOperator::Or if !nodes.is_empty() => Node::Or(nodes),
            _ => Node::And(nodes),
        }))
    }
}

impl KeyCondition {
    /// Lowers KeyConditions.
    pub fn from_legacy(conditions: Vec<LegacyCondition>) -> Result<KeyCondition, ExpressionError> {
        conditions.iter().try_for_each(LegacyCondition::check)?;
        let terms = conditions.into_iter().map(LegacyCondition::into_key_term);
        Ok(KeyCondition { terms: terms.collect::<Result<_, Problem>>()? })
    }
}
