//! A file of the simulated disk: its durable bytes, and the changes since.

use std::collections::BTreeSet;

/// The unit that the disk writes atomically.
pub const SECTOR_BYTES: usize = 512;
/// The unit that the operating system writes as a unit, if nothing goes wrong.
const PAGE_BYTES: usize = 4_096;

#[derive(Default, Clone)]
pub struct SimulatedFile {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone)]
struct Change {
    kind: Kind,
    /// A sync of it has failed: whatever the disk has of it now, later syncs do not write it.
    stuck: bool,
}

#[derive(Clone)]
enum Kind {
    Write { offset: usize, bytes: Vec<u8> },
    SetLength(usize),
}

impl SimulatedFile {
    pub fn with_durable(bytes: Vec<u8>) -> SimulatedFile {
        SimulatedFile { durable: bytes, pending: Vec::new() }
    }

    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.pending.push(Change { kind: Kind::Write { offset, bytes: bytes.to_vec() }, stuck: false });
    }

    pub fn set_length(&mut self, length: usize) {
        self.pending.push(Change { kind: Kind::SetLength(length), stuck: false });
    }

    /// Makes all pending changes durable.
    pub fn sync(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        // The system writes whole pages: a later change takes along what a failed sync had left in its page.
        let written: BTreeSet<usize> =
            pending.iter().filter(|change| !change.stuck).flat_map(|change| pages(&change.kind)).collect();
        for change in pending {
            if change.stuck && pages(&change.kind).all(|page| !written.contains(&page)) {
                self.pending.push(change);
            } else {
                self.durable = applied(std::mem::take(&mut self.durable), &change.kind, || true);
            }
        }
    }

    /// Makes only the last write durable: it went through a descriptor of its own.
    pub fn sync_last(&mut self) {
        if let Some(change) = self.pending.pop() {
            self.durable = applied(std::mem::take(&mut self.durable), &change.kind, || true);
        }
    }

    /// A sync failed: the pending changes may be on disk or not, and no later sync changes that.
    pub fn mark_stuck(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.pending.extend(split(change.kind).map(|kind| Change { kind, stuck: true }));
        }
    }

    /// The contents after a power loss, if `survives` decides about each sector of each pending change.
    pub fn left(&self, mut survives: impl FnMut(usize) -> bool) -> Vec<u8> {
        let mut left = self.durable.clone();
        for (number, change) in self.pending.iter().enumerate() {
            left = applied(left, &change.kind, || survives(number));
        }
        left
    }

    pub fn pending(&self) -> usize {
        self.pending.len()
    }
}

/// The pages that a change touches; none for a new length.
fn pages(change: &Kind) -> std::ops::Range<usize> {
    match change {
        Kind::SetLength(_) => 0..0,
        Kind::Write { offset, bytes } => offset / PAGE_BYTES..(offset + bytes.len()).div_ceil(PAGE_BYTES),
    }
}

/// Splits a change into one per page.
fn split(change: Kind) -> impl Iterator<Item = Kind> {
    let pages = pages(&change);
    let (length, offset, bytes) = match change {
        Kind::SetLength(length) => (Some(Kind::SetLength(length)), 0, Vec::new()),
        Kind::Write { offset, bytes } => (None, offset, bytes),
    };
    let parts = pages.map(move |page| {
        let start = (page * PAGE_BYTES).max(offset);
        let end = ((page + 1) * PAGE_BYTES).min(offset + bytes.len());
        Kind::Write { offset: start, bytes: bytes[start - offset..end - offset].to_vec() }
    });
    length.into_iter().chain(parts)
}

fn applied(mut bytes: Vec<u8>, change: &Kind, mut survives: impl FnMut() -> bool) -> Vec<u8> {
    match change {
        Kind::SetLength(length) => {
            if survives() {
                bytes.resize(*length, 0);
            }
        }
        Kind::Write { offset, bytes: written } => {
            let mut at = 0;
            while at < written.len() {
                let start = offset + at;
                let end = (start + SECTOR_BYTES - start % SECTOR_BYTES).min(offset + written.len());
                if survives() {
                    if bytes.len() < end {
                        bytes.resize(end, 0);
                    }
                    bytes[start..end].copy_from_slice(&written[at..end - offset]);
                }
                at = end - offset;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_synced_writes_are_certain_to_survive() {
        let mut file = SimulatedFile::with_durable(vec![1; 1_000]);
        file.write(500, &[2; 100]);
        assert_eq!(file.left(|_| false), vec![1; 1_000]);
        let mut expected = vec![1; 1_000];
        expected[500..600].fill(2);
        assert_eq!(file.left(|_| true), expected);
        file.sync();
        assert_eq!(file.left(|_| false), expected);
        file.write(2_000, &[3; 10]);
        file.set_length(5);
        assert_eq!(file.left(|number| number == 0).len(), 2_010);
        assert_eq!(file.left(|_| true), vec![1; 5]);
    }

    #[test]
    fn sectors_survive_independently() {
        let mut file = SimulatedFile::with_durable(vec![0; 2_048]);
        file.write(100, &[9; 1_000]);
        let mut turn = 0;
        let left = file.left(|_| {
            turn += 1;
            turn == 2
        });
        assert_eq!(turn, 3);
        assert!(left[..512].iter().chain(&left[1_024..]).all(|byte| *byte == 0));
        assert!(left[512..1_024].iter().all(|byte| *byte == 9));
    }

    #[test]
    fn what_a_failed_sync_left_is_not_synced_later() {
        let mut file = SimulatedFile::with_durable(vec![0; 9_000]);
        file.write(4_000, &[1; 200]);
        file.mark_stuck();
        file.write(8_500, &[2]);
        file.sync();
        assert_eq!([file.left(|_| false)[4_000], file.left(|_| false)[8_500]], [0, 2]);
        assert_eq!(file.left(|_| true)[4_000..4_200], [1; 200]);
        // Another change to its page takes it to the disk, and it never overwrites a later one.
        file.write(4_100, &[3; 50]);
        file.sync();
        let left = file.left(|_| false);
        assert_eq!([left[4_000], left[4_096], left[4_120], left[4_199]], [0, 1, 3, 1]);
        assert_eq!(file.left(|_| true)[4_120], 3);
        file.write(2, &[4]);
        file.sync_last();
        assert_eq!(file.left(|_| false)[2], 4);
    }
}
