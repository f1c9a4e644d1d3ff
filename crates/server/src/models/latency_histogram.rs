//! Percentiles of latencies in little memory: four buckets for each doubling, so that a percentile is at most a fifth too high.

const PER_DOUBLING: f64 = 4.0;
/// Up to 2³² microseconds, more than an hour.
const BUCKETS: usize = 128;

#[derive(Clone)]
pub struct LatencyHistogram {
    counts: [u64; BUCKETS],
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram { counts: [0; BUCKETS] }
    }
}

impl LatencyHistogram {
    pub fn add(&mut self, microseconds: u64) {
        let bucket = ((microseconds.max(1) as f64).log2() * PER_DOUBLING) as usize;
        self.counts[bucket.min(BUCKETS - 1)] += 1;
    }

    /// The time, in microseconds, that this fraction of the requests did not exceed.
    pub fn percentile(&self, fraction: f64) -> u64 {
        let total: u64 = self.counts.iter().sum();
        let rank = (total as f64 * fraction).ceil() as u64;
        let mut passed = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            passed += count;
            if passed >= rank && total > 0 {
                return 2f64.powf((bucket + 1) as f64 / PER_DOUBLING).ceil() as u64;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_slightly_too_high() {
        let mut latency = LatencyHistogram::default();
        assert_eq!(latency.percentile(0.5), 0);
        (1..=1000).for_each(|time| latency.add(time));
        for (part, exact) in [(0.5, 500), (0.99, 990)] {
            let found = latency.percentile(part);
            assert!(found >= exact && found <= exact * 6 / 5, "{part}: {found}");
        }
        latency.add(u64::MAX);
        assert!(latency.percentile(1.0) > 1 << 31);
    }
}
