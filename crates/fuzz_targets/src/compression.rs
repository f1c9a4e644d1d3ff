//! Compressed files: the first byte selects gzip or zstd. Memory use is limited, and decompressed bytes survive a round
//! trip.

use partita_exchange::compression::Compression;
use std::io::Read;

/// A small file may decompress to a very long one; no more than this is read.
const MAX_BYTES: u64 = 8 << 20;

pub fn run(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else { return };
    let compression = if choice % 2 == 0 { Compression::Gzip } else { Compression::Zstd };
    let read = |file: &[u8]| {
        let mut bytes = Vec::new();
        compression.reader(file)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    if let Ok(bytes) = read(file) {
        let again = read(&compression.compress(bytes.clone())).expect("a compressed file is readable");
        assert_eq!(again, bytes);
    }
}
