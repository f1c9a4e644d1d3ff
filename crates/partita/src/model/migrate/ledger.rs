//! Which keys the new model wants, and how often: finds collisions and orphans in tables of any size.
//!
//! Only hashes of keys are recorded: the last 4 million in memory (32 bytes each) and the others in sorted temporary files (17 bytes each).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fs::File;
use std::io::{BufReader, BufWriter, Error, Read, Seek, Write};

/// How many entries are kept in memory.
const MAX_ENTRIES: usize = 4 << 20;
/// How many collisions are remembered.
const MAX_COLLISIONS: usize = 1_000;
/// How many orphans are removed at a time.
const MAX_ORPHANS: usize = 1 << 20;

/// What is known about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// An item will have it, or has it and stays.
    Item,
    /// The marker of a unique value will have it.
    Marker,
    /// A copy will have it.
    Copy,
    /// The copy of the newest of several versions will have it.
    NewestCopy,
    /// A marker or a copy has it now.
    Derived,
    /// Something has it now that becomes a copy, or a marker with attributes: it has values that nothing else has.
    Valuable,
    /// What has it now is moved or removed with its item, or stays with it.
    Handled,
}

const CLAIMS: [Claim; 7] = [
    Claim::Item,
    Claim::Marker,
    Claim::Copy,
    Claim::NewestCopy,
    Claim::Derived,
    Claim::Valuable,
    Claim::Handled,
];

type Entry = (u128, Claim);

/// What the ledger found.
#[derive(Default)]
pub struct LedgerFindings {
    /// How many keys several items get.
    pub collisions: u64,
    /// How many unique values several items have.
    pub duplicates: u64,
    /// How many markers too many would be created for them.
    pub surplus_markers: u64,
    /// The first of both.
    pub contested: HashSet<u128>,
    /// How many markers and copies belong to no item.
    pub orphan_count: u64,
    /// The first of them.
    pub orphans: HashSet<u128>,
    /// How many markers and future copies have values of their own and belong to no item.
    pub stranded: u64,
    /// The first of them.
    pub stranded_keys: HashSet<u128>,
}

pub struct Ledger {
    entries: Vec<Entry>,
    max_entries: usize,
    runs: Vec<BufReader<File>>,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger { entries: Vec::new(), max_entries: MAX_ENTRIES, runs: Vec::new() }
    }
}

impl Ledger {
    pub fn add(&mut self, key: u128, claim: Claim) -> Result<(), String> {
        if self.entries.len() == self.max_entries {
            self.spill().map_err(|error| {
                format!("cannot write a temporary file in {}: {error}", std::env::temp_dir().display())
            })?;
        }
        self.entries.push((key, claim));
        Ok(())
    }

    /// Writes the entries in memory to a sorted file that has no name.
    fn spill(&mut self) -> Result<(), Error> {
        self.entries.sort_unstable();
        let number = self.runs.len();
        let path = std::env::temp_dir().join(format!("partita-migrate-{}-{number}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        let mut out = BufWriter::new(file);
        for (key, claim) in self.entries.drain(..) {
            out.write_all(&key.to_be_bytes())?;
            out.write_all(&[claim as u8])?;
        }
        let mut file = out.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        self.runs.push(BufReader::new(file));
        Ok(())
    }

    /// Visits all entries in order and judges those of each key together.
    pub fn finish(mut self) -> Result<LedgerFindings, String> {
        self.merge().map_err(|error| format!("cannot read a temporary file: {error}"))
    }

    fn merge(&mut self) -> Result<LedgerFindings, Error> {
        self.entries.sort_unstable();
        let mut memory = std::mem::take(&mut self.entries).into_iter();
        let mut heads = BinaryHeap::new();
        heads.extend(memory.next().map(|entry| Reverse((entry, usize::MAX))));
        for (number, run) in self.runs.iter_mut().enumerate() {
            heads.extend(read_entry(run)?.map(|entry| Reverse((entry, number))));
        }
        let mut findings = LedgerFindings::default();
        let mut group: (u128, Vec<Claim>) = (0, Vec::new());
        while let Some(Reverse(((key, claim), run))) = heads.pop() {
            let next = match self.runs.get_mut(run) {
                Some(run) => read_entry(run)?,
                None => memory.next(),
            };
            heads.extend(next.map(|entry| Reverse((entry, run))));
            if key != group.0 {
                findings.judge(group.0, &group.1);
                group = (key, Vec::new());
            }
            group.1.push(claim);
        }
        findings.judge(group.0, &group.1);
        Ok(findings)
    }
}

impl LedgerFindings {
    /// Whether nothing may be written: several items get the same key, or have the same unique value.
    pub fn forbid_writing(&self) -> bool {
        self.collisions > 0 || self.duplicates > 0
    }

    fn judge(&mut self, key: u128, claims: &[Claim]) {
        let count = |claim: Claim| claims.iter().filter(|other| **other == claim).count();
        let has = |claim: Claim| claims.contains(&claim);
        let (items, markers) = (count(Claim::Item) + count(Claim::Copy), count(Claim::Marker));
        let wanted = items + markers + usize::from(has(Claim::NewestCopy));
        if wanted > 1 {
            if markers == wanted {
                self.duplicates += 1;
                self.surplus_markers += if has(Claim::Derived) { 0 } else { markers as u64 - 1 };
            } else {
                self.collisions += 1;
            }
            add_some(&mut self.contested, key, MAX_COLLISIONS);
        }
        if wanted == 0 && !has(Claim::Handled) {
            if has(Claim::Valuable) {
                self.stranded += 1;
                add_some(&mut self.stranded_keys, key, MAX_COLLISIONS);
            } else if has(Claim::Derived) {
                self.orphan_count += 1;
                add_some(&mut self.orphans, key, MAX_ORPHANS);
            }
        }
    }
}

/// Adds a key to the first ones.
fn add_some(keys: &mut HashSet<u128>, key: u128, limit: usize) {
    if keys.len() < limit {
        keys.insert(key);
    }
}

fn read_entry(run: &mut BufReader<File>) -> Result<Option<Entry>, Error> {
    let mut bytes = [0; 17];
    match run.read_exact(&mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let (key, claim) = (bytes.first_chunk().copied().unwrap_or_default(), usize::from(bytes[16]));
    Ok(CLAIMS.get(claim).map(|claim| (u128::from_be_bytes(key), *claim)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collisions_and_orphans_are_found_whether_entries_are_in_memory_or_in_files() {
        for max_entries in [3, 1_000] {
            let mut ledger = Ledger { max_entries, ..Ledger::default() };
            for (key, claims) in [
                (1, &[Claim::Item][..]),
                (2, &[Claim::Item, Claim::Item]),
                (3, &[Claim::Marker, Claim::Marker, Claim::Derived]),
                (4, &[Claim::Derived]),
                (5, &[Claim::Derived, Claim::Handled]),
                (6, &[Claim::NewestCopy, Claim::NewestCopy, Claim::Derived]),
                (7, &[Claim::Copy, Claim::Item]),
                (8, &[Claim::Valuable]),
                (9, &[Claim::Valuable, Claim::Copy]),
            ] {
                claims.iter().for_each(|claim| ledger.add(key, *claim).unwrap());
            }
            assert_eq!(ledger.runs.len(), if max_entries == 3 { 5 } else { 0 });
            let findings = ledger.finish().unwrap();
            assert_eq!((findings.collisions, findings.duplicates, findings.stranded), (2, 1, 1));
            assert_eq!(findings.contested, HashSet::from([2, 3, 7]));
            assert_eq!(findings.orphans, HashSet::from([4]));
        }
    }
}
