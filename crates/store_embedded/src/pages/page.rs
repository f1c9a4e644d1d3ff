//! LMDB's page layout, read with bounds checks: whatever the bytes are, reading them yields a value or `None`.
//!
//! ```text
//! page    number (8) │ – (2) │ flags (2) │ lower (2) │ upper (2) │ offsets of the nodes (2 each) … nodes
//!         of an overflow page: number (8) │ – (2) │ flags (2) │ how many pages (4) │ bytes, over all these pages
//! node    of a leaf:   length of the value (4) │ flags (2) │ length of the key (2) │ key │ value
//!         of a branch: number of the child (6) │ length of the key (2) │ key, which is the lowest in the child
//! meta    page header │ magic (4) │ version (4) │ – (8) │ size of the map (8) │ database of free pages (48)
//!         │ database of names (48) │ number of the last page (8) │ number of the transaction (8)
//! ```
//! Numbers are little-endian. Nodes fill a page from `upper` to its end without gaps. A branch's first key is
//! meaningless: its first child holds everything below the second child's key. A value that does not fit inline is the
//! number of its overflow page. Pages 0 and 1 are meta pages; transaction `n` writes page `n % 2`.

pub(crate) const HEADER_BYTES: usize = 16;
pub(crate) const META_BYTES: usize = HEADER_BYTES + 136;
pub(crate) const DATABASE_BYTES: usize = 48;
/// The offset of the transaction number in a meta page.
pub(crate) const META_TRANSACTION_AT: usize = META_BYTES - 8;
/// No tree is deeper.
pub(crate) const MAX_DEPTH: usize = 32;
/// The page number that stands for no page.
const NO_PAGE: u64 = u64::MAX;

const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const META: u16 = 8;
const NODE_HEADER_BYTES: usize = 8;
const NODE_OVERFLOWS: u16 = 1;
const NODE_IS_DATABASE: u16 = 2;
const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;

/// The type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    Branch,
    Leaf,
    Overflow,
}

/// The bytes of a page.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a>(pub &'a [u8]);

/// A key in a leaf, and where its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node<'a> {
    pub key: &'a [u8],
    pub value: NodeValue<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeValue<'a> {
    Inline(&'a [u8]),
    /// The record of a named database.
    Database(&'a [u8]),
    /// In overflow pages starting with this one.
    Overflow {
        page: u64,
        bytes: usize,
    },
}

impl<'a> Page<'a> {
    pub fn number(self) -> Option<u64> {
        u64_at(self.0, 0)
    }

    pub fn kind(self) -> Option<PageKind> {
        match u16_at(self.0, 10)? {
            BRANCH => Some(PageKind::Branch),
            LEAF => Some(PageKind::Leaf),
            OVERFLOW => Some(PageKind::Overflow),
            _ => None,
        }
    }

    /// Whether this is the page of this number, with nodes laid out as LMDB does and in key order.
    pub fn is_well_formed(self, number: u64) -> bool {
        if self.number() != Some(number) {
            return false;
        }
        match self.kind() {
            Some(PageKind::Overflow) => self.overflow_pages().is_some_and(|pages| pages > 0),
            Some(kind) => self.has_well_formed_nodes(kind).unwrap_or(false),
            None => false,
        }
    }

    fn has_well_formed_nodes(self, kind: PageKind) -> Option<bool> {
        let (lower, upper) = (usize::from(self.lower()), usize::from(u16_at(self.0, 14)?));
        if lower < HEADER_BYTES || lower % 2 != 0 || lower > upper || upper > self.0.len() {
            return Some(false);
        }
        let mut filled = 0;
        for index in 0..self.nodes() {
            let (node, key) = self.node(index)?;
            let value_bytes = match (kind, self.leaf_node(index).map(|node| node.value)) {
                (PageKind::Branch, _) => 0,
                (_, Some(NodeValue::Inline(value) | NodeValue::Database(value))) => value.len(),
                (_, Some(NodeValue::Overflow { .. })) => 8,
                (_, None) => return Some(false),
            };
            let node_bytes = (NODE_HEADER_BYTES + key.len() + value_bytes).next_multiple_of(2);
            filled += node_bytes;
            if self.0.len() - node.len() < upper || node.len() < node_bytes {
                return Some(false);
            }
        }
        Some(filled == self.0.len() - upper && self.is_in_order(kind))
    }

    fn is_in_order(self, kind: PageKind) -> bool {
        let first = usize::from(kind == PageKind::Branch);
        let pairs = || (first + 1..self.nodes()).map(|index| (self.key(index - 1), self.key(index)));
        // The keys of the free list are numbers.
        let number = |key: Option<&[u8]>| key.filter(|key| key.len() == 8).and_then(|key| u64_at(key, 0));
        pairs().all(|(low, high)| low < high)
            || pairs().all(|(low, high)| number(low).is_some() && number(low) < number(high))
    }

    /// The parts of a branch or leaf before and after its unused space.
    pub fn used_parts(self) -> Option<(&'a [u8], &'a [u8])> {
        let (lower, upper) = (usize::from(self.lower()), usize::from(u16_at(self.0, 14)?));
        if lower > upper {
            return None;
        }
        Some((self.0.get(..lower)?, self.0.get(upper..)?))
    }

    /// The number of nodes in a branch or leaf.
    pub fn nodes(self) -> usize {
        usize::from(self.lower()).saturating_sub(HEADER_BYTES) / 2
    }

    /// The number of pages of an overflow value, including the first.
    pub fn overflow_pages(self) -> Option<u64> {
        u32_at(self.0, 12).map(u64::from)
    }

    pub fn leaf_node(self, index: usize) -> Option<Node<'a>> {
        let (node, key) = self.node(index)?;
        let bytes = usize::try_from(u32_at(node, 0)?).ok()?;
        let value = node.get(NODE_HEADER_BYTES + key.len()..)?;
        let value = match u16_at(node, 4)? {
            0 => NodeValue::Inline(value.get(..bytes)?),
            NODE_IS_DATABASE => NodeValue::Database(value.get(..bytes)?),
            NODE_OVERFLOWS => NodeValue::Overflow { page: u64_at(value, 0)?, bytes },
            _ => return None,
        };
        Some(Node { key, value })
    }

    /// The page number of a branch's child.
    pub fn child(self, index: usize) -> Option<u64> {
        let (node, _) = self.node(index)?;
        Some(u64::from(u32_at(node, 0)?) | u64::from(u16_at(node, 4)?) << 32)
    }

    /// The key of a node. That of a branch's first node is meaningless.
    pub fn key(self, index: usize) -> Option<&'a [u8]> {
        self.node(index).map(|(_, key)| key)
    }

    /// The first node of a leaf whose key is not below `key`.
    pub fn lower_bound(self, key: &[u8]) -> Option<usize> {
        self.first_where(0, |other| other >= key)
    }

    /// The child of a branch that contains `key`, if any does.
    pub fn child_with(self, key: &[u8]) -> Option<usize> {
        Some(self.first_where(1, |other| other > key)? - 1)
    }

    /// Like [`Page::child_with`], for keys that are numbers.
    pub fn child_with_number(self, number: u64) -> Option<usize> {
        Some(self.first_where(1, |other| u64_at(other, 0).is_none_or(|other| other > number))? - 1)
    }

    /// The first node from `low` on whose key `is_beyond`, or the number of nodes.
    fn first_where(self, low: usize, is_beyond: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let (mut low, mut high) = (low, self.nodes().max(low));
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_beyond(self.key(middle)?) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }

    /// A node from its header on, and its key.
    fn node(self, index: usize) -> Option<(&'a [u8], &'a [u8])> {
        if index >= self.nodes() {
            return None;
        }
        let offset = usize::from(u16_at(self.0, HEADER_BYTES + 2 * index)?);
        let node = self.0.get(offset..)?;
        let key_bytes = usize::from(u16_at(node, 6)?);
        Some((node, node.get(NODE_HEADER_BYTES..NODE_HEADER_BYTES + key_bytes)?))
    }

    fn lower(self) -> u16 {
        u16_at(self.0, 12).unwrap_or(0)
    }
}

