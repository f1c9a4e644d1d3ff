//! DynamoDB's numbers: exact decimals with 38 significant digits and a magnitude of 1E-130 to 9.99…E+125.

use crate::limits::NUMBER_DIGITS;
use std::cmp::Ordering;
use std::fmt;

/// The largest power of ten a number may reach, counted from its first digit (`d.ddd × 10^x`).
const MAX_MAGNITUDE: i32 = 125;
/// The smallest such power.
const MIN_MAGNITUDE: i32 = -130;

/// An exact decimal: `±coefficient × 10^exponent`, normalised (no trailing zeros; zero is `0 × 10^0`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    coefficient: u128,
    exponent: i16,
}

/// Why a text or a result is not a valid number. The messages are AWS's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not a decimal number; holds the text.
    #[error("The parameter cannot be converted to a numeric value{}{}", if .0.is_empty() { "" } else { ": " }, .0)]
    NotANumber(String),
    /// The magnitude is too large.
    #[error("Number overflow. Attempting to store a number with magnitude larger than supported range")]
    Overflow,
    /// The magnitude is too small.
    #[error("Number underflow. Attempting to store a number with magnitude smaller than supported range")]
    Underflow,
    /// There are too many significant digits.
    #[error("Attempting to store more than 38 significant digits in a Number")]
    TooPrecise,
}

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { negative: false, coefficient: 0, exponent: 0 };

    /// Parses decimal text: sign, digits, point, exponent.
    pub fn parse(text: &str) -> Result<Number, NumberError> {
        Digits::read(text).ok_or_else(|| NumberError::NotANumber(text.to_owned()))?.into_number()
    }

    /// Normalises and checks the range; `coefficient` must have at most 38 digits.
    fn checked(negative: bool, mut coefficient: u128, mut exponent: i32) -> Result<Number, NumberError> {
        if coefficient == 0 {
            return Ok(Number::ZERO);
        }
        while coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        let digits = digit_count(coefficient);
        if digits > NUMBER_DIGITS {
            return Err(NumberError::TooPrecise);
        }
        let magnitude = exponent.saturating_add(digits as i32 - 1);
        if magnitude > MAX_MAGNITUDE {
            return Err(NumberError::Overflow);
        }
        if magnitude < MIN_MAGNITUDE {
            return Err(NumberError::Underflow);
        }
        Ok(Number { negative, coefficient, exponent: exponent as i16 })
    }

    /// Returns whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.coefficient == 0
    }

    /// Returns whether the number is less than zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The number of significant digits, without leading or trailing zeros.
    pub(crate) fn significant_digits(&self) -> u32 {
        digit_count(self.coefficient)
    }

    pub(crate) fn coefficient(&self) -> u128 {
        self.coefficient
    }

    /// The power of ten of the first digit.
    pub(crate) fn magnitude(&self) -> i32 {
        i32::from(self.exponent) + digit_count(self.coefficient) as i32 - 1
    }

    /// Returns the number with the opposite sign.
    pub fn negate(&self) -> Number {
        Number { negative: !self.negative && !self.is_zero(), ..*self }
    }

    /// Returns the exact sum, or an error if it is out of range. Like AWS, also reports an overflow if the sum
    /// needs more than 38 digits.
    pub fn add(&self, other: &Number) -> Result<Number, NumberError> {
        self.exact_sum(other).map_err(|error| match error {
            NumberError::TooPrecise => NumberError::Overflow,
            other => other,
        })
    }

    fn exact_sum(&self, other: &Number) -> Result<Number, NumberError> {
        if self.is_zero() {
            return Ok(*other);
        }
        if other.is_zero() {
            return Ok(*self);
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = (high.exponent - low.exponent) as u32;
        // If the exponents are more than 76 apart, no exact sum fits 38 digits; the shifted value must fit u128 too.
        let factor = 10u128.checked_pow(shift).ok_or(NumberError::TooPrecise)?;
        let lifted = high.coefficient.checked_mul(factor).ok_or(NumberError::TooPrecise)?;
        let exponent = i32::from(low.exponent);
        if high.negative == low.negative {
            let sum = lifted.checked_add(low.coefficient).ok_or(NumberError::TooPrecise)?;
            return Number::checked(high.negative, sum, exponent);
        }
        match lifted.cmp(&low.coefficient) {
            Ordering::Equal => Ok(Number::ZERO),
            Ordering::Greater => Number::checked(high.negative, lifted - low.coefficient, exponent),
            Ordering::Less => Number::checked(low.negative, low.coefficient - lifted, exponent),
        }
    }

    /// Returns the exact difference, or an error as for [`Number::add`].
    pub fn subtract(&self, other: &Number) -> Result<Number, NumberError> {
        self.add(&other.negate())
    }

    fn compare_magnitude(&self, other: &Number) -> Ordering {
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            let (a, b) = (digit_count(self.coefficient), digit_count(other.coefficient));
            let width = a.max(b);
            (self.coefficient * 10u128.pow(width - a)).cmp(&(other.coefficient * 10u128.pow(width - b)))
        })
    }

    /// Returns the integer part if it fits; used for TTL timestamps.
    pub fn to_i64(&self) -> Option<i64> {
        let whole = if self.exponent >= 0 {
            self.coefficient.checked_mul(10u128.checked_pow(self.exponent as u32)?)?
        } else {
            10u128.checked_pow(self.exponent.unsigned_abs().into()).map_or(0, |unit| self.coefficient / unit)
        };
        let whole = i64::try_from(whole).ok()?;
        Some(if self.negative { -whole } else { whole })
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number::checked(false, u128::from(value), 0).unwrap_or(Number::ZERO)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        let sign = |n: &Number| {
            if n.is_zero() {
                0
            } else if n.negative {
                -1
            } else {
                1
            }
        };
        match (sign(self), sign(other)) {
            (a, b) if a != b => a.cmp(&b),
            (0, _) => Ordering::Equal,
            (1, _) => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        }
    }
}

