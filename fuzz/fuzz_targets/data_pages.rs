//! Arbitrary bytes as a page of the data file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use partita_store_embedded::fuzzing;

fuzz_target!(|bytes: &[u8]| fuzzing::read_page(bytes));
