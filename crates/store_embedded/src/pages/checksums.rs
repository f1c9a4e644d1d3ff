//! The file `sums`: what every page of `data.mdb` must be, and which transaction it is at.
//!
//! ```text
//! slots      four blocks: those of even and odd transactions, and a second copy of each
//! slot       "partita sums" (12) │ length of a page (4) │ the meta page's first 152 bytes │ xxh3 of these (8)
//! entries    blocks of 127 sums of a page (32 each) │ – (24) │ xxh3 of these (8)
//! sum        xxh3 of the page, with its number as the seed (8) │ of each of 8 groups of a leaf's rows (3 each)
//! ```
//! What is unused in a page is left out. Those of the groups are made of the rows' keys and own checksums: in a
//! damaged page they tell rows that were written there from others, such as those of an older version.
//!
//! LMDB never changes a page that is in use: a transaction writes to others and then names its root. So the sums of
//! a transaction's new pages are written first, and made durable; then comes its slot. A crash in between leaves
//! the slot before, whose pages and sums are all as they were, and the log has the rest.
//!
//! A block has a sum of its own, to tell a page that is damaged from a sum that is. All blocks up to the last page's
//! are written, whether their pages are in use or not.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use twox_hash::XxHash3_64;

use crate::folder::file_read;
use crate::folder::private_files;
use crate::pages::page::{Kind, META_BYTES, Meta, Node, Page, Value, u64_at};
use crate::tree::entry::HEADER_BYTES;

pub(crate) const FILE_NAME: &str = "sums";

const BLOCK_BYTES: usize = 4_096;
/// The length of a hash.
const HASH_BYTES: usize = 8;
/// Every eighth row of a leaf is in one group.
const GROUPS: usize = 8;
/// What is kept of a group's hash.
const GROUP_BYTES: usize = 3;
const SUM_BYTES: usize = HASH_BYTES + GROUPS * GROUP_BYTES;
const BLOCK_ENTRIES: u64 = (BLOCK_BYTES / SUM_BYTES - 1) as u64;
const SLOT_BLOCKS: u64 = 4;
const SMALLEST_PAGE_BYTES: u64 = 4_096;
const MAGIC: &[u8; 12] = b"partita sums";
const SLOT_BYTES: usize = 12 + 4 + META_BYTES + HASH_BYTES;

/// How long the file is beside a data file of so many bytes, of the smallest pages there are.
pub(crate) fn bytes_for(data_bytes: u64) -> u64 {
    place_of(data_bytes / SMALLEST_PAGE_BYTES).0 + BLOCK_BYTES as u64
}

pub(crate) struct PageSums {
    file: File,
    /// How many pages the last slot's transaction had: blocks beyond these do not count yet.
    pages: AtomicU64,
    /// Those that were found to be damaged. Held by whoever writes blocks, and by whoever must not read one that is
    /// half written.
    damaged: Mutex<BTreeSet<u64>>,
}

/// What is known of a page's sum.
pub(crate) struct KnownSum {
    /// `None` if the disk does not give it back.
    pub sum: Option<PageSum>,
    /// Whether the block it stands in is as it was written. One that a crash cut short is not.
    pub is_certain: bool,
}

/// The meta page of the last transaction whose sums are all there.
#[derive(Clone)]
pub(crate) struct Slot {
    pub page: [u8; META_BYTES],
    pub meta: Meta,
}

impl PageSums {
    pub fn open(path: &Path) -> io::Result<PageSums> {
        PageSums::of(File::options().read(true).write(true).open(path)?)
    }

    pub fn open_to_read(path: &Path) -> io::Result<PageSums> {
        PageSums::of(File::open(path)?)
    }

    fn of(file: File) -> io::Result<PageSums> {
        let sums = PageSums { file, pages: AtomicU64::new(0), damaged: Mutex::default() };
        let last_page = sums.slots()?.first().map_or(0, |slot| slot.meta.last_page);
        sums.pages.store(last_page.saturating_add(1), Ordering::Relaxed);
        Ok(sums)
    }

