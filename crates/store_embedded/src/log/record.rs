//! One group of writes as it stands in the log.
//!
//! ```text
//! length of the body (4) │ sequence (8) │ durable (8) │ seal of the body (8) │ seal of the head (8) │ body │ zeros
//!
//! body: one after another
//! 00 │ length of key (4) │ key                                    a deleted row
//! 01 │ length of key (4) │ length of value (4) │ key │ value      a row
//! 02 │ space (4)                                                  a dropped space
//! ```
//! `durable` is the last record of which the disk was known to have all up to it when this one was written.
//!
//! A seal is a keyed hash; its key is the salt of the record's segment, which nobody outside the folder knows. So no
//! byte that a client sent can be taken for a record, wherever it comes to stand. The seal of the head covers all
//! before it, the body's seal included.
//!
//! A record begins at a multiple of 4,096 bytes and is filled up to the next: a block that holds one record's
//! bytes is never written for another's sake, and records can be found without the ones before them. Numbers are
//! little-endian. Counters are already added up, so to write a record's rows a second time changes nothing.

use partita_store::{Counters, Space, StoreError, Write};
use siphasher::sip::SipHasher13;

use crate::log::segment_header::Salt;
use crate::write::batch::Batch;

pub(crate) const BLOCK_BYTES: usize = 4_096;
const SEALED_BYTES: usize = 28;
const HEAD_BYTES: usize = SEALED_BYTES + 8;

const DELETED: u8 = 0;
const ROW: u8 = 1;
const DROPPED: u8 = 2;

/// A record's place in the order of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub sequence: u64,
    /// The disk had all up to this one when the record was written.
    pub durable: u64,
}

/// Writes a record of `batch` into `room`, which becomes whole blocks. It is none before it is sealed. Says how long
/// its body is.
pub(crate) fn encode(room: &mut Vec<u8>, batch: &Batch) -> Result<usize, StoreError> {
    room.clear();
    room.extend_from_slice(&[0; HEAD_BYTES]);
    encode_body(room, batch)?;
    let body = room.len() - HEAD_BYTES;
    room[..4].copy_from_slice(&length(body)?.to_le_bytes());
    room.resize(room.len().next_multiple_of(BLOCK_BYTES), 0);
    Ok(body)
}

/// A sealed record of any body.
pub(crate) fn of_body(body: &[u8], salt: &Salt, stamp: Stamp) -> Result<Vec<u8>, StoreError> {
    let mut room = vec![0; HEAD_BYTES];
    room[..4].copy_from_slice(&length(body.len())?.to_le_bytes());
    room.extend_from_slice(body);
    room.resize(room.len().next_multiple_of(BLOCK_BYTES), 0);
    seal(&mut room, body.len(), salt, stamp);
    Ok(room)
}

/// Makes what [`encode`] wrote a record of the segment with this salt.
pub(crate) fn seal(room: &mut [u8], body: usize, salt: &Salt, stamp: Stamp) {
    let body_seal = hash(salt, &room[HEAD_BYTES..HEAD_BYTES + body]);
    room[4..12].copy_from_slice(&stamp.sequence.to_le_bytes());
    room[12..20].copy_from_slice(&stamp.durable.to_le_bytes());
    room[20..SEALED_BYTES].copy_from_slice(&body_seal.to_le_bytes());
    let head_seal = hash(salt, &room[..SEALED_BYTES]);
    room[SEALED_BYTES..HEAD_BYTES].copy_from_slice(&head_seal.to_le_bytes());
}

fn encode_body(room: &mut Vec<u8>, batch: &Batch) -> Result<(), StoreError> {
    for space in batch.dropped() {
        room.push(DROPPED);
        room.extend_from_slice(&space.0.to_le_bytes());
    }
    for (key, value) in batch.rows() {
        room.push(if value.is_some() { ROW } else { DELETED });
        room.extend_from_slice(&length(key.len())?.to_le_bytes());
        if let Some(value) = value {
            room.extend_from_slice(&length(value.len())?.to_le_bytes());
        }
        room.extend_from_slice(key);
        room.extend_from_slice(value.unwrap_or_default());
    }
    Ok(())
}

/// The head of a record: proof that this one was written, even if its body is not whole.
pub(crate) struct Head {
    pub stamp: Stamp,
    body_bytes: usize,
    body_seal: u64,
}

impl Head {
    /// The head that stands at the beginning of `blocks`, if one of this segment does.
    pub fn find(blocks: &[u8], salt: &Salt) -> Option<Head> {
        let head = blocks.first_chunk::<HEAD_BYTES>()?;
        let number = |from: usize| head.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        if hash(salt, &head[..SEALED_BYTES]) != number(SEALED_BYTES)? {
            return None;
        }
        Some(Head {
            stamp: Stamp { sequence: number(4)?, durable: number(12)? },
            body_bytes: usize::try_from(u32::from_le_bytes(*head.first_chunk::<4>()?)).ok()?,
            body_seal: number(20)?,
        })
    }

    /// How many bytes of the log the record takes.
    pub fn record_bytes(&self) -> usize {
        (HEAD_BYTES + self.body_bytes).next_multiple_of(BLOCK_BYTES)
    }

    /// The body behind the head, if it is whole.
    pub fn body<'a>(&self, blocks: &'a [u8], salt: &Salt) -> Option<&'a [u8]> {
        let body = blocks.get(HEAD_BYTES..HEAD_BYTES + self.body_bytes)?;
        (hash(salt, body) == self.body_seal).then_some(body)
    }
}

/// Makes the writes of a record's body again.
pub(crate) fn replay(sequence: u64, mut body: &[u8], batch: &mut Batch) -> Result<(), StoreError> {
    while !body.is_empty() {
        let write = next_write(&mut body)
            .ok_or_else(|| StoreError::damaged(format!("record {sequence} of the log is malformed")))?;
        batch.take(vec![write], |_| Ok(Counters::default()))?;
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
    u32::try_from(bytes)
        .map_err(|_| StoreError::Io("more was written at once than the log can take".to_string()))
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
        batch.take(writes, |_| Ok(Counters::default())).unwrap();
        batch
    }

    fn record(batch: &Batch) -> Vec<u8> {
        let mut blocks = Vec::new();
        let body = encode(&mut blocks, batch).unwrap();
        seal(&mut blocks, body, &SALT, STAMP);
        blocks
    }

    fn is_whole(blocks: &[u8], salt: &Salt) -> bool {
        Head::find(blocks, salt).is_some_and(|head| head.body(blocks, salt).is_some())
    }

    #[test]
    fn reads_what_it_wrote() {
        for value_bytes in [0, 100, 4_000, 4_096, 100_000] {
            let batch = batch(value_bytes);
            let blocks = record(&batch);
            let head = Head::find(&blocks, &SALT).unwrap();
            assert_eq!((head.stamp, head.record_bytes()), (STAMP, blocks.len()));
            let mut again = Batch::default();
            replay(9, head.body(&blocks, &SALT).unwrap(), &mut again).unwrap();
            assert!(again.rows().eq(batch.rows()) && again.dropped() == batch.dropped());
            assert!(Head::find(&blocks, &[4; 16]).is_none());
        }
    }

    #[test]
    fn refuses_every_flipped_bit_and_every_cut() {
        let good = record(&batch(50));
        let used = HEAD_BYTES + Head::find(&good, &SALT).unwrap().body_bytes;
        for bit in 0..used * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_whole(&bad, &SALT), "bit {bit}");
        }
        for length in 0..used {
            assert!(!is_whole(&good[..length], &SALT));
        }
    }
}
