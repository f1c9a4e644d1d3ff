//! Search for the first byte of a string that JSON treats specially. Shared by reader and writer.

/// Bytes examined in one step, which compiles to a few vector instructions.
const STEP: usize = 32;
const BLOCK: usize = 128;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The number of bytes before the first quote, backslash or control character, or all of them.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    if is_plain(bytes) { bytes.len() } else { bytes.iter().take_while(|&&byte| !is_special(byte)).count() }
}

/// Most strings are short and plain: they are checked in one or two words, which may overlap.
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

/// The number of quotes, or `None` if another byte is special.
pub(crate) fn quotes_if_plain(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let (mut least, mut backslashes, mut quotes) = (u8::MAX, 0, 0);
    // Three passes over a block, each simple enough to be vectorised; a block's quotes can be counted in a byte.
    for block in blocks.iter().chain([&last]) {
        least = block.iter().fold(least, |least, byte| least.min(*byte));
        backslashes |= block.iter().fold(0, |found, byte| found | u8::from(*byte == b'\\'));
        let found = block.iter().fold(0u8, |count, byte| count.wrapping_add(u8::from(*byte == b'"')));
        quotes += usize::from(found);
    }
    (least >= b' ' && backslashes == 0).then_some(quotes)
}

fn is_plain_long(bytes: &[u8]) -> bool {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let (words, _) = rest.as_chunks::<8>();
    // No branch per byte, so that the loop is vectorised. The last bytes were checked by the caller.
    let has_special =
        |step: &[u8; STEP]| step.iter().fold(false, |special, &byte| special | is_special(byte));
    !steps.iter().any(has_special) && words.iter().all(|word| special_bytes(u64::from_le_bytes(*word)) == 0)
}

#[inline]
pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Non-zero if any byte of the word is special.
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
        fn quotes_are_counted_where_nothing_else_is_special(text in "[a-z\"äöü]{0,300}[\\\\\u{1}]?[a-z\"]{0,90}") {
            let bytes = text.as_bytes();
            let quotes = bytes.iter().filter(|byte| **byte == b'"').count();
            let special = bytes.iter().any(|byte| is_special(*byte) && *byte != b'"');
            prop_assert_eq!(quotes_if_plain(bytes), (!special).then_some(quotes));
        }

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