    /// An empty file.
    pub fn create(path: &Path) -> io::Result<PageSums> {
        let file = private_files::options().truncate(true).open(path)?;
        Ok(PageSums { file, pages: AtomicU64::new(0), damaged: Mutex::default() })
    }

    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The slots that are whole, the last transaction's first.
    pub fn slots(&self) -> io::Result<Vec<Slot>> {
        let mut slots = Vec::new();
        for block in 0..SLOT_BLOCKS {
            let mut bytes = [0; SLOT_BYTES];
            match read_some(&self.file, &mut bytes, block * BLOCK_BYTES as u64) {
                Ok(()) => slots.extend(read_slot(&bytes)),
                Err(error) => {
                    tracing::warn!(%error, block, "a slot of the file of checksums is not readable")
                }
            }
        }
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.meta.transaction));
        slots.dedup_by_key(|slot| slot.meta.transaction);
        Ok(slots)
    }

    /// What the page must sum up to, if nothing is damaged.
    pub fn get(&self, page: u64) -> io::Result<PageSum> {
        let (block, place) = place_of(page);
        let mut sum = [0; SUM_BYTES];
        read_some(&self.file, &mut sum, block + place as u64)?;
        Ok(PageSum::read(&sum))
    }

    /// The same, looked at closely.
    pub fn known(&self, page: u64) -> KnownSum {
        let (at, place) = place_of(page);
        let mut damaged = self.lock();
        let known = match self.block(at) {
            Ok(block) => KnownSum {
                sum: block[place..].first_chunk().map(PageSum::read),
                is_certain: is_whole(&block),
            },
            Err(error) => {
                tracing::warn!(%error, page, "the file of checksums is not readable");
                KnownSum { sum: None, is_certain: false }
            }
        };
        if !known.is_certain {
            damaged.insert(page / BLOCK_ENTRIES);
        }
        known
    }

    /// The blocks that were found to be damaged since this was last asked.
    pub fn take_damaged(&self) -> Vec<u64> {
        std::mem::take(&mut *self.lock()).into_iter().filter(|block| *block < self.begun_blocks()).collect()
    }

    /// The pages whose sums are in a block.
    pub fn pages_of(&self, block: u64) -> Range<u64> {
        block * BLOCK_ENTRIES..(block + 1) * BLOCK_ENTRIES
    }

    /// Writes all sums of a block, durably: whatever it was, it is whole then.
    pub fn renew(&self, block: u64, sums: &[PageSum]) -> io::Result<()> {
        let mut bytes = sums.iter().flat_map(|sum| sum.to_bytes()).collect::<Vec<_>>();
        bytes.resize(BLOCK_BYTES, 0);
        let damaged = self.lock();
        self.write_block(block_at(block), &mut bytes, true)?;
        drop(damaged);
        self.file.sync_data()
    }

    /// Writes the sums of a transaction's pages; then its slot says that they count.
    pub fn write(&self, sums: &[(u64, PageSum)], meta_page: &[u8; META_BYTES]) -> io::Result<()> {
        let meta = Meta::read(meta_page).ok_or_else(|| io::Error::other("a meta page is malformed"))?;
        self.begin_blocks(meta.last_page)?;
        self.amend(sums)?;
        self.write_slot(meta_page, meta)
    }

    fn begun_blocks(&self) -> u64 {
        self.pages.load(Ordering::Relaxed).div_ceil(BLOCK_ENTRIES)
    }

    /// Makes all blocks whole that begin to count with this page.
    fn begin_blocks(&self, last_page: u64) -> io::Result<()> {
        let _alone = self.lock();
        for at in (self.begun_blocks()..=last_page / BLOCK_ENTRIES).map(block_at) {
            if !self.block(at).is_ok_and(|block| is_whole(&block)) {
                self.write_block(at, &mut vec![0; BLOCK_BYTES], true)?;
            }
        }
        Ok(())
    }

    /// Writes sums, which are in the order of their pages, and makes them durable.
    pub fn amend(&self, sums: &[(u64, PageSum)]) -> io::Result<()> {
        let mut left = sums.iter().peekable();
        let mut damaged = self.lock();
        while let Some((first, _)) = left.peek() {
            let at = place_of(*first).0;
            // To write it anew is what mends a block that the disk does not give back.
            let mut block = self.block(at).unwrap_or_else(|_| vec![0; BLOCK_BYTES]);
            let was_whole = is_whole(&block);
            if !was_whole {
                damaged.insert(*first / BLOCK_ENTRIES);
            }
            while let Some((page, sum)) = left.next_if(|(page, _)| place_of(*page).0 == at) {
                let place = place_of(*page).1;
                block[place..place + SUM_BYTES].copy_from_slice(&sum.to_bytes());
            }
            // A damaged block stays one: what else it has is not to be trusted.
            self.write_block(at, &mut block, was_whole)?;
        }
        drop(damaged);
        self.file.sync_data()
    }

    fn write_block(&self, at: u64, block: &mut [u8], is_whole: bool) -> io::Result<()> {
        let (entries, sum) = block.split_at_mut(BLOCK_BYTES - HASH_BYTES);
        let whole = XxHash3_64::oneshot(entries);
        sum.copy_from_slice(&if is_whole { whole } else { !whole }.to_le_bytes());
        self.file.write_all_at(block, at)
    }

    fn write_slot(&self, meta_page: &[u8; META_BYTES], meta: Meta) -> io::Result<()> {
        let mut slot = [&MAGIC[..], &(meta.page_bytes as u32).to_le_bytes(), meta_page].concat();
        slot.extend(XxHash3_64::oneshot(&slot).to_le_bytes());
        for block in [meta.transaction % 2, meta.transaction % 2 + 2] {
            self.file.write_all_at(&slot, block * BLOCK_BYTES as u64)?;
        }
        self.file.sync_data()?;
        self.pages.store(meta.last_page.saturating_add(1), Ordering::Relaxed);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn block(&self, at: u64) -> io::Result<Vec<u8>> {
        let mut block = vec![0; BLOCK_BYTES];
        read_some(&self.file, &mut block, at)?;
        Ok(block)
    }
}

