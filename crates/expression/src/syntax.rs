//! Syntax trees: expressions as written, with unresolved placeholders.
//!
//! A tree depends on the text alone, so it can be cached and bound again to other names and values. `Display` prints
//! an expression's tree in a form that parses to the same tree. PartiQL statements are parsed into the same trees; only
//! they have literals, conditions as operands, and nested arithmetic.

pub(crate) mod parser;
mod reserved_words;
pub(crate) mod token;

use partita_value::Value;
use std::fmt;
use std::sync::Arc;

/// An attribute name in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A name as written.
    Plain(Arc<str>),
    /// `#n`.
    Placeholder(String),
}

/// A step into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// `.name`, into a map.
    Attribute(Name),
    /// `[n]`, into a list.
    Index(usize),
}

/// A document path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSyntax {
    /// The top-level attribute.
    pub root: Name,
    /// The steps into its value.
    pub steps: Vec<PathStep>,
}

/// A function of conditions or updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `attribute_exists(path)`
    AttributeExists,
    /// `attribute_not_exists(path)`
    AttributeNotExists,
    /// `attribute_type(path, type)`
    AttributeType,
    /// `begins_with(path, prefix)`
    BeginsWith,
    /// `contains(path, operand)`
    Contains,
    /// `size(path)`
    Size,
    /// `if_not_exists(path, value)`, in updates
    IfNotExists,
    /// `list_append(list, list)`, in updates
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

    /// Returns the function of a name. Unlike keywords, function names are case-sensitive.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Returns the name.
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

    /// Returns the number of operands.
    pub fn operand_count(self) -> usize {
        match self {
            Function::AttributeExists | Function::AttributeNotExists | Function::Size => 1,
            _ => 2,
        }
    }

    /// Returns whether it is allowed in updates rather than in conditions.
    pub fn is_for_updates(self) -> bool {
        matches!(self, Function::IfNotExists | Function::ListAppend)
    }
}

/// A function call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    /// The function.
    pub function: Function,
    /// The operands, of any number.
    pub operands: Vec<OperandSyntax>,
}

/// An operand of a condition or an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandSyntax {
    /// A document path.
    Path(PathSyntax),
    /// A value.
    Value(ValueSyntax),
    /// A function call.
    Call(FunctionCall),
    /// A condition used as a boolean value.
    Condition(Box<ConditionSyntax>),
    /// A sum or difference inside another.
    Computed(Box<SetValueSyntax>),
}

/// A value in an expression or a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSyntax {
    /// `:v`
    Placeholder(String),
    /// A literal or an already bound parameter of a statement.
    Literal(Value),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparator {
    /// Returns the operator as written.
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

    /// Returns whether it compares order, not only equality.
    pub fn is_ordering(self) -> bool {
        !matches!(self, Comparator::Equal | Comparator::NotEqual)
    }
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionSyntax {
    /// At least two conditions joined by AND.
    And(Vec<ConditionSyntax>),
    /// At least two conditions joined by OR.
    Or(Vec<ConditionSyntax>),
    /// `NOT condition`
    Not(Box<ConditionSyntax>),
    /// A comparison of two operands.
    Compare(Comparator, OperandSyntax, OperandSyntax),
    /// `operand BETWEEN from AND to`
    Between(OperandSyntax, OperandSyntax, OperandSyntax),
    /// `operand IN (candidates)`
    In(OperandSyntax, Vec<OperandSyntax>),
    /// A function call.
    Call(FunctionCall),
}

/// The right-hand side of a SET action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValueSyntax {
    /// A single operand.
    Operand(OperandSyntax),
    /// `left + right`
    Plus(OperandSyntax, OperandSyntax),
    /// `left - right`
    Minus(OperandSyntax, OperandSyntax),
}

/// One action of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionSyntax {
    /// `SET path = value`
    Set(PathSyntax, SetValueSyntax),
    /// `REMOVE path`
    Remove(PathSyntax),
    /// `ADD path value`
    Add(PathSyntax, ValueSyntax),
    /// `DELETE path value`
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
            ValueSyntax::Literal(value) => f.write_str(&crate::error::print_value(value.view())),
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
