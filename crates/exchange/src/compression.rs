//! Compressed files made of pieces: every piece is whole in itself (a gzip member, a zstd frame), and pieces one behind
//! another are a file that every tool reads. So a file can be cut behind any piece and continued.

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{BufRead, Read, Write};
use zstd::DEFAULT_COMPRESSION_LEVEL;
use zstd::stream::{read, write};

/// The largest window a zstd frame may ask for, 128 MiB as a power of two: the `zstd` program takes no more either
/// unless it is told to. Reading a file takes this much memory at most, whatever the file says.
const LARGEST_WINDOW: u32 = 27;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// What a file's name says: `.gz`, `.zst`, `.zstd`.
    pub fn of_name(name: &str) -> Compression {
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("gz") => Compression::Gzip,
            Some("zst" | "zstd") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Bytes as a piece of a file.
    pub fn piece(self, bytes: Vec<u8>) -> Vec<u8> {
        let compressed = match self {
            Compression::None => Ok(bytes),
            Compression::Gzip => gzip(&bytes),
            Compression::Zstd => zstd(&bytes),
        };
        compressed.unwrap_or_else(|_| unreachable!("memory takes everything"))
    }

    /// Reads all pieces of a file. One that is damaged, cut short, or wants more memory than there is for it is an error.
    pub fn reader<'a>(self, source: impl BufRead + Send + 'a) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::None => Box::new(source),
            Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
            Compression::Zstd => {
                let mut decoder = read::Decoder::with_buffer(source)?;
                decoder.window_log_max(LARGEST_WINDOW)?;
                Box::new(decoder)
            }
        })
    }
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// A frame with a checksum, as the `zstd` program makes it.
fn zstd(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = write::Encoder::new(Vec::with_capacity(bytes.len() / 4), DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn text(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|line| format!("{{\"Item\":{{\"pk\":{{\"S\":\"{line}\"}}}}}}\n").into_bytes())
            .collect()
    }

    fn read(compression: Compression, file: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        compression.reader(file)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    const ALL: [Compression; 3] = [Compression::None, Compression::Gzip, Compression::Zstd];

    #[test]
    fn pieces_are_read_as_one() {
        for compression in ALL {
            let pieces = [text(10_000), text(0), text(3), vec![0; 300_000]];
            let file: Vec<u8> = pieces.iter().flat_map(|piece| compression.piece(piece.clone())).collect();
            assert_eq!(read(compression, &file).unwrap(), pieces.concat(), "{compression:?}");
        }
    }

    #[test]
    fn a_file_cut_short_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let (first, second) = (compression.piece(text(10)), compression.piece(text(20)));
            let file = [&first[..], &second].concat();
            for cut in (0..file.len()).filter(|cut| *cut != first.len()) {
                assert!(read(compression, &file[..cut]).is_err(), "{compression:?} cut at {cut}");
            }
            assert!(read(compression, b"no such thing").is_err(), "{compression:?}");
        }
    }

    #[test]
    fn a_changed_byte_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            // Random enough to be kept as it is: nothing but the checksum tells that a byte of it is another.
            let noise: Vec<u8> =
                (0_u32..2_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let mut file = compression.piece(noise);
            let middle = file.len() / 2;
            file[middle] ^= 1;
            assert!(read(compression, &file).is_err(), "{compression:?}");
        }
    }

    /// A frame's head that declares a content of this length, all of which is its window.
    fn frame_of(content: u64) -> Vec<u8> {
        [&[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..], &content.to_le_bytes()].concat()
    }

    /// A block of 128 KiB of the same byte.
    const REPEATED: [u8; 4] = [0x02, 0x00, 0x10, b' '];

    #[test]
    fn a_zstd_frame_that_wants_a_large_window_is_an_error() {
        for content in [(128 << 20) + 1, 1 << 40, u64::MAX] {
            let file = [frame_of(content), REPEATED.repeat(100)].concat();
            let mut reader = Compression::Zstd.reader(&file[..]).unwrap();
            assert!(reader.read(&mut [0; 100]).is_err(), "{content}");
        }
        let file = [frame_of(128 << 20), REPEATED.to_vec()].concat();
        let mut reader = Compression::Zstd.reader(&file[..]).unwrap();
        assert_eq!(reader.read(&mut [0; 100]).unwrap(), 100);
    }

    /// A block of 128 KiB, and one whose sequences each copy 65,539 bytes of what is before, with a literal at the end.
    fn frame_that_copies(sequences: u16) -> Vec<u8> {
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
        // One literal, as it is; three tables of one symbol each: no literals, an offset used before, the longest match.
        let [high, low] = (sequences | 0x8000).to_be_bytes();
        let tables = [0x08, b' ', high, low, 0b0101_0100, 0, 0, 52];
        let block = [&tables[..], &vec![0; 2 * usize::from(sequences)], &[1]].concat();
        let size = u32::try_from(block.len()).unwrap() << 3 | 0b101;
        [&head[..], &REPEATED, &size.to_le_bytes()[..3], &block].concat()
    }

    #[test]
    fn a_zstd_block_that_becomes_larger_than_blocks_are_is_an_error() {
        let well = read(Compression::Zstd, &frame_that_copies(1)).unwrap();
        assert_eq!(well, vec![b' '; (128 << 10) + 65_539 + 1]);
        for sequences in [2, 30_000] {
            let file = frame_that_copies(sequences);
            let mut reader = Compression::Zstd.reader(&file[..]).unwrap();
            let mut bytes = Vec::new();
            assert!(reader.read_to_end(&mut bytes).is_err() && bytes.len() <= 256 << 10, "{sequences}");
        }
    }

    #[test]
    fn skippable_zstd_frames_are_skipped() {
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let file = [&skippable[..], &Compression::Zstd.piece(text(5)), &skippable].concat();
        assert_eq!(read(Compression::Zstd, &file).unwrap(), text(5));
        for missing in 1..skippable.len() {
            assert!(read(Compression::Zstd, &file[..file.len() - missing]).is_err(), "without {missing}");
        }
    }

    #[test]
    fn names_tell_the_compression() {
        assert_eq!(ALL, ["a.jsonl", "a.jsonl.gz", "b.zst"].map(Compression::of_name));
    }
}