/// Plain decimal notation, as in DynamoDB's responses: no exponent, no leading `+`, no trailing zeros.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        let digits = self.coefficient.to_string();
        let exponent = i32::from(self.exponent);
        if exponent >= 0 {
            write!(f, "{digits}{:0<width$}", "", width = exponent as usize)
        } else {
            let point = digits.len() as i32 + exponent;
            if point > 0 {
                let (whole, fraction) = digits.split_at(point as usize);
                write!(f, "{whole}.{fraction}")
            } else {
                write!(f, "0.{:0<width$}{digits}", "", width = point.unsigned_abs() as usize)
            }
        }
    }
}

fn digit_count(coefficient: u128) -> u32 {
    coefficient.checked_ilog10().map_or(1, |log| log + 1)
}

/// The parts of a number's text: the significant digits and the power of ten of the last one.
struct Digits {
    negative: bool,
    coefficient: u128,
    exponent: i64,
    /// More than 38 significant digits were given.
    too_precise: bool,
    /// The number of significant digits, also counted when they are too many, for the range checks.
    significant: u32,
}

impl Digits {
    fn read(text: &str) -> Option<Digits> {
        let bytes = text.as_bytes();
        let (negative, rest) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let mantissa_end = rest.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(rest.len());
        let scale = if mantissa_end < rest.len() { read_exponent(&rest[mantissa_end + 1..])? } else { 0 };
        let mut digits = Digits { negative, coefficient: 0, exponent: 0, too_precise: false, significant: 0 };
        digits.read_mantissa(&rest[..mantissa_end])?;
        digits.exponent = digits.exponent.saturating_add(scale);
        Some(digits)
    }

    /// Pending zeros are only counted, so that trailing zeros do not use up precision.
    fn read_mantissa(&mut self, mantissa: &[u8]) -> Option<()> {
        let (mut seen_digit, mut seen_point, mut zeros) = (false, false, 0u32);
        let mut fraction_digits = 0i64;
        for &byte in mantissa {
            match byte {
                b'0'..=b'9' => {
                    seen_digit = true;
                    fraction_digits += i64::from(seen_point);
                    if byte == b'0' {
                        zeros = zeros.saturating_add(u32::from(self.significant > 0));
                    } else {
                        self.push(zeros, byte - b'0');
                        zeros = 0;
                    }
                }
                b'.' if !seen_point => seen_point = true,
                _ => return None,
            }
        }
        self.exponent = i64::from(zeros) - fraction_digits;
        seen_digit.then_some(())
    }

    fn push(&mut self, zeros: u32, digit: u8) {
        self.significant = self.significant.saturating_add(zeros + 1);
        if self.significant > NUMBER_DIGITS {
            self.too_precise = true;
        } else {
            self.coefficient = self.coefficient * 10u128.pow(zeros + 1) + u128::from(digit);
        }
    }

