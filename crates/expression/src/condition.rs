//! Bound conditions, which own their paths and values, and their evaluation against items.
//!
//! A condition comes from an expression (`condition/binding.rs`) or from legacy parameters
//! (`legacy_condition.rs`). Evaluation reads the encoded item in place and, for up to
//! [`FEW_PATHS`](crate::path::lookup::FEW_PATHS) paths, does not allocate.

mod binding;
mod number_order;
mod parser;

use crate::error::{Problem, print_value};
use crate::parse_cache::{ParseCache, parse_cached};
use crate::path::lookup::{ItemLookup, ReadPaths};
use crate::syntax::{Comparator, ConditionSyntax};
use crate::{ExpressionError, ExpressionKind, ExpressionNames, ExpressionValues, Path, Usage};
use memchr::memmem;
use partita_value::{ItemRef, Number, Value, ValueRef};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;

/// A condition's syntax tree, which depends on the text alone and can be bound many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCondition {
    /// `None` for the condition of a PartiQL statement.
    pub(crate) kind: Option<ExpressionKind>,
    pub(crate) syntax: ConditionSyntax,
}

impl ParsedCondition {
    /// Parses a condition, filter or key condition.
    pub fn parse(kind: ExpressionKind, text: &str) -> Result<ParsedCondition, ExpressionError> {
        Ok(ParsedCondition { kind: Some(kind), syntax: parser::parse(kind, text)? })
    }

    /// Resolves the placeholders and checks the operands.
    pub fn bind(
        &self,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Condition, ExpressionError> {
        binding::bind(self, names, values, usage)
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
    /// The paths it uses, in the order written.
    paths: ReadPaths,
    cost: Cost,
}

/// The maximum cost of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// How many times a value in the item is read.
    reads: usize,
    /// Total size of the expression's values, counted once per read.
    value_bytes: usize,
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(all: I) -> Cost {
        all.fold(Cost::default(), |one, two| Cost {
            reads: one.reads + two.reads,
            value_bytes: one.value_bytes + two.value_bytes,
        })
    }
}

/// A node in the tree of a bound condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// All conditions hold.
    And(Vec<Node>),
    /// At least one condition holds.
    Or(Vec<Node>),
    /// The condition does not hold.
    Not(Box<Node>),
    /// The comparison of the two operands holds.
    Compare(Comparator, Operand, Operand),
    /// The first operand is between the second and the third, inclusive.
    Between(Operand, Operand, Operand),
    /// The operand is equal to one of the others.
    In(Operand, Vec<Operand>),
    /// There is a value at the path.
    Exists(Path),
    /// There is no value at the path.
    NotExists(Path),
    /// The operand has the type of this name, such as `S`.
    HasType(Operand, String),
    /// The first operand begins with the second.
    BeginsWith(Operand, Operand),
    /// The first operand contains the second as a substring or element.
    Contains(Operand, Operand),
}

/// An operand of a bound condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value at a path in the item.
    Path(Path),
    /// A value of the request.
    Value(Value),
    /// The size of another operand.
    Size(Box<Operand>),
    /// The result of a condition, as a boolean.
    Test(Box<Node>),
}

thread_local! {
    static CONDITIONS: ParseCache<ParsedCondition> = RefCell::default();
    static FILTERS: ParseCache<ParsedCondition> = RefCell::default();
    static KEY_CONDITIONS: ParseCache<ParsedCondition> = RefCell::default();
}

impl Condition {
    /// Parses and binds a condition, filter or key condition.
    pub fn parse(
        kind: ExpressionKind,
        text: &str,
        names: &ExpressionNames,
        values: &ExpressionValues,
        usage: &mut Usage,
    ) -> Result<Condition, ExpressionError> {
        let cache = match kind {
            ExpressionKind::Filter => &FILTERS,
            ExpressionKind::KeyCondition => &KEY_CONDITIONS,
            _ => &CONDITIONS,
        };
        parse_cached(cache, text, || ParsedCondition::parse(kind, text))?.bind(names, values, usage)
    }

    /// Checks and binds the condition of a PartiQL statement; its values are already bound.
    pub fn from_statement(syntax: ConditionSyntax) -> Result<Condition, ExpressionError> {
        let parsed = ParsedCondition { kind: None, syntax };
        parsed.bind(&ExpressionNames::new(), &ExpressionValues::new(), &mut Usage::new())
    }

