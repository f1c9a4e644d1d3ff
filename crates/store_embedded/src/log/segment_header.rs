//! The first block of a segment: which part of the log it holds, and the key of its records' seals.
//!
//! ```text
//! "partita segment\n" (16) │ format (4) │ description (56) │ crc32 (4) │ zeros up to 4,096
//!
//! description: number in its name (8) │ size (8) │ first record (8) │ durable (8) │ salt (16) │ taken (8)
//! ```
//! It is written anew, and flushed, every time the segment is taken for writing. The same description stands in the
//! [manifest](crate::log::manifest), so that a segment which was cut, swapped or put back from an older copy is told.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::folder::file_read;
use crate::log::record::BLOCK_BYTES;

/// The key of a segment's seals: random, drawn anew every time the segment is taken for writing.
pub(crate) type Salt = [u8; 16];

const MAGIC: &[u8; 16] = b"partita segment\n";
const FORMAT: u32 = 2;
pub(crate) const DESCRIPTION_BYTES: usize = 56;
const DESCRIPTION_AT: usize = 20;
const SUM_AT: usize = DESCRIPTION_AT + DESCRIPTION_BYTES;

/// What a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// The number in the file's name.
    pub number: u64,
    /// How long the file is.
    pub bytes: u64,
    /// The sequence of the first record.
    pub first: u64,
    /// The disk had all records up to this one when the segment was taken for writing.
    pub durable: u64,
    pub salt: Salt,
    /// Rises with every segment that is taken, over all starts: of two with the same records the later one counts.
    pub taken: u64,
}

impl Description {
    pub fn encode(&self) -> [u8; DESCRIPTION_BYTES] {
        let mut bytes = [0; DESCRIPTION_BYTES];
        let numbers = [self.number, self.bytes, self.first, self.durable];
        for (place, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes[32..48].copy_from_slice(&self.salt);
        bytes[48..].copy_from_slice(&self.taken.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8; DESCRIPTION_BYTES]) -> Description {
        let (numbers, _) = bytes.as_chunks::<8>();
        let number = |place: usize| u64::from_le_bytes(numbers[place]);
        let mut salt = Salt::default();
        salt.copy_from_slice(&bytes[32..48]);
        Description {
            number: number(0),
            bytes: number(1),
            first: number(2),
            durable: number(3),
            salt,
            taken: number(6),
        }
    }
}

/// Makes `file` a segment of this description, durably.
pub(crate) fn write(file: &File, description: &Description) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    block[..16].copy_from_slice(MAGIC);
    block[16..DESCRIPTION_AT].copy_from_slice(&FORMAT.to_le_bytes());
    block[DESCRIPTION_AT..SUM_AT].copy_from_slice(&description.encode());
    let sum = crc32fast::hash(&block[..SUM_AT]);
    block[SUM_AT..SUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
    file.write_all_at(&block, 0)?;
    file.sync_data()
}

/// What the header of `file` says, if it is whole.
pub(crate) fn read(file: &File, path: &Path) -> io::Result<Option<Description>> {
    let mut block = vec![0; BLOCK_BYTES];
    let read = file_read::some(file, &path.display(), &mut block, 0)?;
    Ok(decode(&block[..read]))
}

pub(crate) fn decode(block: &[u8]) -> Option<Description> {
    let (covered, rest) = block.split_at_checked(SUM_AT)?;
    let is_whole = crc32fast::hash(covered).to_le_bytes() == *rest.first_chunk::<4>()?
        && covered.starts_with(MAGIC)
        && covered[16..DESCRIPTION_AT] == FORMAT.to_le_bytes();
    is_whole.then(|| covered[DESCRIPTION_AT..].first_chunk().map(Description::decode))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: Description =
        Description { number: 7, bytes: 8 << 20, first: 900, durable: 899, salt: [5; 16], taken: 12 };

    #[test]
    fn reads_what_it_wrote_and_refuses_every_flipped_bit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.as_file(), &DESCRIPTION).unwrap();
        assert_eq!(read(&file.reopen().unwrap(), file.path()).unwrap(), Some(DESCRIPTION));
        let good = std::fs::read(file.path()).unwrap();
        for bit in 0..(SUM_AT + 4) * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bad), None, "bit {bit}");
        }
        assert_eq!(decode(&good[..SUM_AT + 3]), None);
    }
}
