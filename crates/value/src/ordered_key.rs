//! Order-preserving key encoding, and the tokens by which partitions are placed.
//!
//! The byte order of encoded keys is DynamoDB's order of the values. Text and binary are written in
//! groups of eight bytes, each followed by a marker (255 after a full group that is not the last,
//! otherwise 247 plus the bytes used). The overhead is at most an eighth: a key of 1,024 bytes becomes
//! 1,161. A number is one byte of sign, one of magnitude, its digits two per byte, and a terminator; a
//! negative number is the same, inverted. Every form is self-delimiting, so several attributes and a
//! suffix can be concatenated.

use crate::{Number, ValueRef};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

const GROUP: usize = 8;
const ZERO: u8 = 0x80;
const POSITIVE: u8 = 0x81;
const NEGATIVE: u8 = 0x7f;

/// Appends the order-preserving encoding of a string, number or binary; other types have none.
pub fn write(value: ValueRef<'_>, key: &mut Vec<u8>) {
    match value {
        ValueRef::S(bytes) | ValueRef::B(bytes) => write_bytes(bytes, key),
        ValueRef::N(_) => write_number(&value.as_number().unwrap_or(Number::ZERO), key),
        _ => debug_assert!(false, "only scalar values are keys"),
    }
}

fn write_bytes(bytes: &[u8], key: &mut Vec<u8>) {
    let mut rest = bytes;
    while rest.len() >= GROUP {
        key.extend_from_slice(&rest[..GROUP]);
        key.push(u8::MAX);
        rest = &rest[GROUP..];
    }
    key.extend_from_slice(rest);
    key.resize(key.len() + GROUP - rest.len(), 0);
    key.push(u8::MAX - (GROUP - rest.len()) as u8);
}

/// Appends the common prefix of the keys of all text or binary values that begin with `prefix`.
///
/// The key of a shorter value, padded with zero bytes, can have the same prefix: check the values found.
pub fn write_prefix(prefix: &[u8], key: &mut Vec<u8>) {
    let mut rest = prefix;
    while rest.len() >= GROUP {
        key.extend_from_slice(&rest[..GROUP]);
        key.push(u8::MAX);
        rest = &rest[GROUP..];
    }
    key.extend_from_slice(rest);
}

fn write_number(number: &Number, key: &mut Vec<u8>) {
    if number.is_zero() {
        key.push(ZERO);
        return;
    }
    let start = key.len();
    key.push(POSITIVE);
    // The magnitude ranges from -130 to 125: exactly one byte.
    key.push((number.magnitude() + 130) as u8);
    let mut digits = number.significant_digits();
    let mut coefficient = number.coefficient();
    if digits % 2 == 1 {
        coefficient *= 10;
        digits += 1;
    }
    for pair in (0..digits / 2).rev() {
        key.push((coefficient / 100u128.pow(pair) % 100) as u8 + 1);
    }
    key.push(0);
    if number.is_negative() {
        key[start] = NEGATIVE;
        key[start + 1..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The secret with which tokens are hashed. Without it, an attacker cannot construct two keys with the same token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenKey([u64; 2]);

impl TokenKey {
    /// For tokens whose collisions are useless to an attacker, and for tables created before each had its own key.
    pub const FIXED: TokenKey = TokenKey([0x7061_7274_6974_6121, 0x746f_6b65_6e73_2e2e]);

    /// Wraps a secret.
    pub fn new(secret: [u64; 2]) -> TokenKey {
        TokenKey(secret)
    }
}

/// Returns the [`keyed_token`] under the public key [`TokenKey::FIXED`].
pub fn token<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> [u8; 16] {
    keyed_token(TokenKey::FIXED, values)
}

/// Returns a 128-bit hash that identifies one or more values in their order.
///
/// The token of a partition key determines where the partition is stored. Tokens are evenly distributed,
/// so parallel scans divide the token range among their segments.
pub fn keyed_token<'a>(key: TokenKey, values: impl Iterator<Item = ValueRef<'a>>) -> [u8; 16] {
    let mut hasher = SipHasher24::new_with_keys(key.0[0], key.0[1]);
    for value in values {
        let (tag, bytes) = match value {
            ValueRef::S(bytes) => (1u8, bytes),
            ValueRef::N(bytes) => (2, bytes),
            ValueRef::B(bytes) => (3, bytes),
            _ => (0, &[][..]),
        };
        hasher.write_u8(tag);
        hasher.write_u32(bytes.len() as u32);
        hasher.write(bytes);
    }
    hasher.finish128().as_u128().to_be_bytes()
}

/// Returns the least byte string greater than all that begin with `prefix`; `None` if there is none.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use proptest::prelude::*;

    fn key(value: ValueRef<'_>) -> Vec<u8> {
        let mut bytes = vec![];
        write(value, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn key_order_is_byte_order(a: Vec<u8>, b: Vec<u8>) {
            prop_assert_eq!(key(ValueRef::B(&a)).cmp(&key(ValueRef::B(&b))), a.cmp(&b));
        }

        #[test]
        fn zero_bytes_keep_their_order(a in prop::collection::vec(0u8..2, 0..20), b in prop::collection::vec(0u8..2, 0..20)) {
            prop_assert_eq!(key(ValueRef::B(&a)).cmp(&key(ValueRef::B(&b))), a.cmp(&b));
        }

        #[test]
        fn key_order_is_number_order(a in "-?[0-9]{1,20}(\\.[0-9]{1,10})?(e-?[0-9]{1,2})?", b in "-?[0-9]{1,20}(\\.[0-9]{1,10})?(e-?[0-9]{1,2})?") {
            let (a, b) = (Number::parse(&a).unwrap(), Number::parse(&b).unwrap());
            let (mut x, mut y) = (vec![], vec![]);
            write_number(&a, &mut x);
            write_number(&b, &mut y);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert!(x.len() <= 22);
        }

        #[test]
        fn no_key_is_a_prefix_of_another(a: Vec<u8>, b: Vec<u8>) {
            let (x, y) = (key(ValueRef::B(&a)), key(ValueRef::B(&b)));
            prop_assert_eq!(x.starts_with(&y), a == b);
        }

        #[test]
        fn a_prefix_of_the_value_is_a_prefix_of_the_key(a: Vec<u8>, b: Vec<u8>) {
            let mut prefix = vec![];
            write_prefix(&a, &mut prefix);
            let whole = key(ValueRef::B(&[a, b].concat()));
            prop_assert!(whole.starts_with(&prefix));
        }
    }

    #[test]
    fn tokens_distinguish_types_and_boundaries() {
        let token_of = |parts: &[&str]| {
            let values: Vec<_> = parts.iter().map(|part| Value::string(part)).collect();
            token(values.iter().map(Value::view))
        };
        assert_ne!(token_of(&["ab", "c"]), token_of(&["a", "bc"]));
        assert_ne!(token([ValueRef::S(b"1")].into_iter()), token([ValueRef::N(b"1")].into_iter()));
        assert_eq!(token_of(&["a"]), token_of(&["a"]));
    }

    #[test]
    fn prefix_ends_are_computed() {
        assert_eq!(after_prefix(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(after_prefix(&[1, 255]), Some(vec![2]));
        assert_eq!(after_prefix(&[255]), None);
    }
}
