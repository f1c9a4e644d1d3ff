//! What templates ask an entity about their fields.

use super::decimal::Decimal;
use super::value_type::ValueType;
use super::{Attribute, Entity};
use crate::template::{DELIMITER, FieldTypes, SHARD};

const SHARD_TYPE: ValueType = ValueType::Int;

impl FieldTypes for Entity {
    fn is_required(&self, field: &str) -> bool {
        // An item that nothing is counted for may lack the count.
        let is_aggregate = self.aggregates.iter().any(|aggregate| aggregate.name == field);
        !is_aggregate && self.attribute(field).is_some_and(|attribute| !attribute.optional)
    }

    fn is_positive(&self, field: &str) -> bool {
        let has_least = |attribute: &Attribute| {
            attribute.limits.min.as_ref().is_some_and(|min| *min > Decimal::default())
        };
        // Versions are numbered from 1.
        self.versions.as_deref() == Some(field) || self.attribute(field).is_some_and(has_least)
    }

    fn delimiter(&self) -> char {
        self.delimiter.unwrap_or(DELIMITER)
    }

    fn type_of(&self, field: &str) -> Option<&ValueType> {
        if field == SHARD && self.attribute(field).is_none() {
            return Some(&SHARD_TYPE);
        }
        self.attribute(field).map(|attribute| &attribute.kind)
    }
}
