//! Conditions of `where`, `when` and `filter`: `status in ('PENDING', 'PAID') and exists(dueDate)`.
//!
//! A condition is a tree. Whether one implies another is decided over the regions into which the mentioned values divide each attribute
//! (`implication`). Missing attributes count as DynamoDB counts them: every comparison with one is false, except `!=`.

mod display;
mod implication;
pub mod lexer;
mod parser;
mod placeholders;
#[cfg(test)]
mod tests;

pub use lexer::ConditionError;

use crate::item::{Attributes, Item, Value};
use crate::model::decimal::Decimal;
use crate::model::each_once::each_once;
use crate::model::value_type::ValueType;
use crate::source::Span;
use crate::template::FieldTypes;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The most values for which one request each is planned.
const MAX_VALUES: usize = 100;

/// A condition on the attributes of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// All parts hold; without parts, it always holds.
    All(Vec<Condition>),
    /// One part holds.
    Any(Vec<Condition>),
    /// The part does not hold.
    Not(Box<Condition>),
    /// A single test.
    Test(Test),
}

/// A test of one attribute.
#[derive(Clone, Debug)]
pub struct Test {
    /// The attribute.
    pub attribute: String,
    /// What it is compared with.
    pub comparison: Comparison,
    /// Where the test is written.
    pub places: Places,
}

/// Where the parts of a test are written.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The name of the attribute.
    pub attribute_at: Span,
    /// The operator and the values.
    pub values_at: Span,
}

