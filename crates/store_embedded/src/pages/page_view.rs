//! The pages of `data.mdb`, each checked against its checksum when it is first read.
//!
//! A [`PageView`] is the file as one transaction left it, mapped into memory. A live page never changes, so one check per
//! page and process is enough; `checked` records which pages had theirs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, Mmap, MmapOptions};

use crate::damage::damaged_leaf::LeafCopy;
use crate::damage::lost_ranges::LostRanges;
use crate::pages::checksums::{ChecksumFile, PageChecksum};
use crate::pages::page::{HEADER_BYTES, Node, NodeValue, Page, PageKind, overflow_pages};
use crate::pages::page_set::AtomicPageSet;
use crate::tree::entry;
use crate::tree::long_values;

pub(crate) const FILE_NAME: &str = "data.mdb";

/// An address space with less than this is too small to work in.
const SMALLEST_MAP_BYTES: usize = 1 << 28;
const OUT_OF_MEMORY: i32 = 12;

/// The state that all views share.
pub(crate) struct PageFile {
    pub file: File,
    pub checksums: ChecksumFile,
    pub damage: LostRanges,
    checked: AtomicPageSet,
    /// The length of the file when it was last read.
    length: AtomicU64,
}

/// A page that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostPage {
    pub number: u64,
    pub offset: u64,
    pub why: String,
}

impl std::fmt::Display for LostPage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "page {} of data.mdb (at byte {}) {}", self.number, self.offset, self.why)
    }
}

/// What a page is expected to contain.
#[derive(Clone, Copy)]
enum PageRole {
    Nodes,
    /// The first page of a long value, or a further one, which holds nothing but a part of it.
    OverflowStart,
    OverflowRest,
}

impl PageRole {
    fn matches(self, checksum: &PageChecksum, number: u64, bytes: &[u8]) -> bool {
        match self {
            PageRole::Nodes => checksum.matches_nodes(number, bytes),
            PageRole::OverflowStart | PageRole::OverflowRest => checksum.matches_bytes(number, bytes),
        }
    }

    fn is_well_formed(self, number: u64, bytes: &[u8]) -> bool {
        matches!(self, PageRole::OverflowRest) || Page(bytes).is_well_formed(number)
    }
}

impl PageFile {
    pub fn open(folder: &Path) -> io::Result<PageFile> {
        let file = File::options().read(true).write(true).open(file_of(folder))?;
        let checksums = ChecksumFile::open(&folder.join(crate::pages::checksums::FILE_NAME))?;
        Ok(PageFile::of(file, checksums, LostRanges::open(folder)?))
    }

    pub fn of(file: File, checksums: ChecksumFile, damage: LostRanges) -> PageFile {
        // As for the map. Whether the system follows the advice makes no difference to what is read.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        PageFile { file, checksums, damage, checked: AtomicPageSet::new(), length: AtomicU64::new(0) }
    }

    /// The length of both files.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len() + self.checksums.bytes()?)
    }

    /// Updates the known length of the file. Pages beyond it are never read.
    pub fn update_length(&self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        self.length.store(length, Ordering::Release);
        Ok(length)
    }

    /// Marks a page as checked, because this process has just written it, or has it checked again.
    pub fn set_checked(&self, page: u64, checked: bool) {
        self.checked.set(page, checked);
    }

    fn check(&self, number: u64, bytes: &[u8], role: PageRole) -> Result<(), String> {
        if !self.checksums.get(number).is_ok_and(|checksum| role.matches(&checksum, number, bytes)) {
            self.check_closely(number, bytes, role)?;
        }
        self.checked.set(number, true);
        Ok(())
    }

    fn check_closely(&self, number: u64, bytes: &[u8], role: PageRole) -> Result<(), String> {
        let stored = self.checksums.read_verified(number);
        if stored.checksum.is_some_and(|checksum| role.matches(&checksum, number, bytes)) {
            return Ok(());
        }
        // If the checksum is damaged, being well formed has to be enough for the page.
        if stored.is_certain || !role.is_well_formed(number, bytes) {
            return Err("is not what was written: its checksum does not match".to_string());
        }
        tracing::warn!(page = number, "the checksum file is damaged; a page is accepted as it is");
        Ok(())
    }
}

