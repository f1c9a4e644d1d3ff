//! The file `DAMAGE`: keys whose rows were lost with a page that had to be written anew.
//!
//! A line a range, in hexadecimal: `from LOW up to HIGH at KEY`, then the crc32 of that. Rows found in such a range
//! are right. That one is not found says nothing there: it may have been lost. `KEY`, if there is one, is where the
//! only lost row of the range stood; when it is written anew, or deleted, the range is whole again. Of ranges without
//! one nobody knows how many rows they have lost, and which: such a note stays until its space is dropped, or until
//! somebody says that what is lost is lost.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use partita_store::{Direction, KeyRange};

use crate::folder::file_read;
use crate::folder::private_files::{self, sync_folder};
use crate::pages::tree_walk::Bounds;

const FILE_NAME: &str = "DAMAGE";
const UNFINISHED_NAME: &str = "DAMAGE.new";
/// Stands for no bound.
const NONE: &str = "-";

/// Keys from `low` on, up to and without `high`; without bounds where they are `None`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DamageNote {
    pub low: Option<Vec<u8>>,
    pub high: Option<Vec<u8>>,
    pub key: Option<Vec<u8>>,
}

impl DamageNote {
    /// All keys of a lost page.
    pub fn of_page(bounds: Bounds<'_>) -> DamageNote {
        DamageNote { low: bounds.low.map(<[u8]>::to_vec), high: bounds.high.map(<[u8]>::to_vec), key: None }
    }

    pub fn covers(&self, key: &[u8]) -> bool {
        self.low.as_deref().is_none_or(|low| low <= key) && self.high.as_deref().is_none_or(|high| key < high)
    }

    pub fn meets(&self, range: &KeyRange) -> bool {
        self.low.as_deref().is_none_or(|low| low < range.end.as_slice())
            && self.high.as_deref().is_none_or(|high| range.start.as_slice() < high)
    }

    /// Whether one comes to it before one comes to the key.
    pub fn begins_before(&self, key: &[u8], direction: Direction) -> bool {
        match direction {
            Direction::Ascending => self.low.as_deref().is_none_or(|low| low <= key),
            Direction::Descending => self.high.as_deref().is_none_or(|high| key < high),
        }
    }

    /// What is left of it outside a range.
    fn without(self, range: &KeyRange) -> impl Iterator<Item = DamageNote> {
        let DamageNote { low, high, key } = self;
        let key_in =
            |low: Option<&[u8]>, high: Option<&[u8]>| key.clone().filter(|key| Bounds { low, high }.has(key));
        let below = low.as_ref().is_none_or(|low| *low < range.start).then(|| DamageNote {
            low: low.clone(),
            high: Some(range.start.clone()),
            key: key_in(low.as_deref(), Some(&range.start)),
        });
        let above = high.as_ref().is_none_or(|high| range.end < *high).then(|| DamageNote {
            low: Some(range.end.clone()),
            high: high.clone(),
            key: key_in(Some(&range.end), high.as_deref()),
        });
        below.into_iter().chain(above)
    }

    pub fn bounds(&self) -> Bounds<'_> {
        Bounds { low: self.low.as_deref(), high: self.high.as_deref() }
    }

    fn to_line(&self) -> String {
        let [low, high, key] = [&self.low, &self.high, &self.key]
            .map(|part| part.as_deref().map_or_else(|| NONE.to_string(), to_hex));
        let line = format!("from {low} up to {high} at {key}");
        let sum = crc32fast::hash(line.as_bytes());
        format!("{line} {sum:08x}\n")
    }

    fn from_line(line: &str) -> Option<DamageNote> {
        let (text, sum) = line.rsplit_once(' ')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
            return None;
        }
        let (low, rest) = text.strip_prefix("from ")?.split_once(" up to ")?;
        let (high, key) = rest.split_once(" at ")?;
        let read = |part: &str| if part == NONE { Some(None) } else { from_hex(part).map(Some) };
        Some(DamageNote { low: read(low)?, high: read(high)?, key: read(key)? })
    }
}