/// What an attribute is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// One value.
    Is(Comparator, Constant),
    /// It is one of several values.
    Among(Vec<Constant>),
    /// It is between two values, both included.
    Between(Constant, Constant),
    /// It exists.
    Exists,
    /// Its text starts with this.
    BeginsWith(String),
    /// Its text, list or set contains this.
    Contains(String),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparator {
    /// `==`
    Equal,
    /// `!=`
    Differs,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A value in a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constant {
    /// Text.
    Text(String),
    /// A number; once it is typed, as keys write it: `5` for `5.0`.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
}

impl Default for Condition {
    fn default() -> Condition {
        Condition::All(Vec::new())
    }
}

impl Test {
    /// What it tests, wherever it is written.
    fn meaning(&self) -> (&str, &Comparison) {
        (&self.attribute, &self.comparison)
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Test) -> bool {
        self.meaning() == other.meaning()
    }
}

impl Eq for Test {}

impl PartialOrd for Test {
    fn partial_cmp(&self, other: &Test) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Test {
    fn cmp(&self, other: &Test) -> Ordering {
        self.meaning().cmp(&other.meaning())
    }
}

impl Condition {
    /// Creates the condition that an attribute has a value.
    pub fn equals(attribute: &str, value: Constant) -> Condition {
        Condition::test(attribute, Comparison::Is(Comparator::Equal, value))
    }

    /// Creates the condition that an attribute exists.
    pub fn exists(attribute: &str) -> Condition {
        Condition::test(attribute, Comparison::Exists)
    }

    /// Creates the condition that an attribute has one of several values.
    pub fn among(attribute: &str, values: Vec<Constant>) -> Condition {
        Condition::test(attribute, Comparison::Among(values))
    }

    /// Creates the condition that an attribute compares so.
    pub fn test(attribute: &str, comparison: Comparison) -> Condition {
        Condition::Test(Test { attribute: attribute.to_owned(), comparison, places: Places::default() })
    }

    /// Returns the condition that both hold.
    #[must_use]
    pub fn and(&self, other: &Condition) -> Condition {
        let all = self.conjuncts().into_iter().chain(other.conjuncts());
        let mut parts: Vec<Condition> = each_once(all).cloned().collect();
        if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) }
    }

    /// Returns whether it has no tests and always holds.
    pub fn is_empty(&self) -> bool {
        matches!(self, Condition::All(parts) if parts.is_empty())
    }

    /// Returns the parts that all must hold.
    pub fn conjuncts(&self) -> Vec<&Condition> {
        match self {
            Condition::All(parts) => parts.iter().flat_map(Condition::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Returns all of its tests.
    pub fn tests(&self) -> Vec<&Test> {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().flat_map(Condition::tests).collect()
            }
            Condition::Not(part) => part.tests(),
            Condition::Test(test) => vec![test],
        }
    }

    /// Returns the attributes that it tests.
    pub fn attributes(&self) -> BTreeSet<&str> {
        self.tests().into_iter().map(|test| test.attribute.as_str()).collect()
    }

    /// Returns whether it tests an attribute.
    pub fn mentions(&self, attribute: &str) -> bool {
        self.tests().iter().any(|test| test.attribute == attribute)
    }

    /// Returns whether attributes, as text, meet it.
    pub fn holds(&self, attributes: &Attributes) -> bool {
        self.evaluate(&|test| test.holds(attributes.get(&test.attribute).map(String::as_str)))
    }

    /// Returns whether an item meets it.
    pub fn holds_for(&self, item: &Item) -> bool {
        self.evaluate(&|test| test.holds_for(item.get(&test.attribute)))
    }

    /// Returns whether an item meets it of which `texts` has more values: those that only its key contains.
    pub fn holds_for_known(&self, item: &Item, texts: &Attributes) -> bool {
        self.evaluate(&|test| match item.get(&test.attribute) {
            Some(value) => test.holds_for(Some(value)),
            None => test.holds(texts.get(&test.attribute).map(String::as_str)),
        })
    }

    fn evaluate(&self, holds: &dyn Fn(&Test) -> bool) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|part| part.evaluate(holds)),
            Condition::Any(parts) => parts.iter().any(|part| part.evaluate(holds)),
            Condition::Not(part) => !part.evaluate(holds),
            Condition::Test(test) => holds(test),
        }
    }

    /// Returns the value that it fixes for an attribute.
    pub fn fixed(&self, attribute: &str) -> Option<&str> {
        match self.listed(attribute)?.as_slice() {
            [one] => Some(one.as_str()),
            _ => None,
        }
    }

    /// Returns all values that an attribute can have where it holds, if it names them.
    fn listed(&self, attribute: &str) -> Option<Vec<&Constant>> {
        match self {
            Condition::Test(test) if test.attribute == attribute => match &test.comparison {
                Comparison::Is(Comparator::Equal, value) => Some(vec![value]),
                Comparison::Among(values) => Some(each_once(values).collect()),
                _ => None,
            },
            Condition::Test(_) | Condition::Not(_) => None,
            Condition::All(parts) => {
                let mut lists = parts.iter().filter_map(|part| part.listed(attribute));
                let first = lists.next()?;
                Some(lists.fold(first, |common, list| {
                    common.into_iter().filter(|value| list.contains(value)).collect()
                }))
            }
            Condition::Any(parts) => {
                let lists: Vec<Vec<&Constant>> =
                    parts.iter().map(|part| part.listed(attribute)).collect::<Option<_>>()?;
                Some(each_once(lists.into_iter().flatten()).collect())
            }
        }
    }

    /// Returns all values that an attribute can have where the condition holds, if they are few: those that the condition names, or
    /// those choices of the type that it leaves.
    pub fn values(&self, attribute: &str, types: &dyn FieldTypes) -> Option<Vec<Constant>> {
        if !self.mentions(attribute) {
            return None;
        }
        let candidates: Vec<Constant> = match self.listed(attribute) {
            Some(listed) => listed.into_iter().cloned().collect(),
            None => {
                let all: Vec<Constant> = match types.type_of(attribute)? {
                    ValueType::Choice(choices) => choices.iter().cloned().map(Constant::Text).collect(),
                    ValueType::Bool => vec![Constant::Bool(false), Constant::Bool(true)],
                    _ => return None,
                };
                // It may be missing, or null.
                let none = Condition::Not(Box::new(Condition::among(attribute, all.clone())));
                if self.and(&none).is_satisfiable(types) {
                    return None;
                }
                all
            }
        };
        if candidates.len() > MAX_VALUES {
            return None;
        }
        Some(self.possible(attribute, candidates, types))
    }

    /// Returns what it says about items of which an attribute has this value.
    #[must_use]
    pub fn given(&self, attribute: &str, value: &str) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|part| part.given(attribute, value)).collect();
        match self {
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
            Condition::Not(part) => Condition::Not(Box::new(part.given(attribute, value))),
            Condition::Test(test) if test.attribute != attribute => self.clone(),
            Condition::Test(test) if test.holds(Some(value)) => Condition::All(Vec::new()),
            Condition::Test(_) => Condition::Any(Vec::new()),
        }
    }

    /// Returns it with every constant as the type of its attribute writes it: `'5'` is a number where the attribute is one.
    #[must_use]
    pub fn typed(&self, types: &dyn FieldTypes) -> Condition {
        self.map(&|test| {
            let kind = types.type_of(&test.attribute);
            let typed =
                |constant: &Constant| kind.map_or_else(|| constant.clone(), |kind| constant.typed(kind));
            let comparison = match &test.comparison {
                Comparison::Is(comparator, value) => Comparison::Is(*comparator, typed(value)),
                Comparison::Among(values) => Comparison::Among(values.iter().map(typed).collect()),
                Comparison::Between(from, to) => Comparison::Between(typed(from), typed(to)),
                other => other.clone(),
            };
            Test { comparison, ..test.clone() }
        })
    }

    /// Returns it with every place changed.
    #[must_use]
    pub fn placed(&self, place: &dyn Fn(&Span) -> Span) -> Condition {
        self.map(&|test| {
            let places = Places {
                attribute_at: place(&test.places.attribute_at),
                values_at: place(&test.places.values_at),
            };
            Test { places, ..test.clone() }
        })
    }

    fn map(&self, change: &dyn Fn(&Test) -> Test) -> Condition {
        let all = |parts: &Vec<Condition>| parts.iter().map(|part| part.map(change)).collect();
        match self {
            Condition::All(parts) => Condition::All(all(parts)),
            Condition::Any(parts) => Condition::Any(all(parts)),
            Condition::Not(part) => Condition::Not(Box::new(part.map(change))),
            Condition::Test(test) => Condition::Test(change(test)),
        }
    }
}

