//! Shard iterators: where a reader stands in a shard, given to it as bytes that it gives back.
//!
//! ```text
//! space (4) │ shard (4) │ next number (8) │ issued at, in milliseconds (8) │ seal (16)
//! ```
//! The seal is a hash of the rest and of the stream's identity. It finds mistakes; it keeps no secret, for
//! whoever may ask for records may ask for an iterator at any place as well.

use crate::stream::Stream;
use partita_api::{Exception, ExceptionKind, messages};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// How long an iterator holds.
const LIFETIME_MILLIS: u64 = 15 * 60 * 1_000;
const SEAL_BYTES: usize = 16;

/// A place in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardIterator {
    pub space: u32,
    pub shard: u32,
    /// The smallest number to be read; 0 is whatever is the oldest then.
    pub next: u64,
    pub issued_at_millis: u64,
}

impl ShardIterator {
    pub fn to_bytes(self, stream: &Stream) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40);
        bytes.extend(self.space.to_be_bytes());
        bytes.extend(self.shard.to_be_bytes());
        bytes.extend(self.next.to_be_bytes());
        bytes.extend(self.issued_at_millis.to_be_bytes());
        bytes.extend(seal(&bytes, stream));
        bytes
    }

    /// Reads what was given out. The seal is not looked at yet: the stream it depends on is named inside.
    pub fn read(bytes: &[u8]) -> Result<ShardIterator, Exception> {
        ShardIterator::split(bytes).ok_or_else(invalid)
    }

    fn split(bytes: &[u8]) -> Option<ShardIterator> {
        let (space, rest) = bytes.split_first_chunk::<4>()?;
        let (shard, rest) = rest.split_first_chunk::<4>()?;
        let (next, rest) = rest.split_first_chunk::<8>()?;
        let (issued_at, rest) = rest.split_first_chunk::<8>()?;
        (rest.len() == SEAL_BYTES).then_some(ShardIterator {
            space: u32::from_be_bytes(*space),
            shard: u32::from_be_bytes(*shard),
            next: u64::from_be_bytes(*next),
            issued_at_millis: u64::from_be_bytes(*issued_at),
        })
    }

    /// That it is one of this stream's, and not too old.
    pub fn check(self, bytes: &[u8], stream: &Stream, now: u64) -> Result<(), Exception> {
        if self.to_bytes(stream) != bytes {
            return Err(invalid());
        }
        if now > self.issued_at_millis.saturating_add(LIFETIME_MILLIS) {
            return Err(Exception::new(ExceptionKind::ExpiredIteratorException, messages::EXPIRED_ITERATOR));
        }
        Ok(())
    }
}

pub fn invalid() -> Exception {
    Exception::validation(messages::INVALID_SHARD_ITERATOR)
}

fn seal(bytes: &[u8], stream: &Stream) -> [u8; SEAL_BYTES] {
    let mut hasher = SipHasher24::new();
    hasher.write(stream.table_id.as_bytes());
    hasher.write(stream.label.as_bytes());
    hasher.write(bytes);
    hasher.finish128().as_bytes()
}
