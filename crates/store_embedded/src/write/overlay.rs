//! Rows that are in the log and not yet in the tree: an ordered map that is cheap to change and to share.
//!
//! An overlay is immutable. [`Overlay::with`] makes a new one that shares as much as possible with the old one, so a
//! snapshot keeps the overlay it was taken with and reads it without a lock. Rows are in leaves of a few dozen, the
//! leaves in one list: changing a row copies its leaf, and the list once per batch.

use std::sync::Arc;

use partita_store::{Direction, KeyRange, Space};

use crate::write::batch::Batch;

const LEAF_ROWS: usize = 32;
/// The overhead of a row in addition to its key and value.
const ROW_COST: usize = 64;

/// A row's key and value, or a tombstone.
#[derive(Clone)]
pub(crate) struct Row {
    /// The key followed by the value.
    bytes: Arc<[u8]>,
    key_bytes: usize,
    deleted: bool,
}

impl Row {
    pub fn new(key: &[u8], value: Option<&[u8]>) -> Row {
        let bytes = [key, value.unwrap_or_default()].concat();
        Row { bytes: bytes.into(), key_bytes: key.len(), deleted: value.is_none() }
    }

    pub fn key(&self) -> &[u8] {
        &self.bytes[..self.key_bytes]
    }

    pub fn value(&self) -> Option<&[u8]> {
        if self.deleted { None } else { Some(&self.bytes[self.key_bytes..]) }
    }

    fn cost(&self) -> usize {
        self.bytes.len() + ROW_COST
    }
}

/// In key order and never empty.
type Leaf = Vec<Row>;

#[derive(Clone, Default)]
pub(crate) struct Overlay {
    leaves: Vec<Arc<Leaf>>,
    /// Spaces dropped here: their rows in older overlays and in the tree are hidden.
    dropped: Vec<Space>,
    rows: usize,
    bytes: usize,
}

impl Overlay {
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty() && self.dropped.is_empty()
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn dropped(&self) -> &[Space] {
        &self.dropped
    }