impl Test {
    /// Returns whether a text, or its absence, meets the test.
    pub fn holds(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return self.holds_when_absent() };
        match &self.comparison {
            Comparison::Exists => true,
            Comparison::BeginsWith(prefix) => text.starts_with(prefix.as_str()),
            Comparison::Contains(part) => text.contains(part.as_str()),
            comparison => comparison.compares(&|constant| constant.compare(text)),
        }
    }

    /// Returns whether a value, or its absence, meets the test.
    pub fn holds_for(&self, value: Option<&Value>) -> bool {
        let Some(value) = value else { return self.holds_when_absent() };
        match (&self.comparison, value) {
            (Comparison::Contains(part), Value::List(values)) => {
                values.iter().any(|value| value.as_text() == Some(part))
            }
            (Comparison::Contains(part), Value::StringSet(texts) | Value::NumberSet(texts)) => {
                texts.contains(part)
            }
            (Comparison::Exists, _) => true,
            (comparison, value) => match value.to_text() {
                Some(text) => self.holds(Some(&text)),
                // A value without text has no order and equals none of the constants.
                None => matches!(comparison, Comparison::Is(Comparator::Differs, _)),
            },
        }
    }

    fn holds_when_absent(&self) -> bool {
        matches!(self.comparison, Comparison::Is(Comparator::Differs, _))
    }
}

