//! How far a string goes before a byte that JSON treats specially. Shared by reader and writer.

/// Bytes looked at in one step: the compiler makes a few vector instructions of it.
const STEP: usize = 32;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The number of bytes before the first quote, backslash or control character, or all of them.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    if is_plain(bytes) { bytes.len() } else { bytes.iter().take_while(|&&byte| !is_special(byte)).count() }
}

/// Most strings are short and plain: they are judged in one or two words, which may overlap.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let ends = special_bytes(u64::from_le_bytes(*first)) | special_bytes(u64::from_le_bytes(*last));
        ends == 0 && (bytes.len() <= 16 || is_plain_long(bytes))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let both = u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
        special_bytes(both) == 0
    } else {
        !bytes.iter().any(|&byte| is_special(byte))
    }
}

fn is_plain_long(bytes: &[u8]) -> bool {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let (words, _) = rest.as_chunks::<8>();
    // Without a branch a byte, which is what lets it be vectorised. The last bytes were seen already.
    let has_special =
        |step: &[u8; STEP]| step.iter().fold(false, |special, &byte| special | is_special(byte));
    !steps.iter().any(has_special) && words.iter().all(|word| special_bytes(u64::from_le_bytes(*word)) == 0)
}

#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Not zero if any byte of the word is special.
#[inline]
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
