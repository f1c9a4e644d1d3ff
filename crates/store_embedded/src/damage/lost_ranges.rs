//! The file `DAMAGE`: key ranges in which rows were lost with a page that had to be rewritten.
//!
//! One line per range, in hexadecimal: `from LOW up to HIGH at -`, then the crc32 of that. Rows found in such a range are
//! correct. A row that is not found there may have been lost, so "not found" is an error. How many rows a range has lost
//! is unknown: it remains until its space is dropped, or until an operator accepts the loss.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use partita_store::{Direction, KeyRange};

use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::pages::tree_walk::KeyBounds;

const FILE_NAME: &str = "DAMAGE";
const UNFINISHED_NAME: &str = "DAMAGE.new";
/// Stands for a missing bound.
const NONE: &str = "-";
/// The end of every line before its checksum.
const LINE_END: &str = " at -";

/// A key range from `low` (inclusive) to `high` (exclusive); unbounded where `None`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LostRange {
    pub low: Option<Vec<u8>>,
    pub high: Option<Vec<u8>>,
}

impl LostRange {
    /// All keys of a lost page.
    pub fn of_page(bounds: KeyBounds<'_>) -> LostRange {
        LostRange { low: bounds.low.map(<[u8]>::to_vec), high: bounds.high.map(<[u8]>::to_vec) }
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.low.as_deref().is_none_or(|low| low <= key) && self.high.as_deref().is_none_or(|high| key < high)
    }

    pub fn overlaps(&self, range: &KeyRange) -> bool {
        self.low.as_deref().is_none_or(|low| low < range.end.as_slice())
            && self.high.as_deref().is_none_or(|high| range.start.as_slice() < high)
    }

    /// Whether iteration reaches it before it reaches the key.
    pub fn begins_before(&self, key: &[u8], direction: Direction) -> bool {
        match direction {
            Direction::Ascending => self.low.as_deref().is_none_or(|low| low <= key),
            Direction::Descending => self.high.as_deref().is_none_or(|high| key < high),
        }
    }

    /// The parts of it outside a range.
    fn without(self, range: &KeyRange) -> impl Iterator<Item = LostRange> {
        let LostRange { low, high } = self;
        let is_below = low.as_ref().is_none_or(|low| *low < range.start);
        let is_above = high.as_ref().is_none_or(|high| range.end < *high);
        let below = is_below.then(|| LostRange { low, high: Some(range.start.clone()) });
        let above = is_above.then(|| LostRange { low: Some(range.end.clone()), high });
        below.into_iter().chain(above)
    }

    pub fn bounds(&self) -> KeyBounds<'_> {
        KeyBounds { low: self.low.as_deref(), high: self.high.as_deref() }
    }

    fn to_line(&self) -> String {
        let [low, high] =
            [&self.low, &self.high].map(|bound| bound.as_deref().map_or_else(|| NONE.to_string(), to_hex));
        let line = format!("from {low} up to {high}{LINE_END}");
        let checksum = crc32fast::hash(line.as_bytes());
        format!("{line} {checksum:08x}\n")
    }

    fn from_line(line: &str) -> Option<LostRange> {
        let (text, checksum) = line.rsplit_once(' ')?;
        if u32::from_str_radix(checksum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
            return None;
        }
        // Early builds named a key at the end; the range holds without it.
        let (range, _) = text.strip_prefix("from ")?.split_once(" at ")?;
        let (low, high) = range.split_once(" up to ")?;
        let read = |bound: &str| if bound == NONE { Some(None) } else { from_hex(bound).map(Some) };
        Some(LostRange { low: read(low)?, high: read(high)? })
    }
}

pub(crate) struct LostRanges {
    folder: PathBuf,
    ranges: RwLock<Vec<LostRange>>,
    /// How often ranges were added; 0 if there never were any.
    version: AtomicU64,
}

impl LostRanges {
    pub fn open(folder: &Path) -> io::Result<LostRanges> {
        let text = match file_read::whole(&folder.join(FILE_NAME)) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let ranges: Option<Vec<_>> = text.lines().map(LostRange::from_line).collect();
        let unreadable = || io::Error::new(io::ErrorKind::InvalidData, "its file DAMAGE is not readable");
        Ok(LostRanges::of(folder, ranges.ok_or_else(unreadable)?))
    }

    /// If the file is not readable, anything may have been lost.
    pub fn open_or_assume_all_lost(folder: &Path) -> LostRanges {
        LostRanges::open(folder)
            .unwrap_or_else(|_| LostRanges::of(folder, vec![LostRange::of_page(KeyBounds::default())]))
    }

