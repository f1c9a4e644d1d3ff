//! The file `DAMAGE`: keys whose rows were lost with a page that had to be written anew.
//!
//! A line a range, in hexadecimal: `from LOW up to HIGH at KEY`, then the crc32 of that. Rows found in such a range
//! are right. That one is not found says nothing there: it may have been lost. `KEY`, if there is one, is where the
//! only lost row of the range stood; when it is written anew, or deleted, the range is whole again.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use partita_store::{Direction, KeyRange};

use crate::private_files::{self, sync_folder};
use crate::walk::Bounds;

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
    notes: RwLock<Vec<DamageNote>>,
    /// Whether there are any: usually not.
    any: AtomicBool,
}

impl DamageNotes {
    pub fn open(folder: &Path) -> io::Result<DamageNotes> {
        let text = match fs::read_to_string(folder.join(FILE_NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let notes: Option<Vec<_>> = text.lines().map(DamageNote::from_line).collect();
        let notes = notes.ok_or_else(|| io::Error::other("the file DAMAGE is not readable"))?;
        Ok(DamageNotes {
            folder: folder.to_path_buf(),
            any: AtomicBool::new(!notes.is_empty()),
            notes: RwLock::new(notes),
        })
    }

    /// The note of a range in which this key is.
    pub fn covering(&self, key: &[u8]) -> Option<DamageNote> {
        self.first(|note| note.covers(key))
    }

    /// The notes of all ranges that meet this one, in order.
    pub fn meeting(&self, range: &KeyRange) -> Vec<DamageNote> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.read(|notes| notes.iter().filter(|note| note.meets(range)).cloned().collect())
    }

    /// Adds notes, durably.
    pub fn add(&self, more: Vec<DamageNote>) -> io::Result<()> {
        let mut notes = self.read(Vec::clone);
        notes.extend(more);
        notes.sort();
        notes.dedup();
        self.set(notes)
    }

    /// These rows are written anew.
    pub fn heal<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> io::Result<()> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let keys: std::collections::HashSet<_> = keys.collect();
        let before = self.read(Vec::clone);
        let is_left = |note: &&DamageNote| note.key.as_deref().is_none_or(|key| !keys.contains(key));
        let left: Vec<_> = before.iter().filter(is_left).cloned().collect();
        if left.len() == before.len() { Ok(()) } else { self.set(left) }
    }

    fn set(&self, notes: Vec<DamageNote>) -> io::Result<()> {
        let unfinished = self.folder.join(UNFINISHED_NAME);
        let mut file = private_files::options().truncate(true).open(&unfinished)?;
        file.write_all(notes.iter().map(DamageNote::to_line).collect::<String>().as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.folder.join(FILE_NAME))?;
        sync_folder(&self.folder)?;
        let any = !notes.is_empty();
        *self.notes.write().unwrap_or_else(PoisonError::into_inner) = notes;
        self.any.store(any, Ordering::Release);
        Ok(())
    }

    fn first(&self, fits: impl Fn(&DamageNote) -> bool) -> Option<DamageNote> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        self.read(|notes| notes.iter().find(|note| fits(note)).cloned())
    }

    fn read<T>(&self, read: impl FnOnce(&Vec<DamageNote>) -> T) -> T {
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
        assert_eq!(notes.covering(b"b"), None);
        notes.add(vec![note(b"x", None, None), note(b"a", Some(b"c"), Some(b"b"))]).unwrap();
        let notes = DamageNotes::open(folder.path()).unwrap();
        assert!(
            notes.covering(b"b").is_some()
                && notes.covering(b"c").is_none()
                && notes.covering(b"y").is_some()
        );
        let range = KeyRange { start: b"b".to_vec(), end: b"x".to_vec() };
        assert_eq!(notes.meeting(&range).len(), 1);
        notes.heal([&b"b"[..], b"y"].into_iter()).unwrap();
        let notes = DamageNotes::open(folder.path()).unwrap();
        assert!(notes.covering(b"b").is_none() && notes.covering(b"y").is_some());
        fs::write(folder.path().join(FILE_NAME), "from 00 up to 01 at - 00000000\n").unwrap();
        assert!(DamageNotes::open(folder.path()).is_err());
    }
}