    /// Wraps nodes that are already checked.
    pub fn from_node(mut node: Node) -> Condition {
        let mut paths = ReadPaths::default();
        node.visit_paths(&mut |path| paths.add(path));
        let cost = node.cost();
        Condition { node, paths: paths.finish(), cost }
    }

    /// Returns the root of the tree.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns whether the item satisfies the condition; `None` is an item that does not exist.
    pub fn matches(&self, item: Option<ItemRef<'_>>) -> Result<bool, ExpressionError> {
        Ok(self.node.matches(&self.paths.lookup_in(item)))
    }

    /// Estimates how many bytes are read, at most, to evaluate the condition for an item of `item_bytes`.
    pub fn work(&self, item_bytes: usize) -> usize {
        self.cost.value_bytes + self.cost.reads * item_bytes
    }

    /// Returns the top-level attributes it uses, without duplicates, in the order written.
    pub fn attribute_roots(&self) -> impl Iterator<Item = &str> {
        self.paths.roots().into_iter()
    }

    /// Returns the top-level attributes with paths into their values; may contain duplicates.
    pub fn nested_roots(&self) -> impl Iterator<Item = &str> {
        self.paths().filter(|path| path.is_nested()).map(|path| &*path.root)
    }

    /// Returns all paths it uses, in the order written; may contain duplicates.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter()
    }
}

impl Node {
    fn matches(&self, item: &ItemLookup<'_>) -> bool {
        match self {
            Node::And(nodes) => nodes.iter().all(|node| node.matches(item)),
            Node::Or(nodes) => nodes.iter().any(|node| node.matches(item)),
            Node::Not(node) => !node.matches(item),
            Node::Compare(comparator, left, right) => {
                compare(*comparator, left.evaluate(item), right.evaluate(item))
            }
            Node::Between(operand, from, to) => {
                let value = operand.evaluate(item);
                compare(Comparator::GreaterOrEqual, value, from.evaluate(item))
                    && compare(Comparator::LessOrEqual, value, to.evaluate(item))
            }
            Node::In(operand, candidates) => {
                let value = operand.evaluate(item);
                candidates.iter().any(|candidate| compare(Comparator::Equal, value, candidate.evaluate(item)))
            }
            Node::Exists(path) => item.find(path).is_some(),
            Node::NotExists(path) => item.find(path).is_none(),
            Node::HasType(operand, name) => {
                operand.evaluate(item).is_some_and(|value| value.type_name() == name)
            }
            Node::BeginsWith(operand, prefix) => match (operand.evaluate(item), prefix.evaluate(item)) {
                (Some(OperandValue::View(value)), Some(OperandValue::View(prefix))) => {
                    begins_with(value, prefix)
                }
                _ => false,
            },
            Node::Contains(operand, part) => match (operand.evaluate(item), part.evaluate(item)) {
                (Some(OperandValue::View(value)), Some(part)) => contains(value, part),
                _ => false,
            },
        }
    }

    fn cost(&self) -> Cost {
        match self {
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().map(Node::cost).sum(),
            Node::Not(node) => node.cost(),
            Node::Exists(_) | Node::NotExists(_) => Cost { reads: 1, value_bytes: 0 },
            Node::HasType(operand, _) => operand.cost(),
            Node::Compare(_, one, two) | Node::BeginsWith(one, two) | Node::Contains(one, two) => {
                [one, two].into_iter().map(Operand::cost).sum()
            }
            Node::Between(one, two, three) => [one, two, three].into_iter().map(Operand::cost).sum(),
            Node::In(operand, candidates) => {
                std::iter::once(operand).chain(candidates).map(Operand::cost).sum()
            }
        }
    }

    /// Visits all paths in the order written.
    fn visit_paths(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Node::And(nodes) | Node::Or(nodes) => nodes.iter_mut().for_each(|node| node.visit_paths(visit)),
            Node::Not(node) => node.visit_paths(visit),
            Node::Exists(path) | Node::NotExists(path) => visit(path),
            Node::HasType(operand, _) => operand.visit_paths(visit),
            Node::Compare(_, one, two) | Node::BeginsWith(one, two) | Node::Contains(one, two) => {
                [one, two].into_iter().for_each(|operand| operand.visit_paths(visit));
            }
            Node::Between(one, two, three) => {
                [one, two, three].into_iter().for_each(|operand| operand.visit_paths(visit));
            }
            Node::In(operand, candidates) => {
                operand.visit_paths(visit);
                candidates.iter_mut().for_each(|candidate| candidate.visit_paths(visit));
            }
        }
    }
}

