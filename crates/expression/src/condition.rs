//! The bound condition: owns its paths and values, and decides whether an item satisfies it.
//!
//! Comes from an expression (`condition_binding.rs`) or from legacy parameters (`legacy.rs`); goes to
//! yes or no. Deciding reads the encoded item in place and allocates nothing.

use crate::error::Problem;
use crate::parsed_once::{Parsed, parsed_once};
use crate::sight::{PathsRead, Sight};
use crate::syntax::{Comparator, ConditionSyntax};
use crate::{
    ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Usage, condition_binding,
    condition_parser, number_order,
};
use memchr::memmem;
use partita_value::{ItemRef, Number, Value, ValueRef};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;

/// A condition's syntax tree: depends on the text alone, and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCondition {
    /// `None` for the condition of a PartiQL statement.
    pub(crate) kind: Option<ExpressionKind>,
    pub(crate) syntax: ConditionSyntax,
}

impl ParsedCondition {
    /// Parses a condition, filter or key condition.
    pub fn parse(kind: ExpressionKind, text: &str) -> Result<ParsedCondition, ExpressionError> {
        Ok(ParsedCondition { kind: Some(kind), syntax: condition_parser::parse(kind, text)? })
    }

    /// Resolves the placeholders and checks the operands.
    pub fn bind(
        &self,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Condition, ExpressionError> {
        condition_binding::bind(self, names, values, usage)
    }
}

impl fmt::Display for ParsedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.syntax.fmt(f)
    }
}

/// A bound condition or filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub(crate) node: Node,
    /// The paths it mentions, in the order written.
    paths: PathsRead,
    weight: Weight,
}

/// What deciding costs at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weight {
    /// How often something in the item is looked at.
    looks: usize,
    /// The bytes of the values that are looked at, as often as they are.
    value_bytes: usize,
}

impl std::iter::Sum for Weight {
    fn sum<I: Iterator<Item = Weight>>(all: I) -> Weight {
        all.fold(Weight::default(), |one, two| Weight {
            looks: one.looks + two.looks,
            value_bytes: one.value_bytes + two.value_bytes,
        })
    }
}

/// What a condition is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Compare(Comparator, Operand, Operand),
    /// What, from, to.
    Between(Operand, Operand, Operand),
    In(Operand, Vec<Operand>),
    Exists(Path),
    NotExists(Path),
    /// The name of the type, as in `S`.
    HasType(Operand, String),
    BeginsWith(Operand, Operand),
    Contains(Operand, Operand),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Path(Path),
    Value(Value),
    Size(Box<Operand>),
    /// Whether this holds, as a boolean.
    Test(Box<Node>),
}

thread_local! {
    static CONDITIONS: Parsed<ParsedCondition> = RefCell::default();
    static FILTERS: Parsed<ParsedCondition> = RefCell::default();
    static KEY_CONDITIONS: Parsed<ParsedCondition> = RefCell::default();
}

impl Condition {
    /// Parses and binds.
    pub fn parse(
        kind: ExpressionKind,
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Condition, ExpressionError> {
        let kept = match kind {
            ExpressionKind::Filter => &FILTERS,
            ExpressionKind::KeyCondition => &KEY_CONDITIONS,
            _ => &CONDITIONS,
        };
        parsed_once(kept, text, || ParsedCondition::parse(kind, text))?.bind(names, values, usage)
    }

    /// Checks and binds the condition that a PartiQL statement was read into; its values are bound already.
    pub fn of_statement(syntax: ConditionSyntax) -> Result<Condition, ExpressionError> {
        let parsed = ParsedCondition { kind: None, syntax };
        parsed.bind(&ExpressionNames::new(), &ExpressionValues::new(), &mut Usage::new())
    }

    /// Takes nodes that were checked when they were bound.
    pub fn from_node(mut node: Node) -> Condition {
        let mut paths = PathsRead::default();
        node.each_path(&mut |path| paths.add(path));
        let weight = node.weight();
        Condition { node, paths: paths.finish(), weight }
    }

    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Whether the item satisfies the condition; `None` is an item that does not exist.
    pub fn matches(&self, item: Option<ItemRef<'_>>) -> Result<bool, ExpressionError> {
        Ok(self.node.matches(&self.paths.of(item)))
    }

    /// About how many bytes are looked at to decide about an item of so many bytes, at most.
    pub fn work(&self, item_bytes: usize) -> usize {
        self.weight.value_bytes + self.weight.looks * item_bytes
    }

    /// The top-level attributes it mentions, each once, in the order written.
    pub fn attribute_roots(&self) -> impl Iterator<Item = &str> {
        self.paths.roots().into_iter()
    }

    /// The top-level attributes into whose values it reaches.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        self.paths().filter(|path| path.is_nested()).map(|path| &*path.root)
    }

