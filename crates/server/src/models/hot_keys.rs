//! The most frequent keys of a stream in bounded memory: when all places are taken, a new key takes that of the rarest and
//! inherits its count, so that no frequent key is ever missed and no count is too low. What was inherited is said.

use partita_value::limits::PARTITION_KEY_BYTES;
use std::collections::BTreeMap;

const PLACES: usize = 256;

#[derive(Default)]
pub struct HotKeys {
    counts: BTreeMap<String, Count>,
}

#[derive(Clone, Copy, Default)]
pub struct Count {
    /// At most so many.
    pub requests: u64,
    /// So many of them may be others'.
    pub inherited: u64,
}

impl HotKeys {
    /// Counts a key. A longer one than keys are is none: its request is refused.
    pub fn add(&mut self, key: &str) {
        if key.len() > PARTITION_KEY_BYTES {
            return;
        }
        if let Some(count) = self.counts.get_mut(key) {
            count.requests += 1;
            return;
        }
        let mut inherited = 0;
        if self.counts.len() >= PLACES {
            let rarest = self.counts.iter().min_by_key(|(_, count)| count.requests);
            if let Some((rarest, count)) = rarest.map(|(key, count)| (key.clone(), *count)) {
                self.counts.remove(&rarest);
                inherited = count.requests;
            }
        }
        self.counts.insert(key.to_owned(), Count { requests: inherited + 1, inherited });
    }

    /// The hottest, at most `most` of them; what may be nothing but inheritance is left out.
    pub fn top(&self, most: usize) -> Vec<(&str, Count)> {
        let sure = self.counts.iter().filter(|(_, count)| count.inherited * 2 <= count.requests);
        let mut keys: Vec<(&str, Count)> = sure.map(|(key, count)| (key.as_str(), *count)).collect();
        keys.sort_by_key(|(_, count)| std::cmp::Reverse(count.requests));
        keys.truncate(most);
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_key_is_found_among_many_in_little_memory() {
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
        assert_eq!(keys.counts.len(), PLACES);
    }

    #[test]
    fn what_is_too_long_for_a_key_is_not_kept() {
        let mut keys = HotKeys::default();
        keys.add(&"k".repeat(PARTITION_KEY_BYTES + 1));
        assert!(keys.top(1).is_empty());
        keys.add(&"k".repeat(PARTITION_KEY_BYTES));
        assert_eq!(keys.top(1).len(), 1);
    }
}
