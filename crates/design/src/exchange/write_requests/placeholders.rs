//! Values of placeholders in a condition, with which it holds for an item: of the types of the attributes that they are compared with, and
//! those that the write declares.

use crate::generate::typed_value;
use crate::item::{Item, Value};
use crate::model::condition::Comparator;
use crate::model::decimal::Decimal;
use crate::model::expression::{ConditionExpression, Operand, Test};
use crate::model::value_type::ValueType;
use crate::model::{Action, Entity};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The values of placeholders, by name.
pub(super) type Values = BTreeMap<String, Value>;

/// Other values that an attribute can have.
pub(super) type Others<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// What placeholders stand for while a condition is met for an item.
struct Placeholders<'a> {
    entity: &'a Entity,
    item: &'a Item,
    others: Others<'a>,
    values: Values,
}

/// What an operand is for the item.
enum Known {
    /// A value of the item.
    Own(Value),
    /// The item has no such attribute.
    Missing,
    /// A placeholder, which may stand for anything yet.
    Placeholder(String),
    /// A part of a value.
    Unknown,
}

/// Returns whether a condition can hold for an item.
pub(super) fn can_hold(
    condition: &ConditionExpression,
    action: &Action,
    entity: &Entity,
    item: &Item,
    others: Others<'_>,
) -> bool {
    let values = declared(action, &kinds(condition, entity));
    Placeholders { entity, item, others, values }.meet(&condition.test, true)
}

/// Returns the values of all placeholders of a condition, with which it holds for an item if that is possible. Those that are given stay as they are.
pub(super) fn meeting(
    condition: &ConditionExpression,
    action: &Action,
    entity: &Entity,
    item: &Item,
    given: Values,
    others: Others<'_>,
) -> Values {
    let kinds = kinds(condition, entity);
    let mut values = declared(action, &kinds);
    values.extend(given);
    let mut placeholders = Placeholders { entity, item, others, values };
    placeholders.meet(&condition.test, true);
    for (placeholder, (attribute, kind)) in kinds {
        let stored = || item.get(&attribute).filter(|value| is_of(value, &kind)).cloned();
        let drawn = || others(&attribute).first().map(|text| typed_value(&kind, text));
        let other = || typed_value(&kind, if kind.is_number() { "1" } else { "value" });
        let value = || stored().or_else(drawn).unwrap_or_else(other);
        placeholders.values.entry(placeholder).or_insert_with(value);
    }
    placeholders.values
}

/// The attribute and the type of what placeholders are compared with, by their names.
type Kinds = BTreeMap<String, (String, ValueType)>;

/// The values that a write declares, in the types of what they are compared with.
fn declared(action: &Action, kinds: &Kinds) -> Values {
    let typed =
        |(name, text): (&String, &String)| Some((name.clone(), typed_value(&kinds.get(name)?.1, text)));
    action.values.iter().filter_map(typed).collect()
}

/// The attribute and the type of what each placeholder is compared with.
fn kinds(condition: &ConditionExpression, entity: &Entity) -> Kinds {
    let kind_of = |operand: &Operand| match operand {
        Operand::Path(path) if path.inside.is_empty() => {
            let kind = entity.attribute(&path.attribute).map(|attribute| attribute.kind.clone());
            Some((path.attribute.clone(), kind.unwrap_or(ValueType::String)))
        }
        Operand::Call(..) => Some((String::new(), ValueType::Int)),
        _ => None,
    };
    let mut found = Kinds::new();
    condition.visit_tests(&mut |test| {
        let operands: Vec<&Operand> = match test {
            Test::Compare(left, _, right) => vec![left, right],
            Test::Among(operand, others) => std::iter::once(operand).chain(others).collect(),
            Test::Between(operand, bounds) => std::iter::once(operand).chain(bounds.iter()).collect(),
            Test::Call(_, operands) => operands.iter().collect(),
            Test::All(_) | Test::Any(_) | Test::Not(_) => return,
        };
        let known = operands.iter().find_map(|operand| kind_of(operand));
        let (name, kind) = known.unwrap_or((String::new(), ValueType::String));
        // Functions take texts: a start, a part, the letter of a type.
        let kind = if matches!(test, Test::Call(..)) { ValueType::String } else { kind };
        for operand in operands {
            if let Operand::Value(placeholder) = operand {
                found.entry(placeholder.clone()).or_insert_with(|| (name.clone(), kind.clone()));
            }
        }
    });
    found
}

