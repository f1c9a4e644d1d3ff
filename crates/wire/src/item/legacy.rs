//! The legacy parameters that expressions replaced: `Expected`, `ScanFilter`, `QueryFilter`, `KeyConditions`, `AttributeUpdates`,
//! `ConditionalOperator` and `AttributesToGet`. They become the same conditions, updates and projections as expressions.

use crate::attribute_value::{UncheckedValue, check_name};
use crate::json::{Reader, Shape};
use crate::validation::Validation;
use partita_api::{Exception, messages};
use partita_expression::{
    AttributeAction, Condition, KeyCondition, LegacyCondition, LegacyOperator, LogicalOperator, Projection,
    Update,
};
use partita_value::Value;
use std::borrow::Cow;

const INVALID: &str = "One or more parameter values were invalid: ";

const OPERATORS: &[(&str, LegacyOperator)] = &[
    ("IN", LegacyOperator::In),
    ("NULL", LegacyOperator::Null),
    ("BETWEEN", LegacyOperator::Between),
    ("LT", LegacyOperator::Lt),
    ("NOT_CONTAINS", LegacyOperator::NotContains),
    ("EQ", LegacyOperator::Eq),
    ("GT", LegacyOperator::Gt),
    ("NOT_NULL", LegacyOperator::NotNull),
    ("NE", LegacyOperator::Ne),
    ("LE", LegacyOperator::Le),
    ("BEGINS_WITH", LegacyOperator::BeginsWith),
    ("GE", LegacyOperator::Ge),
    ("CONTAINS", LegacyOperator::Contains),
];

fn invalid(text: impl std::fmt::Display) -> Exception {
    Exception::validation(format!("{INVALID}{text}"))
}

/// An entry of `Expected`, `ScanFilter`, `QueryFilter` or `KeyConditions`.
#[derive(Debug)]
pub(crate) struct LegacyConditionMembers<'a> {
    attribute: Cow<'a, str>,
    operator: Option<Cow<'a, str>>,
    values: Option<Vec<UncheckedValue>>,
    /// Only in `Expected`.
    value: Option<UncheckedValue>,
    /// Only in `Expected`.
    exists: Option<bool>,
}

/// Reads `ScanFilter`, `QueryFilter` or `KeyConditions`.
pub(crate) fn read_conditions<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<LegacyConditionMembers<'a>>>, Exception> {
    read_entries(reader, "Condition", |reader, _, _| reader.skip())
}