impl Comparison {
    /// Returns whether a value that compares with constants as `compare` says meets it; false for prefixes and contents.
    fn compares(&self, compare: &dyn Fn(&Constant) -> Option<Ordering>) -> bool {
        let least = |constant| compare(constant).is_some_and(Ordering::is_ge);
        let most = |constant| compare(constant).is_some_and(Ordering::is_le);
        match self {
            Comparison::Is(comparator, constant) => comparator.accepts(compare(constant)),
            Comparison::Among(constants) => {
                constants.iter().any(|constant| compare(constant) == Some(Ordering::Equal))
            }
            Comparison::Between(from, to) => least(from) && most(to),
            Comparison::Exists => true,
            Comparison::BeginsWith(_) | Comparison::Contains(_) => false,
        }
    }

    /// Returns the constants that it compares with.
    pub fn constants(&self) -> Vec<&Constant> {
        match self {
            Comparison::Is(_, one) => vec![one],
            Comparison::Among(values) => values.iter().collect(),
            Comparison::Between(from, to) => vec![from, to],
            Comparison::Exists | Comparison::BeginsWith(_) | Comparison::Contains(_) => Vec::new(),
        }
    }
}

impl Comparator {
    /// Returns the comparator that conditions and expressions write so.
    pub fn of_symbol(symbol: &str) -> Option<Comparator> {
        let known = parser::COMPARATORS.into_iter().find(|(own, _)| *own == symbol);
        known.map(|(_, comparator)| comparator)
    }

    /// Returns the comparator for the same two values in the other order.
    #[must_use]
    pub fn mirrored(self) -> Comparator {
        match self {
            Comparator::Less => Comparator::Greater,
            Comparator::LessOrEqual => Comparator::GreaterOrEqual,
            Comparator::Greater => Comparator::Less,
            Comparator::GreaterOrEqual => Comparator::LessOrEqual,
            same => same,
        }
    }

    /// Returns whether it accepts this order of the value and the constant; `None` if they cannot be compared.
    pub fn accepts(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Comparator::Differs, order) => order != Some(Ordering::Equal),
            (_, None) => false,
            (Comparator::Equal, Some(order)) => order.is_eq(),
            (Comparator::Less, Some(order)) => order.is_lt(),
            (Comparator::LessOrEqual, Some(order)) => order.is_le(),
            (Comparator::Greater, Some(order)) => order.is_gt(),
            (Comparator::GreaterOrEqual, Some(order)) => order.is_ge(),
        }
    }

    /// Returns the operator as conditions write it.
    fn symbol(self) -> &'static str {
        match self {
            Comparator::Equal => "==",
            Comparator::Differs => "!=",
            Comparator::Less => "<",
            Comparator::LessOrEqual => "<=",
            Comparator::Greater => ">",
            Comparator::GreaterOrEqual => ">=",
        }
    }
}

impl Constant {
    /// Returns its text.
    pub fn as_str(&self) -> &str {
        match self {
            Constant::Text(text) | Constant::Number(text) => text,
            Constant::Bool(true) => "true",
            Constant::Bool(false) => "false",
        }
    }

    /// Returns how a value with this text compares with it; `None` if they are of different types.
    fn compare(&self, text: &str) -> Option<Ordering> {
        match self {
            Constant::Text(own) => Some(text.cmp(own.as_str())),
            Constant::Number(own) => Some(Decimal::parse(text)?.cmp(&Decimal::parse(own)?)),
            Constant::Bool(own) => (text == if *own { "true" } else { "false" }).then_some(Ordering::Equal),
        }
    }

    /// Returns it as a constant of this type, if it can be read as one.
    fn typed(&self, kind: &ValueType) -> Constant {
        let text = self.as_str();
        match kind {
            kind if kind.is_number() => Decimal::parse(text)
                .map_or_else(|| self.clone(), |number| Constant::Number(number.to_string())),
            ValueType::Bool if text == "true" || text == "false" => Constant::Bool(text == "true"),
            ValueType::Bool => self.clone(),
            _ => Constant::Text(text.to_owned()),
        }
    }
}
