//! Compressed files made of pieces: every piece is whole in itself (a gzip member, a zstd frame), and pieces one behind
//! another are a file that every tool reads. So a file can be cut behind any piece and continued.

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{BufRead, Error, Read, Write};

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
        match self {
            Compression::None => bytes,
            Compression::Gzip => gzip(&bytes),
            Compression::Zstd => compress_to_vec(bytes.as_slice(), CompressionLevel::Fastest),
        }
    }

    /// Reads all pieces of a file.
    pub fn reader<'a>(self, source: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
        match self {
            Compression::None => Box::new(source),
            Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
            Compression::Zstd => {
                Box::new(ZstdFrames { source, decoder: FrameDecoder::new(), in_frame: false })
            }
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), flate2::Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_else(|_| unreachable!("memory takes everything"))
}

/// One zstd frame behind another.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    /// Whether there is another frame.
    fn begin_frame(&mut self) -> std::io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    std::io::copy(&mut self.source.by_ref().take(length.into()), &mut std::io::sink())?;
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while !buffer.is_empty() && (self.in_frame || self.begin_frame()?) {
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                let wanted = BlockDecodingStrategy::UptoBytes(buffer.len() - self.decoder.can_collect());
                self.decoder.decode_blocks(&mut self.source, wanted).map_err(Error::other)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.in_frame = false;
        }
        Ok(0)
    }
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
        compression.reader(file).read_to_end(&mut bytes)?;
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
    fn a_piece_cut_short_is_an_error() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let file = compression.piece(text(10_000));
            assert!(read(compression, &file[..file.len() / 2]).is_err(), "{compression:?}");
            assert!(read(compression, b"no such thing").is_err(), "{compression:?}");
        }
    }

    #[test]
    fn skippable_zstd_frames_are_skipped() {
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let file = [&skippable[..], &Compression::Zstd.piece(text(5)), &skippable].concat();
        assert_eq!(read(Compression::Zstd, &file).unwrap(), text(5));
    }

    #[test]
    fn names_tell_the_compression() {
        assert_eq!(ALL, ["a.jsonl", "a.jsonl.gz", "b.zst"].map(Compression::of_name));
    }
}