    fn of(folder: &Path, ranges: Vec<LostRange>) -> LostRanges {
        LostRanges {
            folder: folder.to_path_buf(),
            version: AtomicU64::new(u64::from(!ranges.is_empty())),
            ranges: RwLock::new(ranges),
        }
    }

    /// Changes when ranges are added, which happens before their page is rewritten: a reader of a page that finds the
    /// version unchanged knows everything that is missing on it.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// The lost range that contains this key, if any.
    pub fn containing(&self, key: &[u8]) -> Option<LostRange> {
        if self.version() == 0 {
            return None;
        }
        self.read(|ranges| ranges.iter().find(|lost| lost.contains(key)).cloned())
    }

    /// The lost ranges that overlap this one, in order.
    pub fn overlapping(&self, range: &KeyRange) -> Vec<LostRange> {
        if self.version() == 0 {
            return Vec::new();
        }
        self.read(|ranges| ranges.iter().filter(|lost| lost.overlaps(range)).cloned().collect())
    }

    /// Adds ranges, durably.
    pub fn add(&self, more: Vec<LostRange>) -> io::Result<()> {
        let mut ranges = self.read(Vec::clone);
        ranges.extend(more);
        ranges.sort();
        ranges.dedup();
        self.set(ranges)?;
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// Accepts what was lost in a range. Returns how many lost ranges overlapped it.
    pub fn forget(&self, range: &KeyRange) -> io::Result<usize> {
        let ranges = self.read(Vec::clone);
        let count = ranges.iter().filter(|lost| lost.overlaps(range)).count();
        if count > 0 {
            let without = |lost: LostRange| match lost.overlaps(range) {
                true => lost.without(range).collect(),
                false => vec![lost],
            };
            self.set(ranges.into_iter().flat_map(without).collect())?;
        }
        Ok(count)
    }

    fn set(&self, ranges: Vec<LostRange>) -> io::Result<()> {
        let unfinished = self.folder.join(UNFINISHED_NAME);
        let mut file = private_files::options().truncate(true).open(&unfinished)?;
        let lines = ranges.iter().map(LostRange::to_line);
        file.write_all(lines.collect::<String>().as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.folder.join(FILE_NAME))?;
        sync_folder(&self.folder)?;
        *self.ranges.write().unwrap_or_else(PoisonError::into_inner) = ranges;
        Ok(())
    }

    fn read<T>(&self, read: impl FnOnce(&Vec<LostRange>) -> T) -> T {
        read(&self.ranges.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let (pairs, []) = digits.as_deref()?.as_chunks::<2>() else { return None };
    Some(pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_range(low: &[u8], high: Option<&[u8]>) -> LostRange {
        LostRange { low: Some(low.to_vec()), high: high.map(<[u8]>::to_vec) }
    }

    #[test]
    fn ranges_remain_until_the_loss_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let ranges = LostRanges::open(folder.path()).unwrap();
        assert_eq!(ranges.containing(b"b"), None);
        ranges.add(vec![lost_range(b"x", None), lost_range(b"a", Some(b"c"))]).unwrap();
        let ranges = LostRanges::open(folder.path()).unwrap();
        let is_covered = |ranges: &LostRanges, key: &[u8]| ranges.containing(key).is_some();
        assert!(is_covered(&ranges, b"b") && !is_covered(&ranges, b"c") && is_covered(&ranges, b"y"));
        let range = KeyRange { start: b"b".to_vec(), end: b"x".to_vec() };
        assert_eq!(ranges.overlapping(&range).len(), 1);
        let middle = KeyRange { start: b"y".to_vec(), end: b"yz".to_vec() };
        assert_eq!((ranges.forget(&middle).unwrap(), ranges.forget(&middle).unwrap()), (1, 0));
        assert!(is_covered(&ranges, b"x") && !is_covered(&ranges, b"yy") && is_covered(&ranges, b"yz"));
        let ranges = LostRanges::open(folder.path()).unwrap();
        assert!(is_covered(&ranges, b"x") && !is_covered(&ranges, b"yy") && is_covered(&ranges, b"yz"));
        assert_eq!(ranges.forget(&KeyRange { start: Vec::new(), end: vec![0xFF; 3] }).unwrap(), 3);
        assert!(!is_covered(&ranges, b"x") && !is_covered(&ranges, b"b"));
        fs::write(folder.path().join(FILE_NAME), "from 00 up to 01 at - 00000000\n").unwrap();
        assert!(LostRanges::open(folder.path()).is_err());
    }

    #[test]
    fn lines_keep_their_format() {
        let line = lost_range(&[0, 1], Some(&[2])).to_line();
        assert!(line.starts_with("from 0001 up to 02 at - "), "{line}");
        assert_eq!(LostRange::from_line(line.trim_end()), Some(lost_range(&[0, 1], Some(&[2]))));
    }
}
