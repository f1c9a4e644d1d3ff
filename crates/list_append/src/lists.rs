//! The lists in use: a few at a time, so that transactions conflict, and each only for a while, so that lists stay short.

use crate::history::{Element, Key};
use crate::random::Random;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const LISTS: usize = 12;
/// A list is retired after this many appends.
const MAX_APPENDS: u32 = 40;

pub struct Lists {
    /// The key in the upper half, its number of appends in the lower one.
    slots: Vec<AtomicU64>,
    next_key: AtomicU32,
    next_element: AtomicU32,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists {
            slots: (0..LISTS as u64).map(|key| AtomicU64::new(key << 32)).collect(),
            next_key: AtomicU32::new(LISTS as u32),
            next_element: AtomicU32::default(),
        }
    }
}

impl Lists {
    /// Chooses distinct keys.
    pub fn choose(&self, random: &mut Random, count: usize) -> Vec<Key> {
        let mut keys = Vec::with_capacity(count);
        while keys.len() < count {
            let slot = self.slots[random.below(LISTS)].load(Ordering::Relaxed);
            let key = (slot >> 32) as Key;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// A new element for a list.
    pub fn new_element(&self, key: Key) -> Element {
        let holds = |slot: &&AtomicU64| (slot.load(Ordering::Relaxed) >> 32) as Key == key;
        if let Some(slot) = self.slots.iter().find(holds)
            && slot.fetch_add(1, Ordering::Relaxed) as u32 >= MAX_APPENDS
        {
            let next = self.next_key.fetch_add(1, Ordering::Relaxed);
            slot.store(u64::from(next) << 32, Ordering::Relaxed);
        }
        self.next_element.fetch_add(1, Ordering::Relaxed)
    }

    /// Every key that was ever used.
    pub fn keys(&self) -> std::ops::Range<Key> {
        0..self.next_key.load(Ordering::Relaxed)
    }
}
