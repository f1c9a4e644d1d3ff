//! Recovery after a crash: reads the records that the tree does not have.
//!
//! The manifest lists the segments of the log; each must exist as described. In each segment the scan starts at the
//! first block after the header: it skips over intact records, and moves on by one block after anything else. Only
//! records sealed with the segment's salt count, so a client's bytes are never taken for a record. Records are taken in
//! sequence until one is missing: that is the end of what was acknowledged, because a record that was being written when
//! the power failed is not intact and so counts as missing.
//!
//! Every header that is found, the manifest and the tree say up to which record the log was known to be durable. If one
//! of those is missing, acknowledged writes are lost: the store reports that and does not open.
//!
//! The records are not written to the tree here but handed over as if they had just been logged, so that a start needs no
//! disk space.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita_store::StoreError;

use crate::folder::file_read;
use crate::log::durable_watermark;
use crate::log::manifest;
use crate::log::position::LogPosition;
use crate::log::record::{self, BLOCK_BYTES, RecordHeader};
use crate::log::segment_header::{self, SegmentDescription};
use crate::log::segments::{FIRST_RECORD_AT, FOLDER_NAME, LiveSegment, segment_files, segment_path};
use crate::open_error::OpenError;
use crate::tree::environment::Environment;
use crate::write::batch::Batch;

/// What to do when an acknowledged record is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    Refuse,
    /// Discard it and all later ones.
    Discard,
}

/// The result of recovery.
#[derive(Default)]
pub(crate) struct Recovered {
    pub position: LogPosition,
    /// The last record.
    pub sequence: u64,
    /// The writes of the records that the tree does not have.
    pub batch: Batch,
    pub log_bytes: usize,
    /// The segments that contain them.
    pub live: Vec<LiveSegment>,
    /// Descriptions of what was discarded.
    pub discarded: Vec<String>,
}

/// Reads the records that the tree in `folder` does not have yet.
pub(crate) fn recover(
    folder: &Path,
    environment: &Environment,
    on_damage: OnDamage,
) -> Result<Recovered, OpenError> {
    let position = environment.position().map_err(|error| OpenError::store(folder, error))?;
    let mut recovered = Recovered { position, sequence: position.sequence, ..Recovered::default() };
    let log = folder.join(FOLDER_NAME);
    if !position.is_open {
        // A closed log is not needed: it may be missing or damaged.
        if !LogScan::scan_beyond(&log, position).is_ok_and(|scan| scan.has_records_beyond(position)) {
            return Ok(recovered);
        }
        let what = "its commit log has records that its data file does not know: the data file, or the file sums, is an older copy";
        if on_damage == OnDamage::Refuse {
            return Err(OpenError::damaged(folder, what.to_owned()));
        }
        recovered.discarded.push(what.to_owned());
    }
    let scan = match LogScan::scan(&log, position) {
        Ok(scan) => scan,
        Err(Unreadable::Damaged(what)) if on_damage == OnDamage::Refuse => {
            return Err(OpenError::damaged(folder, what));
        }
        Err(Unreadable::Damaged(what)) => {
            tracing::warn!("{what}; other segments are still used");
            recovered.discarded.push(what);
            LogScan::scan_without_manifest(&log, position).map_err(|error| OpenError::io(folder, error))?
        }
        Err(Unreadable::Io(error)) => return Err(OpenError::io(folder, error)),
    };
    let last = scan.last_contiguous(position.sequence);
    if last < scan.durable {
        let what = scan.missing(last + 1);
        if on_damage == OnDamage::Refuse {
            return Err(OpenError::damaged(folder, what));
        }
        tracing::warn!("{what}; it and all later ones are discarded");
        recovered.discarded.push(format!("{what}; it and all later ones"));
    }
    scan.read(last, recovered).map_err(|error| OpenError::store(folder, error))
}