/// Builds a leaf of these rows, which are in order, or returns `None` if they do not fit in a page.
pub(crate) fn new_leaf(number: u64, page_bytes: usize, rows: &[Node<'_>]) -> Option<Vec<u8>> {
    let nodes = rows.iter().map(|row| {
        let reference;
        let (flags, length, value) = match row.value {
            NodeValue::Inline(value) => (0, value.len(), value),
            NodeValue::Database(record) => (NODE_IS_DATABASE, record.len(), record),
            NodeValue::Overflow { page, bytes } => {
                reference = page.to_le_bytes();
                (NODE_OVERFLOWS, bytes, &reference[..])
            }
        };
        [&(length as u32).to_le_bytes()[..], &flags.to_le_bytes(), &key_length(row.key), row.key, value]
            .concat()
    });
    new_page(number, LEAF, page_bytes, nodes)
}

/// Builds a branch with these children, each with its lowest key.
pub(crate) fn new_branch(number: u64, page_bytes: usize, children: &[(&[u8], u64)]) -> Option<Vec<u8>> {
    let nodes = children.iter().enumerate().map(|(index, (key, child))| {
        let key = if index == 0 { &[][..] } else { key };
        [&child.to_le_bytes()[..6], &key_length(key), key].concat()
    });
    new_page(number, BRANCH, page_bytes, nodes)
}

/// The header of a value's overflow pages.
pub(crate) fn overflow_header(number: u64, pages: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&number.to_le_bytes());
    header[10..12].copy_from_slice(&OVERFLOW.to_le_bytes());
    header[12..].copy_from_slice(&(pages as u32).to_le_bytes());
    header
}

fn key_length(key: &[u8]) -> [u8; 2] {
    (key.len() as u16).to_le_bytes()
}