pub(crate) struct DamageNotes {
    folder: PathBuf,
    notes: RwLock<Vec<Kept>>,
    /// How often notes were added; 0 if there never were any.
    version: AtomicU64,
}

/// A note, and the transaction with which its range was whole again. Readers of earlier ones still need it.
#[derive(Clone)]
struct Kept {
    note: DamageNote,
    healed_at: Option<u64>,
}

impl Kept {
    fn new(note: DamageNote) -> Kept {
        Kept { note, healed_at: None }
    }

    fn counts_at(&self, transaction: u64) -> bool {
        self.healed_at.is_none_or(|healed_at| transaction < healed_at)
    }
}

impl DamageNotes {
    pub fn open(folder: &Path) -> io::Result<DamageNotes> {
        let text = match file_read::whole(&folder.join(FILE_NAME)) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let notes: Option<Vec<_>> = text.lines().map(DamageNote::from_line).collect();
        let unreadable = || io::Error::new(io::ErrorKind::InvalidData, "its file DAMAGE is not readable");
        Ok(DamageNotes::of(folder, notes.ok_or_else(unreadable)?))
    }

    /// Where the notes are not readable, anything may have been lost.
    pub fn open_or_doubt_everything(folder: &Path) -> DamageNotes {
        DamageNotes::open(folder)
            .unwrap_or_else(|_| DamageNotes::of(folder, vec![DamageNote::of_page(Bounds::default())]))
    }

    fn of(folder: &Path, notes: Vec<DamageNote>) -> DamageNotes {
        let notes: Vec<_> = notes.into_iter().map(Kept::new).collect();
        DamageNotes {
            folder: folder.to_path_buf(),
            version: AtomicU64::new(u64::from(!notes.is_empty())),
            notes: RwLock::new(notes),
        }
    }

    /// Changes when notes are added, which they are before the page they are about is written anew: who has read a
    /// page and finds the same version as before knows of all that is missing on it.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// The note of a range in which this key is, for who reads the rows of a transaction.
    pub fn covering(&self, key: &[u8], transaction: u64) -> Option<DamageNote> {
        if self.version() == 0 {
            return None;
        }
        self.read(|notes| {
            let mut notes = notes.iter().filter(|kept| kept.counts_at(transaction));
            notes.find(|kept| kept.note.covers(key)).map(|kept| kept.note.clone())
        })
    }

    /// The notes of all ranges that meet this one, in order.
    pub fn meeting(&self, range: &KeyRange, transaction: u64) -> Vec<DamageNote> {
        if self.version() == 0 {
            return Vec::new();
        }
        self.read(|notes| {
            let notes = notes.iter().filter(|kept| kept.counts_at(transaction) && kept.note.meets(range));
            notes.map(|kept| kept.note.clone()).collect()
        })
    }

    /// Adds notes, durably.
    pub fn add(&self, more: Vec<DamageNote>) -> io::Result<()> {
        let mut notes = self.read(Vec::clone);
        notes.extend(more.into_iter().map(Kept::new));
        notes.sort_by(|one, other| one.note.cmp(&other.note));
        notes.dedup_by(|one, other| one.note == other.note && one.healed_at == other.healed_at);
        self.set(notes)?;
        self.version.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// These rows were written anew by a transaction.
    pub fn heal<'k>(&self, keys: impl Iterator<Item = &'k [u8]>, transaction: u64) -> io::Result<()> {
        if self.version() == 0 {
            return Ok(());
        }
        let keys: std::collections::HashSet<_> = keys.collect();
        let mut notes = self.read(Vec::clone);
        let mut healed = false;
        for kept in notes.iter_mut().filter(|kept| kept.healed_at.is_none()) {
            if kept.note.key.as_deref().is_some_and(|key| keys.contains(key)) {
                kept.healed_at = Some(transaction);
                healed = true;
            }
        }
        if healed { self.set(notes) } else { Ok(()) }
    }

