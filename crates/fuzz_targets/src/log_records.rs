//! Arbitrary bytes as files of the commit log, and as the body of a sealed record.

use partita_store_embedded::fuzzing;

pub fn run(bytes: &[u8]) {
    fuzzing::read_log_files(bytes);
    fuzzing::read_record_body(bytes);
}