/// What a page must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageSum {
    whole: u64,
    /// Of each group of a leaf's rows.
    groups: [[u8; GROUP_BYTES]; GROUPS],
}

impl PageSum {
    /// Of a page of a long value.
    pub fn of_bytes(number: u64, page: &[u8]) -> PageSum {
        PageSum { whole: XxHash3_64::oneshot_with_seed(number, page), groups: Default::default() }
    }

    /// Of a branch or leaf: of its beginning and its nodes, without what lies unused between them.
    pub fn of_nodes(number: u64, page: &[u8]) -> PageSum {
        PageSum { whole: PageSum::whole_of_nodes(number, page), groups: groups_of(number, Page(page)) }
    }

    fn whole_of_nodes(number: u64, page: &[u8]) -> u64 {
        let (beginning, nodes) = Page(page).used_parts().unwrap_or((page, &[]));
        XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot_with_seed(number, beginning), nodes)
    }

    pub fn fits_bytes(&self, number: u64, page: &[u8]) -> bool {
        self.whole == XxHash3_64::oneshot_with_seed(number, page)
    }

    pub fn fits_nodes(&self, number: u64, page: &[u8]) -> bool {
        self.whole == PageSum::whole_of_nodes(number, page)
    }

    /// Of each row of a damaged leaf, whether it is one that was written there, by its key and its own checksum.
    pub fn known_rows(&self, number: u64, page: Page<'_>) -> Vec<bool> {
        let groups = groups_of(number, page);
        (0..page.nodes()).map(|index| groups[index % GROUPS] == self.groups[index % GROUPS]).collect()
    }

    fn read(bytes: &[u8; SUM_BYTES]) -> PageSum {
        let mut sum = PageSum { whole: u64_at(bytes, 0).unwrap_or(0), ..PageSum::default() };
        sum.groups.as_flattened_mut().copy_from_slice(&bytes[HASH_BYTES..]);
        sum
    }

    fn to_bytes(self) -> [u8; SUM_BYTES] {
        let mut bytes = [0; SUM_BYTES];
        bytes[..HASH_BYTES].copy_from_slice(&self.whole.to_le_bytes());
        bytes[HASH_BYTES..].copy_from_slice(self.groups.as_flattened());
        bytes
    }
}

