//! Compares encoded numbers by their canonical texts.
//!
//! Filters compare many numbers with one; parsing each text into digits and an exponent would cost more
//! than the rest of the comparison. Canonical texts have no leading zeros, no trailing zeros after the
//! point and no exponent, so comparing lengths and bytes suffices.

use std::cmp::Ordering;

pub(crate) fn compare(left: &[u8], right: &[u8]) -> Ordering {
    match (left, right) {
        ([b'-', left @ ..], [b'-', right @ ..]) => compare_magnitudes(right, left),
        ([b'-', ..], _) => Ordering::Less,
        (_, [b'-', ..]) => Ordering::Greater,
        _ => compare_magnitudes(left, right),
    }
}

fn compare_magnitudes(left: &[u8], right: &[u8]) -> Ordering {
    let ((left_whole, left_fraction), (right_whole, right_fraction)) =
        (split_at_point(left), split_at_point(right));
    left_whole
        .len()
        .cmp(&right_whole.len())
        .then_with(|| left_whole.cmp(right_whole))
        .then_with(|| left_fraction.cmp(right_fraction))
}

fn split_at_point(digits: &[u8]) -> (&[u8], &[u8]) {
    match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_value::Number;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_ordered_like_their_numbers(
            a in "-?[0-9]{1,4}(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?", b in "-?[0-9]{1,4}(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?",
        ) {
            let (a, b) = (Number::parse(&a).unwrap(), Number::parse(&b).unwrap());
            let (x, y) = (a.to_string(), b.to_string());
            prop_assert_eq!(compare(x.as_bytes(), y.as_bytes()), a.cmp(&b), "{} {}", x, y);
        }
    }

    #[test]
    fn signs_lengths_and_fractions_are_compared() {
        let ascending = [
            "-10", "-9.5", "-0.1", "-0.01", "0", "0.001", "0.01", "0.5", "0.55", "1", "1.5", "9", "10",
            "100.1",
        ];
        for (i, one) in ascending.iter().enumerate() {
            for (j, two) in ascending.iter().enumerate() {
                assert_eq!(compare(one.as_bytes(), two.as_bytes()), i.cmp(&j), "{one} {two}");
            }
        }
    }
}
