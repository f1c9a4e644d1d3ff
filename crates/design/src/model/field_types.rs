//! What templates ask an entity about their fields.

use super::decimal::Decimal;
use super::value_type::ValueType;
use super::{Entity, IndexKey};
use crate::template::{DELIMITER, FieldTypes, SHARD, Sign};

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

    fn sign(&self, field: &str) -> Sign {
        // Versions are numbered from 1.
        if self.versions.as_deref() == Some(field) {
            return Sign::Positive;
        }
        let Some(attribute) = self.attribute(field) else {
            return if field == SHARD { Sign::NotNegative } else { Sign::Any };
        };
        match &attribute.limits.min {
            Some(min) if *min > Decimal::default() => Sign::Positive,
            Some(min) if !min.is_negative() => Sign::NotNegative,
            _ => Sign::Any,
        }
    }

    fn number_limits(&self, field: &str) -> (Option<&Decimal>, Option<&Decimal>) {
        let limits = self.attribute(field).map(|attribute| &attribute.limits);
        limits.map_or((None, None), |limits| (limits.min.as_ref(), limits.max.as_ref()))
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
