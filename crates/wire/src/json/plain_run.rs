//! How far a string goes before a byte that JSON treats specially. Shared by reader and writer.

/// Bytes looked at in one step: the compiler makes a few vector instructions of it.
const STEP: usize = 32;

/// The number of bytes before the first quote, backslash or control character, or all of them.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let (steps, _) = bytes.as_chunks::<STEP>();
    let plain = steps.iter().take_while(|step| !has_special(step)).count() * STEP;
    plain + bytes[plain..].iter().take_while(|&&byte| !is_special(byte)).count()
}

pub(super) fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Without a branch a byte, which is what lets it be vectorised.
fn has_special(step: &[u8; STEP]) -> bool {
    step.iter().fold(false, |special, &byte| special | is_special(byte))
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
