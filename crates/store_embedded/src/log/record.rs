//! A record: one group of writes as stored in the log.
//!
//! ```text
//! length of the body (4) │ sequence (8) │ durable (8) │ seal of the body (8) │ seal of the header (8) │ body │ zeros
//!
//! body: one after another
//! 00 │ length of key (4) │ key                                    a deleted row
//! 01 │ length of key (4) │ length of value (4) │ key │ value      a row
//! 02 │ space (4)                                                  a dropped space
//! ```
//! `durable` is the last record up to which the log was known to be durable when this one was written.
//!
//! A seal is a keyed hash; its key is the salt of the record's segment, which is unknown outside the folder. So no bytes
//! that a client sent can be taken for a record, wherever they end up. The seal of the header covers everything before
//! it, including the body's seal.
//!
//! A record begins at a multiple of 4,096 bytes and is padded to the next one: a block that holds one record's bytes is
//! never rewritten for another record, and records can be found without the ones before them. Numbers are
//! little-endian. Counters are already added up, so replaying a record twice changes nothing.

use partita_store::{Counters, Space, StoreError, Write};
use siphasher::sip::SipHasher13;

use crate::log::segment_header::Salt;
use crate::write::batch::Batch;

pub(crate) const BLOCK_BYTES: usize = 4_096;
const SEALED_BYTES: usize = 28;
const HEADER_BYTES: usize = SEALED_BYTES + 8;

const DELETED: u8 = 0;
const ROW: u8 = 1;
const DROPPED: u8 = 2;

/// A record's position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub sequence: u64,
    /// The log was durable up to this record when the record was written.
    pub durable: u64,
}

/// Encodes `batch` into `buffer`, which becomes whole blocks. It is not a record until it is sealed. Returns the length
/// of the body.
pub(crate) fn encode(buffer: &mut Vec<u8>, batch: &Batch) -> Result<usize, StoreError> {
    buffer.clear();
    buffer.extend_from_slice(&[0; HEADER_BYTES]);
    encode_body(buffer, batch)?;
    let body = buffer.len() - HEADER_BYTES;
    buffer[..4].copy_from_slice(&length(body)?.to_le_bytes());
    buffer.resize(buffer.len().next_multiple_of(BLOCK_BYTES), 0);
    Ok(body)
}

/// Builds a sealed record with this body.
pub(crate) fn of_body(body: &[u8], salt: &Salt, stamp: Stamp) -> Result<Vec<u8>, StoreError> {
    let mut buffer = vec![0; HEADER_BYTES];
    buffer[..4].copy_from_slice(&length(body.len())?.to_le_bytes());
    buffer.extend_from_slice(body);
    buffer.resize(buffer.len().next_multiple_of(BLOCK_BYTES), 0);
    seal(&mut buffer, body.len(), salt, stamp);
    Ok(buffer)
}

/// Turns what [`encode`] wrote into a record of the segment with this salt.
pub(crate) fn seal(buffer: &mut [u8], body: usize, salt: &Salt, stamp: Stamp) {
    let body_seal = hash(salt, &buffer[HEADER_BYTES..HEADER_BYTES + body]);
    buffer[4..12].copy_from_slice(&stamp.sequence.to_le_bytes());
    buffer[12..20].copy_from_slice(&stamp.durable.to_le_bytes());
    buffer[20..SEALED_BYTES].copy_from_slice(&body_seal.to_le_bytes());
    let header_seal = hash(salt, &buffer[..SEALED_BYTES]);
    buffer[SEALED_BYTES..HEADER_BYTES].copy_from_slice(&header_seal.to_le_bytes());
}

fn encode_body(buffer: &mut Vec<u8>, batch: &Batch) -> Result<(), StoreError> {
    for space in batch.dropped() {
        buffer.push(DROPPED);
        buffer.extend_from_slice(&space.0.to_le_bytes());
    }
    for (key, value) in batch.rows() {
        buffer.push(if value.is_some() { ROW } else { DELETED });
        buffer.extend_from_slice(&length(key.len())?.to_le_bytes());
        if let Some(value) = value {
            buffer.extend_from_slice(&length(value.len())?.to_le_bytes());
        }
        buffer.extend_from_slice(key);
        buffer.extend_from_slice(value.unwrap_or_default());
    }
    Ok(())
}

/// The header of a record: proof that the record was written, even if its body is not intact.
pub(crate) struct RecordHeader {
    pub stamp: Stamp,
    body_bytes: usize,
    body_seal: u64,
}

