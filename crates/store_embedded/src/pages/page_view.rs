//! The pages of `data.mdb`, each checked against its sum when it is first read.
//!
//! A [`View`] is the file as one transaction left it, mapped into memory. Of a page that is in use nothing changes,
//! so one check a page and run of the program is enough; `checked` keeps which ones had theirs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Advice, Mmap, MmapOptions};

use crate::damage::damaged_leaf::LeafCopy;
use crate::damage::lost_ranges::DamageNotes;
use crate::pages::checksums::{PageSum, PageSums};
use crate::pages::page::{HEADER_BYTES, Kind, Node, Page, Value, overflow_pages};
use crate::pages::page_set::SharedPageBits;
use crate::tree::entry;
use crate::tree::long_values;

pub(crate) const FILE_NAME: &str = "data.mdb";

/// With less than this an address space is too small to work in.
const SMALLEST_MAP_BYTES: usize = 1 << 28;
const OUT_OF_MEMORY: i32 = 12;

/// What all views share.
pub(crate) struct Pages {
    pub file: File,
    pub sums: PageSums,
    pub damage: DamageNotes,
    checked: SharedPageBits,
    /// What the file had when it was last looked at.
    length: AtomicU64,
}

/// A page that is not what was written.
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

/// What is expected of a page.
#[derive(Clone, Copy)]
enum Part {
    Nodes,
    /// The first page of a long value, or a further one, which has nothing but a part of it.
    ValueBegin,
    ValueRest,
}

impl Part {
    fn fits(self, sum: &PageSum, number: u64, bytes: &[u8]) -> bool {
        match self {
            Part::Nodes => sum.fits_nodes(number, bytes),
            Part::ValueBegin | Part::ValueRest => sum.fits_bytes(number, bytes),
        }
    }

    fn is_well_formed(self, number: u64, bytes: &[u8]) -> bool {
        matches!(self, Part::ValueRest) || Page(bytes).is_well_formed(number)
    }
}

impl Pages {
    pub fn open(folder: &Path) -> io::Result<Pages> {
        let file = File::options().read(true).write(true).open(file_of(folder))?;
        let sums = PageSums::open(&folder.join(crate::pages::checksums::FILE_NAME))?;
        Ok(Pages::of(file, sums, DamageNotes::open(folder)?))
    }

    pub fn of(file: File, sums: PageSums, damage: DamageNotes) -> Pages {
        // As for the map. Whether the system follows the advice makes no difference to what is read.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        Pages { file, sums, damage, checked: SharedPageBits::new(), length: AtomicU64::new(0) }
    }

    /// What both files take.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len() + self.sums.bytes()?)
    }

    /// Pages beyond the end of the file are never looked at.
    pub fn look_for_end(&self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        self.length.store(length, Ordering::Release);
        Ok(length)
    }

    /// Takes a page as it is, because this program has just written it, or has it checked again.
    pub fn set_checked(&self, page: u64, checked: bool) {
        self.checked.set(page, checked);
    }

    fn check(&self, number: u64, bytes: &[u8], part: Part) -> Result<(), String> {
        if !self.sums.get(number).is_ok_and(|sum| part.fits(&sum, number, bytes)) {
            self.check_closely(number, bytes, part)?;
        }
        self.checked.set(number, true);
        Ok(())
    }

    fn check_closely(&self, number: u64, bytes: &[u8], part: Part) -> Result<(), String> {
        let known = self.sums.known(number);
        if known.sum.is_some_and(|sum| part.fits(&sum, number, bytes)) {
            return Ok(());
        }
        // If what is damaged is the sum, the page must do with being well formed.
        if known.is_certain || !part.is_well_formed(number, bytes) {
            return Err("is not what was written: its checksum does not fit".to_string());
        }
        tracing::warn!(page = number, "the file of checksums is damaged; a page is taken as it is");
        Ok(())
    }
}

