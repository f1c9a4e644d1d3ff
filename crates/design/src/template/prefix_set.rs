//! A set of texts that knows which of them another text starts with, without trying each.

use std::iter::successors;

/// Texts in order, each with the longest other one that it starts with.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrefixSet {
    texts: Vec<String>,
    /// How many characters each has.
    lengths: Vec<usize>,
    /// The number of the longest other text that each starts with.
    starts: Vec<Option<usize>>,
    /// How many of the texts one of them starts with at most, itself included.
    depth: usize,
}

impl PrefixSet {
    pub fn new(texts: impl IntoIterator<Item = String>) -> PrefixSet {
        let mut texts: Vec<String> = texts.into_iter().collect();
        texts.sort_unstable();
        texts.dedup();
        let mut set = PrefixSet::default();
        // The texts that the last one starts with, itself included.
        let mut open: Vec<usize> = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            while open.last().is_some_and(|last| !text.starts_with(texts[*last].as_str())) {
                open.pop();
            }
            set.starts.push(open.last().copied());
            set.lengths.push(text.chars().count());
            open.push(number);
            set.depth = set.depth.max(open.len());
        }
        PrefixSet { texts, ..set }
    }

    /// Returns the texts in order.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns how many of the texts one of them starts with at most, itself included.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of a text.
    pub fn position(&self, text: &str) -> Option<usize> {
        self.texts.binary_search_by(|own| own.as_str().cmp(text)).ok()
    }

    /// Returns whether one of the texts starts with another text.
    pub fn has_start(&self, text: &str) -> bool {
        let at = self.texts.partition_point(|own| own.as_str() < text);
        self.texts.get(at).is_some_and(|own| own.starts_with(text))
    }

    /// Returns the numbers of the texts that `text` starts with, the longest first, and how many characters they have.
    pub fn starts_of(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        // Between a start of the text and the text itself there are only texts with the same start.
        let last = self.texts.partition_point(|own| own.as_str() <= text).checked_sub(1);
        let common = last.map_or(0, |last| common_bytes(&self.texts[last], text));
        let longest = successors(last, |number| self.starts[*number])
            .find(|number| self.texts[*number].len() <= common);
        successors(longest, |number| self.starts[*number]).map(|number| (number, self.lengths[number]))
    }
}

fn common_bytes(left: &str, right: &str) -> usize {
    left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn starts_are_found_as_if_each_text_were_tried(
            texts in prop::collection::vec("[abé]{0,4}", 0..12), text in "[abé]{0,6}",
        ) {
            let set = PrefixSet::new(texts);
            let found: Vec<&str> = set.starts_of(&text).map(|(number, _)| set.texts()[number].as_str()).collect();
            let tried: Vec<&str> =
                set.texts().iter().rev().map(String::as_str).filter(|own| text.starts_with(own)).collect();
            prop_assert_eq!(found, tried);
            let lengths = set.starts_of(&text).all(|(number, length)| set.texts()[number].chars().count() == length);
            prop_assert!(lengths);
            prop_assert_eq!(set.has_start(&text), set.texts().iter().any(|own| own.starts_with(&text)));
            prop_assert_eq!(set.position(&text).is_some(), set.texts().contains(&text));
        }
    }
}