impl RecordHeader {
    /// The header at the beginning of `blocks`, if there is one of this segment.
    pub fn parse(blocks: &[u8], salt: &Salt) -> Option<RecordHeader> {
        let header = blocks.first_chunk::<HEADER_BYTES>()?;
        let number = |from: usize| header.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        if hash(salt, &header[..SEALED_BYTES]) != number(SEALED_BYTES)? {
            return None;
        }
        Some(RecordHeader {
            stamp: Stamp { sequence: number(4)?, durable: number(12)? },
            body_bytes: usize::try_from(u32::from_le_bytes(*header.first_chunk::<4>()?)).ok()?,
            body_seal: number(20)?,
        })
    }

    /// How many bytes the record takes in the log.
    pub fn record_bytes(&self) -> usize {
        (HEADER_BYTES + self.body_bytes).next_multiple_of(BLOCK_BYTES)
    }

    /// The body after the header, if it is intact.
    pub fn body<'a>(&self, blocks: &'a [u8], salt: &Salt) -> Option<&'a [u8]> {
        let body = blocks.get(HEADER_BYTES..HEADER_BYTES + self.body_bytes)?;
        (hash(salt, body) == self.body_seal).then_some(body)
    }
}

/// Adds the writes of a record's body to a batch.
pub(crate) fn replay(sequence: u64, mut body: &[u8], batch: &mut Batch) -> Result<(), StoreError> {
    while !body.is_empty() {
        let write = next_write(&mut body)
            .ok_or_else(|| StoreError::damaged(format!("record {sequence} of the log is malformed")))?;
        batch.add(vec![write], |_| Ok(Counters::default()))?;
    }
    Ok(())
}

fn next_write(body: &mut &[u8]) -> Option<Write> {
    let kind = *body.split_off_first()?;
    let mut number = || body.split_off(..4)?.try_into().ok().map(u32::from_le_bytes);
    match kind {
        DELETED => {
            let key = number()? as usize;
            Some(Write::Delete { key: body.split_off(..key)?.to_vec() })
        }
        ROW => {
            let (key, value) = (number()? as usize, number()? as usize);
            let key = body.split_off(..key)?.to_vec();
            Some(Write::Put { key, value: body.split_off(..value)?.to_vec() })
        }
        DROPPED => Some(Write::DropSpace(Space(number()?))),
        _ => None,
    }
}

fn length(bytes: usize) -> Result<u32, StoreError> {
    u32::try_from(bytes).map_err(|_| StoreError::Io("a group of writes is too large for the log".to_string()))
}

fn hash(salt: &Salt, bytes: &[u8]) -> u64 {
    SipHasher13::new_with_key(salt).hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { sequence: 9, durable: 7 };
    const SALT: Salt = [3; 16];

    fn batch(value_bytes: usize) -> Batch {
        let mut batch = Batch::default();
        let writes = vec![
            Write::DropSpace(Space(7)),
            Write::Put { key: b"space".to_vec(), value: vec![5; value_bytes] },
            Write::Put { key: b"spacf".to_vec(), value: Vec::new() },
            Write::Delete { key: b"spacg".to_vec() },
        ];
        batch.add(writes, |_| Ok(Counters::default())).unwrap();
        batch
    }

    fn record(batch: &Batch) -> Vec<u8> {
        let mut blocks = Vec::new();
        let body = encode(&mut blocks, batch).unwrap();
        seal(&mut blocks, body, &SALT, STAMP);
        blocks
    }

    fn is_intact(blocks: &[u8], salt: &Salt) -> bool {
        RecordHeader::parse(blocks, salt).is_some_and(|header| header.body(blocks, salt).is_some())
    }

    #[test]
    fn reads_what_it_wrote() {
        for value_bytes in [0, 100, 4_000, 4_096, 100_000] {
            let batch = batch(value_bytes);
            let blocks = record(&batch);
            let header = RecordHeader::parse(&blocks, &SALT).unwrap();
            assert_eq!((header.stamp, header.record_bytes()), (STAMP, blocks.len()));
            let mut replayed = Batch::default();
            replay(9, header.body(&blocks, &SALT).unwrap(), &mut replayed).unwrap();
            assert!(replayed.rows().eq(batch.rows()) && replayed.dropped() == batch.dropped());
            assert!(RecordHeader::parse(&blocks, &[4; 16]).is_none());
        }
    }

    #[test]
    fn rejects_every_flipped_bit_and_every_truncation() {
        let good = record(&batch(50));
        let used = HEADER_BYTES + RecordHeader::parse(&good, &SALT).unwrap().body_bytes;
        for bit in 0..used * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_intact(&bad, &SALT), "bit {bit}");
        }
        for length in 0..used {
            assert!(!is_intact(&good[..length], &SALT));
        }
    }
}
