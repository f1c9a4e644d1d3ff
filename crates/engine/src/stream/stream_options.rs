//! How long streams keep their records, and when their shards change.

use std::time::Duration;

/// As long as AWS keeps a shard open within the time it keeps records: four hours of twenty-four.
const LIFETIMES_IN_RETENTION: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Records older than this are trimmed, and ended streams forgotten.
    pub retention: Duration,
    /// The open shards of a new stream.
    pub shards: u32,
    /// A shard is closed after this time, and goes on in a child.
    pub shard_lifetime: Duration,
    /// … or in two, if its stream took this many records meanwhile,
    pub shard_records: u64,
    /// … as long as there are not more open shards than this.
    pub most_open_shards: u32,
}

impl StreamOptions {
    pub fn retaining(retention: Duration) -> StreamOptions {
        StreamOptions {
            retention,
            shards: 4,
            shard_lifetime: retention / LIFETIMES_IN_RETENTION,
            shard_records: 1_000_000,
            most_open_shards: 16,
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
