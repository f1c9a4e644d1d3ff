//! Exact decimal numbers: sums, comparison, digits before and after the point. Numbers of a table have up to 38 digits, which a float does not hold.

use std::cmp::Ordering;
use std::fmt;

/// The longest text that is read as a number: a table has numbers down to 10^-130, of 38 digits.
const MAX_CHARACTERS: usize = 200;
/// The largest power of ten that is read.
const MAX_EXPONENT: i32 = 200;

/// The most significant digits of a number in a table.
const MAX_DIGITS: usize = 38;
/// The powers of ten, as `0.digits × 10^exponent` has them, of numbers in a table: from 10^-130 to below 10^126.
const STORED_EXPONENTS: std::ops::RangeInclusive<i32> = -129..=126;

/// Returns the one text of a number that keys, shards and audits know: `64.1` for `64.10` and `6.41e1`. A text of no number stays as it is.
pub fn number_text(text: &str) -> String {
    Decimal::parse(text).map_or_else(|| text.to_owned(), |number| number.to_string())
}

/// A decimal number: `0.digits × 10^exponent`, without leading or trailing zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// Parses `12`, `-3.50` or `1.5e3`.
    pub fn parse(text: &str) -> Option<Decimal> {
        if text.len() > MAX_CHARACTERS {
            return None;
        }
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        if power.abs() > MAX_EXPONENT {
            return None;
        }
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        Some(Decimal::normal(negative, &all, whole.len() as i32 + power))
    }

    /// The number `0.digits × 10^exponent`.
    fn normal(negative: bool, digits: &[u8], exponent: i32) -> Decimal {
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        let end = digits.iter().rposition(|digit| *digit != b'0').map_or(zeros, |last| last + 1);
        if zeros == end {
            return Decimal::default();
        }
        Decimal { negative, digits: digits[zeros..end].to_vec(), exponent: exponent - zeros as i32 }
    }

    /// Returns the number 1.
    pub fn one() -> Decimal {
        Decimal::normal(false, b"1", 1)
    }

    /// Returns the number with the other sign.
    #[must_use]
    pub fn negated(&self) -> Decimal {
        Decimal { negative: !self.negative && !self.digits.is_empty(), ..self.clone() }
    }

    /// Returns the exact sum.
    #[must_use]
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let (large, small) = if self.magnitude(other).is_lt() { (other, self) } else { (self, other) };
        // One digit more, for a carry.
        let exponent = large.exponent + 1;
        let last = |number: &Decimal| number.exponent - number.digits.len() as i32;
        let end = if small.digits.is_empty() { last(large) } else { last(large).min(last(small)) };
        let digit = |number: &Decimal, place: i32| -> i8 {
            let position = usize::try_from(number.exponent - 1 - place);
            position
                .ok()
                .and_then(|position| number.digits.get(position))
                .map_or(0, |digit| (digit - b'0') as i8)
        };
        let sign = if large.negative == small.negative { 1 } else { -1 };
        let mut carry = 0;
        let mut digits = Vec::new();
        for place in end..exponent {
            let sum = digit(large, place) + sign * digit(small, place) + carry;
            carry = sum.div_euclid(10);
            digits.push(b'0' + sum.rem_euclid(10) as u8);
        }
        digits.reverse();
        Decimal::normal(large.negative, &digits, exponent)
    }

    /// How far the number is from zero, compared with another.
    fn magnitude(&self, other: &Decimal) -> Ordering {
        match (self.digits.len(), other.digits.len()) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Less,
            (_, 0) => Ordering::Greater,
            _ => (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits)),
        }
    }

    /// Returns whether a table can store it.
    pub fn is_storable(&self) -> bool {
        let is_zero = self.digits.is_empty();
        is_zero || (self.digits.len() <= MAX_DIGITS && STORED_EXPONENTS.contains(&self.exponent))
    }

    /// Returns whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns whether there are no digits after the point.
    pub fn is_whole(&self) -> bool {
        self.decimals() == 0
    }

    /// Returns the number of digits before the point; zero has one.
    pub fn whole_digits(&self) -> usize {
        self.exponent.max(1) as usize
    }

    /// Returns the number of digits after the point.
    pub fn decimals(&self) -> usize {
        (self.digits.len() as i32 - self.exponent).max(0) as usize
    }

    /// Returns the digits before and after the point, without a sign.
    pub fn parts(&self) -> (String, String) {
        let digit = |position: i32| match usize::try_from(position) {
            Ok(position) => self.digits.get(position).map_or('0', |digit| char::from(*digit)),
            Err(_) => '0',
        };
        let whole: String =
            if self.exponent <= 0 { "0".to_owned() } else { (0..self.exponent).map(digit).collect() };
        let fraction = (0..self.decimals() as i32).map(|place| digit(self.exponent + place)).collect();
        (whole, fraction)
    }

    /// Returns the whole number, if it is one and fits.
    pub fn to_whole(&self) -> Option<i128> {
        let (whole, _) = self.parts();
        let number: i128 = if self.is_whole() { whole.parse().ok()? } else { return None };
        Some(if self.negative { -number } else { number })
    }

    /// Returns the least whole number that is not below it, if it fits.
    pub fn ceiling(&self) -> Option<i128> {
        self.floor().map(|floor| floor + i128::from(!self.is_whole()))
    }

    /// Returns the largest whole number that is not above it, if it fits.
    pub fn floor(&self) -> Option<i128> {
        let whole: i128 = self.parts().0.parse().ok()?;
        let toward_zero = if self.negative { -whole } else { whole };
        Some(toward_zero - i128::from(self.negative && !self.is_whole()))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = self.parts();
        let sign = if self.negative { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        write!(out, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_parsed_exactly() {
        for (text, shown) in
            [("007", "7"), ("-0", "0"), ("-3.50", "-3.5"), ("1.5e3", "1500"), ("12e-3", "0.012")]
        {
            assert_eq!(decimal(text).to_string(), shown);
        }
        for text in ["", "-", ".", "1.2.3", "e5", "1e9999", "0x1", "NaN", "1 "] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        for (text, shown) in
            [("64.10", "64.1"), ("6.41E1", "64.1"), ("-0.0", "0"), ("1e2", "100"), ("x", "x")]
        {
            assert_eq!(number_text(text), shown);
        }
        assert_eq!((decimal("-2.5").floor(), decimal("2.5").floor()), (Some(-3), Some(2)));
        assert_eq!((decimal("120.05").whole_digits(), decimal("120.05").decimals()), (3, 2));
    }

    #[test]
    fn a_table_stores_38_digits() {
        let nines = "9".repeat(38);
        for text in ["0", &nines, &format!("-{nines}e87"), "1e-130", "9.9e125"] {
            assert!(decimal(text).is_storable(), "{text}");
        }
        for text in [&format!("{nines}5"), &format!("1{nines}"), "1e126", "1e-131"] {
            assert!(!decimal(text).is_storable(), "{text}");
        }
    }

    #[test]
    fn sums_are_exact_over_the_whole_range() {
        let sum = |texts: &[&str]| {
            texts.iter().fold(Decimal::default(), |sum, text| sum.plus(&decimal(text))).to_string()
        };
        assert_eq!(sum(&["0.1", "0.2", "-1e2", "1.5E-1", "100"]), "0.45");
        assert_eq!(sum(&["99999999999999999999999999999999999999", "1"]), format!("1{}", "0".repeat(38)));
        assert_eq!(sum(&["1e125", "1e-130", "-1e125"]), format!("0.{}1", "0".repeat(129)));
        assert_eq!(sum(&["-5", "5"]), "0");
        assert_eq!(decimal("0").negated(), decimal("0"));
    }

    proptest! {
        #[test]
        fn decimals_add_as_numbers(a in -100_000i128..100_000, b in -100_000i128..100_000, places in 0u32..6) {
            // Both to the same number of places.
            let (left, right) = (decimal(&format!("{a}e-{places}")), decimal(&b.to_string()));
            let sum = format!("{}e-{places}", a + b * 10i128.pow(places));
            prop_assert_eq!(left.plus(&right), decimal(&sum));
            prop_assert_eq!(left.plus(&left.negated()), Decimal::default());
        }

        #[test]
        fn decimals_compare_as_numbers(a in -10_000i64..10_000, b in -10_000i64..10_000, places in 0i32..4) {
            let text = |number: i64| format!("{number}e-{places}");
            prop_assert_eq!(decimal(&text(a)).cmp(&decimal(&text(b))), a.cmp(&b));
            prop_assert_eq!(decimal(&decimal(&text(a)).to_string()), decimal(&text(a)));
        }
    }
}