/// The value of an operand for one item.
#[derive(Clone, Copy)]
enum OperandValue<'a> {
    View(ValueRef<'a>),
    /// A size, which is not stored as a value.
    Count(usize),
}

impl OperandValue<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            OperandValue::View(value) => value.type_name(),
            OperandValue::Count(_) => "N",
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            OperandValue::View(value) => value.as_number(),
            OperandValue::Count(count) => Some(Number::from(*count as u64)),
        }
    }
}

impl Operand {
    fn evaluate<'a>(&'a self, item: &ItemLookup<'a>) -> Option<OperandValue<'a>> {
        match self {
            Operand::Path(path) => item.find(path).map(OperandValue::View),
            Operand::Value(value) => Some(OperandValue::View(value.view())),
            Operand::Size(inner) => match inner.evaluate(item)? {
                OperandValue::View(value) => size(value).map(OperandValue::Count),
                OperandValue::Count(_) => None,
            },
            Operand::Test(node) => Some(OperandValue::View(ValueRef::Bool(node.matches(item)))),
        }
    }

    fn visit_paths(&mut self, visit: &mut dyn FnMut(&mut Path)) {
        match self {
            Operand::Path(path) => visit(path),
            Operand::Value(_) => {}
            Operand::Size(inner) => inner.visit_paths(visit),
            Operand::Test(node) => node.visit_paths(visit),
        }
    }

    fn cost(&self) -> Cost {
        match self {
            Operand::Path(_) => Cost { reads: 1, value_bytes: 0 },
            Operand::Value(value) => Cost { reads: 0, value_bytes: value.byte_count() },
            Operand::Size(inner) => inner.cost(),
            Operand::Test(node) => node.cost(),
        }
    }

    /// The type, if the expression alone determines it.
    pub(crate) fn known_type(&self) -> Option<&'static str> {
        match self {
            Operand::Path(_) => None,
            Operand::Value(value) => Some(value.view().type_name()),
            Operand::Size(_) => Some("N"),
            Operand::Test(_) => Some("BOOL"),
        }
    }
}

/// A missing operand is unequal to everything and unordered.
fn compare(comparator: Comparator, left: Option<OperandValue<'_>>, right: Option<OperandValue<'_>>) -> bool {
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

fn equal(left: OperandValue<'_>, right: OperandValue<'_>) -> bool {
    match (left, right) {
        (OperandValue::View(left), OperandValue::View(right)) => left == right,
        _ => order(left, right) == Some(Ordering::Equal),
    }
}

fn order(left: OperandValue<'_>, right: OperandValue<'_>) -> Option<Ordering> {
    match (left, right) {
        (OperandValue::View(ValueRef::N(left)), OperandValue::View(ValueRef::N(right))) => {
            Some(number_order::compare(left, right))
        }
        (OperandValue::View(left), OperandValue::View(right)) => left.compare(&right),
        _ => Some(left.number()?.cmp(&right.number()?)),
    }
}

/// The number of UTF-16 units, bytes or elements; numbers, booleans and null have no size.
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

/// Every character is one unit, or two if its UTF-8 form has four bytes.
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

fn contains(value: ValueRef<'_>, part: OperandValue<'_>) -> bool {
    let OperandValue::View(part) = part else {
        let is_part = |element: ValueRef<'_>| equal(OperandValue::View(element), part);
        return match value {
            ValueRef::L(list) => list.into_iter().any(is_part),
            ValueRef::Ns(set) => set.into_iter().any(|element| is_part(ValueRef::N(element))),
            _ => false,
        };
    };
    match (value, part) {
        (ValueRef::S(value), ValueRef::S(part)) | (ValueRef::B(value), ValueRef::B(part)) => {
            // The search preprocesses the whole part, however short the value is.
            part.len() <= value.len() && memmem::find(value, part).is_some()
        }
        (ValueRef::Ss(set), ValueRef::S(part))
        | (ValueRef::Ns(set), ValueRef::N(part))
        | (ValueRef::Bs(set), ValueRef::B(part)) => set.contains(part),
        (ValueRef::L(list), part) => list.into_iter().any(|element| element == part),
        _ => false,
    }
}

/// Checks the bounds of BETWEEN if both are given as values.
pub(crate) fn check_bounds(from: &Value, to: &Value) -> Result<(), Problem> {
    let (from, to) = (from.view(), to.view());
    let printed = || (print_value(from), print_value(to));
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
