//! The filter of a step as DynamoDB takes it: a FilterExpression with aliased names and typed values.

use crate::exchange::item_json::encode_value;
use crate::generate::typed_value;
use crate::item::{Attributes, Value as ItemValue};
use crate::model::condition::{Comparator, Comparison, Condition, Constant, Test};
use crate::model::value_type::ValueType;
use crate::model::{Attribute, Entity, Model};
use crate::plan::Step;
use crate::plan::bounds::{LAST, is_start_of_time, time_length};
use crate::plan::requirement::Requirement;
use crate::template::Format;
use serde_json::{Map, Value, json};

/// A filter as it is sent.
#[derive(Default)]
pub struct FilterExpression {
    clauses: Vec<String>,
    names: Map<String, Value>,
    values: Map<String, Value>,
}

/// What a filter compares with: the inputs and the bounds of the range, both included.
pub struct Given<'a> {
    /// The inputs.
    pub values: &'a Attributes,
    /// The least value of the range.
    pub from: Option<&'a str>,
    /// The greatest value of the range.
    pub to: Option<&'a str>,
}

impl FilterExpression {
    /// Returns the filter of a step. All entities that one step reads have the same requirements.
    pub fn of_step(model: &Model, step: &Step<'_>, given: &Given<'_>) -> FilterExpression {
        let mut filter = FilterExpression::default();
        let attribute = |name: &str| step.targets.iter().find_map(|entity| entity.attribute(name));
        let unsent = step.unsent_requirements(model);
        for requirement in step.filter.iter().filter(|requirement| !unsent.contains(requirement)) {
            let clause = match requirement {
                Requirement::Input(name) => attribute(name)
                    .zip(given.values.get(name))
                    .map(|(own, value)| filter.compared(own, "=", value)),
                Requirement::Condition(part) => Some(filter.condition(part, step.targets.first().copied())),
                Requirement::Range(by) => attribute(by).and_then(|own| filter.range(own, given)),
            };
            filter.clauses.extend(clause);
        }
        filter
    }

    /// Returns the filter of a declared request for an entity.
    pub fn of_declared(condition: &Condition, entity: Option<&Entity>) -> FilterExpression {
        let mut filter = FilterExpression::default();
        for part in condition.conjuncts() {
            let clause = filter.condition(part, entity);
            filter.clauses.push(clause);
        }
        filter
    }

    /// Adds the filter to the body of a request.
    pub fn write_to(self, body: &mut Value) {
        if self.clauses.is_empty() {
            return;
        }
        body["FilterExpression"] = json!(self.clauses.join(" AND "));
        for (member, own) in
            [("ExpressionAttributeNames", self.names), ("ExpressionAttributeValues", self.values)]
        {
            let mut all = body[member].as_object().cloned().unwrap_or_default();
            all.extend(own);
            if !all.is_empty() {
                body[member] = json!(all);
            }
        }
    }

    fn range(&mut self, own: &Attribute, given: &Given<'_>) -> Option<String> {
        // The start of a time includes all times that begin with it.
        let is_start = |to: &str| {
            time_length(&own.kind, Format::Plain).is_some_and(|length| is_start_of_time(to, length))
        };
        let to = given.to.map(|to| if is_start(to) { format!("{to}{LAST}") } else { to.to_owned() });
        match (given.from, to) {
            (Some(from), Some(to)) => {
                let name = self.name(&own.name);
                let [from, to] = [from, &to].map(|bound| self.typed(own, bound));
                Some(format!("{name} BETWEEN {from} AND {to}"))
            }
            (Some(from), None) => Some(self.compared(own, ">=", from)),
            (None, Some(to)) => Some(self.compared(own, "<=", &to)),
            (None, None) => None,
        }
    }

    fn compared(&mut self, own: &Attribute, operator: &str, value: &str) -> String {
        let (name, value) = (self.name(&own.name), self.typed(own, value));
        format!("{name} {operator} {value}")
    }

    fn condition(&mut self, condition: &Condition, entity: Option<&Entity>) -> String {
        let mut joined = |parts: &[Condition], operator: &str| {
            let parts: Vec<String> = parts.iter().map(|part| self.condition(part, entity)).collect();
            format!("({})", parts.join(operator))
        };
        match condition {
            Condition::All(parts) => joined(parts, " AND "),
            Condition::Any(parts) => joined(parts, " OR "),
            Condition::Not(part) => match part.as_ref() {
                Condition::Test(Test { attribute, comparison: Comparison::Exists, .. }) => {
                    format!("attribute_not_exists({})", self.name(attribute))
                }
                part => format!("(NOT {})", self.condition(part, entity)),
            },
            Condition::Test(test) => self.test(test, entity),
        }
    }

    fn test(&mut self, test: &Test, entity: Option<&Entity>) -> String {
        let kind = entity.and_then(|entity| entity.attribute(&test.attribute)).map(|own| &own.kind);
        let name = self.name(&test.attribute);
        let mut constant = |constant: &Constant| {
            let value = match kind {
                Some(kind) => typed_value(kind, constant.as_str()),
                None => untyped(constant),
            };
            self.value(encode_value(&value))
        };
        match &test.comparison {
            Comparison::Is(comparator, value) => {
                format!("{name} {} {}", symbol(*comparator), constant(value))
            }
            Comparison::Among(values) => {
                let values: Vec<String> = values.iter().map(constant).collect();
                format!("{name} IN ({})", values.join(", "))
            }
            Comparison::Between(from, to) => {
                format!("{name} BETWEEN {} AND {}", constant(from), constant(to))
            }
            Comparison::Exists => format!("attribute_exists({name})"),
            Comparison::BeginsWith(text) => {
                format!("begins_with({name}, {})", self.text(text))
            }
            Comparison::Contains(text) => format!("contains({name}, {})", self.text(text)),
        }
    }

    fn name(&mut self, attribute: &str) -> String {
        let known = self.names.iter().find(|(_, name)| *name == attribute);
        if let Some((alias, _)) = known {
            return alias.clone();
        }
        let alias = format!("#f{}", self.names.len());
        self.names.insert(alias.clone(), json!(attribute));
        alias
    }

    fn typed(&mut self, own: &Attribute, text: &str) -> String {
        self.value(encode_value(&typed_value(&own.kind, text)))
    }

    fn text(&mut self, text: &str) -> String {
        self.value(encode_value(&ItemValue::String(text.to_owned())))
    }

    fn value(&mut self, value: Value) -> String {
        let placeholder = format!(":f{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }
}

fn untyped(constant: &Constant) -> ItemValue {
    let kind = match constant {
        Constant::Text(_) => ValueType::String,
        Constant::Number(_) => ValueType::Decimal,
        Constant::Bool(_) => ValueType::Bool,
    };
    typed_value(&kind, constant.as_str())
}

fn symbol(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equal => "=",
        Comparator::Differs => "<>",
        Comparator::Less => "<",
        Comparator::LessOrEqual => "<=",
        Comparator::Greater => ">",
        Comparator::GreaterOrEqual => ">=",
    }
}
