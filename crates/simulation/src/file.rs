//! One file of the simulated disk: the bytes that are durable, and what was done to it since.

/// What the disk writes at once, or not at all.
pub const SECTOR_BYTES: usize = 512;

#[derive(Default, Clone)]
pub struct SimulatedFile {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone)]
struct Change {
    kind: Kind,
    /// A flush of it has failed: whatever the disk has of it now, later flushes do not write it.
    stuck: bool,
}

#[derive(Clone)]
enum Kind {
    Write { offset: usize, bytes: Vec<u8> },
    SetLength(usize),
}

impl SimulatedFile {
    pub fn durably(bytes: Vec<u8>) -> SimulatedFile {
        SimulatedFile { durable: bytes, pending: Vec::new() }
    }

    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.pending.push(Change { kind: Kind::Write { offset, bytes: bytes.to_vec() }, stuck: false });
    }

    pub fn set_length(&mut self, length: usize) {
        self.pending.push(Change { kind: Kind::SetLength(length), stuck: false });
    }

    /// What is pending becomes durable.
    pub fn flush(&mut self) {
        let mut stuck = Vec::new();
        for change in std::mem::take(&mut self.pending) {
            if change.stuck {
                stuck.push(change);
            } else {
                self.durable = applied(std::mem::take(&mut self.durable), &change.kind, |_| true);
            }
        }
        self.pending = stuck;
    }

    /// The last write becomes durable, and nothing else does: it went through a descriptor of its own.
    pub fn flush_last(&mut self) {
        if let Some(change) = self.pending.pop() {
            self.durable = applied(std::mem::take(&mut self.durable), &change.kind, |_| true);
        }
    }

    /// A flush failed: what is pending may be on disk or not, and no later flush changes that.
    pub fn stick(&mut self) {
        self.pending.iter_mut().for_each(|change| change.stuck = true);
    }

    /// What is found after a power loss, when `survives` decides about each sector of each pending change.
    pub fn left(&self, mut survives: impl FnMut(usize) -> bool) -> Vec<u8> {
        let mut left = self.durable.clone();
        for (number, change) in self.pending.iter().enumerate() {
            left = applied(left, &change.kind, |_| survives(number));
        }
        left
    }

    pub fn pending(&self) -> usize {
        self.pending.len()
    }
}

fn applied(mut bytes: Vec<u8>, change: &Kind, mut survives: impl FnMut(usize) -> bool) -> Vec<u8> {
    match change {
        Kind::SetLength(length) => {
            if survives(0) {
                bytes.resize(*length, 0);
            }
        }
        Kind::Write { offset, bytes: written } => {
            let mut at = 0;
            while at < written.len() {
                let start = offset + at;
                let end = (start + SECTOR_BYTES - start % SECTOR_BYTES).min(offset + written.len());
                if survives(start / SECTOR_BYTES) {
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
    fn only_what_is_flushed_survives_for_certain() {
        let mut file = SimulatedFile::durably(vec![1; 1_000]);
        file.write(500, &[2; 100]);
        assert_eq!(file.left(|_| false), vec![1; 1_000]);
        let mut expected = vec![1; 1_000];
        expected[500..600].fill(2);
        assert_eq!(file.left(|_| true), expected);
        file.flush();
        assert_eq!(file.left(|_| false), expected);
        file.write(2_000, &[3; 10]);
        file.set_length(5);
        assert_eq!(file.left(|number| number == 0).len(), 2_010);
        assert_eq!(file.left(|_| true), vec![1; 5]);
    }

    #[test]
    fn sectors_survive_by_themselves() {
        let mut file = SimulatedFile::durably(vec![0; 2_048]);
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
    fn what_a_failed_flush_left_is_not_flushed_later() {
        let mut file = SimulatedFile::durably(vec![0; 10]);
        file.write(0, &[1]);
        file.stick();
        file.write(1, &[2]);
        file.flush();
        assert_eq!(file.left(|_| false)[..2], [0, 2]);
        assert_eq!(file.left(|_| true)[..2], [1, 2]);
        file.write(2, &[3]);
        file.flush_last();
        assert_eq!(file.left(|_| false)[..3], [0, 2, 3]);
    }
}