fn groups_of(number: u64, page: Page<'_>) -> [[u8; GROUP_BYTES]; GROUPS] {
    let mut groups = [[0; GROUP_BYTES]; GROUPS];
    if page.kind() != Some(Kind::Leaf) {
        return groups;
    }
    for index in 0..page.nodes() {
        let seed = number ^ (index << 16 | page.nodes()) as u64;
        let sum = page.leaf_node(index).map_or(0, |node| row_sum(seed, node));
        for (byte, more) in groups[index % GROUPS].iter_mut().zip(sum.to_le_bytes()) {
            *byte ^= more;
        }
    }
    groups
}

/// The sum of a row's key, of the checksum its value begins with, and of where the value is.
fn row_sum(seed: u64, node: Node<'_>) -> u64 {
    let reference;
    let (beginning, length) = match node.value {
        Value::Here(value) | Value::Database(value) => (&value[..value.len().min(HEADER_BYTES)], value.len()),
        Value::Elsewhere { page, bytes } => {
            reference = page.to_le_bytes();
            (&reference[..], bytes)
        }
    };
    let seed = XxHash3_64::oneshot_with_seed(seed ^ (length as u64) << 32, beginning);
    XxHash3_64::oneshot_with_seed(seed, node.key)
}

fn read_slot(bytes: &[u8; SLOT_BYTES]) -> Option<Slot> {
    let (slot, sum) = bytes.split_at(SLOT_BYTES - HASH_BYTES);
    if u64_at(sum, 0)? != XxHash3_64::oneshot(slot) || !slot.starts_with(MAGIC) {
        return None;
    }
    let page = *slot.last_chunk::<META_BYTES>()?;
    Some(Slot { page, meta: Meta::read(&page)? })
}

/// Where the block with a page's sum begins, and where in it the sum is.
fn place_of(page: u64) -> (u64, usize) {
    (block_at(page / BLOCK_ENTRIES), (page % BLOCK_ENTRIES) as usize * SUM_BYTES)
}

fn block_at(block: u64) -> u64 {
    (SLOT_BLOCKS + block).saturating_mul(BLOCK_BYTES as u64)
}

fn is_whole(block: &[u8]) -> bool {
    let (entries, sum) = block.split_at(BLOCK_BYTES - HASH_BYTES);
    u64_at(sum, 0) == Some(XxHash3_64::oneshot(entries))
}

/// Reads what the file has; what lies beyond its end is zeros.
fn read_some(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file_read::some(file, &FILE_NAME, bytes, at).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_being_written_is_not_taken_for_a_damaged_one() {
        let folder = tempfile::tempdir().unwrap();
        let sums = PageSums::create(&folder.path().join(FILE_NAME)).unwrap();
        sums.begin_blocks(BLOCK_ENTRIES - 1).unwrap();
        let all = |byte: u8| -> Vec<_> {
            (0..BLOCK_ENTRIES).map(|page| (page, PageSum::of_bytes(page, &[byte; 64]))).collect()
        };
        let (even, odd) = (all(0), all(1));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..50 {
                    sums.amend(&even).unwrap();
                    sums.amend(&odd).unwrap();
                }
            });
            while !writer.is_finished() {
                assert!(sums.known(0).is_certain);
            }
        });
    }
}
