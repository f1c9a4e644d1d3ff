//! Sets of page numbers, as bitmaps.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const CHUNK_WORDS: usize = 1 << 14;
const CHUNK_BITS: u64 = CHUNK_WORDS as u64 * 64;
/// With 4 KB pages this is 16 TB.
const CHUNKS: usize = 1 << 12;

/// A set that all threads read and add to. Page numbers beyond its capacity are never in it.
pub(crate) struct AtomicPageSet {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl AtomicPageSet {
    pub fn new() -> AtomicPageSet {
        AtomicPageSet { chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect() }
    }

    pub fn contains(&self, page: u64) -> bool {
        let chunk = self.chunks.get((page / CHUNK_BITS) as usize).and_then(OnceLock::get);
        chunk.is_some_and(|words| {
            words[(page % CHUNK_BITS / 64) as usize].load(Ordering::Acquire) >> (page % 64) & 1 == 1
        })
    }

    pub fn set(&self, page: u64, present: bool) {
        let Some(chunk) = self.chunks.get((page / CHUNK_BITS) as usize) else { return };
        let words = chunk.get_or_init(|| (0..CHUNK_WORDS).map(|_| AtomicU64::new(0)).collect());
        let word = &words[(page % CHUNK_BITS / 64) as usize];
        if present {
            word.fetch_or(1 << (page % 64), Ordering::Release);
        } else {
            word.fetch_and(!(1 << (page % 64)), Ordering::Release);
        }
    }
}

/// A set owned by one thread.
#[derive(Clone, Default)]
pub(crate) struct PageSet {
    words: Vec<u64>,
    count: u64,
}

impl PageSet {
    pub fn contains(&self, page: u64) -> bool {
        self.words.get((page / 64) as usize).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// The number of pages in the set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether the page was newly inserted.
    pub fn insert(&mut self, page: u64) -> bool {
        if self.contains(page) {
            return false;
        }
        let index = (page / 64) as usize;
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        self.words[index] |= 1 << (page % 64);
        self.count += 1;
        true
    }

    /// Returns whether the page was in the set.
    pub fn remove(&mut self, page: u64) -> bool {
        let was_present = self.contains(page);
        if was_present {
            self.words[(page / 64) as usize] &= !(1 << (page % 64));
            self.count -= 1;
        }
        was_present
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index as u64 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sets_contain_what_was_inserted() {
        let (shared, mut owned) = (AtomicPageSet::new(), PageSet::default());
        let pages = [0, 1, 63, 64, 65, CHUNK_BITS - 1, CHUNK_BITS, 3 * CHUNK_BITS + 77];
        for page in pages {
            assert!(!shared.contains(page) && !owned.contains(page));
            shared.set(page, true);
            assert!(owned.insert(page) && !owned.insert(page));
        }
        assert_eq!(owned.iter().collect::<Vec<_>>(), pages);
        assert!(
            pages.iter().all(|page| shared.contains(*page))
                && !shared.contains(2)
                && !shared.contains(u64::MAX)
        );
        shared.set(64, false);
        assert!(owned.remove(64) && !owned.remove(64) && !owned.remove(u64::MAX));
        assert!(!shared.contains(64) && shared.contains(65) && !owned.contains(64) && owned.count() == 7);
    }
}
