//! A file without the byte order mark that some programs put before its text.

use std::io::{BufRead, Read};

const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The bytes of a source behind its mark, if it has one.
pub struct Unmarked<R> {
    source: R,
    /// The first bytes, read to see whether they are a mark. If they are, none of them is given on.
    first: Vec<u8>,
    given: usize,
    is_known: bool,
}

impl<R: BufRead> Unmarked<R> {
    pub fn new(source: R) -> Unmarked<R> {
        Unmarked { source, first: Vec::new(), given: 0, is_known: false }
    }

    /// Reads until it is known whether there is a mark: it may come in pieces.
    fn look(&mut self) -> std::io::Result<()> {
        while self.first.len() < MARK.len() && MARK.starts_with(&self.first) {
            let Some(byte) = self.source.fill_buf()?.first().copied() else { break };
            self.first.push(byte);
            self.source.consume(1);
        }
        if self.first == MARK {
            self.first.clear();
        }
        self.is_known = true;
        Ok(())
    }
}

impl<R: BufRead> BufRead for Unmarked<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if !self.is_known {
            self.look()?;
        }
        if self.given < self.first.len() { Ok(&self.first[self.given..]) } else { self.source.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        if self.given < self.first.len() { self.given += amount } else { self.source.consume(amount) }
    }
}

impl<R: BufRead> Read for Unmarked<R> {
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
    fn only_a_mark_at_the_beginning_goes() {
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
                Unmarked::new(BufReader::with_capacity(capacity, text)).read_to_end(&mut read).unwrap();
                assert_eq!(read, expected, "{text:?} in pieces of {capacity}");
            }
        }
    }
}