fn new_page(
    number: u64,
    flags: u16,
    page_bytes: usize,
    nodes: impl Iterator<Item = Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut page = vec![0; page_bytes];
    let (mut lower, mut upper) = (HEADER_BYTES, page_bytes);
    for node in nodes {
        upper = upper.checked_sub(node.len().next_multiple_of(2))?;
        if lower + 2 > upper {
            return None;
        }
        page[upper..upper + node.len()].copy_from_slice(&node);
        page[lower..lower + 2].copy_from_slice(&(upper as u16).to_le_bytes());
        lower += 2;
    }
    page[..8].copy_from_slice(&number.to_le_bytes());
    page[10..12].copy_from_slice(&flags.to_le_bytes());
    page[12..14].copy_from_slice(&(lower as u16).to_le_bytes());
    page[14..16].copy_from_slice(&(upper as u16).to_le_bytes());
    Some(page)
}

/// An LMDB database, as described by its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Database {
    pub depth: u16,
    pub pages: u64,
    pub root: Option<u64>,
}

impl Database {
    pub fn read(record: &[u8]) -> Option<Database> {
        let pages = u64_at(record, 8)?.checked_add(u64_at(record, 16)?)?.checked_add(u64_at(record, 24)?)?;
        let root = Some(u64_at(record, 40)?).filter(|root| *root != NO_PAGE);
        let depth = u16_at(record, 6)?;
        let is_sound = usize::from(depth) <= MAX_DEPTH && root.is_some() == (depth > 0);
        is_sound.then_some(Database { depth, pages, root })
    }
}

/// The contents of a meta page, from which everything else is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub page_bytes: usize,
    pub free: Database,
    pub main: Database,
    pub last_page: u64,
    pub transaction: u64,
}

impl Meta {
    pub fn read(page: &[u8]) -> Option<Meta> {
        let meta = page.get(HEADER_BYTES..META_BYTES)?;
        let is_meta = u16_at(page, 10)? == META && u32_at(meta, 0)? == MAGIC && u32_at(meta, 4)? == VERSION;
        let page_bytes = usize::try_from(u32_at(meta, 24)?).ok()?;
        if !is_meta || !page_bytes.is_power_of_two() || !(512..=65_536).contains(&page_bytes) {
            return None;
        }
        let databases = meta.get(24..)?;
        Some(Meta {
            page_bytes,
            free: Database::read(databases)?,
            main: Database::read(databases.get(DATABASE_BYTES..)?)?,
            last_page: u64_at(meta, 120)?,
            transaction: u64_at(meta, 128)?,
        })
    }
}

/// The number of overflow pages that a value takes.
pub(crate) fn overflow_pages(bytes: usize, page_bytes: usize) -> u64 {
    ((HEADER_BYTES - 1 + bytes) / page_bytes + 1) as u64
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().copied().map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().copied().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_as_they_were_built() {
        let rows = [
            Node { key: b"a", value: NodeValue::Inline(b"one") },
            Node { key: b"bc", value: NodeValue::Overflow { page: 77, bytes: 4_000 } },
            Node { key: b"d", value: NodeValue::Inline(b"") },
        ];
        let bytes = new_leaf(9, 4_096, &rows).unwrap();
        let page = Page(&bytes);
        assert!(page.is_well_formed(9) && !page.is_well_formed(8) && page.kind() == Some(PageKind::Leaf));
        let read: Vec<_> = (0..page.nodes()).map(|index| page.leaf_node(index).unwrap()).collect();
        assert_eq!(read, rows);
        assert_eq!((page.lower_bound(b"b"), page.lower_bound(b"x")), (Some(1), Some(3)));
        assert_eq!(page.leaf_node(3), None);

        let bytes = new_branch(5, 4_096, &[(b"", 3), (b"k", 1 << 40), (b"m", 7)]).unwrap();
        let page = Page(&bytes);
        assert!(page.is_well_formed(5) && page.kind() == Some(PageKind::Branch));
        let child = |key: &[u8]| page.child(page.child_with(key).unwrap()).unwrap();
        assert_eq!((child(b"a"), child(b"k"), child(b"l"), child(b"z")), (3, 1 << 40, 1 << 40, 7));
        assert!(new_leaf(1, 64, &[Node { key: &[1; 40], value: NodeValue::Inline(&[0; 40]) }]).is_none());
    }

    /// Whatever the bytes are, reading them terminates and stays in bounds.
    #[test]
    fn damaged_pages_are_read_without_panics() {
        let value = [7; 200];
        let keys: Vec<[u8; 2]> = (0..15_u16).map(u16::to_be_bytes).collect();
        let rows: Vec<_> = keys.iter().map(|key| Node { key, value: NodeValue::Inline(&value) }).collect();
        let good = new_leaf(3, 4_096, &rows).unwrap();
        let mut number = 1_u64;
        for _ in 0..20_000 {
            let mut bytes = good.clone();
            for _ in 0..4 {
                number =
                    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (number >> 33) as usize % if number & 1 == 0 { 64 } else { 4_096 };
                bytes[at] = (number >> 20) as u8;
            }
            let page = Page(&bytes);
            let _ =
                (page.is_well_formed(3), page.used_parts(), page.lower_bound(b"kk"), page.child_with(b"kk"));
            for index in 0..page.nodes() {
                let _ = (page.leaf_node(index), page.child(index));
            }
            let _ = Meta::read(&bytes);
        }
    }
}
