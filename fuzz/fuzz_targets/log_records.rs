//! Arbitrary bytes as files of the commit log, and as the body of a sealed record.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_store_embedded::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    fuzzing::read_log_files(bytes);
    fuzzing::read_record_body(bytes);
});
