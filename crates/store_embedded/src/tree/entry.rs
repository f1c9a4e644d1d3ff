//! The LMDB entry of one row: a kind, a checksum and a payload.
//!
//! ```text
//! short   00 │ crc32 (4) │ the value
//! long    01 │ crc32 (4) │ id of its chunks (8) │ length of the value (8)
//! ```
//! The checksum covers key, kind and payload, so an entry that was altered, truncated or moved to another key is
//! detected. Numbers are little-endian.

use partita_store::StoreError;

/// One page holds an entry of this length and LMDB's 16-byte header.
pub(crate) const PAGE_PAYLOAD_BYTES: usize = 4_080;
pub(crate) const HEADER_BYTES: usize = 5;
/// Longer values are stored as chunks.
pub(crate) const MAX_SHORT_VALUE_BYTES: usize = PAGE_PAYLOAD_BYTES - HEADER_BYTES;

const SHORT: u8 = 0;
const LONG: u8 = 1;
const LONG_PAYLOAD_BYTES: usize = 16;

/// A reference to a long value: see the long_values module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongValueRef {
    pub id: u64,
    pub length: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    Short(&'a [u8]),
    Long(LongValueRef),
}

/// The header of a short value.
pub(crate) fn short_header(key: &[u8], value: &[u8]) -> [u8; HEADER_BYTES] {
    header(key, SHORT, value)
}

pub(crate) fn long_entry(key: &[u8], long: LongValueRef) -> Vec<u8> {
    let mut payload = [0; LONG_PAYLOAD_BYTES];
    payload[..8].copy_from_slice(&long.id.to_le_bytes());
    payload[8..].copy_from_slice(&long.length.to_le_bytes());
    [&header(key, LONG, &payload)[..], &payload].concat()
}

/// Checks and decodes an entry.
pub(crate) fn read<'a>(key: &[u8], entry: &'a [u8]) -> Result<Entry<'a>, StoreError> {
    let damaged = || StoreError::damaged(format!("the checksum of row {} does not match", hex_prefix(key)));
    let (header, payload) = entry.split_first_chunk::<HEADER_BYTES>().ok_or_else(damaged)?;
    let [kind, sum @ ..] = *header;
    if checksum(key, kind, payload) != u32::from_le_bytes(sum) {
        return Err(damaged());
    }
    match kind {
        SHORT => Ok(Entry::Short(payload)),
        LONG => match payload.as_chunks::<8>() {
            ([id, length], []) => Ok(Entry::Long(LongValueRef {
                id: u64::from_le_bytes(*id),
                length: u64::from_le_bytes(*length),
            })),
            _ => Err(damaged()),
        },
        _ => Err(damaged()),
    }
}

/// Whether the entry claims to be a long value; it may be damaged.
pub(crate) fn claims_long_value(entry: &[u8]) -> bool {
    entry.first() == Some(&LONG)
}

/// The checksum of an entry; chunks have a kind of their own.
pub(crate) fn checksum(key: &[u8], kind: u8, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(&[kind]);
    hasher.update(payload);
    hasher.finalize()
}

fn header(key: &[u8], kind: u8, payload: &[u8]) -> [u8; HEADER_BYTES] {
    let [a, b, c, d] = checksum(key, kind, payload).to_le_bytes();
    [kind, a, b, c, d]
}

/// The beginning of a key in hexadecimal, for error messages.
pub(crate) fn hex_prefix(key: &[u8]) -> String {
    let mut text: String = key.iter().take(24).map(|byte| format!("{byte:02x}")).collect();
    if key.len() > 24 {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(key: &[u8], value: &[u8]) -> Vec<u8> {
        [&short_header(key, value)[..], value].concat()
    }

    #[test]
    fn reads_what_it_wrote() {
        assert_eq!(read(b"key", &short(b"key", b"value")).unwrap(), Entry::Short(b"value"));
        assert_eq!(read(b"key", &short(b"key", b"")).unwrap(), Entry::Short(b""));
        let long = LongValueRef { id: 7, length: 99_999 };
        assert_eq!(read(b"key", &long_entry(b"key", long)).unwrap(), Entry::Long(long));
    }

    #[test]
    fn rejects_every_flipped_bit_and_every_truncation() {
        for good in [short(b"key", b"value"), long_entry(b"key", LongValueRef { id: 1, length: 5_000 })] {
            for bit in 0..good.len() * 8 {
                let mut bad = good.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(matches!(read(b"key", &bad), Err(StoreError::Damaged(_))), "bit {bit}");
            }
            for length in 0..good.len() {
                assert!(matches!(read(b"key", &good[..length]), Err(StoreError::Damaged(_))));
            }
        }
    }

    #[test]
    fn rejects_the_entry_of_another_key() {
        assert!(matches!(read(b"kez", &short(b"key", b"value")), Err(StoreError::Damaged(_))));
    }
}