pub(crate) fn file_of(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// The file as one transaction left it.
#[derive(Clone)]
pub(crate) struct PageView {
    pub pages: Arc<PageFile>,
    map: Arc<Mmap>,
    pub page_bytes: usize,
}

impl PageView {
    /// Maps the file, with space to grow.
    pub fn open(pages: Arc<PageFile>, page_bytes: usize, map_bytes: usize) -> io::Result<PageView> {
        let map = Arc::new(map(&pages.file, map_bytes)?);
        pages.update_length()?;
        Ok(PageView { pages, map, page_bytes })
    }

    /// A view of the file at its current length.
    pub fn refreshed(&self) -> io::Result<PageView> {
        let mut view = self.clone();
        if view.pages.update_length()? > view.map.len() as u64 {
            view.map = Arc::new(map(&view.pages.file, view.map.len().saturating_mul(2))?);
        }
        Ok(view)
    }

    /// Whether both views use the same map.
    pub fn shares_map_with(&self, other: &PageView) -> bool {
        Arc::ptr_eq(&self.map, &other.map)
    }

    /// A checked branch or leaf.
    pub fn page(&self, number: u64) -> Result<Page<'_>, LostPage> {
        match self.raw_pages(number, 1) {
            Some(bytes) if self.pages.checked.contains(number) => Ok(Page(bytes)),
            Some(bytes) => self.check_first_read(number, PageRole::Nodes).map(|()| Page(bytes)),
            None => Err(self.lost_page(number, "is beyond the end of the file")),
        }
    }

    /// The checked value in overflow pages.
    pub fn overflow(&self, first: u64, bytes: usize) -> Result<&[u8], LostPage> {
        let count = overflow_pages(bytes, self.page_bytes);
        let beyond = || self.lost_page(first, "claims more bytes than the file has");
        let pages = self.raw_pages(first, count).ok_or_else(beyond)?;
        for number in first..first + count {
            if !self.pages.checked.contains(number) {
                let role = if number == first { PageRole::OverflowStart } else { PageRole::OverflowRest };
                self.check_first_read(number, role)?;
            }
        }
        let page = Page(pages);
        if page.kind() != Some(PageKind::Overflow) || page.number() != Some(first) {
            return Err(self.lost_page(first, "is not the overflow page it should be"));
        }
        pages.get(HEADER_BYTES..HEADER_BYTES + bytes).ok_or_else(beyond)
    }

    pub fn pages_in_file(&self) -> u64 {
        self.pages.length.load(Ordering::Acquire) / self.page_bytes as u64
    }

    /// Unchecked pages, as mapped.
    pub fn raw_pages(&self, first: u64, count: u64) -> Option<&[u8]> {
        let bytes = self.page_bytes as u64;
        let (start, end) = (first.checked_mul(bytes)?, first.checked_add(count)?.checked_mul(bytes)?);
        if end > self.pages.length.load(Ordering::Acquire) {
            return None;
        }
        self.map.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// An unchecked page, read from the disk: where the map would end the process, this returns an error.
    pub fn copy_of(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.page_bytes];
        let at = number.checked_mul(self.page_bytes as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.pages.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// A copy of an unchecked leaf, and which of its rows are confirmed by its checksum. A copy, because it may be rewritten
    /// at any time.
    pub fn damaged_leaf(&self, number: u64) -> Option<LeafCopy> {
        let bytes = self.copy_of(number).ok()?;
        let page = Page(&bytes);
        let confirmed = match self.pages.checksums.read_verified(number).checksum {
            Some(checksum) => checksum.confirmed_rows(number, page),
            None => (0..page.nodes()).map(|index| self.has_own_checksum(page.leaf_node(index))).collect(),
        };
        Some(LeafCopy { bytes, confirmed })
    }

    /// Whether a node is a row or a chunk, judged by its own checksum.
    fn has_own_checksum(&self, node: Option<Node<'_>>) -> bool {
        let Some(node) = node else { return false };
        let stored = match node.value {
            NodeValue::Inline(stored) => Some(stored),
            NodeValue::Overflow { page, bytes } => self.overflow(page, bytes).ok(),
            NodeValue::Database(_) => None,
        };
        stored.is_some_and(|stored| {
            entry::read(node.key, stored).is_ok() || long_values::read_chunk(node.key, stored).is_some()
        })
    }

    pub fn lost_page(&self, number: u64, why: &str) -> LostPage {
        LostPage { number, offset: number.saturating_mul(self.page_bytes as u64), why: why.to_string() }
    }

    #[cold]
    fn check_first_read(&self, number: u64, role: PageRole) -> Result<(), LostPage> {
        let bytes = self.copy_of(number).map_err(|error| format!("cannot be read: {error}"));
        bytes
            .and_then(|bytes| self.pages.check(number, &bytes, role))
            .map_err(|why| self.lost_page(number, &why))
    }
}

/// Maps more than the file's length, so that it can grow: nothing beyond its end is ever read.
#[allow(unsafe_code)]
fn map(file: &File, map_bytes: usize) -> io::Result<Mmap> {
    let mut requested = map_bytes;
    let map = loop {
        // SAFETY: The bytes of a map must not change while they are read. The folder is locked against other processes;
        // within this one only the pages of finished transactions are read, and LMDB writes to none of these while a
        // transaction that may see them is open, as one is for every view in use. `page_repair` writes only to pages
        // that failed their check; of these only copies are read.
        match unsafe { MmapOptions::new().len(requested).map(file) } {
            Ok(map) => break map,
            Err(error)
                if error.raw_os_error() == Some(OUT_OF_MEMORY)
                    && requested / 2 >= SMALLEST_MAP_BYTES
                    && (requested / 2) as u64 >= file.metadata()?.len() =>
            {
                requested /= 2;
            }
            Err(error) => return Err(error),
        }
    };
    // When the data outgrows memory, read-ahead costs far more than it gains.
    map.advise(Advice::Random)?;
    Ok(map)
}
