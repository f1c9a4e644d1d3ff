//! The writes of a group of decisions, in memory and in key order, until they are committed together.
//!
//! Writes arrive decision by decision, in order; each row is stored once, as the last write left it. So counters are
//! added up here and written once. Later decisions of the group read through the batch.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;

use partita_store::{Counters, MAX_KEY_BYTES, Space, StoreError, Write};

#[derive(Default)]
pub(crate) struct Batch {
    /// `None` is a deleted row.
    rows: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    dropped: Vec<Space>,
    bytes: usize,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.dropped.is_empty()
    }

    /// The rows in key order; `None` is a deleted row.
    pub fn rows(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.rows.iter().map(|(key, row)| (&key[..], row.as_deref()))
    }

    pub fn dropped(&self) -> &[Space] {
        &self.dropped
    }

    /// The approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The row as the group has changed it, or `None` if the group has not touched it.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        if let Some(row) = self.rows.get(key) {
            return Some(row.as_deref());
        }
        self.dropped.iter().any(|space| key.starts_with(&space.prefix())).then_some(None)
    }

    /// Adds a decision's writes: all, or none on an error. `stored` reads rows that no decision of the group has touched.
    pub fn add(
        &mut self,
        writes: Vec<Write>,
        stored: impl Fn(&[u8]) -> Result<Counters, StoreError>,
    ) -> Result<(), StoreError> {
        let mut counters = BTreeMap::new();
        for write in &writes {
            match write {
                Write::Put { key, .. } | Write::Delete { key } => check_key(key)?,
                Write::Count { key, .. } => {
                    check_key(key)?;
                    if self.get(key).is_none() && !counters.contains_key(key) {
                        counters.insert(key.clone(), stored(key)?);
                    }
                }
                Write::DropSpace(_) => {}
            }
        }
        for write in writes {
            match write {
                Write::Put { key, value } => self.set(key, Some(value)),
                Write::Delete { key } => self.set(key, None),
                Write::Count { key, add } => {
                    let mut total = match self.get(&key) {
                        Some(row) => Counters::read(row),
                        None => counters.get(&key).copied().unwrap_or_default(),
                    };
                    total += add;
                    self.set(key, Some(total.to_row()));
                }
                Write::DropSpace(space) => self.drop_space(space),
            }
        }
        Ok(())
    }

    fn set(&mut self, key: Vec<u8>, row: Option<Vec<u8>>) {
        self.bytes += row.as_ref().map_or(0, Vec::len);
        match self.rows.entry(key) {
            Entry::Occupied(mut old) => {
                let old = old.insert(row);
                self.bytes -= old.map_or(0, |old| old.len());
            }
            Entry::Vacant(vacant) => {
                self.bytes += vacant.key().len() + 64;
                vacant.insert(row);
            }
        }
    }

    fn drop_space(&mut self, space: Space) {
        let prefix = space.prefix();
        let in_space = self.rows.range::<[u8], _>((Bound::Included(&prefix[..]), Bound::Unbounded));
        let removed: Vec<_> =
            in_space.map(|(key, _)| key).take_while(|key| key.starts_with(&prefix)).cloned().collect();
        for key in removed {
            if let Some(row) = self.rows.remove(&key) {
                self.bytes -= key.len() + 64 + row.map_or(0, |row| row.len());
            }
        }
        self.dropped.push(space);
    }
}

fn check_key(key: &[u8]) -> Result<(), StoreError> {
    if (size_of::<Space>()..=MAX_KEY_BYTES).contains(&key.len()) {
        return Ok(());
    }
    Err(StoreError::Io(format!("a key of {} bytes cannot be stored", key.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &[u8], value: &[u8]) -> Write {
        Write::Put { key: key.to_vec(), value: value.to_vec() }
    }

    fn count(key: &[u8], rows: i64) -> Write {
        Write::Count { key: key.to_vec(), add: Counters { rows, bytes: 10 } }
    }

    #[test]
    fn the_last_write_wins_and_counters_add_up() {
        let mut batch = Batch::default();
        let stored = |_: &[u8]| Ok(Counters { rows: 40, bytes: 400 });
        batch.add(vec![put(b"space", b"1"), put(b"space", b"2"), count(b"count", 1)], stored).unwrap();
        batch.add(vec![count(b"count", 1), count(b"count", -5)], stored).unwrap();
        assert_eq!(batch.get(b"space"), Some(Some(&b"2"[..])));
        assert_eq!(Counters::read(batch.get(b"count").unwrap()), Counters { rows: 37, bytes: 430 });
        batch.add(vec![Write::Delete { key: b"count".to_vec() }, count(b"count", 3)], stored).unwrap();
        assert_eq!(Counters::read(batch.get(b"count").unwrap()), Counters { rows: 3, bytes: 10 });
        assert_eq!(batch.get(b"other"), None);
    }

    #[test]
    fn a_failed_decision_leaves_the_batch_unchanged() {
        let mut batch = Batch::default();
        let damaged = |_: &[u8]| Err(StoreError::damaged("x"));
        assert!(batch.add(vec![put(b"space", b"1"), count(b"count", 1)], damaged).is_err());
        assert!(batch.add(vec![put(b"space", b"1"), put(b"key", b"")], damaged).is_err());
        assert!(batch.add(vec![put(b"space", b"1"), put(&[1; 1_901], b"")], damaged).is_err());
        assert!(batch.is_empty());
        assert_eq!(batch.bytes(), 0);
    }

    #[test]
    fn a_dropped_space_is_empty() {
        let mut batch = Batch::default();
        let stored = |_: &[u8]| Ok(Counters::default());
        batch.add(vec![put(&[0, 0, 0, 1, 5], b"1"), put(&[0, 0, 0, 2], b"2")], stored).unwrap();
        batch.add(vec![Write::DropSpace(Space(1))], stored).unwrap();
        assert_eq!(batch.get(&[0, 0, 0, 1, 5]), Some(None));
        assert_eq!(batch.get(&[0, 0, 0, 1, 6]), Some(None));
        assert_eq!(batch.get(&[0, 0, 0, 2]), Some(Some(&b"2"[..])));
        assert_eq!(batch.rows.len(), 1);
    }
}
