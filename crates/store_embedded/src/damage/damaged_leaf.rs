//! A leaf of which some rows are damaged: the others are as good as ever.
//!
//! A row is good if the page's sums know it: then its key and its own checksum are those that were written, and that
//! checksum tells whether the value is. What was damaged of the others may be their key, so each stands for all keys
//! between its neighbours.

use partita_store::Direction;

use crate::damage::lost_ranges::DamageNote;
use crate::pages::page::{Kind, Node, Page, Value};
use crate::pages::tree_walk::Bounds;

/// A leaf as the file had it at one moment, and which of its rows are known to have been written there.
pub(crate) struct LeafCopy {
    pub bytes: Vec<u8>,
    pub known: Vec<bool>,
}

pub(crate) struct DamagedLeaf<'v> {
    page: Page<'v>,
    bounds: Bounds<'v>,
    bad: Vec<bool>,
}

/// A row, or the keys that may belong to a damaged one.
pub(crate) enum Part<'v> {
    Row(Node<'v>),
    Lost(Bounds<'v>),
}

impl<'v> DamagedLeaf<'v> {
    /// `None` if no row on the page can be relied on.
    pub fn judge(LeafCopy { bytes, known }: &'v LeafCopy, bounds: Bounds<'v>) -> Option<DamagedLeaf<'v>> {
        let page = Page(bytes);
        if page.kind() != Some(Kind::Leaf) {
            return None;
        }
        let mut last: Option<&[u8]> = None;
        let mut is_bad = |(index, known): (usize, &bool)| {
            let node = page.leaf_node(index).filter(|node| {
                let is_row = !matches!(node.value, Value::Database(_));
                *known && is_row && bounds.has(node.key) && last.is_none_or(|last| last < node.key)
            });
            last = node.map(|node| node.key).or(last);
            node.is_none()
        };
        let bad: Vec<_> = known.iter().enumerate().map(&mut is_bad).collect();
        bad.contains(&false).then_some(DamagedLeaf { page, bounds, bad })
    }

    /// The row of a key, if there is one. An error gives the keys among which it may have been.
    pub fn get(&self, key: &[u8]) -> Result<Option<Node<'v>>, Bounds<'v>> {
        let index = self.first_good_not_below(key);
        if let Some(node) = self.row(index).filter(|node| node.key == key) {
            return Ok(Some(node));
        }
        if index > 0 && self.bad[index - 1] { Err(self.around(index - 1)) } else { Ok(None) }
    }

    /// What there is of a range: from its start on, up to and without its end.
    pub fn range(&self, start: &[u8], end: &[u8], direction: Direction) -> Vec<Part<'v>> {
        let (mut first, last) = (self.first_good_not_below(start), self.first_good_not_below(end));
        // A damaged row just outside may have been inside.
        while first > 0 && self.bad[first - 1] {
            first -= 1;
        }
        let part = |index: usize| match self.row(index) {
            Some(node) => Part::Row(node),
            None => Part::Lost(self.around(index)),
        };
        match direction {
            Direction::Ascending => (first..last).map(part).collect(),
            Direction::Descending => (first..last).rev().map(part).collect(),
        }
    }

    /// The rows that are good.
    pub fn rows(&self) -> impl Iterator<Item = Node<'v>> {
        (0..self.bad.len()).filter_map(|index| self.row(index))
    }

    /// What is to be remembered of the others.
    pub fn notes(&self) -> Vec<DamageNote> {
        let bad = (0..self.bad.len()).filter(|index| self.bad[*index]);
        bad.map(|index| {
            let around = self.around(index);
            // The neighbour before it is not lost.
            let low = match (self.good_below(index), around.low) {
                (Some(node), _) => Some([node.key, &[0]].concat()),
                (None, low) => low.map(<[u8]>::to_vec),
            };
            // Which key it had is not known: what was damaged may be the key.
            DamageNote { low, high: around.high.map(<[u8]>::to_vec), key: None }
        })
        .collect()
    }

    fn row(&self, index: usize) -> Option<Node<'v>> {
        if *self.bad.get(index)? { None } else { self.page.leaf_node(index) }
    }

    /// The first good row whose key is not lower, or the number of rows.
    fn first_good_not_below(&self, key: &[u8]) -> usize {
        let found = (0..self.bad.len()).find(|index| self.row(*index).is_some_and(|node| node.key >= key));
        found.unwrap_or(self.bad.len())
    }

    fn good_below(&self, index: usize) -> Option<Node<'v>> {
        (0..index).rev().find_map(|index| self.row(index))
    }

    /// The keys between a damaged row's good neighbours.
    fn around(&self, index: usize) -> Bounds<'v> {
        let above = (index + 1..self.bad.len()).find_map(|index| self.row(index));
        Bounds {
            low: self.good_below(index).map_or(self.bounds.low, |node| Some(node.key)),
            high: above.map_or(self.bounds.high, |node| Some(node.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::page::{Value, new_leaf};

    /// A row that is known has the key that was written, whatever has become of its value. Of another not even that is sure.
    #[test]
    fn only_rows_that_are_not_known_are_noted() {
        let keys = [b"a", b"c", b"e"];
        let rows = keys.map(|key| Node { key, value: Value::Here(b"value") });
        let bytes = new_leaf(7, 4_096, &rows).unwrap();
        let notes = |known: [bool; 3]| {
            let copy = LeafCopy { bytes: bytes.clone(), known: known.to_vec() };
            DamagedLeaf::judge(&copy, Bounds::default()).unwrap().notes()
        };
        assert_eq!(notes([true, true, true]), []);
        let note = DamageNote { low: Some(b"a\0".to_vec()), high: Some(b"e".to_vec()), key: None };
        assert_eq!(notes([true, false, true]), [note]);
    }
}
