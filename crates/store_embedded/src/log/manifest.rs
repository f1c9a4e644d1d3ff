//! The segments of the log: the file `log/MANIFEST`.
//!
//! ```text
//! two slots of 64 KB, each: "partita manifest" (16) │ format (4) │ generation (8) │ count (4) │ descriptions │ crc32 (4)
//! ```
//! It lists the segments whose records the tree may lack, oldest first. A segment is listed from before its first record
//! is acknowledged until the tree has its last one, so after a crash each listed segment must exist as described. The
//! slots are written and synced one after the other, in place: a crash damages at most one of them, and a full disk
//! none. The slot with the higher generation counts.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::folder::file_read;
use crate::folder::private_files;
use crate::log::segment_header::{DESCRIPTION_BYTES, SegmentDescription};

pub(crate) const FILE_NAME: &str = "MANIFEST";
const MAGIC: &[u8; 16] = b"partita manifest";
const FORMAT: u32 = 2;
const SLOT_BYTES: usize = 64 << 10;
const SLOTS: usize = 2;
const HEADER_BYTES: usize = 32;
const MAX_SEGMENTS: usize = (SLOT_BYTES - HEADER_BYTES - 4) / DESCRIPTION_BYTES;

pub(crate) struct Manifest {
    file: File,
    generation: u64,
}

/// The contents of a slot.
struct Slot {
    generation: u64,
    segments: Vec<SegmentDescription>,
}

impl Manifest {
    /// Opens the manifest of a log's folder, or creates an empty one.
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
    pub fn write(&mut self, segments: &[SegmentDescription]) -> io::Result<()> {
        if segments.len() > MAX_SEGMENTS {
            return Err(io::Error::other(format!("the log has more than {MAX_SEGMENTS} segments")));
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

/// The segments listed in a slot, if it is valid.
pub(crate) fn decode_segments(slot: &[u8]) -> Option<Vec<SegmentDescription>> {
    decode(slot).map(|slot| slot.segments)
}

/// The segments listed in a log's folder, or `None` if the manifest is not readable.
pub(crate) fn read(folder: &Path) -> io::Result<Option<Vec<SegmentDescription>>> {
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

fn encode(generation: u64, segments: &[SegmentDescription]) -> Vec<u8> {
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
    let header = slot.first_chunk::<HEADER_BYTES>()?;
    if !header.starts_with(MAGIC) || header[16..20] != FORMAT.to_le_bytes() {
        return None;
    }
    let generation = u64::from_le_bytes(header[20..28].try_into().ok()?);
    let count = u32::from_le_bytes(header[28..].try_into().ok()?) as usize;
    let end = HEADER_BYTES + count.min(MAX_SEGMENTS) * DESCRIPTION_BYTES;
    let (covered, rest) = slot.split_at_checked(end)?;
    if crc32fast::hash(covered).to_le_bytes() != *rest.first_chunk::<4>()? {
        return None;
    }
    let (segments, _) = covered[HEADER_BYTES..].as_chunks();
    Some(Slot { generation, segments: segments.iter().map(SegmentDescription::decode).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(count: u64) -> Vec<SegmentDescription> {
        (0..count)
            .map(|number| SegmentDescription {
                number,
                bytes: 8 << 20,
                first: number * 10,
                durable: 5,
                salt: [9; 16],
                use_number: number + 1,
            })
            .collect()
    }

    #[test]
    fn reads_what_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mut manifest = Manifest::open(folder.path()).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for count in [0, 3, 1, MAX_SEGMENTS as u64] {
            manifest.write(&segments(count)).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(segments(count)));
        }
        assert!(manifest.write(&segments(MAX_SEGMENTS as u64 + 1)).is_err());
        Manifest::open(folder.path()).unwrap().write(&segments(2)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(segments(2)));
    }

    /// A crash within the first slot leaves the old state; one within the second leaves the new state.
    #[test]
    fn one_damaged_slot_is_harmless_and_two_are_detected() {
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
