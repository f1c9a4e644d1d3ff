//! DynamoDB's sizes, which the 400 KB limit and the capacity units are based on.

use crate::{ListRef, MapRef, ValueRef};

/// Overhead of a list or map.
const CONTAINER: usize = 3;
/// Overhead of each element of a list or map.
const ELEMENT: usize = 1;

pub(crate) fn value_size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null | ValueRef::Bool(_) => 1,
        ValueRef::S(bytes) | ValueRef::B(bytes) => bytes.len(),
        ValueRef::N(digits) => number_size(digits),
        ValueRef::Ss(set) | ValueRef::Bs(set) => set.into_iter().map(<[u8]>::len).sum(),
        ValueRef::Ns(set) => set.into_iter().map(number_size).sum(),
        ValueRef::L(list) => CONTAINER + list_elements_size(list),
        ValueRef::M(map) => CONTAINER + map.into_iter().count() * ELEMENT + map_entries_size(map),
    }
}

/// The size of the elements, without the overhead of the list.
pub(crate) fn list_elements_size(list: ListRef<'_>) -> usize {
    list.into_iter().map(|value| ELEMENT + value_size(value)).sum()
}

/// The size of names and values without the overhead of the map, as in an item.
pub(crate) fn map_entries_size(map: MapRef<'_>) -> usize {
    map.into_iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

/// One byte, half a byte per significant digit on each side of the point (rounded up), and one for a minus sign.
fn number_size(canonical: &[u8]) -> usize {
    let (sign, digits) = match canonical {
        [b'-', rest @ ..] => (1, rest),
        rest => (0, rest),
    };
    let point = digits.iter().position(|&b| b == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or(&[]));
    let leading = |part: &[u8]| part.iter().take_while(|&&b| b == b'0').count();
    let trailing = |part: &[u8]| part.iter().rev().take_while(|&&b| b == b'0').count();
    let whole_digits = whole.len() - leading(whole);
    let (whole_digits, fraction_digits) = match (whole_digits, fraction.len()) {
        (0, n) => (0, n - leading(fraction)),
        (n, 0) => (n - trailing(whole), 0),
        (n, m) => (n, m),
    };
    1 + whole_digits.div_ceil(2) + fraction_digits.div_ceil(2) + sign
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AttributeValue, Item, Number};
    use std::collections::BTreeMap;

    fn number(text: &str) -> usize {
        number_size(Number::parse(text).unwrap().to_string().as_bytes())
    }

    #[test]
    fn a_digit_counts_half_a_byte() {
        for (text, expected) in [
            ("0", 1),
            ("1", 2),
            ("12", 2),
            ("123", 3),
            ("-123", 4),
            ("100", 2),
            ("0.001", 2),
            ("12.34", 3),
            ("1.5", 3),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn item_size_counts_names_and_values() {
        let list = AttributeValue::L(vec![AttributeValue::S("ab".into()), AttributeValue::Null]);
        let map = AttributeValue::M(BTreeMap::from([("k".to_owned(), AttributeValue::Bool(true))]));
        let item: Item =
            [("pk", AttributeValue::S("äb".into())), ("list", list), ("map", map)].into_iter().collect();
        assert_eq!(item.size(), (2 + 3) + (4 + 3 + 2 + 2 + 1) + (3 + 3 + 1 + 1 + 1));
        assert_eq!(Item::default().size(), 0);
    }
}
