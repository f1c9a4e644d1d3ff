//! What templates ask an entity about their fields.

use super::decimal::Decimal;
use super::value_type::ValueType;
use super::{Attribute, Entity, IndexKey};
use crate::template::{DELIMITER, FieldTypes, SHARD};

const SHARD_TYPE: ValueType = ValueType::Int;

impl Entity {
    /// Returns whether items may lack an attribute that their entity has.
    pub fn may_lack(&self, name: &str) -> bool {
        self.attribute(name).is_some() && !self.is_required(name)
    }
}

impl FieldTypes for Entity {
    fn is_required(&self, field: &str) -> bool {
        // An item that nothing is counted for may lack the count.
        let is_aggregate = self.aggregates.iter().any(|aggregate| aggregate.name == field);
        !is_aggregate && self.attribute(field).is_some_and(|attribute| !attribute.optional)
    }

    fn may_be_null(&self, field: &str) -> bool {
        // No index key is made from null, also where the key lacks another attribute: the audit sees to it.
        let is_made = |own: &IndexKey| own.when.is_empty() && own.key.iter().any(|key| key.has_field(field));
        !self.is_required(field) && !self.indexes.iter().any(is_made)
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
