//! The file `sums`: the checksum of every page of `data.mdb`, and the current transaction.
//!
//! ```text
//! slots      four blocks: one for even and one for odd transactions, and a second copy of each
//! slot       "partita sums" (12) │ length of a page (4) │ the meta page's first 152 bytes │ xxh3 of these (8)
//! entries    blocks of 127 page checksums (32 each) │ – (24) │ xxh3 of these (8)
//! checksum   xxh3 of the page, seeded with its number (8) │ of each of 8 groups of a leaf's rows (3 each)
//! ```
//! The unused part of a page is left out. The group checksums cover the rows' keys and own checksums: in a damaged page
//! they distinguish rows that were written there from others, such as those of an older version.
//!
//! LMDB never changes a live page: a transaction writes to other pages and then publishes its root. So the checksums of
//! a transaction's new pages are written first, and made durable; then its slot is written. A crash in between leaves
//! the previous slot, whose pages and checksums are all unchanged, and the log has the rest.
//!
//! A block has a checksum of its own, to distinguish a damaged page from a damaged checksum. All blocks up to the last
//! page's are written, whether their pages are live or not.

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
use crate::pages::page::{META_BYTES, Meta, Node, NodeValue, Page, PageKind, u64_at};
use crate::tree::entry::HEADER_BYTES;

pub(crate) const FILE_NAME: &str = "sums";

const BLOCK_BYTES: usize = 4_096;
/// The length of a hash.
const HASH_BYTES: usize = 8;
/// Every eighth row of a leaf is in the same group.
const GROUPS: usize = 8;
/// How much of a group's hash is stored.
const GROUP_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = HASH_BYTES + GROUPS * GROUP_BYTES;
const BLOCK_ENTRIES: u64 = (BLOCK_BYTES / CHECKSUM_BYTES - 1) as u64;
const SLOT_BLOCKS: u64 = 4;
const SMALLEST_PAGE_BYTES: u64 = 4_096;
const MAGIC: &[u8; 12] = b"partita sums";
const SLOT_BYTES: usize = 12 + 4 + META_BYTES + HASH_BYTES;

/// The length of the file for a data file of this many bytes with the smallest pages.
pub(crate) fn bytes_for(data_bytes: u64) -> u64 {
    location_of(data_bytes / SMALLEST_PAGE_BYTES).0 + BLOCK_BYTES as u64
}

pub(crate) struct ChecksumFile {
    file: File,
    /// The number of pages in the last slot's transaction: blocks beyond these do not count yet.
    pages: AtomicU64,
    /// The blocks that were found damaged. Held while writing blocks, and while reading one that must not be half written.
    damaged: Mutex<BTreeSet<u64>>,
}

/// The stored checksum of a page.
pub(crate) struct StoredChecksum {
    /// `None` if the disk cannot read it.
    pub checksum: Option<PageChecksum>,
    /// Whether its block is as it was written. A block torn by a crash is not.
    pub is_certain: bool,
}

/// The meta page of the last transaction whose checksums are complete.
#[derive(Clone)]
pub(crate) struct Slot {
    pub page: [u8; META_BYTES],
    pub meta: Meta,
}

impl ChecksumFile {
    pub fn open(path: &Path) -> io::Result<ChecksumFile> {
        ChecksumFile::of(File::options().read(true).write(true).open(path)?)
    }

    pub fn open_read_only(path: &Path) -> io::Result<ChecksumFile> {
        ChecksumFile::of(File::open(path)?)
    }

    fn of(file: File) -> io::Result<ChecksumFile> {
        let checksums = ChecksumFile { file, pages: AtomicU64::new(0), damaged: Mutex::default() };
        let last_page = checksums.slots()?.first().map_or(0, |slot| slot.meta.last_page);
        checksums.pages.store(last_page.saturating_add(1), Ordering::Relaxed);
        Ok(checksums)
    }

