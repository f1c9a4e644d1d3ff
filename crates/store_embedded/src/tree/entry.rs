//! What LMDB holds for one row: a kind, a checksum and a payload.
//!
//! ```text
//! short   00 │ crc32 (4) │ the value
//! long    01 │ crc32 (4) │ id of its chunks (8) │ length of the value (8)
//! ```
//! The checksum covers key, kind and payload: an entry that was altered, cut or put under another key is told
//! from a good one. Numbers are little-endian.

use partita_store::StoreError;

/// One page holds an entry of this length and LMDB's own head of 16 bytes.
pub(crate) const PAGE_PAYLOAD_BYTES: usize = 4_080;
pub(crate) const HEADER_BYTES: usize = 5;
/// Longer values are kept as chunks.
pub(crate) const LONGEST_SHORT_VALUE: usize = PAGE_PAYLOAD_BYTES - HEADER_BYTES;

const SHORT: u8 = 0;
const LONG: u8 = 1;
const LONG_PAYLOAD_BYTES: usize = 16;

/// Where a long value is: see the chunks module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongValue {
    pub id: u64,
    pub length: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    Short(&'a [u8]),
    Long(LongValue),
}

/// The bytes that stand before a short value.
pub(crate) fn short_header(key: &[u8], value: &[u8]) -> [u8; HEADER_BYTES] {
    header(key, SHORT, value)
}

pub(crate) fn long_entry(key: &[u8], long: LongValue) -> Vec<u8> {
    let mut payload = [0; LONG_PAYLOAD_BYTES];
    payload[..8].copy_from_slice(&long.id.to_le_bytes());
    payload[8..].copy_from_slice(&long.length.to_le_bytes());
    [&header(key, LONG, &payload)[..], &payload].concat()
}

/// Checks an entry and tells what it is.
pub(crate) fn read<'a>(key: &[u8], entry: &'a [u8]) -> Result<Entry<'a>, StoreError> {
    let damaged = || StoreError::damaged(format!("the checksum of row {} does not fit", shown(key)));
    let (header, payload) = entry.split_first_chunk::<HEADER_BYTES>().ok_or_else(damaged)?;
    let [kind, sum @ ..] = *header;
    if checksum(key, kind, payload) != u32::from_le_bytes(sum) {
        return Err(damaged());
    }
    match kind {
        SHORT => Ok(Entry::Short(payload)),
        LONG => match payload.as_chunks::<8>() {
            ([id, length], []) => Ok(Entry::Long(LongValue {
                id: u64::from_le_bytes(*id),
                length: u64::from_le_bytes(*length),
            })),
            _ => Err(damaged()),
        },
        _ => Err(damaged()),
    }
}

/// Whether the entry says that it is a long value; it may be damaged.
pub(crate) fn claims_chunks(entry: &[u8]) -> bool {
    entry.first() == Some(&LONG)
}

/// The checksum of a chunk, or of any other entry without a kind of its own.
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

/// The beginning of a key, for an error's text.
pub(crate) fn shown(key: &[u8]) -> String {
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
        let long = LongValue { id: 7, length: 99_999 };
        assert_eq!(read(b"key", &long_entry(b"key", long)).unwrap(), Entry::Long(long));
    }

    #[test]
    fn refuses_every_flipped_bit_and_every_cut() {
        for good in [short(b"key", b"value"), long_entry(b"key", LongValue { id: 1, length: 5_000 })] {
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
    fn refuses_the_entry_of_another_key() {
        assert!(matches!(read(b"kez", &short(b"key", b"value")), Err(StoreError::Damaged(_))));
    }
}