/// Why the log cannot be scanned.
enum Unreadable {
    Damaged(String),
    Io(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

/// Where a record is.
struct RecordLocation {
    /// The index among the scanned segments.
    segment: usize,
    offset: usize,
    bytes: usize,
}

struct ScannedSegment {
    path: PathBuf,
    file: Arc<File>,
    description: SegmentDescription,
    /// Records after this one are in the next segment.
    end: u64,
}

/// The records that the tree does not have.
struct LogScan {
    segments: Vec<ScannedSegment>,
    records: BTreeMap<u64, RecordLocation>,
    /// The log was known to be durable up to this record.
    durable: u64,
}

impl LogScan {
    fn scan(log: &Path, position: LogPosition) -> Result<LogScan, Unreadable> {
        let listed = manifest::read(log)?.ok_or_else(|| {
            let file = log.join(manifest::FILE_NAME);
            Unreadable::Damaged(format!("{} is missing or not readable", file.display()))
        })?;
        let mut segments = Vec::with_capacity(listed.len());
        for description in listed {
            segments.push((description, open_as_described(log, &description)?));
        }
        Ok(LogScan::in_segments(log, segments, position)?)
    }

    /// Scans only what was written after the log was closed.
    fn scan_beyond(log: &Path, position: LogPosition) -> io::Result<LogScan> {
        let listed = manifest::read(log)?.unwrap_or_default().into_iter();
        let later = listed.filter(|description| description.first > position.sequence);
        let segments =
            later.filter_map(|description| Some((description, open_as_described(log, &description).ok()?)));
        LogScan::in_segments(log, segments.collect(), position)
    }

    fn has_records_beyond(&self, position: LogPosition) -> bool {
        self.durable.max(self.last_contiguous(position.sequence)) > position.sequence
    }

    /// Scans all segments with intact headers.
    fn scan_without_manifest(log: &Path, position: LogPosition) -> io::Result<LogScan> {
        let mut segments = Vec::new();
        for path in segment_files(log)? {
            let file = File::options().read(true).write(true).open(&path)?;
            if let Some(description) = segment_header::read(&file, &path)?
                && path == segment_path(log, description.number)
            {
                segments.push((description, file));
            }
        }
        segments.sort_by_key(|(description, _)| (description.use_number, description.first));
        LogScan::in_segments(log, segments, position)
    }

    /// The segments are in the order in which they were taken into use.
    fn in_segments(
        log: &Path,
        segments: Vec<(SegmentDescription, File)>,
        position: LogPosition,
    ) -> io::Result<LogScan> {
        let ends = ends_of(segments.iter().map(|(description, _)| description.first).collect());
        let durable = position.durable.max(durable_watermark::read(log)?);
        let mut scan = LogScan { segments: Vec::new(), records: BTreeMap::new(), durable };
        for ((description, file), end) in segments.into_iter().zip(ends) {
            let path = segment_path(log, description.number);
            scan.segments.push(ScannedSegment { path, file: Arc::new(file), description, end });
            scan.scan_last_segment(position.sequence)?;
        }
        Ok(scan)
    }

    fn scan_last_segment(&mut self, applied: u64) -> io::Result<()> {
        let number = self.segments.len() - 1;
        let ScannedSegment { path, description, end, .. } = &self.segments[number];
        self.durable = self.durable.max(description.durable);
        let blocks = file_read::whole(path)?;
        let mut offset = FIRST_RECORD_AT as usize;
        while let Some(rest) = blocks.get(offset..).filter(|rest| !rest.is_empty()) {
            let Some(header) = RecordHeader::parse(rest, &description.salt) else {
                offset += BLOCK_BYTES;
                continue;
            };
            let (sequence, bytes) = (header.stamp.sequence, header.record_bytes());
            // Anything after the end was refused, or discarded by an earlier recovery: it proves nothing.
            let counts = (description.first..=*end).contains(&sequence);
            if counts {
                self.durable = self.durable.max(header.stamp.durable);
            }
            if header.body(rest, &description.salt).is_none() {
                offset += BLOCK_BYTES;
                continue;
            }
            if counts && sequence > applied {
                self.records.insert(sequence, RecordLocation { segment: number, offset, bytes });
            }
            offset += bytes;
        }
        Ok(())
    }

    fn last_contiguous(&self, applied: u64) -> u64 {
        let mut last = applied;
        while self.records.contains_key(&(last + 1)) {
            last += 1;
        }
        last
    }

    /// Describes where a record is missing.
    fn missing(&self, sequence: u64) -> String {
        let Some(number) = self.segments.iter().rposition(|segment| segment.description.first <= sequence)
        else {
            return format!("record {sequence} of its commit log is missing, and so is its file");
        };
        let before = self.records.range(..sequence).rev().map(|(_, location)| location);
        let offset = before
            .take_while(|location| location.segment == number)
            .map(|location| location.offset + location.bytes)
            .next()
            .unwrap_or(FIRST_RECORD_AT as usize);
        format!(
            "record {sequence} of its commit log is not readable, though the log was durable up to {}: {} from byte \
             {offset} on",
            self.durable,
            self.segments[number].path.display()
        )
    }

    /// Reads the records up to `last`.
    fn read(self, last: u64, mut recovered: Recovered) -> Result<Recovered, StoreError> {
        for (sequence, location) in self.records.range(..=last) {
            let segment = &self.segments[location.segment];
            let unreadable =
                |error: io::Error| StoreError::Io(format!("record {sequence} of the commit log: {error}"));
            let blocks = read_at(segment, location).map_err(unreadable)?;
            let salt = &segment.description.salt;
            let body = RecordHeader::parse(&blocks, salt).and_then(|header| header.body(&blocks, salt));
            let changed = || StoreError::damaged(format!("record {sequence} of its commit log has changed"));
            record::replay(*sequence, body.ok_or_else(changed)?, &mut recovered.batch)?;
            recovered.log_bytes += location.bytes;
        }
        let discarded = self.records.range(last + 1..).count();
        if discarded > 0 {
            tracing::warn!(discarded, "records of the commit log follow a lost one and are discarded");
        }
        recovered.sequence = last;
        for segment in self.segments {
            if segment.description.first <= last {
                // The process may have been killed before the sync, and others will rely on it.
                segment.file.sync_data().map_err(|error| crate::error::io_error(&error))?;
                let last = Some(segment.end.min(last));
                recovered.live.push(LiveSegment {
                    file: segment.file,
                    description: segment.description,
                    last,
                });
            }
        }
        Ok(recovered)
    }
}

/// The last record that counts in each segment: one that a later segment repeats was refused or discarded before.
fn ends_of(mut firsts: Vec<u64>) -> Vec<u64> {
    let mut end = u64::MAX;
    for first in firsts.iter_mut().rev() {
        let before = first.saturating_sub(1).min(end);
        *first = std::mem::replace(&mut end, before);
    }
    firsts
}

fn open_as_described(log: &Path, description: &SegmentDescription) -> Result<File, Unreadable> {
    let path = segment_path(log, description.number);
    let damaged = |what: String| Unreadable::Damaged(format!("{} {what}", path.display()));
    let file = match File::options().read(true).write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(damaged("is missing".to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    let bytes = file.metadata()?.len();
    if bytes != description.bytes {
        return Err(damaged(format!("has {bytes} bytes instead of {}", description.bytes)));
    }
    match segment_header::read(&file, &path)? {
        Some(found) if found == *description => Ok(file),
        Some(_) => Err(damaged("is not the segment that the log wrote (byte 0)".to_string())),
        None => Err(damaged("has a header that is not readable (byte 0)".to_string())),
    }
}

fn read_at(
    ScannedSegment { file, path, .. }: &ScannedSegment,
    location: &RecordLocation,
) -> io::Result<Vec<u8>> {
    let mut blocks = vec![0; location.bytes];
    let read = file_read::up_to(file, &path.display(), &mut blocks, location.offset as u64)?;
    blocks.truncate(read);
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::Stamp;

    fn segment(log: &Path, number: u64, first: u64, use_number: u64, records: &[u64]) {
        let salt = [number as u8; 16];
        let mut bytes = vec![0; FIRST_RECORD_AT as usize];
        for sequence in records {
            let stamp = Stamp { sequence: *sequence, durable: 0 };
            bytes.extend(record::of_body(b"", &salt, stamp).unwrap());
        }
        let path = segment_path(log, number);
        std::fs::write(&path, &bytes).unwrap();
        let description =
            SegmentDescription { number, bytes: bytes.len() as u64, first, durable: 0, salt, use_number };
        segment_header::write(&File::options().write(true).open(path).unwrap(), &description).unwrap();
    }

    /// Records 3 to 5 were discarded because 2 was lost, and rewritten: the first attempt failed, the second succeeded.
    #[test]
    fn without_a_manifest_the_segment_used_last_counts() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path();
        for (number, first, use_number, records) in
            [(4, 1, 1, &[1][..]), (1, 3, 2, &[3, 4, 5]), (3, 2, 3, &[3]), (2, 2, 4, &[2, 3])]
        {
            segment(log, number, first, use_number, records);
        }
        let scan = LogScan::scan_without_manifest(log, LogPosition::open(0, 0)).unwrap();
        assert_eq!(scan.last_contiguous(0), 3);
        let number = |location: &RecordLocation| scan.segments[location.segment].description.number;
        let locations: Vec<_> =
            scan.records.iter().map(|(record, location)| (*record, number(location))).collect();
        assert_eq!(locations, [(1, 4), (2, 2), (3, 2)]);
    }
}
