//! Which segments the log has: the file `log/MANIFEST`.
//!
//! ```text
//! two slots of 64 KB, each: "partita manifest" (16) │ format (4) │ generation (8) │ count (4) │ descriptions │ crc32 (4)
//! ```
//! Listed are the segments whose records the tree may lack, oldest first. A segment is listed before its first record
//! is acknowledged and until the tree has its last one, so after a crash each listed segment must be there as it is
//! described. The slots are written and flushed one after the other, in place: a crash spoils one of them at most, and
//! a full disk none. The one of the higher generation counts.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::folder::file_read;
use crate::folder::private_files;
use crate::log::segment_header::{DESCRIPTION_BYTES, Description};

pub(crate) const FILE_NAME: &str = "MANIFEST";
const MAGIC: &[u8; 16] = b"partita manifest";
const FORMAT: u32 = 2;
const SLOT_BYTES: usize = 64 << 10;
const SLOTS: usize = 2;
const HEAD_BYTES: usize = 32;
const MOST_SEGMENTS: usize = (SLOT_BYTES - HEAD_BYTES - 4) / DESCRIPTION_BYTES;

pub(crate) struct Manifest {
    file: File,
    generation: u64,
}

/// What a slot says.
struct Slot {
    generation: u64,
    segments: Vec<Description>,
}

impl Manifest {
    /// The manifest of a log's folder; an empty one is made if there is none.
    pub fn open(folder: &Path) -> io::Result<Manifest> {
        let path = folder.join(FILE_NAME);
        let generation = newest_slot(&path)?.map_or(0, |slot| slot.generation);
        let file = private_files::options().open(&path)?;
        let found = file.metadata()?.len();
        let missing = ((SLOTS * SLOT_BYTES) as u64).saturating_sub(found);
        if missing > 0 {
            file.write_all_at(&vec![0; missing as usize], found)?;
            file.sync_all()?;
            private_files::sync_folder(folder)?;
        }
        Ok(Manifest { file, generation })
    }

    /// Lists these segments, durably.
    pub fn write(&mut self, segments: &[Description]) -> io::Result<()> {
        if segments.len() > MOST_SEGMENTS {
            return Err(io::Error::other(format!("the log has more than {MOST_SEGMENTS} segments")));
        }
        self.generation += 1;
        let slot = encode(self.generation, segments);
        for number in 0..SLOTS {
            self.file.write_all_at(&slot, (number * SLOT_BYTES) as u64)?;
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// The segments that a slot lists, if it is one.
pub(crate) fn segments_of(slot: &[u8]) -> Option<Vec<Description>> {
    decode(slot).map(|slot| slot.segments)
}

/// The segments that a log's folder lists, or `None` when that is not readable.
pub(crate) fn read(folder: &Path) -> io::Result<Option<Vec<Description>>> {
    Ok(newest_slot(&folder.join(FILE_NAME))?.map(|slot| slot.segments))
}

fn newest_slot(path: &Path) -> io::Result<Option<Slot>> {
    let bytes = match file_read::whole(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(bytes.chunks(SLOT_BYTES).take(SLOTS).filter_map(decode).max_by_key(|slot| slot.generation))
}

fn encode(generation: u64, segments: &[Description]) -> Vec<u8> {
    let mut slot = MAGIC.to_vec();
    slot.extend_from_slice(&FORMAT.to_le_bytes());
    slot.extend_from_slice(&generation.to_le_bytes());
    slot.extend_from_slice(&(segments.len() as u32).to_le_bytes());
    for segment in segments {
        slot.extend_from_slice(&segment.encode());
    }
    slot.extend_from_slice(&crc32fast::hash(&slot).to_le_bytes());
    slot
}

fn decode(slot: &[u8]) -> Option<Slot> {
    let head = slot.first_chunk::<HEAD_BYTES>()?;
    if !head.starts_with(MAGIC) || head[16..20] != FORMAT.to_le_bytes() {
        return None;
    }
    let generation = u64::from_le_bytes(head[20..28].try_into().ok()?);
    let count = u32::from_le_bytes(head[28..].try_into().ok()?) as usize;
    let end = HEAD_BYTES + count.min(MOST_SEGMENTS) * DESCRIPTION_BYTES;
    let (covered, rest) = slot.split_at_checked(end)?;
    if crc32fast::hash(covered).to_le_bytes() != *rest.first_chunk::<4>()? {
        return None;
    }
    let (segments, _) = covered[HEAD_BYTES..].as_chunks();
    Some(Slot { generation, segments: segments.iter().map(Description::decode).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(count: u64) -> Vec<Description> {
        (0..count)
            .map(|number| Description {
                number,
                bytes: 8 << 20,
                first: number * 10,
                durable: 5,
                salt: [9; 16],
                taken: number + 1,
            })
            .collect()
    }

    #[test]
    fn says_what_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mut manifest = Manifest::open(folder.path()).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for count in [0, 3, 1, MOST_SEGMENTS as u64] {
            manifest.write(&segments(count)).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(segments(count)));
        }
        assert!(manifest.write(&segments(MOST_SEGMENTS as u64 + 1)).is_err());
        Manifest::open(folder.path()).unwrap().write(&segments(2)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(segments(2)));
    }

    /// A crash within the first slot leaves what was; one within the second what is.
    #[test]
    fn one_spoilt_slot_does_no_harm_and_two_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::open(folder.path()).unwrap();
        manifest.write(&segments(1)).unwrap();
        let path = folder.path().join(FILE_NAME);
        let before = std::fs::read(&path).unwrap();
        manifest.write(&segments(2)).unwrap();
        let after = std::fs::read(&path).unwrap();
        for (first, second, found) in [
            (&after[..SLOT_BYTES], &before[SLOT_BYTES..], Some(2)),
            (&after[..SLOT_BYTES], &[1; SLOT_BYTES][..], Some(2)),
            (&[1; SLOT_BYTES][..], &before[SLOT_BYTES..], Some(1)),
            (&[1; SLOT_BYTES][..], &after[SLOT_BYTES..], Some(2)),
            (&after[..SLOT_BYTES], &[][..], Some(2)),
            (&[1; SLOT_BYTES][..], &[1; SLOT_BYTES][..], None),
            (&[][..], &[][..], None),
        ] {
            std::fs::write(&path, [first, second].concat()).unwrap();
            assert_eq!(read(folder.path()).unwrap(), found.map(segments));
        }
    }
}
