//! Compressed files: the first byte chooses gzip or zstd. Little memory is used, and what is read whole is written and read again
//! as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_exchange::compression::Compression;
use std::io::Read;

/// A small file may become very long; no more of it is read.
const MOST_BYTES: u64 = 8 << 20;

fuzz_target!(|input: &[u8]| {
    let Some((choice, file)) = input.split_first() else { return };
    let compression = if choice % 2 == 0 { Compression::Gzip } else { Compression::Zstd };
    let read = |file: &[u8]| {
        let mut bytes = Vec::new();
        compression.reader(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    if let Ok(bytes) = read(file) {
        let again = read(&compression.compress(bytes.clone())).expect("what was written is read");
        assert_eq!(again, bytes);
    }
});
