//! Runs `expression` of crates/fuzz_targets under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| partita_fuzz_targets::expression::run(input));
