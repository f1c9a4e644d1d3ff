//! The sync rate of the disk: how often per second a small write can be made durable.

use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the syncs per second of sequential 4 KB writes to a preallocated file.
pub fn sync_rate(folder: &Path, duration: Duration) -> io::Result<f64> {
    let mut file = tempfile::tempfile_in(folder)?;
    let size = 16 * 1024 * 1024;
    file.write_all(&vec![0; size])?;
    file.sync_all()?;
    let (start, mut syncs) = (Instant::now(), 0u64);
    while start.elapsed() < duration {
        file.write_all_at(&[1; 4096], syncs * 4096 % size as u64)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(syncs as f64 / start.elapsed().as_secs_f64())
}
