//! Sequence numbers of stream records: integers in the store, strings of digits for clients.

use std::fmt;

/// The position of a record in its stream. Later records have larger numbers, across all shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SequenceNumber(pub u64);

/// Added to the number: the service model requires at least 21 digits, and with a fixed length the order of the texts is
/// the order of the numbers.
const FIRST_SHOWN: u128 = 100_000_000_000_000_000_000;

impl SequenceNumber {
    /// Parses the digits; `None` if no record can have this number.
    pub fn parse(digits: &str) -> Option<SequenceNumber> {
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let shown: u128 = digits.parse().ok()?;
        u64::try_from(shown.checked_sub(FIRST_SHOWN)?).ok().map(SequenceNumber)
    }
}

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", FIRST_SHOWN + u128::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::SequenceNumber;

    #[test]
    fn numbers_have_as_many_digits_as_the_service_model_requires() {
        for number in [0, 1, 9_999, u64::MAX] {
            let shown = SequenceNumber(number).to_string();
            assert_eq!(shown.len(), 21);
            assert_eq!(SequenceNumber::parse(&shown), Some(SequenceNumber(number)));
        }
        assert!(SequenceNumber(9).to_string() < SequenceNumber(10).to_string());
    }

    #[test]
    fn other_texts_are_not_sequence_numbers() {
        let too_large = "9".repeat(40);
        for digits in ["", "1", "+00000000000000000001", "1000000000000000000x0", &too_large] {
            assert_eq!(SequenceNumber::parse(digits), None, "{digits}");
        }
    }
}
