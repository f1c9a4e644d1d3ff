//! The range of stored keys that a key condition selects.

use crate::catalog::table::Index;
use crate::key::item_key::{misplaced_item, refuse_empty};
use crate::key::stored_key::{Token, after, partition_prefix, rows_beginning_with};
use partita_api::Exception;
use partita_api::key_schema::{KeyAttribute, KeySchema};
use partita_expression::{KeyComparison, KeyCondition, KeyTerm};
use partita_store::{KeyRange, Space};
use partita_value::ordered_key::{self, TokenKey};
use partita_value::{ItemRef, Value, ValueRef};

const NOT_SUPPORTED: &str = "Query key condition not supported";
const NOT_INDEXABLE: &str = "Attempted conditional constraint is not an indexable operation";

/// A key condition that matches the schema: a partition, and a range of its sort key.
#[derive(Debug)]
pub struct KeyBounds<'a> {
    /// The values of the partition attributes, in the schema's order.
    partition: Vec<&'a Value>,
    /// The values of leading sort attributes, in the schema's order.
    equal: Vec<&'a Value>,
    /// The comparison of the next sort attribute.
    last: Option<(&'a KeyAttribute, &'a KeyComparison)>,
}

impl<'a> KeyBounds<'a> {
    /// Checks the condition attribute by attribute, as AWS does; `first` is called for each attribute before its own checks.
    /// `index` is the index whose key this is, if it is not the table's.
    pub fn new(
        schema: &'a KeySchema,
        index: Option<&Index>,
        condition: &'a KeyCondition,
        first: impl Fn(&KeyAttribute) -> Result<(), Exception>,
    ) -> Result<KeyBounds<'a>, Exception> {
        let mut partition = Vec::with_capacity(schema.partition.len());
        for attribute in &schema.partition {
            first(attribute)?;
            if schema.len() == 1 && condition.terms.len() > 1 {
                return Err(Exception::validation(NOT_SUPPORTED));
            }
            partition.push(partition_value(schema, index, condition, attribute)?);
        }
        schema.sort.iter().try_for_each(first)?;
        let mut bounds = KeyBounds { partition, equal: Vec::new(), last: None };
        bounds.read_sort_terms(schema, index, condition)?;
        let used = bounds.partition.len() + bounds.equal.len() + usize::from(bounds.last.is_some());
        if used < condition.terms.len() {
            return Err(unused_term(schema, condition));
        }
        Ok(bounds)
    }

    /// Takes sort attributes from the left: equal values, then at most one range.
    fn read_sort_terms(
        &mut self,
        schema: &'a KeySchema,
        index: Option<&Index>,
        condition: &'a KeyCondition,
    ) -> Result<(), Exception> {
        for attribute in &schema.sort {
            let Some(term) = find(condition, attribute) else { return Ok(()) };
            check_operands(index, attribute, term)?;
            match &term.comparison {
                KeyComparison::Equal(value) => self.equal.push(value),
                range => {
                    self.last = Some((attribute, range));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub fn partition_values(&self) -> impl Iterator<Item = ValueRef<'_>> {
        self.partition.iter().map(|value| value.view())
    }

    /// The partition that all rows of the range must belong to.
    pub fn expected_partition(&self, schema: &'a KeySchema) -> ExpectedPartition<'a> {
        let names = schema.partition.iter().map(|attribute| attribute.name.as_str());
        ExpectedPartition(names.zip(self.partition.iter().map(|value| value.view())).collect())
    }

    /// Whether the condition gives every attribute of the key a value.
    pub fn names_one_item(&self, schema: &KeySchema) -> bool {
        self.equal.len() == schema.sort.len()
    }

    /// Whether the condition has terms for sort attributes.
    pub fn has_sort_terms(&self) -> bool {
        !self.equal.is_empty() || self.last.is_some()
    }

    /// The rows of a table or index that the condition selects.
    pub fn range(&self, space: Space, token_key: TokenKey) -> KeyRange {
        self.range_in(space, &ordered_key::keyed_token(token_key, self.partition_values()))
    }

    /// The rows of any partition that meet the terms for the sort attributes.
    pub fn range_in(&self, space: Space, partition: &Token) -> KeyRange {
        let mut prefix = partition_prefix(space, partition);
        self.equal.iter().for_each(|value| ordered_key::write(value.view(), &mut prefix));
        let Some((_, comparison)) = self.last else { return rows_beginning_with(prefix) };
        let at = |value: &Value| {
            let mut key = prefix.clone();
            ordered_key::write(value.view(), &mut key);
            key
        };
        match comparison {
            KeyComparison::Equal(value) => rows_beginning_with(at(value)),
            // Rejected by `new`.
            KeyComparison::NotIndexable => KeyRange { start: prefix.clone(), end: prefix },
            KeyComparison::Less(value) => KeyRange { end: at(value), start: prefix },
            KeyComparison::LessOrEqual(value) => KeyRange { end: after(&at(value)), start: prefix },
            KeyComparison::Greater(value) => KeyRange { start: after(&at(value)), end: after(&prefix) },
            KeyComparison::GreaterOrEqual(value) => KeyRange { start: at(value), end: after(&prefix) },
            KeyComparison::Between(low, high) => KeyRange { start: at(low), end: after(&at(high)) },
            KeyComparison::BeginsWith(value) => {
                let mut start = prefix;
                if let ValueRef::S(bytes) | ValueRef::B(bytes) = value.view() {
                    ordered_key::write_prefix(bytes, &mut start);
                }
                rows_beginning_with(start)
            }
        }
    }

    /// The prefix that rows must be checked for, because the range may contain others too.
    pub fn sort_prefix(&self) -> Option<(&'a str, &'a [u8])> {
        let Some((attribute, KeyComparison::BeginsWith(value))) = self.last else { return None };
        match value.view() {
            ValueRef::S(bytes) | ValueRef::B(bytes) if bytes.last() == Some(&0) => {
                Some((attribute.name.as_str(), bytes))
            }
            _ => None,
        }
    }
}

/// The partition that rows are expected to belong to, by the attributes of its key; any partition if empty.
///
/// Stored keys hold only a hash of these attributes, and another partition could have the same.
#[derive(Clone, Debug, Default)]
pub struct ExpectedPartition<'a>(Vec<(&'a str, ValueRef<'a>)>);

impl ExpectedPartition<'_> {
    pub fn check(&self, item: ItemRef<'_>) -> Result<(), Exception> {
        match self.0.iter().all(|(name, value)| item.get(name) == Some(*value)) {
            true => Ok(()),
            false => Err(misplaced_item(&self.0)),
        }
    }
}

/// Whether the sort attribute of an item has the prefix, if rows must be checked for one.
pub fn has_sort_prefix(item: ItemRef<'_>, prefix: Option<(&str, &[u8])>) -> bool {
    let Some((attribute, prefix)) = prefix else { return true };
    match item.get(attribute) {
        Some(ValueRef::S(bytes) | ValueRef::B(bytes)) => bytes.starts_with(prefix),
        _ => false,
    }
}

fn find<'a>(condition: &'a KeyCondition, attribute: &KeyAttribute) -> Option<&'a KeyTerm> {
    condition.terms.iter().find(|term| term.attribute == attribute.name)
}