/// Reads `Expected`.
pub(crate) fn read_expected<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<LegacyConditionMembers<'a>>>, Exception> {
    read_entries(reader, "ExpectedAttributeValue", |reader, condition, member| {
        match member {
            "Value" => condition.value = UncheckedValue::read_member(reader)?,
            "Exists" => condition.exists = reader.boolean()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

fn read_entries<'a>(
    reader: &mut Reader<'a>,
    class: &'static str,
    mut other: impl FnMut(&mut Reader<'a>, &mut LegacyConditionMembers<'a>, &str) -> Result<(), Exception>,
) -> Result<Option<Vec<LegacyConditionMembers<'a>>>, Exception> {
    let mut conditions = Vec::new();
    let present = reader.map(Shape::Map(class), |reader, attribute| {
        let mut condition =
            LegacyConditionMembers { attribute, operator: None, values: None, value: None, exists: None };
        reader.structure(Shape::Element(class), |reader, member| {
            match member {
                "ComparisonOperator" => condition.operator = reader.text()?,
                "AttributeValueList" => condition.values = read_value_list(reader)?,
                _ => other(reader, &mut condition, member)?,
            }
            Ok(())
        })?;
        conditions.push(condition);
        Ok(())
    })?;
    Ok(present.then_some(conditions))
}

fn read_value_list(reader: &mut Reader<'_>) -> Result<Option<Vec<UncheckedValue>>, Exception> {
    let mut values = Vec::new();
    let present = reader.list(Shape::List, |reader| {
        values.push(UncheckedValue::read_element(reader)?);
        Ok(())
    })?;
    Ok(present.then_some(values))
}

/// Checks the operators against the service model. They are optional in `Expected` only.
pub(crate) fn validate_conditions(
    validation: &mut Validation,
    member: &str,
    conditions: Option<&[LegacyConditionMembers<'_>]>,
) {
    for condition in conditions.unwrap_or(&[]) {
        let path = format_args!("{member}.{}.member.comparisonOperator", condition.attribute);
        if member != "expected" {
            validation.required(path, &condition.operator);
        }
        validation.one_of(path, condition.operator.as_deref(), OPERATORS);
    }
}

/// Checks `ConditionalOperator` against the service model.
pub(crate) fn validate_conditional_operator(
    validation: &mut Validation,
    operator: Option<&str>,
) -> Option<LogicalOperator> {
    let names = [("OR", LogicalOperator::Or), ("AND", LogicalOperator::And)];
    validation.one_of("conditionalOperator", operator, &names)
}

/// A `ConditionalOperator` joins at least two conditions.
pub(crate) fn check_conditional_operator(
    operator: Option<LogicalOperator>,
    conditions: Option<&[LegacyConditionMembers<'_>]>,
) -> Result<(), Exception> {
    match (operator, conditions.map_or(0, <[_]>::len)) {
        (Some(_), 0) => {
            Err(Exception::validation("ConditionalOperator cannot be used without Filter or Expected"))
        }
        (Some(_), 1) => Err(Exception::validation(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        )),
        _ => Ok(()),
    }
}

/// Converts `Expected` to a condition; an empty one is none.
pub(crate) fn expected(
    conditions: Option<Vec<LegacyConditionMembers<'_>>>,
    joined_by: Option<LogicalOperator>,
) -> Result<Option<Condition>, Exception> {
    let conditions = conditions.unwrap_or_default().into_iter().map(LegacyConditionMembers::expectation);
    joined(conditions.collect::<Result<_, _>>()?, joined_by)
}

/// Converts `ScanFilter` or `QueryFilter` to a condition.
pub(crate) fn filter(
    conditions: Option<Vec<LegacyConditionMembers<'_>>>,
    joined_by: Option<LogicalOperator>,
) -> Result<Option<Condition>, Exception> {
    let conditions = conditions.unwrap_or_default().into_iter().map(LegacyConditionMembers::comparison);
    joined(conditions.collect::<Result<_, _>>()?, joined_by)
}

fn joined(
    conditions: Vec<LegacyCondition>,
    joined_by: Option<LogicalOperator>,
) -> Result<Option<Condition>, Exception> {
    if conditions.is_empty() {
        return Ok(None);
    }
    Ok(Some(Condition::from_legacy(conditions, joined_by.unwrap_or(LogicalOperator::And))?))
}

/// Converts `KeyConditions`, which have one or two attributes. The key of an index may have more, which the engine checks.
pub(crate) fn key_conditions(
    conditions: Vec<LegacyConditionMembers<'_>>,
    on_index: bool,
) -> Result<KeyCondition, Exception> {
    let conditions: Vec<_> =
        conditions.into_iter().map(LegacyConditionMembers::comparison).collect::<Result<_, _>>()?;
    let key_condition = KeyCondition::from_legacy(conditions)?;
    check_key_conditions(&key_condition, on_index)?;
    Ok(key_condition)
}

/// Checks the number of key conditions. Only keys of global indexes have more than two attributes.
pub(crate) fn check_key_conditions(condition: &KeyCondition, on_index: bool) -> Result<(), Exception> {
    match condition.terms.len() {
        1 | 2 => Ok(()),
        3.. if on_index => Ok(()),
        _ => Err(Exception::validation(messages::KEY_CONDITIONS_COUNT)),
    }
}

impl LegacyConditionMembers<'_> {
    /// Converts a filter or key condition: an operator and its operands.
    fn comparison(self) -> Result<LegacyCondition, Exception> {
        let operands = checked_values(self.values.unwrap_or_default())?;
        let operator = named_operator(self.operator.as_deref());
        Ok(LegacyCondition { attribute: self.attribute.into_owned(), operator, operands })
    }

    /// Converts an expectation: a comparison, a value, or absence.
    fn expectation(self) -> Result<LegacyCondition, Exception> {
        let attribute = &self.attribute;
        if self.values.is_some() && self.value.is_some() {
            return Err(invalid(format_args!(
                "Value and AttributeValueList cannot be used together for Attribute: {attribute}"
            )));
        }
        match (&self.operator, &self.values) {
            (Some(_), _) => self.expected_comparison(),
            (None, Some(_)) => Err(invalid(format_args!(
                "AttributeValueList can only be used with a ComparisonOperator for Attribute: {attribute}"
            ))),
            (None, None) => self.expected_value(),
        }
    }

    fn expected_comparison(self) -> Result<LegacyCondition, Exception> {
        let attribute = &self.attribute;
        let operator = named_operator(self.operator.as_deref());
        if self.exists.is_some() {
            return Err(invalid(format_args!(
                "Exists and ComparisonOperator cannot be used together for Attribute: {attribute}"
            )));
        }
        let needs_value = !matches!(operator, LegacyOperator::Null | LegacyOperator::NotNull);
        if needs_value && self.values.is_none() && self.value.is_none() {
            return Err(invalid(format_args!(
                "Value or AttributeValueList must be used with ComparisonOperator: {} for Attribute: {attribute}",
                operator.name()
            )));
        }
        let operands = checked_values(self.values.unwrap_or_else(|| self.value.into_iter().collect()))?;
        Ok(LegacyCondition { attribute: self.attribute.into_owned(), operator, operands })
    }

    fn expected_value(self) -> Result<LegacyCondition, Exception> {
        let attribute = &self.attribute;
        let (operator, operands) = match (self.exists, self.value) {
            (Some(false), Some(_)) => {
                return Err(invalid(format_args!(
                    "Value cannot be used when Exists is false for Attribute: {attribute}"
                )));
            }
            (Some(false), None) => (LegacyOperator::Null, Vec::new()),
            (exists, None) => {
                let exists = if exists.is_some() { "true" } else { "null" };
                return Err(invalid(format_args!(
                    "Value must be provided when Exists is {exists} for Attribute: {attribute}"
                )));
            }
            (_, Some(value)) => (LegacyOperator::Eq, vec![value.checked()?]),
        };
        Ok(LegacyCondition { attribute: self.attribute.into_owned(), operator, operands })
    }
}

fn checked_values(values: Vec<UncheckedValue>) -> Result<Vec<Value>, Exception> {
    values.into_iter().map(UncheckedValue::checked).collect()
}

/// The operator of this name, which validation has checked.
fn named_operator(name: Option<&str>) -> LegacyOperator {
    name.and_then(LegacyOperator::from_name).unwrap_or(LegacyOperator::Eq)
}

/// An entry of `AttributeUpdates`.
#[derive(Debug)]
pub(crate) struct LegacyUpdateMembers<'a> {
    attribute: Cow<'a, str>,
    action: Option<Cow<'a, str>>,
    value: Option<UncheckedValue>,
}

/// Reads `AttributeUpdates`.
pub(crate) fn read_updates<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<LegacyUpdateMembers<'a>>>, Exception> {
    const CLASS: &str = "AttributeValueUpdate";
    let mut updates = Vec::new();
    let present = reader.map(Shape::Map(CLASS), |reader, attribute| {
        let mut update = LegacyUpdateMembers { attribute, action: None, value: None };
        reader.structure(Shape::Element(CLASS), |reader, member| {
            match member {
                "Action" => update.action = reader.text()?,
                "Value" => update.value = UncheckedValue::read_member(reader)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        updates.push(update);
        Ok(())
    })?;
    Ok(present.then_some(updates))
}

#[derive(Clone, Copy)]
enum Action {
    Add,
    Delete,
    Put,
}

const ACTIONS: &[(&str, Action)] = &[("ADD", Action::Add), ("DELETE", Action::Delete), ("PUT", Action::Put)];

/// Checks the actions against the service model.
pub(crate) fn validate_updates(validation: &mut Validation, updates: Option<&[LegacyUpdateMembers<'_>]>) {
    for update in updates.unwrap_or(&[]) {
        let path = format_args!("attributeUpdates.{}.member.action", update.attribute);
        validation.one_of(path, update.action.as_deref(), ACTIONS);
    }
}

/// Converts `AttributeUpdates` to an update; an empty one is none.
pub(crate) fn updates(updates: Option<Vec<LegacyUpdateMembers<'_>>>) -> Result<Option<Update>, Exception> {
    let actions: Vec<_> =
        updates.unwrap_or_default().into_iter().map(update_action).collect::<Result<_, _>>()?;
    Ok((!actions.is_empty()).then(|| Update::from_attribute_updates(actions)))
}

fn update_action(update: LegacyUpdateMembers<'_>) -> Result<(String, AttributeAction), Exception> {
    check_name(&update.attribute).map_err(|error| Exception::from(&error))?;
    let action = ACTIONS.iter().find(|(name, _)| Some(*name) == update.action.as_deref());
    let action = action.map_or(Action::Put, |(_, action)| *action);
    let value = update.value.map(UncheckedValue::checked).transpose()?;
    let action = match (action, value) {
        (Action::Delete, value) => AttributeAction::Delete(value),
        (_, None) => {
            return Err(invalid("Only DELETE action is allowed when no attribute value is specified"));
        }
        (Action::Put, Some(value)) => AttributeAction::Put(value),
        (Action::Add, Some(value)) => AttributeAction::Add(value),
    };
    action.check()?;
    Ok((update.attribute.into_owned(), action))
}

/// Checks `AttributesToGet` against the service model.
pub(crate) fn validate_attributes_to_get(
    validation: &mut Validation,
    path: impl std::fmt::Display,
    names: Option<&[Cow<'_, str>]>,
) {
    if names.is_some_and(<[_]>::is_empty) {
        validation.length(path, "[]", 0, 1, usize::MAX);
    }
}

/// Refuses invalid and duplicate names in `AttributesToGet`.
pub(crate) fn check_attributes_to_get(names: Option<&[Cow<'_, str>]>) -> Result<(), Exception> {
    let mut sorted: Vec<_> = names.unwrap_or(&[]).iter().collect();
    for name in &sorted {
        check_name(name).map_err(|error| Exception::from(&error))?;
    }
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(invalid(format_args!("Duplicate value in attribute name: {}", pair[0]))),
        None => Ok(()),
    }
}

/// Converts `AttributesToGet` to a projection.
pub(crate) fn attributes_to_get(names: Option<Vec<Cow<'_, str>>>) -> Option<Projection> {
    names.map(|names| Projection::from_attributes(names.into_iter().map(Cow::into_owned).collect()))
}
