//! Compressed files made of self-contained pieces (gzip members, zstd frames). Every tool reads their concatenation, so
//! a file can be truncated after any piece and continued.

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{BufRead, Read, Write};
use zstd::DEFAULT_COMPRESSION_LEVEL;
use zstd::stream::{read, write};

/// The largest window a zstd frame may request, 128 MiB as a power of two; the `zstd` program has the same default.
/// This bounds the memory for reading a file, whatever the file requests.
const MAX_WINDOW_LOG: u32 = 27;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Determines the compression from a file name's extension: `.gz`, `.zst`, `.zstd`.
    pub fn from_file_name(name: &str) -> Compression {
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("gz") => Compression::Gzip,
            Some("zst" | "zstd") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Determines the compression from the first bytes of a file.
    pub fn from_start(start: &[u8]) -> Compression {
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Compresses bytes to a piece of a file.
    pub fn compress(self, bytes: Vec<u8>) -> Vec<u8> {
        let compressed = match self {
            Compression::None => Ok(bytes),
            Compression::Gzip => gzip(&bytes),
            Compression::Zstd => zstd(&bytes),
        };
        compressed.unwrap_or_else(|_| unreachable!("writing to memory does not fail"))
    }

    /// Reads all pieces of a file. Damage, truncation and a window that is too large are errors.
    pub fn reader<'a>(self, source: impl BufRead + Send + 'a) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::None => Box::new(source),
            Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
            Compression::Zstd => {
                let mut decoder = read::Decoder::with_buffer(source)?;
                decoder.window_log_max(MAX_WINDOW_LOG)?;
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

/// Writes a frame with a checksum, like the `zstd` program.
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
            let file: Vec<u8> = pieces.iter().flat_map(|piece| compression.compress(piece.clone())).collect();
            assert_eq!(read(compression, &file).unwrap(), pieces.concat(), "{compression:?}");
        }
    }

    #[test]
    fn a_truncated_file_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let (first, second) = (compression.compress(text(10)), compression.compress(text(20)));
            let file = [&first[..], &second].concat();
            for cut in (0..file.len()).filter(|cut| *cut != first.len()) {
                assert!(read(compression, &file[..cut]).is_err(), "{compression:?} cut at {cut}");
            }
            assert!(read(compression, b"not compressed").is_err(), "{compression:?}");
        }
    }

    #[test]
    fn a_changed_byte_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            // Noise is stored uncompressed, so only the checksum detects a changed byte.
            let noise: Vec<u8> =
                (0_u32..2_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let mut file = compression.compress(noise);
            let middle = file.len() / 2;
            file[middle] ^= 1;
            assert!(read(compression, &file).is_err(), "{compression:?}");
        }
    }

    /// A frame header that declares a content of this length, all of which is its window.
    fn frame_of(content: u64) -> Vec<u8> {
        [&[0x28, 0xb5, 0x2f, 0xfd, 0b1110_0000][..], &content.to_le_bytes()].concat()
    }

    /// A block of 128 KiB of the same byte.
    const REPEATED: [u8; 4] = [0x02, 0x00, 0x10, b' '];

    #[test]
    fn a_zstd_frame_with_a_large_window_is_an_error() {
        for content in [(128 << 20) + 1, 1 << 40, u64::MAX] {
            let file = [frame_of(content), REPEATED.repeat(100)].concat();
            let mut reader = Compression::Zstd.reader(&file[..]).unwrap();
            assert!(reader.read(&mut [0; 100]).is_err(), "{content}");
        }
        let file = [frame_of(128 << 20), REPEATED.to_vec()].concat();
        let mut reader = Compression::Zstd.reader(&file[..]).unwrap();
        assert_eq!(reader.read(&mut [0; 100]).unwrap(), 100);
    }

    /// A block of 128 KiB, and one whose sequences each copy 65,539 preceding bytes, with a literal at the end.
    fn frame_that_copies(sequences: u16) -> Vec<u8> {
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
        // One raw literal; three tables of one symbol each: no literals, a repeated offset, the longest match.
        let [high, low] = (sequences | 0x8000).to_be_bytes();
        let tables = [0x08, b' ', high, low, 0b0101_0100, 0, 0, 52];
        let block = [&tables[..], &vec![0; 2 * usize::from(sequences)], &[1]].concat();
        let size = u32::try_from(block.len()).unwrap() << 3 | 0b101;
        [&head[..], &REPEATED, &size.to_le_bytes()[..3], &block].concat()
    }

    #[test]
    fn a_zstd_block_that_exceeds_the_maximum_size_is_an_error() {
        let valid = read(Compression::Zstd, &frame_that_copies(1)).unwrap();
        assert_eq!(valid, vec![b' '; (128 << 10) + 65_539 + 1]);
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
        let file = [&skippable[..], &Compression::Zstd.compress(text(5)), &skippable].concat();
        assert_eq!(read(Compression::Zstd, &file).unwrap(), text(5));
        for missing in 1..skippable.len() {
            assert!(read(Compression::Zstd, &file[..file.len() - missing]).is_err(), "without {missing}");
        }
    }

    #[test]
    fn file_names_determine_the_compression() {
        assert_eq!(ALL, ["a.jsonl", "a.jsonl.gz", "b.zst"].map(Compression::from_file_name));
    }
}
