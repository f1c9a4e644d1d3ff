//! How far a string goes before a byte that JSON treats specially. Shared by reader and writer.

/// Bytes looked at in one step.
const STEP: usize = 8;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The number of bytes before the first quote, backslash or control character, or all of them.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<STEP>() {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += STEP;
    }
    at + bytes[at..].iter().take_while(|&&byte| !is_special(byte)).count()
}

pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Sets the high bit of bytes that are special; the lowest one set is exact, those above it may not be.
fn special_bytes(word: u64) -> u64 {
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    controls | zero_bytes(word ^ (ONES * u64::from(b'"'))) | zero_bytes(word ^ (ONES * u64::from(b'\\')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_find_what_a_byte_by_byte_search_finds(bytes: Vec<u8>) {
            let expected = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(&bytes), expected);
        }

        #[test]
        fn text_with_few_special_bytes(text in "[a-zA-Zäöü\u{7f}-\u{ff} ]{0,40}[\"\\\\\u{0}-\u{20}]?[a-z]{0,20}") {
            let bytes = text.as_bytes();
            let expected = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(bytes), expected);
        }
    }
}
