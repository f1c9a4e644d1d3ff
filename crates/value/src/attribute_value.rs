//! Attribute values as owned trees, for building values and editing documents.
//!
//! Hot paths never build one; they work on the encoded bytes.

use crate::{Encoder, Number, ValueRef};
use std::collections::{BTreeMap, BTreeSet};

/// A DynamoDB attribute value that owns all of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// The null value.
    Null,
    /// A boolean.
    Bool(bool),
    /// A string.
    S(String),
    /// A number.
    N(Number),
    /// Binary data.
    B(Vec<u8>),
    /// A string set; never empty.
    Ss(BTreeSet<String>),
    /// A number set; never empty.
    Ns(BTreeSet<Number>),
    /// A binary set; never empty.
    Bs(BTreeSet<Vec<u8>>),
    /// A list.
    L(Vec<AttributeValue>),
    /// A map.
    M(BTreeMap<String, AttributeValue>),
}

impl AttributeValue {
    /// Writes the canonical bytes. An empty set, which no request can produce, is written as NULL.
    pub fn encode(&self, encoder: &mut Encoder) {
        match self {
            AttributeValue::Null => encoder.null(),
            AttributeValue::Bool(value) => encoder.boolean(*value),
            AttributeValue::S(text) => encoder.string(text),
            AttributeValue::N(number) => encoder.number(number),
            AttributeValue::B(bytes) => encoder.binary(bytes),
            AttributeValue::Ss(set) => {
                let elements: Vec<&String> = set.iter().collect();
                encoder.string_set(&elements).unwrap_or_else(|_| encoder.null());
            }
            AttributeValue::Ns(set) => {
                let elements: Vec<Number> = set.iter().copied().collect();
                encoder.number_set(&elements).unwrap_or_else(|_| encoder.null());
            }
            AttributeValue::Bs(set) => {
                let elements: Vec<&Vec<u8>> = set.iter().collect();
                encoder.binary_set(&elements).unwrap_or_else(|_| encoder.null());
            }
            AttributeValue::L(list) => {
                let mark = encoder.begin_list();
                list.iter().for_each(|value| value.encode(encoder));
                encoder.end_list(mark);
            }
            AttributeValue::M(map) => {
                let mark = encoder.begin_map();
                for (name, value) in map {
                    encoder.name(name);
                    value.encode(encoder);
                }
                encoder.end_map(mark);
            }
        }
    }
}

impl From<ValueRef<'_>> for AttributeValue {
    fn from(value: ValueRef<'_>) -> AttributeValue {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let number = |digits: &[u8]| ValueRef::N(digits).as_number().unwrap_or(Number::ZERO);
        match value {
            ValueRef::Null => AttributeValue::Null,
            ValueRef::Bool(value) => AttributeValue::Bool(value),
            ValueRef::S(bytes) => AttributeValue::S(text(bytes)),
            ValueRef::N(digits) => AttributeValue::N(number(digits)),
            ValueRef::B(bytes) => AttributeValue::B(bytes.to_vec()),
            ValueRef::Ss(set) => AttributeValue::Ss(set.into_iter().map(text).collect()),
            ValueRef::Ns(set) => AttributeValue::Ns(set.into_iter().map(number).collect()),
            ValueRef::Bs(set) => AttributeValue::Bs(set.into_iter().map(<[u8]>::to_vec).collect()),
            ValueRef::L(list) => AttributeValue::L(list.into_iter().map(AttributeValue::from).collect()),
            ValueRef::M(map) => {
                AttributeValue::M(map.into_iter().map(|(name, value)| (text(name), value.into())).collect())
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Value;
    use proptest::prelude::*;

    pub fn any_value() -> impl Strategy<Value = AttributeValue> {
        let leaf = prop_oneof![
            Just(AttributeValue::Null),
            any::<bool>().prop_map(AttributeValue::Bool),
            ".{0,12}".prop_map(AttributeValue::S),
            any::<i64>().prop_map(|n| AttributeValue::N(Number::parse(&n.to_string()).unwrap())),
            any::<Vec<u8>>().prop_map(AttributeValue::B),
            prop::collection::btree_set(".{0,4}", 1..5).prop_map(AttributeValue::Ss),
            prop::collection::btree_set(any::<Vec<u8>>(), 1..4).prop_map(AttributeValue::Bs),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(AttributeValue::L),
                prop::collection::btree_map(".{0,3}", inner, 0..5).prop_map(AttributeValue::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn encoding_and_reading_are_inverse(value in any_value()) {
            prop_assert_eq!(AttributeValue::from(Value::from(&value).view()), value);
        }

        #[test]
        fn equal_values_have_equal_bytes(a in any_value(), b in any_value()) {
            prop_assert_eq!(a == b, Value::from(&a) == Value::from(&b));
        }

        #[test]
        fn reading_damaged_bytes_does_not_panic(bytes: Vec<u8>) {
            if let Some(value) = ValueRef::read(&bytes) {
                let _ = (AttributeValue::from(value), value.size());
            }
        }
    }

    #[test]
    fn map_entries_are_sorted_and_the_last_duplicate_wins() {
        let mut encoder = Encoder::new();
        let mark = encoder.begin_map();
        for (name, value) in [("b", "1"), ("a", "2"), ("b", "3"), ("c", "4")] {
            encoder.name(name);
            encoder.string(value);
        }
        encoder.end_map(mark);
        let value = Value::from_encoder(encoder);
        let ValueRef::M(map) = value.view() else { panic!("expected a map") };
        let entries: Vec<_> = map.into_iter().map(|(name, value)| (name, value.as_text().unwrap())).collect();
        assert_eq!(entries, [(&b"a"[..], "2"), (b"b", "3"), (b"c", "4")]);
    }
}