    /// Creates an empty file.
    pub fn create(path: &Path) -> io::Result<ChecksumFile> {
        let file = private_files::options().truncate(true).open(path)?;
        Ok(ChecksumFile { file, pages: AtomicU64::new(0), damaged: Mutex::default() })
    }

    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The valid slots, the last transaction's first.
    pub fn slots(&self) -> io::Result<Vec<Slot>> {
        let mut slots = Vec::new();
        for block in 0..SLOT_BLOCKS {
            let mut bytes = [0; SLOT_BYTES];
            match read_up_to(&self.file, &mut bytes, block * BLOCK_BYTES as u64) {
                Ok(()) => slots.extend(read_slot(&bytes)),
                Err(error) => {
                    tracing::warn!(%error, block, "a slot of the checksum file is not readable")
                }
            }
        }
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.meta.transaction));
        slots.dedup_by_key(|slot| slot.meta.transaction);
        Ok(slots)
    }

    /// The checksum of a page. Its block is not verified.
    pub fn get(&self, page: u64) -> io::Result<PageChecksum> {
        let (block, offset) = location_of(page);
        let mut checksum = [0; CHECKSUM_BYTES];
        read_up_to(&self.file, &mut checksum, block + offset as u64)?;
        Ok(PageChecksum::read(&checksum))
    }

    /// The checksum of a page, and whether its block is valid.
    pub fn read_verified(&self, page: u64) -> StoredChecksum {
        let (at, offset) = location_of(page);
        let mut damaged = self.lock();
        let stored = match self.block(at) {
            Ok(block) => StoredChecksum {
                checksum: block[offset..].first_chunk().map(PageChecksum::read),
                is_certain: is_intact(&block),
            },
            Err(error) => {
                tracing::warn!(%error, page, "the checksum file is not readable");
                StoredChecksum { checksum: None, is_certain: false }
            }
        };
        if !stored.is_certain {
            damaged.insert(page / BLOCK_ENTRIES);
        }
        stored
    }

    /// The blocks that were found damaged since the last call.
    pub fn take_damaged(&self) -> Vec<u64> {
        std::mem::take(&mut *self.lock()).into_iter().filter(|block| *block < self.counted_blocks()).collect()
    }

    /// The pages whose checksums are in a block.
    pub fn pages_of(&self, block: u64) -> Range<u64> {
        block * BLOCK_ENTRIES..(block + 1) * BLOCK_ENTRIES
    }

    /// Rewrites all checksums of a block, durably, which makes it valid.
    pub fn rewrite_block(&self, block: u64, checksums: &[PageChecksum]) -> io::Result<()> {
        let mut bytes = checksums.iter().flat_map(|checksum| checksum.to_bytes()).collect::<Vec<_>>();
        bytes.resize(BLOCK_BYTES, 0);
        let damaged = self.lock();
        self.write_block(block_at(block), &mut bytes, true)?;
        drop(damaged);
        self.file.sync_data()
    }

    /// Writes the checksums of a transaction's pages, then the slot that makes them count.
    pub fn write(&self, checksums: &[(u64, PageChecksum)], meta_page: &[u8; META_BYTES]) -> io::Result<()> {
        let meta = Meta::read(meta_page).ok_or_else(|| io::Error::other("a meta page is malformed"))?;
        self.initialize_blocks(meta.last_page)?;
        self.update(checksums)?;
        self.write_slot(meta_page, meta)
    }

    fn counted_blocks(&self) -> u64 {
        self.pages.load(Ordering::Relaxed).div_ceil(BLOCK_ENTRIES)
    }

    /// Makes all blocks valid that begin to count with this page.
    fn initialize_blocks(&self, last_page: u64) -> io::Result<()> {
        let _guard = self.lock();
        for at in (self.counted_blocks()..=last_page / BLOCK_ENTRIES).map(block_at) {
            if !self.block(at).is_ok_and(|block| is_intact(&block)) {
                self.write_block(at, &mut vec![0; BLOCK_BYTES], true)?;
            }
        }
        Ok(())
    }

    /// Writes checksums, which are in page order, and makes them durable.
    pub fn update(&self, checksums: &[(u64, PageChecksum)]) -> io::Result<()> {
        let mut left = checksums.iter().peekable();
        let mut damaged = self.lock();
        while let Some((first, _)) = left.peek() {
            let at = location_of(*first).0;
            // Rewriting a block that the disk cannot read is what repairs it.
            let mut block = self.block(at).unwrap_or_else(|_| vec![0; BLOCK_BYTES]);
            let was_intact = is_intact(&block);
            if !was_intact {
                damaged.insert(*first / BLOCK_ENTRIES);
            }
            while let Some((page, checksum)) = left.next_if(|(page, _)| location_of(*page).0 == at) {
                let offset = location_of(*page).1;
                block[offset..offset + CHECKSUM_BYTES].copy_from_slice(&checksum.to_bytes());
            }
            // A damaged block remains one: the rest of it cannot be trusted.
            self.write_block(at, &mut block, was_intact)?;
        }
        drop(damaged);
        self.file.sync_data()
    }

    fn write_block(&self, at: u64, block: &mut [u8], is_intact: bool) -> io::Result<()> {
        let (entries, checksum) = block.split_at_mut(BLOCK_BYTES - HASH_BYTES);
        let hash = XxHash3_64::oneshot(entries);
        checksum.copy_from_slice(&if is_intact { hash } else { !hash }.to_le_bytes());
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
        read_up_to(&self.file, &mut block, at)?;
        Ok(block)
    }
}

/// The checksum of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageChecksum {
    page_hash: u64,
    /// Of each group of a leaf's rows.
    groups: [[u8; GROUP_BYTES]; GROUPS],
}

impl PageChecksum {
    /// The checksum of an overflow page.
    pub fn of_bytes(number: u64, page: &[u8]) -> PageChecksum {
        PageChecksum { page_hash: XxHash3_64::oneshot_with_seed(number, page), groups: Default::default() }
    }

    /// The checksum of a branch or leaf: of its header and its nodes, without the unused part between them.
    pub fn of_nodes(number: u64, page: &[u8]) -> PageChecksum {
        PageChecksum {
            page_hash: PageChecksum::hash_of_nodes(number, page),
            groups: groups_of(number, Page(page)),
        }
    }

