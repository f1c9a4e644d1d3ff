//! Sets of page numbers, a bit each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const CHUNK_WORDS: usize = 1 << 14;
const CHUNK_BITS: u64 = CHUNK_WORDS as u64 * 64;
/// With pages of 4 KB this is 16 TB.
const CHUNKS: usize = 1 << 12;

/// A set that all threads read and add to. Pages too far out are never in it.
pub(crate) struct SharedPageBits {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl SharedPageBits {
    pub fn new() -> SharedPageBits {
        SharedPageBits { chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect() }
    }

    pub fn has(&self, page: u64) -> bool {
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

/// A set that one thread has.
#[derive(Clone, Default)]
pub(crate) struct PageBits {
    words: Vec<u64>,
    count: u64,
}

impl PageBits {
    pub fn has(&self, page: u64) -> bool {
        self.words.get((page / 64) as usize).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// How many pages it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Says whether it was not there before.
    pub fn insert(&mut self, page: u64) -> bool {
        if self.has(page) {
            return false;
        }
        let place = (page / 64) as usize;
        if self.words.len() <= place {
            self.words.resize(place + 1, 0);
        }
        self.words[place] |= 1 << (page % 64);
        self.count += 1;
        true
    }

    /// Says whether it was there.
    pub fn remove(&mut self, page: u64) -> bool {
        let was_there = self.has(page);
        if was_there {
            self.words[(page / 64) as usize] &= !(1 << (page % 64));
            self.count -= 1;
        }
        was_there
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place as u64 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sets_say_what_was_put_in() {
        let (shared, mut own) = (SharedPageBits::new(), PageBits::default());
        let pages = [0, 1, 63, 64, 65, CHUNK_BITS - 1, CHUNK_BITS, 3 * CHUNK_BITS + 77];
        for page in pages {
            assert!(!shared.has(page) && !own.has(page));
            shared.set(page, true);
            assert!(own.insert(page) && !own.insert(page));
        }
        assert_eq!(own.iter().collect::<Vec<_>>(), pages);
        assert!(pages.iter().all(|page| shared.has(*page)) && !shared.has(2) && !shared.has(u64::MAX));
        shared.set(64, false);
        assert!(own.remove(64) && !own.remove(64) && !own.remove(u64::MAX));
        assert!(!shared.has(64) && shared.has(65) && !own.has(64) && own.count() == 7);
    }
}