    /// All paths it mentions, in the order written; a path may come more than once.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter()
    }
}

impl Node {
    fn matches(&self, item: &Sight<'_>) -> bool {
        match self {
            Node::And(nodes) => nodes.iter().all(|node| node.matches(item)),
            Node::Or(nodes) => nodes.iter().any(|node| node.matches(item)),
            Node::Not(node) => !node.matches(item),
            Node::Compare(comparator, left, right) => compare(*comparator, left.look(item), right.look(item)),
            Node::Between(operand, from, to) => {
                let looked = operand.look(item);
                compare(Comparator::GreaterOrEqual, looked, from.look(item))
                    && compare(Comparator::LessOrEqual, looked, to.look(item))
            }
            Node::In(operand, candidates) => {
                let looked = operand.look(item);
                candidates.iter().any(|candidate| compare(Comparator::Equal, looked, candidate.look(item)))
            }
            Node::Exists(path) => item.find(path).is_some(),
            Node::NotExists(path) => item.find(path).is_none(),
            Node::HasType(operand, name) => {
                operand.look(item).is_some_and(|looked| looked.type_name() == name)
            }
            Node::BeginsWith(operand, prefix) => match (operand.look(item), prefix.look(item)) {
                (Some(Looked::View(value)), Some(Looked::View(prefix))) => begins_with(value, prefix),
                _ => false,
            },
            Node::Contains(operand, part) => match (operand.look(item), part.look(item)) {
                (Some(Looked::View(value)), Some(part)) => contains(value, part),
                _ => false,
            },
        }
    }

    fn weight(&self) -> Weight {
        match self {
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().map(Node::weight).sum(),
            Node::Not(node) => node.weight(),
            Node::Exists(_) | Node::NotExists(_) => Weight { looks: 1, value_bytes: 0 },
            Node::HasType(operand, _) => operand.weight(),
            Node::Compare(_, one, two) | Node::BeginsWith(one, two) | Node::Contains(one, two) => {
                [one, two].into_iter().map(Operand::weight).sum()
            }
            Node::Between(one, two, three) => [one, two, three].into_iter().map(Operand::weight).sum(),
            Node::In(operand, candidates) => {
                std::iter::once(operand).chain(candidates).map(Operand::weight).sum()
            }
        }
    }

    /// Shows all paths in the order written.
    fn each_path(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Node::And(nodes) | Node::Or(nodes) => nodes.iter_mut().for_each(|node| node.each_path(visit)),
            Node::Not(node) => node.each_path(visit),
            Node::Exists(path) | Node::NotExists(path) => visit(path),
            Node::HasType(operand, _) => operand.each_path(visit),
            Node::Compare(_, one, two) | Node::BeginsWith(one, two) | Node::Contains(one, two) => {
                [one, two].into_iter().for_each(|operand| operand.each_path(visit));
            }
            Node::Between(one, two, three) => {
                [one, two, three].into_iter().for_each(|operand| operand.each_path(visit));
            }
            Node::In(operand, candidates) => {
                operand.each_path(visit);
                candidates.iter_mut().for_each(|candidate| candidate.each_path(visit));
            }
        }
    }
}

/// What an operand stands for, seen against one item.
#[derive(Clone, Copy)]
enum Looked<'a> {
    View(ValueRef<'a>),
    /// A size: a number that is stored nowhere.
    Count(usize),
}

impl Looked<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Looked::View(value) => value.type_name(),
            Looked::Count(_) => "N",
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Looked::View(value) => value.as_number(),
            Looked::Count(count) => Some(Number::from(*count as u64)),
        }
    }
}

impl Operand {
    fn look<'a>(&'a self, item: &Sight<'a>) -> Option<Looked<'a>> {
        match self {
            Operand::Path(path) => item.find(path).map(Looked::View),
            Operand::Value(value) => Some(Looked::View(value.view())),
            Operand::Size(inner) => match inner.look(item)? {
                Looked::View(value) => size(value).map(Looked::Count),
                Looked::Count(_) => None,
            },
            Operand::Test(node) => Some(Looked::View(ValueRef::Bool(node.matches(item)))),
        }
    }