    fn hash_of_nodes(number: u64, page: &[u8]) -> u64 {
        let (beginning, nodes) = Page(page).used_parts().unwrap_or((page, &[]));
        XxHash3_64::oneshot_with_seed(XxHash3_64::oneshot_with_seed(number, beginning), nodes)
    }

    pub fn matches_bytes(&self, number: u64, page: &[u8]) -> bool {
        self.page_hash == XxHash3_64::oneshot_with_seed(number, page)
    }

    pub fn matches_nodes(&self, number: u64, page: &[u8]) -> bool {
        self.page_hash == PageChecksum::hash_of_nodes(number, page)
    }

    /// For each row of a damaged leaf, whether it was written there, judged by its key and its own checksum.
    pub fn confirmed_rows(&self, number: u64, page: Page<'_>) -> Vec<bool> {
        let groups = groups_of(number, page);
        (0..page.nodes()).map(|index| groups[index % GROUPS] == self.groups[index % GROUPS]).collect()
    }

    fn read(bytes: &[u8; CHECKSUM_BYTES]) -> PageChecksum {
        let mut checksum =
            PageChecksum { page_hash: u64_at(bytes, 0).unwrap_or(0), ..PageChecksum::default() };
        checksum.groups.as_flattened_mut().copy_from_slice(&bytes[HASH_BYTES..]);
        checksum
    }

    fn to_bytes(self) -> [u8; CHECKSUM_BYTES] {
        let mut bytes = [0; CHECKSUM_BYTES];
        bytes[..HASH_BYTES].copy_from_slice(&self.page_hash.to_le_bytes());
        bytes[HASH_BYTES..].copy_from_slice(self.groups.as_flattened());
        bytes
    }
}

fn groups_of(number: u64, page: Page<'_>) -> [[u8; GROUP_BYTES]; GROUPS] {
    let mut groups = [[0; GROUP_BYTES]; GROUPS];
    if page.kind() != Some(PageKind::Leaf) {
        return groups;
    }
    for index in 0..page.nodes() {
        let seed = number ^ (index << 16 | page.nodes()) as u64;
        let checksum = page.leaf_node(index).map_or(0, |node| row_hash(seed, node));
        for (byte, more) in groups[index % GROUPS].iter_mut().zip(checksum.to_le_bytes()) {
            *byte ^= more;
        }
    }
    groups
}

/// The hash of a row's key, of the checksum its value begins with, and of where the value is.
fn row_hash(seed: u64, node: Node<'_>) -> u64 {
    let reference;
    let (beginning, length) = match node.value {
        NodeValue::Inline(value) | NodeValue::Database(value) => {
            (&value[..value.len().min(HEADER_BYTES)], value.len())
        }
        NodeValue::Overflow { page, bytes } => {
            reference = page.to_le_bytes();
            (&reference[..], bytes)
        }
    };
    let seed = XxHash3_64::oneshot_with_seed(seed ^ (length as u64) << 32, beginning);
    XxHash3_64::oneshot_with_seed(seed, node.key)
}

fn read_slot(bytes: &[u8; SLOT_BYTES]) -> Option<Slot> {
    let (slot, checksum) = bytes.split_at(SLOT_BYTES - HASH_BYTES);
    if u64_at(checksum, 0)? != XxHash3_64::oneshot(slot) || !slot.starts_with(MAGIC) {
        return None;
    }
    let page = *slot.last_chunk::<META_BYTES>()?;
    Some(Slot { page, meta: Meta::read(&page)? })
}

/// The offset of the block with a page's checksum, and the offset within it.
fn location_of(page: u64) -> (u64, usize) {
    (block_at(page / BLOCK_ENTRIES), (page % BLOCK_ENTRIES) as usize * CHECKSUM_BYTES)
}

fn block_at(block: u64) -> u64 {
    (SLOT_BLOCKS + block).saturating_mul(BLOCK_BYTES as u64)
}

fn is_intact(block: &[u8]) -> bool {
    let (entries, checksum) = block.split_at(BLOCK_BYTES - HASH_BYTES);
    u64_at(checksum, 0) == Some(XxHash3_64::oneshot(entries))
}

/// Reads what the file has; zeros beyond its end.
fn read_up_to(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file_read::up_to(file, &FILE_NAME, bytes, at).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_being_written_is_not_taken_for_a_damaged_one() {
        let folder = tempfile::tempdir().unwrap();
        let checksums = ChecksumFile::create(&folder.path().join(FILE_NAME)).unwrap();
        checksums.initialize_blocks(BLOCK_ENTRIES - 1).unwrap();
        let all = |byte: u8| -> Vec<_> {
            (0..BLOCK_ENTRIES).map(|page| (page, PageChecksum::of_bytes(page, &[byte; 64]))).collect()
        };
        let (even, odd) = (all(0), all(1));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..50 {
                    checksums.update(&even).unwrap();
                    checksums.update(&odd).unwrap();
                }
            });
            while !writer.is_finished() {
                assert!(checksums.read_verified(0).is_certain);
            }
        });
    }
}