pub(crate) fn file_of(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// The file as one transaction left it.
#[derive(Clone)]
pub(crate) struct View {
    pub pages: Arc<Pages>,
    map: Arc<Mmap>,
    pub page_bytes: usize,
}

impl View {
    /// Maps the file, with room to grow.
    pub fn open(pages: Arc<Pages>, page_bytes: usize, map_bytes: usize) -> io::Result<View> {
        let map = Arc::new(map(&pages.file, map_bytes)?);
        pages.look_for_end()?;
        Ok(View { pages, map, page_bytes })
    }

    /// The file as it is now, which may be longer.
    pub fn renewed(&self) -> io::Result<View> {
        let mut view = self.clone();
        if view.pages.look_for_end()? > view.map.len() as u64 {
            view.map = Arc::new(map(&view.pages.file, view.map.len().saturating_mul(2))?);
        }
        Ok(view)
    }

    /// Whether both look at the file through the same map.
    pub fn shares_map_with(&self, other: &View) -> bool {
        Arc::ptr_eq(&self.map, &other.map)
    }

    /// A branch or leaf.
    pub fn page(&self, number: u64) -> Result<Page<'_>, LostPage> {
        match self.run(number, 1) {
            Some(bytes) if self.pages.checked.has(number) => Ok(Page(bytes)),
            Some(bytes) => self.first_look(number, Part::Nodes).map(|()| Page(bytes)),
            None => Err(self.lost(number, "lies beyond the end of the file")),
        }
    }

    /// The value in overflow pages.
    pub fn overflow(&self, first: u64, bytes: usize) -> Result<&[u8], LostPage> {
        let count = overflow_pages(bytes, self.page_bytes);
        let beyond = || self.lost(first, "is said to have more bytes than the file");
        let run = self.run(first, count).ok_or_else(beyond)?;
        for number in first..first + count {
            if !self.pages.checked.has(number) {
                let part = if number == first { Part::ValueBegin } else { Part::ValueRest };
                self.first_look(number, part)?;
            }
        }
        let page = Page(run);
        if page.kind() != Some(Kind::Overflow) || page.number() != Some(first) {
            return Err(self.lost(first, "is not the page of values it should be"));
        }
        run.get(HEADER_BYTES..HEADER_BYTES + bytes).ok_or_else(beyond)
    }

    pub fn pages_in_file(&self) -> u64 {
        self.pages.length.load(Ordering::Acquire) / self.page_bytes as u64
    }

    /// Pages unchecked, as the file has them.
    pub fn run(&self, first: u64, count: u64) -> Option<&[u8]> {
        let bytes = self.page_bytes as u64;
        let (start, end) = (first.checked_mul(bytes)?, first.checked_add(count)?.checked_mul(bytes)?);
        if end > self.pages.length.load(Ordering::Acquire) {
            return None;
        }
        self.map.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// A page unchecked, read from the disk: where the map would end the process, this is an error.
    pub fn copy_of(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.page_bytes];
        let at = number.checked_mul(self.page_bytes as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.pages.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// A leaf unchecked, and which of its rows are known to have been written there. It may be written anew at any
    /// time, so this is a copy.
    pub fn damaged_leaf(&self, number: u64) -> Option<LeafCopy> {
        let bytes = self.copy_of(number).ok()?;
        let page = Page(&bytes);
        let known = match self.pages.sums.known(number).sum {
            Some(sum) => sum.known_rows(number, page),
            None => (0..page.nodes()).map(|index| self.has_own_checksum(page.leaf_node(index))).collect(),
        };
        Some(LeafCopy { bytes, known })
    }

    /// Whether a node is a row or a chunk, by its own checksum.
    fn has_own_checksum(&self, node: Option<Node<'_>>) -> bool {
        let Some(node) = node else { return false };
        let stored = match node.value {
            Value::Here(stored) => Some(stored),
            Value::Elsewhere { page, bytes } => self.overflow(page, bytes).ok(),
            Value::Database(_) => None,
        };
        stored.is_some_and(|stored| {
            entry::read(node.key, stored).is_ok() || long_values::read_chunk(node.key, stored).is_some()
        })
    }

    pub fn lost(&self, number: u64, why: &str) -> LostPage {
        LostPage { number, offset: number.saturating_mul(self.page_bytes as u64), why: why.to_string() }
    }

    #[cold]
    fn first_look(&self, number: u64, part: Part) -> Result<(), LostPage> {
        let bytes = self.copy_of(number).map_err(|error| format!("cannot be read: {error}"));
        bytes.and_then(|bytes| self.pages.check(number, &bytes, part)).map_err(|why| self.lost(number, &why))
    }
}

/// Maps more than the file has, so that it can grow: nothing beyond its end is ever looked at.
#[allow(unsafe_code)]
fn map(file: &File, map_bytes: usize) -> io::Result<Mmap> {
    let mut wanted = map_bytes;
    let map = loop {
        // SAFETY: The bytes of a map must not change while somebody looks at them. The folder is locked against
        // other processes; within this one only the pages of finished transactions are looked at, and LMDB writes
        // to none of these while a transaction that may see them is open, as one is for every view in use. `repair`
        // writes only to pages that did not fit when they were checked; of these nobody looks at more than a copy.
        match unsafe { MmapOptions::new().len(wanted).map(file) } {
            Ok(map) => break map,
            Err(error)
                if error.raw_os_error() == Some(OUT_OF_MEMORY)
                    && wanted / 2 >= SMALLEST_MAP_BYTES
                    && (wanted / 2) as u64 >= file.metadata()?.len() =>
            {
                wanted /= 2;
            }
            Err(error) => return Err(error),
        }
    };
    // When data outgrow memory, reading ahead costs far more than it brings.
    map.advise(Advice::Random)?;
    Ok(map)
}
