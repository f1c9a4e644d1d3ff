//! A leaf page some of whose rows are damaged; the others are still good.
//!
//! A row is good if the page's checksums confirm it: then its key and its own checksum are as written, and that
//! checksum tells whether the value is. Of the other rows even the key may be damaged, so each of them stands for all
//! keys between its neighbours.

use partita_store::Direction;

use crate::damage::lost_ranges::LostRange;
use crate::pages::page::{Node, NodeValue, Page, PageKind};
use crate::pages::tree_walk::KeyBounds;

/// A copy of a leaf as read from the file, and which of its rows are confirmed by the page's checksum.
pub(crate) struct LeafCopy {
    pub bytes: Vec<u8>,
    pub confirmed: Vec<bool>,
}

pub(crate) struct DamagedLeaf<'v> {
    page: Page<'v>,
    bounds: KeyBounds<'v>,
    bad: Vec<bool>,
}

/// A row, or the keys that may belong to a damaged one.
pub(crate) enum LeafItem<'v> {
    Row(Node<'v>),
    Lost(KeyBounds<'v>),
}

impl<'v> DamagedLeaf<'v> {
    /// Returns `None` if no row on the page can be trusted.
    pub fn from_copy(
        LeafCopy { bytes, confirmed }: &'v LeafCopy,
        bounds: KeyBounds<'v>,
    ) -> Option<DamagedLeaf<'v>> {
        let page = Page(bytes);
        if page.kind() != Some(PageKind::Leaf) {
            return None;
        }
        let mut last: Option<&[u8]> = None;
        let mut is_bad = |(index, confirmed): (usize, &bool)| {
            let node = page.leaf_node(index).filter(|node| {
                let is_row = !matches!(node.value, NodeValue::Database(_));
                *confirmed && is_row && bounds.contains(node.key) && last.is_none_or(|last| last < node.key)
            });
            last = node.map(|node| node.key).or(last);
            node.is_none()
        };
        let bad: Vec<_> = confirmed.iter().enumerate().map(&mut is_bad).collect();
        bad.contains(&false).then_some(DamagedLeaf { page, bounds, bad })
    }

    /// The row of a key, if there is one. An error holds the key range in which it may have been.
    pub fn get(&self, key: &[u8]) -> Result<Option<Node<'v>>, KeyBounds<'v>> {
        let index = self.good_lower_bound(key);
        if let Some(node) = self.row(index).filter(|node| node.key == key) {
            return Ok(Some(node));
        }
        if index > 0 && self.bad[index - 1] { Err(self.gap_around(index - 1)) } else { Ok(None) }
    }

    /// The rows from `start` (inclusive) to `end` (exclusive), and the gaps between them.
    pub fn range(&self, start: &[u8], end: &[u8], direction: Direction) -> Vec<LeafItem<'v>> {
        let (mut first, last) = (self.good_lower_bound(start), self.good_lower_bound(end));
        // A damaged row just outside the range may have been inside.
        while first > 0 && self.bad[first - 1] {
            first -= 1;
        }
        let item = |index: usize| match self.row(index) {
            Some(node) => LeafItem::Row(node),
            None => LeafItem::Lost(self.gap_around(index)),
        };
        match direction {
            Direction::Ascending => (first..last).map(item).collect(),
            Direction::Descending => (first..last).rev().map(item).collect(),
        }
    }

    /// The good rows.
    pub fn rows(&self) -> impl Iterator<Item = Node<'v>> {
        (0..self.bad.len()).filter_map(|index| self.row(index))
    }

    /// The key ranges in which the other rows may have been.
    pub fn lost_ranges(&self) -> Vec<LostRange> {
        let bad = (0..self.bad.len()).filter(|index| self.bad[*index]);
        bad.map(|index| {
            let gap = self.gap_around(index);
            // The good row before it is not lost.
            let low = match (self.good_below(index), gap.low) {
                (Some(node), _) => Some([node.key, &[0]].concat()),
                (None, low) => low.map(<[u8]>::to_vec),
            };
            // The key is unknown: it may be the part that was damaged.
            LostRange { low, high: gap.high.map(<[u8]>::to_vec) }
        })
        .collect()
    }

    fn row(&self, index: usize) -> Option<Node<'v>> {
        if *self.bad.get(index)? { None } else { self.page.leaf_node(index) }
    }

    /// The first good row whose key is not below `key`, or the number of rows.
    fn good_lower_bound(&self, key: &[u8]) -> usize {
        let found = (0..self.bad.len()).find(|index| self.row(*index).is_some_and(|node| node.key >= key));
        found.unwrap_or(self.bad.len())
    }

    fn good_below(&self, index: usize) -> Option<Node<'v>> {
        (0..index).rev().find_map(|index| self.row(index))
    }

    /// The keys between a damaged row's good neighbours.
    fn gap_around(&self, index: usize) -> KeyBounds<'v> {
        let above = (index + 1..self.bad.len()).find_map(|index| self.row(index));
        KeyBounds {
            low: self.good_below(index).map_or(self.bounds.low, |node| Some(node.key)),
            high: above.map_or(self.bounds.high, |node| Some(node.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::page::{NodeValue, new_leaf};

    /// A confirmed row has the key that was written, whatever became of its value. Of other rows even the key is unknown.
    #[test]
    fn only_unconfirmed_rows_are_recorded_as_lost() {
        let keys = [b"a", b"c", b"e"];
        let rows = keys.map(|key| Node { key, value: NodeValue::Inline(b"value") });
        let bytes = new_leaf(7, 4_096, &rows).unwrap();
        let lost_ranges = |confirmed: [bool; 3]| {
            let copy = LeafCopy { bytes: bytes.clone(), confirmed: confirmed.to_vec() };
            DamagedLeaf::from_copy(&copy, KeyBounds::default()).unwrap().lost_ranges()
        };
        assert_eq!(lost_ranges([true, true, true]), []);
        let lost_range = LostRange { low: Some(b"a\0".to_vec()), high: Some(b"e".to_vec()) };
        assert_eq!(lost_ranges([true, false, true]), [lost_range]);
    }
}
