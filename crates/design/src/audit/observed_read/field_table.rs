//! What templates ask about their fields, without the entities that declare them.

use crate::model::Entity;
use crate::model::value_type::ValueType;
use crate::template::{DELIMITER, FieldTypes, Sign};
use std::collections::BTreeMap;

/// The types of some fields.
#[derive(Clone, Debug)]
pub(super) struct FieldTable {
    fields: BTreeMap<String, Kind>,
    delimiter: char,
}

#[derive(Clone, Debug)]
struct Kind {
    value_type: ValueType,
    is_required: bool,
    sign: Sign,
}

impl FieldTable {
    /// The fields of the items of one or several entities.
    pub fn new<'f>(entities: &[&Entity], fields: impl Iterator<Item = &'f str>) -> FieldTable {
        let kind = |name: &'f str| {
            let (owner, value_type) =
                entities.iter().rev().find_map(|entity| Some((entity, entity.type_of(name)?)))?;
            let (is_required, sign) = (owner.is_required(name), owner.sign(name));
            Some((name.to_owned(), Kind { value_type: value_type.clone(), is_required, sign }))
        };
        FieldTable {
            fields: fields.filter_map(kind).collect(),
            delimiter: entities.first().map_or(DELIMITER, |entity| entity.delimiter()),
        }
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }
}

impl FieldTypes for FieldTable {
    fn type_of(&self, field: &str) -> Option<&ValueType> {
        self.fields.get(field).map(|kind| &kind.value_type)
    }

    fn is_required(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|kind| kind.is_required)
    }

    fn sign(&self, field: &str) -> Sign {
        self.fields.get(field).map(|kind| kind.sign).unwrap_or_default()
    }

    fn delimiter(&self) -> char {
        self.delimiter
    }
}
