//! The first block of a segment: which part of the log it holds, and the key of its records' seals.
//!
//! ```text
//! "partita segment\n" (16) │ format (4) │ description (56) │ crc32 (4) │ zeros up to 4,096
//!
//! description: number in its name (8) │ size (8) │ first record (8) │ durable (8) │ salt (16) │ use number (8)
//! ```
//! It is rewritten, and synced, every time the segment is taken into use. The [manifest](crate::log::manifest) holds the
//! same description, so that a segment that was truncated, swapped or restored from an older copy is detected.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::folder::file_read;
use crate::log::record::BLOCK_BYTES;

/// The key of a segment's seals: random, and drawn again every time the segment is taken into use.
pub(crate) type Salt = [u8; 16];

const MAGIC: &[u8; 16] = b"partita segment\n";
const FORMAT: u32 = 2;
pub(crate) const DESCRIPTION_BYTES: usize = 56;
const DESCRIPTION_AT: usize = 20;
const CHECKSUM_AT: usize = DESCRIPTION_AT + DESCRIPTION_BYTES;

/// The description of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentDescription {
    /// The number in the file's name.
    pub number: u64,
    /// The length of the file.
    pub bytes: u64,
    /// The sequence number of the first record.
    pub first: u64,
    /// The log was durable up to this record when the segment was taken into use.
    pub durable: u64,
    pub salt: Salt,
    /// Increases with every segment taken into use, across restarts: of two with the same records the later one counts.
    pub use_number: u64,
}

impl SegmentDescription {
    pub fn encode(&self) -> [u8; DESCRIPTION_BYTES] {
        let mut bytes = [0; DESCRIPTION_BYTES];
        let numbers = [self.number, self.bytes, self.first, self.durable];
        for (bytes, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *bytes = number.to_le_bytes();
        }
        bytes[32..48].copy_from_slice(&self.salt);
        bytes[48..].copy_from_slice(&self.use_number.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; DESCRIPTION_BYTES]) -> SegmentDescription {
        let (numbers, _) = bytes.as_chunks::<8>();
        let number = |index: usize| u64::from_le_bytes(numbers[index]);
        let mut salt = Salt::default();
        salt.copy_from_slice(&bytes[32..48]);
        SegmentDescription {
            number: number(0),
            bytes: number(1),
            first: number(2),
            durable: number(3),
            salt,
            use_number: number(6),
        }
    }
}

/// Turns `file` into a segment with this description, durably.
pub(crate) fn write(file: &File, description: &SegmentDescription) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    block[..16].copy_from_slice(MAGIC);
    block[16..DESCRIPTION_AT].copy_from_slice(&FORMAT.to_le_bytes());
    block[DESCRIPTION_AT..CHECKSUM_AT].copy_from_slice(&description.encode());
    let checksum = crc32fast::hash(&block[..CHECKSUM_AT]);
    block[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&checksum.to_le_bytes());
    file.write_all_at(&block, 0)?;
    file.sync_data()
}

/// The description in the header of `file`, if it is intact.
pub(crate) fn read(file: &File, path: &Path) -> io::Result<Option<SegmentDescription>> {
    let mut block = vec![0; BLOCK_BYTES];
    let read = file_read::up_to(file, &path.display(), &mut block, 0)?;
    Ok(decode(&block[..read]))
}

pub(crate) fn decode(block: &[u8]) -> Option<SegmentDescription> {
    let (covered, rest) = block.split_at_checked(CHECKSUM_AT)?;
    let is_intact = crc32fast::hash(covered).to_le_bytes() == *rest.first_chunk::<4>()?
        && covered.starts_with(MAGIC)
        && covered[16..DESCRIPTION_AT] == FORMAT.to_le_bytes();
    is_intact.then(|| covered[DESCRIPTION_AT..].first_chunk().map(SegmentDescription::decode))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: SegmentDescription = SegmentDescription {
        number: 7,
        bytes: 8 << 20,
        first: 900,
        durable: 899,
        salt: [5; 16],
        use_number: 12,
    };

    #[test]
    fn reads_what_it_wrote_and_rejects_every_flipped_bit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.as_file(), &DESCRIPTION).unwrap();
        assert_eq!(read(&file.reopen().unwrap(), file.path()).unwrap(), Some(DESCRIPTION));
        let good = std::fs::read(file.path()).unwrap();
        for bit in 0..(CHECKSUM_AT + 4) * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bad), None, "bit {bit}");
        }
        assert_eq!(decode(&good[..CHECKSUM_AT + 3]), None);
    }
}
