//! How long streams retain records, and when their shards are rolled.

use std::time::Duration;

/// Retention divided by shard lifetime, as on AWS: a shard is open for four of twenty-four hours.
const LIFETIMES_IN_RETENTION: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Records older than this are trimmed, and streams that ended before are deleted.
    pub retention: Duration,
    /// The number of shards of a new stream.
    pub shards: u32,
    /// A shard is closed after this time and replaced by one child,
    pub shard_lifetime: Duration,
    /// … or by two, once its stream has received this many records since the shard was opened,
    pub shard_records: u64,
    /// … as long as there are fewer open shards than this.
    pub max_open_shards: u32,
}

impl StreamOptions {
    pub fn retaining(retention: Duration) -> StreamOptions {
        StreamOptions {
            retention,
            shards: 4,
            shard_lifetime: retention / LIFETIMES_IN_RETENTION,
            shard_records: 1_000_000,
            max_open_shards: 16,
        }
    }

    pub fn retention_millis(&self) -> u64 {
        self.retention.as_millis() as u64
    }

    pub fn shard_lifetime_millis(&self) -> u64 {
        self.shard_lifetime.as_millis() as u64
    }
}

impl Default for StreamOptions {
    fn default() -> StreamOptions {
        StreamOptions::retaining(Duration::from_secs(24 * 60 * 60))
    }
}
