//! The most frequent keys of a stream in bounded memory (the Space-Saving algorithm): when the table is full, a new key
//! replaces the rarest and inherits its count, so that no frequent key is ever missed and no count is too low. The inherited
//! part is recorded.

use partita_value::limits::PARTITION_KEY_BYTES;
use std::collections::BTreeMap;

const CAPACITY: usize = 256;

#[derive(Default)]
pub struct HotKeys {
    counts: BTreeMap<String, Count>,
}

#[derive(Clone, Copy, Default)]
pub struct Count {
    /// An upper bound.
    pub requests: u64,
    /// How many of them may be for other keys.
    pub inherited: u64,
}

impl HotKeys {
    /// Counts a key. One that is too long for a key is ignored: its request is refused.
    pub fn add(&mut self, key: &str) {
        if key.len() > PARTITION_KEY_BYTES {
            return;
        }
        if let Some(count) = self.counts.get_mut(key) {
            count.requests += 1;
            return;
        }
        let mut inherited = 0;
        if self.counts.len() >= CAPACITY {
            let rarest = self.counts.iter().min_by_key(|(_, count)| count.requests);
            if let Some((rarest, count)) = rarest.map(|(key, count)| (key.clone(), *count)) {
                self.counts.remove(&rarest);
                inherited = count.requests;
            }
        }
        self.counts.insert(key.to_owned(), Count { requests: inherited + 1, inherited });
    }

    /// The most frequent keys, at most `limit`; those whose count may be mostly inherited are left out.
    pub fn top(&self, limit: usize) -> Vec<(&str, Count)> {
        let sure = self.counts.iter().filter(|(_, count)| count.inherited * 2 <= count.requests);
        let mut keys: Vec<(&str, Count)> = sure.map(|(key, count)| (key.as_str(), *count)).collect();
        keys.sort_by_key(|(_, count)| std::cmp::Reverse(count.requests));
        keys.truncate(limit);
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_key_is_found_among_many_in_bounded_memory() {
        let mut keys = HotKeys::default();
        for number in 0..20_000 {
            keys.add(&format!("USER#{number}"));
            if number % 10 == 0 {
                keys.add("USER#hot");
            }
        }
        let top = keys.top(3);
        assert_eq!(top[0].0, "USER#hot");
        assert!(top[0].1.requests >= 2000 && top[0].1.requests - top[0].1.inherited <= 2000);
        assert_eq!(keys.counts.len(), CAPACITY);
    }

    #[test]
    fn texts_that_are_too_long_for_a_key_are_not_stored() {
        let mut keys = HotKeys::default();
        keys.add(&"k".repeat(PARTITION_KEY_BYTES + 1));
        assert!(keys.top(1).is_empty());
        keys.add(&"k".repeat(PARTITION_KEY_BYTES));
        assert_eq!(keys.top(1).len(), 1);
    }
}
