//! How many requests a call sends at once: one for each shard, time bucket and listed value that a key may have.

use super::Obstacle;
use super::access::Access;

/// The most requests that a call of a pattern sends at once.
pub const MAX_REQUESTS: u64 = 10_000;

impl Access<'_> {
    /// The access, unless no caller would send so many requests. Time buckets that are read in turn end where enough is found, and a number that is
    /// assumed is no obstacle.
    pub(super) fn sendable(self) -> Result<Self, Obstacle> {
        let is_open = self.in_turn || self.fan_out_basis.is_assumed();
        let buckets = if is_open { 1 } else { self.buckets };
        let listed = self.alternatives.iter();
        let listed = listed.map(|(name, values)| (values.len() as u64, format!("values of {name}")));
        let counted = [(self.shards.requests, "shards".to_owned()), (buckets, "time buckets".to_owned())];
        let factors: Vec<(u64, String)> =
            counted.into_iter().chain(listed).filter(|(number, _)| *number > 1).collect();
        let requests = factors.iter().map(|(number, _)| *number).fold(1, u64::saturating_mul);
        if requests > MAX_REQUESTS { Err(Obstacle::Scattered { requests, factors }) } else { Ok(self) }
    }
}