impl Placeholders<'_> {
    /// Chooses values with which a test holds, or does not; returns whether there are such.
    fn meet(&mut self, test: &Test, wanted: bool) -> bool {
        match test {
            Test::Not(test) => self.meet(test, !wanted),
            Test::All(tests) if wanted => self.meet_each(tests, true),
            Test::Any(tests) if !wanted => self.meet_each(tests, false),
            Test::All(tests) | Test::Any(tests) => tests.iter().any(|test| self.try_to_meet(test, wanted)),
            Test::Compare(left, symbol, right) => {
                let Some(comparator) = Comparator::of_symbol(symbol) else { return true };
                self.compare(left, comparator, right, wanted)
            }
            Test::Among(operand, others) if wanted => {
                others.iter().any(|other| self.compare(operand, Comparator::Equal, other, true))
            }
            Test::Among(operand, others) => {
                let differ =
                    others.iter().map(|other| self.compare(operand, Comparator::Equal, other, false));
                differ.collect::<Vec<bool>>().into_iter().all(|differs| differs)
            }
            Test::Between(operand, bounds) if wanted => {
                self.compare(operand, Comparator::GreaterOrEqual, &bounds[0], true)
                    && self.compare(operand, Comparator::LessOrEqual, &bounds[1], true)
            }
            Test::Between(operand, bounds) => {
                self.compare(operand, Comparator::GreaterOrEqual, &bounds[0], false)
            }
            Test::Call(name, operands) => self.call(name, operands, wanted),
        }
    }

    /// Chooses values for all of these tests, also where one of them cannot be met.
    fn meet_each(&mut self, tests: &[Test], wanted: bool) -> bool {
        let met: Vec<bool> = tests.iter().map(|test| self.meet(test, wanted)).collect();
        met.into_iter().all(|met| met)
    }

    /// Leaves the values as they were where the test cannot be met.
    fn try_to_meet(&mut self, test: &Test, wanted: bool) -> bool {
        let before = self.values.clone();
        let is_met = self.meet(test, wanted);
        if !is_met {
            self.values = before;
        }
        is_met
    }

    fn known(&self, operand: &Operand) -> Known {
        let own = |name: &str| self.item.get(name).cloned().map_or(Known::Missing, Known::Own);
        match operand {
            Operand::Value(placeholder) => match self.values.get(placeholder) {
                Some(value) => Known::Own(value.clone()),
                None => Known::Placeholder(placeholder.clone()),
            },
            Operand::Path(path) if path.inside.is_empty() => own(&path.attribute),
            Operand::Call(_, operands) => match operands.first().and_then(Operand::attribute).map(own) {
                Some(Known::Own(value)) => length(&value).map_or(Known::Unknown, Known::Own),
                Some(missing) => missing,
                None => Known::Unknown,
            },
            Operand::Path(_) | Operand::Sum(..) => Known::Unknown,
        }
    }

    fn compare(&mut self, left: &Operand, comparator: Comparator, right: &Operand, wanted: bool) -> bool {
        let attribute = left.attribute().or(right.attribute()).unwrap_or_default();
        match (self.known(left), self.known(right)) {
            (Known::Missing, _) | (_, Known::Missing) => (comparator == Comparator::Differs) == wanted,
            (Known::Own(left), Known::Own(right)) => comparator.accepts(order(&left, &right)) == wanted,
            (Known::Own(own), Known::Placeholder(name)) => {
                self.assign(name, attribute, |value| comparator.accepts(order(&own, value)) == wanted, &own)
            }
            (Known::Placeholder(name), Known::Own(own)) => {
                self.assign(name, attribute, |value| comparator.accepts(order(value, &own)) == wanted, &own)
            }
            _ => true,
        }
    }

    /// Gives a placeholder a value that fits: that of the item, one that is a little less or greater, or another that the attribute can have.
    fn assign(&mut self, name: String, attribute: &str, fits: impl Fn(&Value) -> bool, own: &Value) -> bool {
        let kind = self.entity.attribute(attribute).map(|attribute| attribute.kind.clone());
        let beside = |step: &str| match own {
            Value::Number(text) => {
                Some(Value::Number(Decimal::parse(text)?.plus(&Decimal::parse(step)?).to_string()))
            }
            _ => None,
        };
        let near = [Some(own.clone()), beside("1"), beside("-1")].into_iter().flatten();
        let others = || {
            kind.iter()
                .flat_map(|kind| (self.others)(attribute).into_iter().map(|text| typed_value(kind, &text)))
        };
        let Some(value) = near.into_iter().find(&fits).or_else(|| others().find(&fits)) else { return false };
        self.values.insert(name, value);
        true
    }

    fn call(&mut self, function: &str, operands: &[Operand], wanted: bool) -> bool {
        let (Some(first), second) = (operands.first(), operands.get(1)) else { return true };
        let exists = !matches!(self.known(first), Known::Missing);
        match (function, self.known(first), second.map(|second| self.known(second))) {
            ("attribute_exists", ..) => exists == wanted,
            ("attribute_not_exists", ..) => exists != wanted,
            (_, Known::Missing, _) => !wanted,
            (_, Known::Own(own), Some(Known::Own(part))) => {
                holds(function, &own, &part).is_none_or(|holds| holds == wanted)
            }
            (_, Known::Own(own), Some(Known::Placeholder(name))) => {
                let parts = [part_of(function, &own), Value::String("~".to_owned())];
                let fitting = parts
                    .into_iter()
                    .find(|part| holds(function, &own, part).is_none_or(|holds| holds == wanted));
                fitting.map(|part| self.values.insert(name, part)).is_some()
            }
            _ => true,
        }
    }
}

