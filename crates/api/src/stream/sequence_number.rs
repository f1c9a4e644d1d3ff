//! Sequence numbers of stream records: numbers to the store, digits to clients.

use std::fmt;

/// The place of a record in its stream. Later records have larger numbers, across all shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SequenceNumber(pub u64);

/// Added to what is shown: the service model wants 21 digits at least, and with as many always, the order
/// of the texts is the order of the numbers.
const SHOWN_FROM: u128 = 100_000_000_000_000_000_000;

impl SequenceNumber {
    /// The number that these digits show; `None` if no record can have it.
    pub fn parse(digits: &str) -> Option<SequenceNumber> {
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let shown: u128 = digits.parse().ok()?;
        u64::try_from(shown.checked_sub(SHOWN_FROM)?).ok().map(SequenceNumber)
    }
}

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", SHOWN_FROM + u128::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::SequenceNumber;

    #[test]
    fn numbers_are_shown_with_as_many_digits_as_the_service_model_wants() {
        for number in [0, 1, 9_999, u64::MAX] {
            let shown = SequenceNumber(number).to_string();
            assert_eq!(shown.len(), 21);
            assert_eq!(SequenceNumber::parse(&shown), Some(SequenceNumber(number)));
        }
        assert!(SequenceNumber(9).to_string() < SequenceNumber(10).to_string());
    }

    #[test]
    fn other_texts_are_no_numbers_of_records() {
        let too_large = "9".repeat(40);
        for digits in ["", "1", "+00000000000000000001", "1000000000000000000x0", &too_large] {
            assert_eq!(SequenceNumber::parse(digits), None, "{digits}");
        }
    }
}