    /// What may have been lost in a range is of no interest any more. Says how many notes there were of it.
    pub fn forget(&self, range: &KeyRange) -> io::Result<usize> {
        let notes = self.read(Vec::clone);
        let meets = |kept: &Kept| kept.healed_at.is_none() && kept.note.meets(range);
        let count = notes.iter().filter(|kept| meets(kept)).count();
        if count > 0 {
            let without = |kept: Kept| match meets(&kept) {
                true => kept.note.without(range).map(Kept::new).collect(),
                false => vec![kept],
            };
            self.set(notes.into_iter().flat_map(without).collect())?;
        }
        Ok(count)
    }

    fn set(&self, notes: Vec<Kept>) -> io::Result<()> {
        let unfinished = self.folder.join(UNFINISHED_NAME);
        let mut file = private_files::options().truncate(true).open(&unfinished)?;
        let lines = notes.iter().filter(|kept| kept.healed_at.is_none()).map(|kept| kept.note.to_line());
        file.write_all(lines.collect::<String>().as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.folder.join(FILE_NAME))?;
        sync_folder(&self.folder)?;
        *self.notes.write().unwrap_or_else(PoisonError::into_inner) = notes;
        Ok(())
    }

    fn read<T>(&self, read: impl FnOnce(&Vec<Kept>) -> T) -> T {
        read(&self.notes.read().unwrap_or_else(PoisonError::into_inner))
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

    fn note(low: &[u8], high: Option<&[u8]>, key: Option<&[u8]>) -> DamageNote {
        DamageNote { low: Some(low.to_vec()), high: high.map(<[u8]>::to_vec), key: key.map(<[u8]>::to_vec) }
    }

    #[test]
    fn notes_stay_until_their_row_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let notes = DamageNotes::open(folder.path()).unwrap();
        assert_eq!(notes.covering(b"b", 1), None);
        notes.add(vec![note(b"x", None, None), note(b"a", Some(b"c"), Some(b"b"))]).unwrap();
        let notes = DamageNotes::open(folder.path()).unwrap();
        let is_covered = |notes: &DamageNotes, key: &[u8], at| notes.covering(key, at).is_some();
        assert!(is_covered(&notes, b"b", 1) && !is_covered(&notes, b"c", 1) && is_covered(&notes, b"y", 1));
        let range = KeyRange { start: b"b".to_vec(), end: b"x".to_vec() };
        assert_eq!(notes.meeting(&range, 1).len(), 1);
        notes.heal([&b"b"[..], b"y"].into_iter(), 5).unwrap();
        // Who reads an earlier transaction does not see the new row.
        assert!(is_covered(&notes, b"b", 4) && !is_covered(&notes, b"b", 5) && is_covered(&notes, b"y", 5));
        let notes = DamageNotes::open(folder.path()).unwrap();
        assert!(!is_covered(&notes, b"b", 1) && is_covered(&notes, b"y", 1));
        let middle = KeyRange { start: b"y".to_vec(), end: b"yz".to_vec() };
        assert_eq!((notes.forget(&middle).unwrap(), notes.forget(&middle).unwrap()), (1, 0));
        assert!(is_covered(&notes, b"x", 1) && !is_covered(&notes, b"yy", 1) && is_covered(&notes, b"yz", 1));
        let notes = DamageNotes::open(folder.path()).unwrap();
        assert!(is_covered(&notes, b"x", 1) && !is_covered(&notes, b"yy", 1) && is_covered(&notes, b"yz", 1));
        assert_eq!(notes.forget(&KeyRange { start: Vec::new(), end: vec![0xFF; 3] }).unwrap(), 2);
        assert!(!is_covered(&notes, b"x", 1));
        fs::write(folder.path().join(FILE_NAME), "from 00 up to 01 at - 00000000\n").unwrap();
        assert!(DamageNotes::open(folder.path()).is_err());
    }
}
