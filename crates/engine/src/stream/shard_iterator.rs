//! Shard iterators: the position of a reader in a shard, as opaque bytes that the client sends back.
//!
//! ```text
//! space (4) │ shard (4) │ next number (8) │ issued at, in milliseconds (8) │ checksum (16)
//! ```
//! The checksum is a hash of the rest and of the stream's identity. It detects mistakes; it need not be secret, because a client
//! that may read records may also request an iterator at any position.

use crate::stream::Stream;
use partita_api::{Exception, ExceptionKind, messages};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;

/// How long an iterator is valid.
const LIFETIME_MILLIS: u64 = 15 * 60 * 1_000;
const CHECKSUM_BYTES: usize = 16;

/// A position in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardIterator {
    pub space: u32,
    pub shard: u32,
    /// The smallest sequence number to read; 0 is the oldest record at that time.
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
        bytes.extend(checksum(&bytes, stream));
        bytes
    }

    /// Decodes an iterator. [`ShardIterator::check`] verifies the checksum once the stream named here is found.
    pub fn read(bytes: &[u8]) -> Result<ShardIterator, Exception> {
        ShardIterator::split(bytes).ok_or_else(invalid)
    }

    fn split(bytes: &[u8]) -> Option<ShardIterator> {
        let (space, rest) = bytes.split_first_chunk::<4>()?;
        let (shard, rest) = rest.split_first_chunk::<4>()?;
        let (next, rest) = rest.split_first_chunk::<8>()?;
        let (issued_at, rest) = rest.split_first_chunk::<8>()?;
        (rest.len() == CHECKSUM_BYTES).then_some(ShardIterator {
            space: u32::from_be_bytes(*space),
            shard: u32::from_be_bytes(*shard),
            next: u64::from_be_bytes(*next),
            issued_at_millis: u64::from_be_bytes(*issued_at),
        })
    }

    /// Checks that the iterator belongs to this stream and has not expired.
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

fn checksum(bytes: &[u8], stream: &Stream) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = SipHasher24::new();
    hasher.write(stream.table_id.as_bytes());
    hasher.write(stream.label.as_bytes());
    hasher.write(bytes);
    hasher.finish128().as_bytes()
}
