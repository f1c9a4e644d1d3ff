//! Reproducible randomness: the same seed, purpose and number always yield the same value.

/// Returns a number that depends only on the arguments.
pub fn at(seed: u64, purpose: &str, number: u64) -> u64 {
    let mut state = hash(purpose) ^ seed.rotate_left(17) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for (shift, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
        state = (state ^ (state >> shift)).wrapping_mul(factor);
    }
    state ^ (state >> 31)
}

/// FNV-1a.
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
