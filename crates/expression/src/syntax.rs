//! The syntax trees: expressions as they were written, placeholders unresolved.
//!
//! They depend on the text alone, so a tree can be kept and bound again to other names and values.
//! `Display` prints the tree of an expression so that parsing the print gives the tree again. Statements of PartiQL
//! become the same trees; only they have literals, conditions that are compared, and sums of sums.

use partita_value::Value;
use std::fmt;
use std::sync::Arc;

/// A part of a path as written: a plain name or `#n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    Plain(Arc<str>),
    Placeholder(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    Attribute(Name),
    Index(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSyntax {
    pub root: Name,
    pub steps: Vec<PathStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Contains,
    Size,
    IfNotExists,
    ListAppend,
}

impl Function {
    const ALL: [Function; 8] = [
        Function::AttributeExists,
        Function::AttributeNotExists,
        Function::AttributeType,
        Function::BeginsWith,
        Function::Contains,
        Function::Size,
        Function::IfNotExists,
        Function::ListAppend,
    ];

    /// Function names, unlike keywords, have one spelling.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Function::AttributeExists => "attribute_exists",
            Function::AttributeNotExists => "attribute_not_exists",
            Function::AttributeType => "attribute_type",
            Function::BeginsWith => "begins_with",
            Function::Contains => "contains",
            Function::Size => "size",
            Function::IfNotExists => "if_not_exists",
            Function::ListAppend => "list_append",
        }
    }

    pub fn operand_count(self) -> usize {
        match self {
            Function::AttributeExists | Function::AttributeNotExists | Function::Size => 1,
            _ => 2,
        }
    }

    /// Whether it belongs to update expressions, not to conditions.
    pub fn updates(self) -> bool {
        matches!(self, Function::IfNotExists | Function::ListAppend)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    pub function: Function,
    pub operands: Vec<OperandSyntax>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandSyntax {
    Path(PathSyntax),
    Value(ValueSyntax),
    Call(FunctionCall),
    /// A condition compared with something: it is true or false.
    Condition(Box<ConditionSyntax>),
    /// A sum or difference that goes into another.
    Computed(Box<SetValueSyntax>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSyntax {
    /// `:v`
    Placeholder(String),
    /// Bound already.
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparator {
    pub fn symbol(self) -> &'static str {
        match self {
            Comparator::Equal => "=",
            Comparator::NotEqual => "<>",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
        }
    }

    pub fn orders(self) -> bool {
        !matches!(self, Comparator::Equal | Comparator::NotEqual)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionSyntax {
    /// At least two.
    And(Vec<ConditionSyntax>),
    /// At least two.
    Or(Vec<ConditionSyntax>),
    Not(Box<ConditionSyntax>),
    Compare(Comparator, OperandSyntax, OperandSyntax),
    /// What, from, to.
    Between(OperandSyntax, OperandSyntax, OperandSyntax),
    In(OperandSyntax, Vec<OperandSyntax>),
    Call(FunctionCall),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValueSyntax {
    Operand(OperandSyntax),
    Plus(OperandSyntax, OperandSyntax),
    Minus(OperandSyntax, OperandSyntax),
}

/// One action of an update expression, in the order written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionSyntax {
    Set(PathSyntax, SetValueSyntax),
    Remove(PathSyntax),
    Add(PathSyntax, ValueSyntax),
    Delete(PathSyntax, ValueSyntax),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Plain(name) => f.write_str(name),
            Name::Placeholder(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for PathSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root)?;
        self.steps.iter().try_for_each(|step| match step {
            PathStep::Attribute(name) => write!(f, ".{name}"),
            PathStep::Index(index) => write!(f, "[{index}]"),
        })
    }
}

impl fmt::Display for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function.name())?;
        write_list(f, &self.operands, ", ")?;
        f.write_str(")")
    }
}

impl fmt::Display for OperandSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperandSyntax::Path(path) => path.fmt(f),
            OperandSyntax::Value(value) => value.fmt(f),
            OperandSyntax::Call(call) => call.fmt(f),
            OperandSyntax::Condition(condition) => write!(f, "({condition})"),
            OperandSyntax::Computed(value) => match &**value {
                SetValueSyntax::Operand(operand) => operand.fmt(f),
                SetValueSyntax::Plus(left, right) => write!(f, "({left} + {right})"),
                SetValueSyntax::Minus(left, right) => write!(f, "({left} - {right})"),
            },
        }
    }
}

impl fmt::Display for ValueSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSyntax::Placeholder(placeholder) => f.write_str(placeholder),
            ValueSyntax::Literal(value) => f.write_str(&crate::error::printed(value.view())),
        }
    }
}

impl fmt::Display for ConditionSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionSyntax::And(nodes) => write_joined(f, nodes, " AND "),
            ConditionSyntax::Or(nodes) => write_joined(f, nodes, " OR "),
            ConditionSyntax::Not(node) => {
                f.write_str("NOT ")?;
                write_enclosed(f, node)
            }
            ConditionSyntax::Compare(comparator, left, right) => {
                write!(f, "{left} {} {right}", comparator.symbol())
            }
            ConditionSyntax::Between(operand, from, to) => write!(f, "{operand} BETWEEN {from} AND {to}"),
            ConditionSyntax::In(operand, candidates) => {
                write!(f, "{operand} IN (")?;
                write_list(f, candidates, ", ")?;
                f.write_str(")")
            }
            ConditionSyntax::Call(call) => call.fmt(f),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, nodes: &[ConditionSyntax], operator: &str) -> fmt::Result {
    for (i, node) in nodes.iter().enumerate() {
        if i > 0 {
            f.write_str(operator)?;
        }
        write_enclosed(f, node)?;
    }
    Ok(())
}

fn write_enclosed(f: &mut fmt::Formatter<'_>, node: &ConditionSyntax) -> fmt::Result {
    match node {
        ConditionSyntax::And(_) | ConditionSyntax::Or(_) => write!(f, "({node})"),
        _ => write!(f, "{node}"),
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, parts: &[impl fmt::Display], separator: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        part.fmt(f)?;
    }
    Ok(())
}