fn partition_value<'a>(
    schema: &KeySchema,
    index: Option<&Index>,
    condition: &'a KeyCondition,
    attribute: &KeyAttribute,
) -> Result<&'a Value, Exception> {
    let Some(term) = find(condition, attribute) else {
        return Err(if is_composite(schema) { unequal("HASH", attribute) } else { missed(attribute) });
    };
    check_operands(index, attribute, term)?;
    match &term.comparison {
        KeyComparison::Equal(value) => Ok(value),
        _ if is_composite(schema) => Err(unequal("HASH", attribute)),
        _ => Err(Exception::validation(NOT_SUPPORTED)),
    }
}

/// Whether the partition key or the sort key has several attributes.
fn is_composite(schema: &KeySchema) -> bool {
    schema.partition.len() > 1 || schema.sort.len() > 1
}

fn unequal(role: &str, attribute: &KeyAttribute) -> Exception {
    Exception::validation(format!(
        "{NOT_SUPPORTED}: the {role} key attribute {} requires an equality condition",
        attribute.name
    ))
}

fn missed(attribute: &KeyAttribute) -> Exception {
    Exception::validation(format!("Query condition missed key schema element: {}", attribute.name))
}

/// The exception for a term that names no key attribute, or a sort attribute after a gap or a range.
fn unused_term(schema: &KeySchema, condition: &KeyCondition) -> Exception {
    let is_equal = |attribute: &&KeyAttribute| {
        find(condition, attribute).is_some_and(|term| matches!(term.comparison, KeyComparison::Equal(_)))
    };
    let mut behind = schema.sort.iter().skip_while(is_equal);
    if let Some(first) = behind.next()
        && behind.any(|attribute| find(condition, attribute).is_some())
    {
        return unequal("RANGE", first);
    }
    match schema.sort.iter().find(|attribute| find(condition, attribute).is_none()) {
        Some(attribute) => missed(attribute),
        None => Exception::validation(NOT_SUPPORTED),
    }
}

fn check_operands(index: Option<&Index>, attribute: &KeyAttribute, term: &KeyTerm) -> Result<(), Exception> {
    if term.comparison == KeyComparison::NotIndexable {
        return Err(Exception::validation(NOT_INDEXABLE));
    }
    for value in term.comparison.operands().map(Value::view) {
        if value.scalar_type() != Some(attribute.kind) {
            return Err(Exception::validation(
                "One or more parameter values were invalid: Condition parameter type does not match schema type",
            ));
        }
        refuse_empty(index, attribute, value)?;
    }
    Ok(())
}