/// Whether a function of two values holds, if that is known.
fn holds(function: &str, own: &Value, part: &Value) -> Option<bool> {
    Some(match (function, own, part) {
        ("begins_with", Value::String(own), Value::String(part)) => own.starts_with(part.as_str()),
        ("contains", Value::String(own), Value::String(part)) => own.contains(part.as_str()),
        ("contains", Value::List(own), part) => own.contains(part),
        ("contains", Value::StringSet(own), Value::String(part)) => own.contains(part),
        ("attribute_type", own, Value::String(part)) => part == letter(own),
        _ => return None,
    })
}

/// What a function finds in a value.
fn part_of(function: &str, own: &Value) -> Value {
    match (function, own) {
        ("attribute_type", own) => Value::String(letter(own).to_owned()),
        (_, Value::List(own)) => own.first().cloned().unwrap_or(Value::Null),
        (_, Value::StringSet(own)) => Value::String(own.first().cloned().unwrap_or_default()),
        (_, own) => own.clone(),
    }
}

/// The letters by which DynamoDB names the type of a value.
fn letter(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "S",
        Value::Number(_) => "N",
        Value::Binary(_) => "B",
        Value::Bool(_) => "BOOL",
        Value::Null => "NULL",
        Value::List(_) => "L",
        Value::Map(_) => "M",
        Value::StringSet(_) => "SS",
        Value::NumberSet(_) => "NS",
        Value::BinarySet(_) => "BS",
    }
}

/// What `size` is of a value.
fn length(value: &Value) -> Option<Value> {
    let length = match value {
        Value::String(_) | Value::Binary(_) => value.size(),
        Value::List(values) => values.len(),
        Value::Map(values) => values.len(),
        Value::StringSet(texts) | Value::NumberSet(texts) | Value::BinarySet(texts) => texts.len(),
        Value::Number(_) | Value::Bool(_) | Value::Null => return None,
    };
    Some(Value::Number(length.to_string()))
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Some(Decimal::parse(left)?.cmp(&Decimal::parse(right)?))
        }
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => (left == right).then_some(Ordering::Equal),
    }
}

/// Whether a value has the DynamoDB type of a type of the model.
fn is_of(value: &Value, kind: &ValueType) -> bool {
    letter(value) == letter(&typed_value(kind, ""))
}
