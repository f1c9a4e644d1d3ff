//! Verification that bytes are exactly what the encoder writes for an item: nothing missing, nothing extra, everything
//! in order.
//!
//! Readers trust stored bytes and stop at the first invalid one; database verification uses this strict check.

use crate::encoding::{ITEM_HEADER, Tag, read_block, read_bytes, write_length};
use crate::{MapRef, Number, size};

/// Deeper than any item that can have been written.
const MAX_LEVELS: usize = 64;

/// Returns what is wrong with the bytes of an item, if anything is.
pub fn check_item(bytes: &[u8]) -> Result<(), &'static str> {
    let (stored_size, entries) =
        bytes.split_first_chunk::<ITEM_HEADER>().ok_or("it is shorter than an item header")?;
    check_entries(entries, MAX_LEVELS)?;
    match size::map_entries_size(MapRef::from_entries(entries)) == u32::from_le_bytes(*stored_size) as usize {
        true => Ok(()),
        false => Err("its stored size is wrong"),
    }
}

fn check_entries(mut entries: &[u8], levels: usize) -> Result<(), &'static str> {
    let mut before: Option<&[u8]> = None;
    while !entries.is_empty() {
        let (name, rest) = split_bytes(entries)?;
        if std::str::from_utf8(name).is_err() {
            return Err("an attribute name is not UTF-8");
        }
        if before.is_some_and(|before| before >= name) {
            return Err("its attributes are not in order");
        }
        before = Some(name);
        entries = check_value(rest, levels)?;
    }
    Ok(())
}

/// Checks the value at the start of `bytes` and returns the rest.
fn check_value(bytes: &[u8], levels: usize) -> Result<&[u8], &'static str> {
    let (&tag, rest) = bytes.split_first().ok_or("a value is truncated")?;
    match Tag::from_byte(tag).ok_or("a value has an unknown type")? {
        Tag::Null | Tag::False | Tag::True => Ok(rest),
        Tag::B => split_bytes(rest).map(|(_, rest)| rest),
        Tag::S => {
            let (text, rest) = split_bytes(rest)?;
            std::str::from_utf8(text).map(|_| rest).map_err(|_| "a string is not UTF-8")
        }
        Tag::N => {
            let (digits, rest) = split_bytes(rest)?;
            canonical_number(digits).map(|_| rest)
        }
        kind => {
            let levels = levels.checked_sub(1).ok_or("it is nested too deeply")?;
            let (body, rest) = read_block(rest).ok_or("a value is truncated")?;
            match kind {
                Tag::M => check_entries(body, levels)?,
                Tag::L => check_list(body, levels)?,
                Tag::Ns => check_set(body, canonical_number)?,
                Tag::Ss => {
                    check_set(body, |text| std::str::from_utf8(text).map_err(|_| "a string is not UTF-8"))?
                }
                _ => check_set(body, Ok)?,
            }
            Ok(rest)
        }
    }
}

fn check_list(mut body: &[u8], levels: usize) -> Result<(), &'static str> {
    while !body.is_empty() {
        body = check_value(body, levels)?;
    }
    Ok(())
}

/// Checks that the elements of a set are in ascending order without duplicates.
fn check_set<'a, T: PartialOrd>(
    mut body: &'a [u8],
    read: impl Fn(&'a [u8]) -> Result<T, &'static str>,
) -> Result<(), &'static str> {
    if body.is_empty() {
        return Err("a set is empty");
    }
    let mut before: Option<T> = None;
    while !body.is_empty() {
        let (element, rest) = split_bytes(body)?;
        let element = read(element)?;
        if before.is_some_and(|before| before >= element) {
            return Err("the elements of a set are not in order");
        }
        (before, body) = (Some(element), rest);
    }
    Ok(())
}

fn canonical_number(digits: &[u8]) -> Result<Number, &'static str> {
    let text = std::str::from_utf8(digits).map_err(|_| "a number is not UTF-8")?;
    let number = Number::parse(text).map_err(|_| "a number cannot be parsed")?;
    if number.to_string() == text { Ok(number) } else { Err("a number is not in canonical form") }
}

/// Splits off length-prefixed bytes; the length must use its shortest encoding.
fn split_bytes(bytes: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let (body, rest) = read_bytes(bytes).ok_or("a value is truncated")?;
    let mut length = Vec::with_capacity(5);
    write_length(&mut length, body.len());
    if bytes.starts_with(&length) { Ok((body, rest)) } else { Err("a length is not in canonical form") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AttributeValue, Item};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoded_items_are_canonical(value in crate::attribute_value::tests::any_value()) {
            let item: Item = [("b", value), ("a", AttributeValue::Bool(true))].into_iter().collect();
            prop_assert_eq!(check_item(&item.into_bytes()), Ok(()));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = check_item(&bytes);
        }
    }

    #[test]
    fn truncated_and_extended_items_are_rejected() {
        let item: Item = [
            ("a", AttributeValue::S("text".into())),
            ("l", AttributeValue::L(vec![AttributeValue::Null, AttributeValue::Bool(true)])),
        ]
        .into_iter()
        .collect();
        let bytes = item.into_bytes();
        for length in 0..bytes.len() {
            assert!(check_item(&bytes[..length]).is_err(), "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(check_item(&longer).is_err());
    }

    #[test]
    fn each_defect_is_reported() {
        let with = |entries: &[u8], size: u32| [&size.to_le_bytes()[..], entries].concat();
        let check = |entries: &[u8], size| check_item(&with(entries, size));
        assert_eq!(check(&[1, b'a', 0, 1, b'b', 0], 4), Ok(()));
        assert_eq!(check(&[1, b'a', 0, 1, b'b', 0], 5), Err("its stored size is wrong"));
        assert_eq!(check(&[1, b'b', 0, 1, b'a', 0], 4), Err("its attributes are not in order"));
        assert_eq!(check(&[1, b'a', 0, 1, b'a', 0], 4), Err("its attributes are not in order"));
        assert_eq!(check(&[1, b'a', 4, 2, b'0', b'1'], 3), Err("a number is not in canonical form"));
        assert_eq!(check(&[1, b'a', 3, 1, 0xff], 2), Err("a string is not UTF-8"));
        assert_eq!(check(&[1, b'a', 99], 2), Err("a value has an unknown type"));
        assert_eq!(check(&[0x81, 0, b'a', 0], 2), Err("a length is not in canonical form"));
        assert_eq!(check(&[1, b'a', 6, 0, 0, 0, 0], 1), Err("a set is empty"));
        let unordered = [1, b'a', 7, 5, 0, 0, 0, 2, b'1', b'0', 1, b'9'];
        assert_eq!(check(&unordered, 5), Err("the elements of a set are not in order"));
    }
}