    fn each_path(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Operand::Path(path) => visit(path),
            Operand::Value(_) => {}
            Operand::Size(inner) => inner.each_path(visit),
            Operand::Test(node) => node.each_path(visit),
        }
    }

    fn weight(&self) -> Weight {
        match self {
            Operand::Path(_) => Weight { looks: 1, value_bytes: 0 },
            Operand::Value(value) => Weight { looks: 0, value_bytes: value.byte_count() },
            Operand::Size(inner) => inner.weight(),
            Operand::Test(node) => node.weight(),
        }
    }

    /// The type, where the expression alone determines it.
    pub(crate) fn known_type(&self) -> Option<&'static str> {
        match self {
            Operand::Path(_) => None,
            Operand::Value(value) => Some(value.view().type_name()),
            Operand::Size(_) => Some("N"),
            Operand::Test(_) => Some("BOOL"),
        }
    }
}

/// A missing operand is unequal to everything, and in no order with anything.
fn compare(comparator: Comparator, left: Option<Looked<'_>>, right: Option<Looked<'_>>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return comparator == Comparator::NotEqual };
    match comparator {
        Comparator::Equal => equal(left, right),
        Comparator::NotEqual => !equal(left, right),
        Comparator::Less => order(left, right).is_some_and(Ordering::is_lt),
        Comparator::LessOrEqual => order(left, right).is_some_and(Ordering::is_le),
        Comparator::Greater => order(left, right).is_some_and(Ordering::is_gt),
        Comparator::GreaterOrEqual => order(left, right).is_some_and(Ordering::is_ge),
    }
}

fn equal(left: Looked<'_>, right: Looked<'_>) -> bool {
    match (left, right) {
        (Looked::View(left), Looked::View(right)) => left == right,
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

fn order(left: Looked<'_>, right: Looked<'_>) -> Option<Ordering> {
    match (left, right) {
        (Looked::View(ValueRef::N(left)), Looked::View(ValueRef::N(right))) => {
            Some(number_order::compare(left, right))
        }
        (Looked::View(left), Looked::View(right)) => left.compare(&right),
        _ => Some(left.number()?.cmp(&right.number()?)),
    }
}

/// UTF-16 units, bytes or elements; numbers, booleans and null have no size.
fn size(value: ValueRef<'_>) -> Option<usize> {
    match value {
        ValueRef::S(bytes) => Some(utf16_units(bytes)),
        ValueRef::B(bytes) => Some(bytes.len()),
        ValueRef::Ss(set) | ValueRef::Ns(set) | ValueRef::Bs(set) => Some(set.len()),
        ValueRef::L(list) => Some(list.len()),
        ValueRef::M(map) => Some(map.len()),
        ValueRef::N(_) | ValueRef::Bool(_) | ValueRef::Null => None,
    }
}

/// Every character is one unit; those of four bytes are two.
fn utf16_units(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0)).sum()
}

fn begins_with(value: ValueRef<'_>, prefix: ValueRef<'_>) -> bool {
    match (value, prefix) {
        (ValueRef::S(value), ValueRef::S(prefix)) | (ValueRef::B(value), ValueRef::B(prefix)) => {
            value.starts_with(prefix)
        }
        _ => false,
    }
}

fn contains(value: ValueRef<'_>, part: Looked<'_>) -> bool {
    let Looked::View(part) = part else {
        let is_part = |element: ValueRef<'_>| equal(Looked::View(element), part);
        return match value {
            ValueRef::L(list) => list.into_iter().any(is_part),
            ValueRef::Ns(set) => set.into_iter().any(|element| is_part(ValueRef::N(element))),
            _ => false,
        };
    };
    match (value, part) {
        (ValueRef::S(value), ValueRef::S(part)) | (ValueRef::B(value), ValueRef::B(part)) => {
            // A search looks at the whole part first, however short the value is.
            part.len() <= value.len() && memmem::find(value, part).is_some()
        }
        (ValueRef::Ss(set), ValueRef::S(part))
        | (ValueRef::Ns(set), ValueRef::N(part))
        | (ValueRef::Bs(set), ValueRef::B(part)) => set.contains(part),
        (ValueRef::L(list), part) => list.into_iter().any(|element| element == part),
        _ => false,
    }
}

/// Checks the bounds of BETWEEN where both are given as values.
pub(crate) fn check_bounds(from: &Value, to: &Value) -> Result<(), Problem> {
    let (from, to) = (from.view(), to.view());
    let printed = || (crate::error::printed(from), crate::error::printed(to));
    if from.type_name() != to.type_name() {
        let (from, to) = printed();
        return Err(Problem::BoundTypes(from, to));
    }
    if from.compare(&to).is_some_and(Ordering::is_gt) {
        let (from, to) = printed();
        return Err(Problem::BoundOrder(from, to));
    }
    Ok(())
}
