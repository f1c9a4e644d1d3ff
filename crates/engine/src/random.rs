//! Random numbers and ids, behind a seam: nothing else in the engine calls the operating system for random bytes.
//!
//! The simulation replaces the system call, so that all of this follows from its seed.

use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a random 128-bit key for a keyed hash.
#[expect(clippy::disallowed_methods, reason = "the engine's source of randomness")]
pub fn hash_key() -> io::Result<[u64; 2]> {
    Ok([getrandom::u64()?, getrandom::u64()?])
}

/// Makes ids in the form of a random UUID.
///
/// The random key is drawn once, so that making an id cannot fail; each id is the keyed hash of its number.
#[derive(Debug)]
pub struct IdGenerator {
    key: [u64; 2],
    made: AtomicU64,
}

impl IdGenerator {
    pub fn new() -> io::Result<IdGenerator> {
        Ok(IdGenerator { key: hash_key()?, made: AtomicU64::new(0) })
    }

    pub fn next_uuid(&self) -> String {
        let [first, second] = self.key;
        let mut hasher = SipHasher24::new_with_keys(first, second);
        hasher.write_u64(self.made.fetch_add(1, Ordering::Relaxed));
        uuid_v4(hasher.finish128().as_u128())
    }
}

/// Sets version 4 and variant 1, as readers of UUIDs expect.
fn uuid_v4(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_variant_are_those_of_a_random_uuid() {
        assert_eq!(uuid_v4(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid_v4(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn ids_differ_within_and_between_generators() {
        let ids: Vec<String> = (0..4)
            .flat_map(|_| {
                let generator = IdGenerator::new().unwrap();
                [generator.next_uuid(), generator.next_uuid()]
            })
            .collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), 8);
    }
}