    fn into_number(self) -> Result<Number, NumberError> {
        if self.significant == 0 {
            return Ok(Number::ZERO);
        }
        let magnitude = self.exponent + i64::from(self.significant) - 1;
        if magnitude > i64::from(MAX_MAGNITUDE) {
            return Err(NumberError::Overflow);
        }
        if magnitude < i64::from(MIN_MAGNITUDE) {
            return Err(NumberError::Underflow);
        }
        if self.too_precise {
            return Err(NumberError::TooPrecise);
        }
        Number::checked(self.negative, self.coefficient, self.exponent as i32)
    }
}

fn read_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = (value * 10 + i64::from(byte - b'0')).min(1_000_000_000);
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        Number::parse(text).unwrap().to_string()
    }

    #[test]
    fn numbers_are_printed_in_plain_notation() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.00", "0"),
            ("007", "7"),
            ("1.50", "1.5"),
            ("+3", "3"),
            ("1e3", "1000"),
            ("1E-3", "0.001"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-12.340e1", "-123.4"),
            ("100", "100"),
            ("123456789012345678901234567890.12345678", "123456789012345678901234567890.12345678"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
        assert_eq!(canonical("1e125").len(), 126);
        assert_eq!(canonical("1e-130").len(), 132);
    }

    #[test]
    fn invalid_and_out_of_range_numbers_are_rejected() {
        for text in [
            "", "-", "+", ".", "e5", "1e", "1e+", "abc", "1 ", " 1", "0x1", "1.2.3", "NaN", "Infinity", "1_0",
        ] {
            assert_eq!(Number::parse(text), Err(NumberError::NotANumber(text.into())), "{text}");
        }
        assert_eq!(Number::parse("1e126"), Err(NumberError::Overflow));
        assert_eq!(Number::parse("-1e999999999999"), Err(NumberError::Overflow));
        assert_eq!(Number::parse("1e-131"), Err(NumberError::Underflow));
        assert_eq!(Number::parse("123456789012345678901234567890123456789"), Err(NumberError::TooPrecise));
        assert!(Number::parse("99999999999999999999999999999999999999").is_ok());
        assert!(Number::parse("100000000000000000000000000000000000000000").is_ok());
        assert_eq!(Number::parse("0e999"), Ok(Number::ZERO));
    }

    #[test]
    fn sums_are_exact_or_rejected() {
        let add = |a: &str, b: &str| {
            Number::parse(a).unwrap().add(&Number::parse(b).unwrap()).map(|n| n.to_string())
        };
        assert_eq!(add("0.1", "0.2").unwrap(), "0.3");
        assert_eq!(
            add("99999999999999999999999999999999999999", "1").unwrap(),
            "100000000000000000000000000000000000000"
        );
        assert_eq!(add("1e38", "-1").unwrap(), "99999999999999999999999999999999999999");
        assert_eq!(add("1e37", "0.1"), Err(NumberError::Overflow));
        assert_eq!(add("1e125", "1"), Err(NumberError::Overflow));
        assert_eq!(add("9e125", "9e125"), Err(NumberError::Overflow));
        assert_eq!(add("5", "-5").unwrap(), "0");
        assert_eq!(add("-5", "3").unwrap(), "-2");
    }

    #[test]
    fn integer_part_is_extracted() {
        let whole = |text: &str| Number::parse(text).unwrap().to_i64();
        assert_eq!(whole("1700000000.9"), Some(1_700_000_000));
        assert_eq!(whole("-3"), Some(-3));
        assert_eq!(whole("1e30"), None);
        assert_eq!(whole("1e-100"), Some(0));
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(c in 0u128..10u128.pow(38), e in -100i32..80, negative: bool) {
            let text = format!("{}{c}e{e}", if negative { "-" } else { "" });
            if let Ok(number) = Number::parse(&text) {
                prop_assert_eq!(Number::parse(&number.to_string()), Ok(number));
            }
        }

        #[test]
        fn integers_add_and_compare_as_integers(a in -1_000_000_000_000i64..1_000_000_000_000, b in -1_000_000_000_000i64..1_000_000_000_000) {
            let (x, y) = (Number::parse(&a.to_string()).unwrap(), Number::parse(&b.to_string()).unwrap());
            prop_assert_eq!(x.add(&y).unwrap().to_string(), (a + b).to_string());
            prop_assert_eq!(x.subtract(&y).unwrap().to_string(), (a - b).to_string());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }
}
