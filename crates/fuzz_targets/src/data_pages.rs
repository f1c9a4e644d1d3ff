//! Arbitrary bytes as a page of the data file.

use partita_store_embedded::fuzzing;

pub fn run(bytes: &[u8]) {
    fuzzing::read_page(bytes);
}