    /// The row as changed here (`None` inside if deleted), or `None` if it is not changed here.
    pub fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        if let Some(leaf) = self.leaves.get(self.leaf_of(key))
            && let Ok(index) = leaf.binary_search_by(|row| row.key().cmp(key))
        {
            return Some(leaf[index].value());
        }
        self.drops(key).then_some(None)
    }

    pub fn drops(&self, key: &[u8]) -> bool {
        self.dropped.iter().any(|space| key.starts_with(&space.prefix()))
    }

    /// The rows of a range, including tombstones.
    pub fn range<'a>(
        &'a self,
        range: &'a KeyRange,
        direction: Direction,
    ) -> Box<dyn Iterator<Item = &'a Row> + 'a> {
        let before_start = |row: &&Row| row.key() < &range.start[..];
        let before_end = |row: &&Row| row.key() < &range.end[..];
        match direction {
            Direction::Ascending => {
                let leaves = self.leaves[self.leaf_of(&range.start)..].iter();
                Box::new(leaves.flat_map(|leaf| leaf.iter()).skip_while(before_start).take_while(before_end))
            }
            Direction::Descending => {
                let leaves = self.leaves.iter().take(self.leaf_of(&range.end) + 1).rev();
                Box::new(
                    leaves
                        .flat_map(|leaf| leaf.iter().rev())
                        .skip_while(move |row| !before_end(row))
                        .take_while(move |row| !before_start(row)),
                )
            }
        }
    }

    /// All rows in order, including tombstones.
    pub fn all(&self) -> impl Iterator<Item = &Row> {
        self.leaves.iter().flat_map(|leaf| leaf.iter())
    }

    /// This overlay with a later batch applied.
    pub fn with(&self, batch: &Batch) -> Overlay {
        let mut next = self.clone();
        for space in batch.dropped() {
            next.drop_space(*space);
        }
        for (key, value) in batch.rows() {
            next.set(Row::new(key, value));
        }
        next
    }

    /// The leaf that contains a key, or would.
    fn leaf_of(&self, key: &[u8]) -> usize {
        let after = self.leaves.partition_point(|leaf| leaf.first().is_some_and(|first| first.key() <= key));
        after.saturating_sub(1)
    }

    fn set(&mut self, row: Row) {
        self.bytes += row.cost();
        let at = self.leaf_of(row.key());
        let Some(leaf) = self.leaves.get_mut(at).map(Arc::make_mut) else {
            self.leaves.push(Arc::new(vec![row]));
            self.rows += 1;
            return;
        };
        match leaf.binary_search_by(|other| other.key().cmp(row.key())) {
            Ok(index) => {
                self.bytes -= leaf[index].cost();
                leaf[index] = row;
            }
            Err(index) => {
                self.rows += 1;
                leaf.insert(index, row);
                if leaf.len() > LEAF_ROWS {
                    // Rows that arrive in order leave full leaves behind.
                    let half = if index == LEAF_ROWS { LEAF_ROWS } else { LEAF_ROWS / 2 };
                    let upper = leaf.split_off(half);
                    self.leaves.insert(at + 1, Arc::new(upper));
                }
            }
        }
    }

    fn drop_space(&mut self, space: Space) {
        let prefix = space.prefix();
        let is_kept = |row: &Row| !row.key().starts_with(&prefix);
        for leaf in &mut self.leaves {
            if !leaf.iter().all(is_kept) {
                Arc::make_mut(leaf).retain(is_kept);
            }
        }
        self.leaves.retain(|leaf| !leaf.is_empty());
        self.rows = self.all().count();
        self.bytes = self.all().map(Row::cost).sum();
        self.dropped.push(space);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use partita_store::{Counters, Write};

    use super::*;

    fn take(batch: &mut Batch, write: Write) {
        batch.add(vec![write], |_| Ok(Counters::default())).unwrap();
    }

    #[test]
    fn agrees_with_a_plain_map_and_older_overlays_stay_unchanged() {
        let mut overlay = Overlay::default();
        let mut model: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
        let mut history = Vec::new();
        let mut number = 1_u32;
        for _ in 0..300 {
            let mut batch = Batch::default();
            for _ in 0..10 {
                number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let key = ((number >> 16) % 1_500).to_be_bytes().to_vec();
                let value = number.to_be_bytes().to_vec();
                if number.is_multiple_of(5) {
                    model.insert(key.clone(), None);
                    take(&mut batch, Write::Delete { key });
                } else {
                    model.insert(key.clone(), Some(value.clone()));
                    take(&mut batch, Write::Put { key, value });
                }
            }
            overlay = overlay.with(&batch);
            history.push((overlay.clone(), model.clone()));
        }
        for (overlay, model) in history {
            let all: Vec<_> = overlay.all().map(|row| (row.key(), row.value())).collect();
            assert_eq!(
                all,
                model.iter().map(|(key, value)| (&key[..], value.as_deref())).collect::<Vec<_>>()
            );
            assert_eq!(overlay.rows(), model.len());
            let (start, end) = (300_u32.to_be_bytes().to_vec(), 1_203_u32.to_be_bytes().to_vec());
            let expected: Vec<_> = model.range(start.clone()..end.clone()).map(|row| &row.0[..]).collect();
            let range = KeyRange { start, end };
            let up: Vec<_> = overlay.range(&range, Direction::Ascending).map(Row::key).collect();
            let mut down: Vec<_> = overlay.range(&range, Direction::Descending).map(Row::key).collect();
            down.reverse();
            assert_eq!(up, expected);
            assert_eq!(down, expected);
            for number in 0..1_500_u32 {
                let key = number.to_be_bytes();
                assert_eq!(overlay.get(&key), model.get(&key[..]).map(|value| value.as_deref()));
            }
        }
    }

    #[test]
    fn a_dropped_space_is_empty() {
        let mut batch = Batch::default();
        for number in 0..200_u32 {
            let key = [(number % 3).to_be_bytes(), number.to_be_bytes()].concat();
            take(&mut batch, Write::Put { key, value: vec![1; 10] });
        }
        let before = Overlay::default().with(&batch);
        let mut batch = Batch::default();
        take(&mut batch, Write::DropSpace(Space(1)));
        let after = before.with(&batch);
        assert_eq!((before.rows(), after.rows()), (200, 133));
        assert_eq!(after.get(&[0, 0, 0, 1, 0, 0, 0, 1]), Some(None));
        assert_eq!(after.get(&[0, 0, 0, 1, 9]), Some(None));
        assert_eq!(after.get(&[0, 0, 0, 2, 9]), None);
        assert!(before.get(&[0, 0, 0, 1, 0, 0, 0, 1]).unwrap().is_some());
    }
}
