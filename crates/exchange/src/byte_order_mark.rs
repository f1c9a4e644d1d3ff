//! Skips the byte order mark that some programs write at the start of a text file.

use std::io::{BufRead, Read};

const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A reader of a source without its byte order mark.
pub struct SkipByteOrderMark<R> {
    source: R,
    /// The first bytes, read to detect a mark; empty if they are one.
    first: Vec<u8>,
    /// How many of them are consumed.
    consumed: usize,
    is_detected: bool,
}

impl<R: BufRead> SkipByteOrderMark<R> {
    pub fn new(source: R) -> SkipByteOrderMark<R> {
        SkipByteOrderMark { source, first: Vec::new(), consumed: 0, is_detected: false }
    }

    /// Reads until it is clear whether there is a mark, which may arrive in pieces.
    fn detect(&mut self) -> std::io::Result<()> {
        while self.first.len() < MARK.len() && MARK.starts_with(&self.first) {
            let Some(byte) = self.source.fill_buf()?.first().copied() else { break };
            self.first.push(byte);
            self.source.consume(1);
        }
        if self.first == MARK {
            self.first.clear();
        }
        self.is_detected = true;
        Ok(())
    }
}

impl<R: BufRead> BufRead for SkipByteOrderMark<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if !self.is_detected {
            self.detect()?;
        }
        if self.consumed < self.first.len() {
            Ok(&self.first[self.consumed..])
        } else {
            self.source.fill_buf()
        }
    }

    fn consume(&mut self, amount: usize) {
        if self.consumed < self.first.len() { self.consumed += amount } else { self.source.consume(amount) }
    }
}

impl<R: BufRead> Read for SkipByteOrderMark<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn only_a_mark_at_the_start_is_skipped() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"", b""),
            (b"a", b"a"),
            (b"\xef\xbb\xbf", b""),
            (b"\xef\xbb\xbfabc\xef\xbb\xbf", b"abc\xef\xbb\xbf"),
            (b"\xef\xbb", b"\xef\xbb"),
            (b"\xef\xbbx\xbf", b"\xef\xbbx\xbf"),
        ];
        for (text, expected) in cases {
            for capacity in [1, 2, 64] {
                let mut read = Vec::new();
                SkipByteOrderMark::new(BufReader::with_capacity(capacity, text))
                    .read_to_end(&mut read)
                    .unwrap();
                assert_eq!(read, expected, "{text:?} in pieces of {capacity}");
            }
        }
    }
}
