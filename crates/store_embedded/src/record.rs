//! One group of writes as it stands in the log.
//!
//! ```text
//! length of the body (4) │ crc32 (4) │ run (8) │ sequence (8) │ durability (1) │ body │ zeros
//!
//! body: one after another
//! 00 │ length of key (4) │ key                                    a deleted row
//! 01 │ length of key (4) │ length of value (4) │ key │ value      a row
//! 02 │ space (4)                                                  a dropped space
//! ```
//! A record begins at a multiple of 4,096 bytes and is filled up to the next: a block that holds one record's
//! bytes is never written for another's sake, and records can be found without the ones before them. The checksum
//! covers all behind it. Numbers are little-endian. Counters are already added up, so to write a record's rows a
//! second time changes nothing.

use partita_store::{Counters, Space, StoreError, Write};

use crate::Durability;
use crate::batch::Batch;

pub(crate) const BLOCK_BYTES: usize = 4_096;
const HEAD_BYTES: usize = 25;
const SUM_END: usize = 8;

const DELETED: u8 = 0;
const ROW: u8 = 1;
const DROPPED: u8 = 2;

/// A record's place in the order of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Which opening of the store wrote it.
    pub run: u64,
    pub sequence: u64,
    pub durability: Durability,
}

/// Writes a record of `batch` into `room`, which becomes whole blocks.
pub(crate) fn encode(room: &mut Vec<u8>, stamp: Stamp, batch: &Batch) -> Result<(), StoreError> {
    room.clear();
    room.extend_from_slice(&[0; SUM_END]);
    room.extend_from_slice(&stamp.run.to_le_bytes());
    room.extend_from_slice(&stamp.sequence.to_le_bytes());
    room.push(match stamp.durability {
        Durability::Full => 0,
        Durability::Relaxed => 1,
    });
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
    let body = length(room.len() - HEAD_BYTES)?.to_le_bytes();
    room[..4].copy_from_slice(&body);
    let sum = checksum(&body, &room[SUM_END..]).to_le_bytes();
    room[4..SUM_END].copy_from_slice(&sum);
    room.resize(room.len().next_multiple_of(BLOCK_BYTES), 0);
    Ok(())
}

/// A whole record found at the beginning of `blocks`.
pub(crate) struct Record<'a> {
    pub stamp: Stamp,
    body: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record of `run` that begins here, if one does and is whole.
    pub fn find(blocks: &'a [u8], run: u64) -> Option<Record<'a>> {
        let (head, rest) = blocks.split_first_chunk::<HEAD_BYTES>()?;
        let number = |from: usize| head.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        // Looked at first: most of what is no record of this run is told by it alone.
        if number(SUM_END)? != run {
            return None;
        }
        let (length, sum) = (head.first_chunk::<4>()?, head[4..SUM_END].try_into().ok()?);
        let body = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        if checksum(length, &blocks[SUM_END..HEAD_BYTES + body.len()]) != u32::from_le_bytes(sum) {
            return None;
        }
        let durability = match head[HEAD_BYTES - 1] {
            0 => Durability::Full,
            1 => Durability::Relaxed,
            _ => return None,
        };
        Some(Record { stamp: Stamp { run, sequence: number(SUM_END + 8)?, durability }, body })
    }

    /// How many bytes of the log it takes.
    pub fn bytes(&self) -> usize {
        (HEAD_BYTES + self.body.len()).next_multiple_of(BLOCK_BYTES)
    }

    /// Makes its writes again.
    pub fn replay(&self, batch: &mut Batch) -> Result<(), StoreError> {
        let mut body = self.body;
        while !body.is_empty() {
            let write = next_write(&mut body).ok_or_else(|| {
                StoreError::damaged(format!("record {} of the log is malformed", self.stamp.sequence))
            })?;
            batch.take(vec![write], |_| Ok(Counters::default()))?;
        }
        Ok(())
    }
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

fn checksum(length: &[u8; 4], behind: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    hasher.update(behind);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { run: 3, sequence: 9, durability: Durability::Relaxed };

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

    #[test]
    fn reads_what_it_wrote() {
        for value_bytes in [0, 100, 4_000, 4_096, 100_000] {
            let (batch, mut blocks) = (batch(value_bytes), Vec::new());
            encode(&mut blocks, STAMP, &batch).unwrap();
            let record = Record::find(&blocks, 3).unwrap();
            assert_eq!((record.stamp, record.bytes()), (STAMP, blocks.len()));
            let mut again = Batch::default();
            record.replay(&mut again).unwrap();
            assert!(again.rows().eq(batch.rows()) && again.dropped() == batch.dropped());
            assert!(Record::find(&blocks, 4).is_none());
        }
    }

    #[test]
    fn refuses_every_flipped_bit_and_every_cut() {
        let mut good = Vec::new();
        encode(&mut good, STAMP, &batch(50)).unwrap();
        let used = HEAD_BYTES + Record::find(&good, 3).unwrap().body.len();
        for bit in 0..used * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Record::find(&bad, 3).is_none(), "bit {bit}");
        }
        for length in 0..used {
            assert!(Record::find(&good[..length], 3).is_none());
        }
    }
}
