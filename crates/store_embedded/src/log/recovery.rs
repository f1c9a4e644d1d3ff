//! After a crash: reads what the log has and the tree has not.
//!
//! The manifest says which segments the log has; each must be there as it is described. In each, records are looked
//! for from the first block behind the header on: a whole one is passed over, behind anything else the next block is
//! looked at. Only what is sealed with the segment's salt counts, so this never takes a client's bytes for a record.
//! The records are taken in the order of their numbers until one is missing: that is the end of what was acknowledged,
//! for a record that was being written when the power went is not whole and so counts as missing.
//!
//! Every head that is found, the manifest and the tree say up to which record the disk was known to have them all.
//! When one of those is missing, something acknowledged is lost: the store says so and does not open.
//!
//! What was read is not written to the tree here but handed over as if it had just been logged, so that a start needs
//! no room on the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita_store::StoreError;

use crate::folder::file_read;
use crate::log::durable_watermark;
use crate::log::manifest;
use crate::log::position::Position;
use crate::log::record::{self, BLOCK_BYTES, Head};
use crate::log::segment_header::{self, Description};
use crate::log::segments::{FIRST_RECORD_AT, FOLDER_NAME, Live, segment_files, segment_path};
use crate::open_error::OpenError;
use crate::tree::environment::Environment;
use crate::write::batch::Batch;

/// What to do when an acknowledged record is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    Refuse,
    /// Do without it and without all later ones.
    GiveUp,
}

/// What the log had.
#[derive(Default)]
pub(crate) struct Recovered {
    pub position: Position,
    /// The last record.
    pub sequence: u64,
    /// What the records say that the tree has not.
    pub batch: Batch,
    pub log_bytes: usize,
    /// The segments they stand in.
    pub live: Vec<Live>,
    /// What was to be given up.
    pub given_up: Vec<String>,
}

/// Reads what the tree in `folder` has not yet.
pub(crate) fn recover(
    folder: &Path,
    environment: &Environment,
    on_damage: OnDamage,
) -> Result<Recovered, OpenError> {
    let position = environment.position().map_err(|error| OpenError::store(folder, error))?;
    let mut recovered = Recovered { position, sequence: position.sequence, ..Recovered::default() };
    let log = folder.join(FOLDER_NAME);
    if !position.is_open {
        // A closed log may as well be missing, or be damaged.
        if !Found::beyond(&log, position).is_ok_and(|found| found.goes_beyond(position)) {
            return Ok(recovered);
        }
        let what = "its commit log has records that its data file knows nothing of: the data file, or the file sums, is an older copy";
        if on_damage == OnDamage::Refuse {
            return Err(OpenError::damaged(folder, what.to_owned()));
        }
        recovered.given_up.push(what.to_owned());
    }
    let found = match Found::look(&log, position) {
        Ok(found) => found,
        Err(Unreadable::Damaged(what)) if on_damage == OnDamage::Refuse => {
            return Err(OpenError::damaged(folder, what));
        }
        Err(Unreadable::Damaged(what)) => {
            tracing::warn!("{what}; what stands in other segments is made use of");
            recovered.given_up.push(what);
            Found::look_without_manifest(&log, position).map_err(|error| OpenError::io(folder, error))?
        }
        Err(Unreadable::Io(error)) => return Err(OpenError::io(folder, error)),
    };
    let last = found.last_in_a_row(position.sequence);
    if last < found.durable {
        let what = found.missing(last + 1);
        if on_damage == OnDamage::Refuse {
            return Err(OpenError::damaged(folder, what));
        }
        tracing::warn!("{what}; it and all later ones are given up");
        recovered.given_up.push(format!("{what}; it and all later ones"));
    }
    found.read(last, recovered).map_err(|error| OpenError::store(folder, error))
}

/// Why the log cannot be looked through.
enum Unreadable {
    Damaged(String),
    Io(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

/// Where a record stands.
struct Place {
    /// Of all segments.
    segment: usize,
    offset: usize,
    bytes: usize,
}

struct FoundSegment {
    path: PathBuf,
    file: Arc<File>,
    description: Description,
    /// The records behind this one stand in the next segment.
    end: u64,
}

/// The records beyond the tree's.
struct Found {
    segments: Vec<FoundSegment>,
    records: BTreeMap<u64, Place>,
    /// The disk was known to have all up to this one.
    durable: u64,
}

impl Found {
    fn look(log: &Path, position: Position) -> Result<Found, Unreadable> {
        let listed = manifest::read(log)?.ok_or_else(|| {
            let file = log.join(manifest::FILE_NAME);
            Unreadable::Damaged(format!("{} is missing or not readable", file.display()))
        })?;
        let mut segments = Vec::with_capacity(listed.len());
        for description in listed {
            segments.push((description, open_as_described(log, &description)?));
        }
        Ok(Found::in_segments(log, segments, position)?)
    }

    /// Only what was written after the log was closed.
    fn beyond(log: &Path, position: Position) -> io::Result<Found> {
        let listed = manifest::read(log)?.unwrap_or_default().into_iter();
        let later = listed.filter(|description| description.first > position.sequence);
        let segments =
            later.filter_map(|description| Some((description, open_as_described(log, &description).ok()?)));
        Found::in_segments(log, segments.collect(), position)
    }

    fn goes_beyond(&self, position: Position) -> bool {
        self.durable.max(self.last_in_a_row(position.sequence)) > position.sequence
    }

    /// All segments whose headers are whole.
    fn look_without_manifest(log: &Path, position: Position) -> io::Result<Found> {
        let mut segments = Vec::new();
        for path in segment_files(log)? {
            let file = File::options().read(true).write(true).open(&path)?;
            if let Some(description) = segment_header::read(&file, &path)?
                && path == segment_path(log, description.number)
            {
                segments.push((description, file));
            }
        }
        segments.sort_by_key(|(description, _)| (description.taken, description.first));
        Found::in_segments(log, segments, position)
    }

    /// The segments are in the order in which they were taken.
    fn in_segments(log: &Path, segments: Vec<(Description, File)>, position: Position) -> io::Result<Found> {
        let ends = ends_of(segments.iter().map(|(description, _)| description.first).collect());
        let durable = position.durable.max(durable_watermark::noted(log)?);
        let mut found = Found { segments: Vec::new(), records: BTreeMap::new(), durable };
        for ((description, file), end) in segments.into_iter().zip(ends) {
            let path = segment_path(log, description.number);
            found.segments.push(FoundSegment { path, file: Arc::new(file), description, end });
            found.look_through_last_segment(position.sequence)?;
        }
        Ok(found)
    }

    fn look_through_last_segment(&mut self, applied: u64) -> io::Result<()> {
        let number = self.segments.len() - 1;
        let FoundSegment { path, description, end, .. } = &self.segments[number];
        self.durable = self.durable.max(description.durable);
        let blocks = file_read::whole(path)?;
        let mut offset = FIRST_RECORD_AT as usize;
        while let Some(rest) = blocks.get(offset..).filter(|rest| !rest.is_empty()) {
            let Some(head) = Head::find(rest, &description.salt) else {
                offset += BLOCK_BYTES;
                continue;
            };
            let (sequence, bytes) = (head.stamp.sequence, head.record_bytes());
            // What stands behind the end was refused, or given up by an earlier recovery: it proves nothing.
            let counts = (description.first..=*end).contains(&sequence);
            if counts {
                self.durable = self.durable.max(head.stamp.durable);
            }
            if head.body(rest, &description.salt).is_none() {
                offset += BLOCK_BYTES;
                continue;
            }
            if counts && sequence > applied {
                self.records.insert(sequence, Place { segment: number, offset, bytes });
            }
            offset += bytes;
        }
        Ok(())
    }

    fn last_in_a_row(&self, applied: u64) -> u64 {
        let mut last = applied;
        while self.records.contains_key(&(last + 1)) {
            last += 1;
        }
        last
    }

    /// Says where a record is missing.
    fn missing(&self, sequence: u64) -> String {
        let Some(number) = self.segments.iter().rposition(|segment| segment.description.first <= sequence)
        else {
            return format!("record {sequence} of its commit log is missing, and so is its file");
        };
        let before = self.records.range(..sequence).rev().map(|(_, place)| place);
        let offset = before
            .take_while(|place| place.segment == number)
            .map(|place| place.offset + place.bytes)
            .next()
            .unwrap_or(FIRST_RECORD_AT as usize);
        format!(
            "record {sequence} of its commit log is not readable, though the disk had all up to {}: {} from byte \
             {offset} on",
            self.durable,
            self.segments[number].path.display()
        )
    }

    /// Reads the records up to `last`.
    fn read(self, last: u64, mut recovered: Recovered) -> Result<Recovered, StoreError> {
        for (sequence, place) in self.records.range(..=last) {
            let segment = &self.segments[place.segment];
            let lost =
                |error: io::Error| StoreError::Io(format!("record {sequence} of the commit log: {error}"));
            let blocks = read_at(segment, place).map_err(lost)?;
            let salt = &segment.description.salt;
            let body = Head::find(&blocks, salt).and_then(|head| head.body(&blocks, salt));
            let changed = || StoreError::damaged(format!("record {sequence} of its commit log has changed"));
            record::replay(*sequence, body.ok_or_else(changed)?, &mut recovered.batch)?;
            recovered.log_bytes += place.bytes;
        }
        let given_up = self.records.range(last + 1..).count();
        if given_up > 0 {
            tracing::warn!(given_up, "records of the commit log stand behind a lost one and are given up");
        }
        recovered.sequence = last;
        for segment in self.segments {
            if segment.description.first <= last {
                // The process may have been killed before it was flushed, and others are to rely on it.
                segment.file.sync_data().map_err(|error| crate::error::io_error(&error))?;
                let last = Some(segment.end.min(last));
                recovered.live.push(Live { file: segment.file, description: segment.description, last });
            }
        }
        Ok(recovered)
    }
}

/// The last record that counts in each of these segments: what a later one has anew was refused or given up before.
fn ends_of(mut firsts: Vec<u64>) -> Vec<u64> {
    let mut end = u64::MAX;
    for first in firsts.iter_mut().rev() {
        let before = first.saturating_sub(1).min(end);
        *first = std::mem::replace(&mut end, before);
    }
    firsts
}

fn open_as_described(log: &Path, description: &Description) -> Result<File, Unreadable> {
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
        Some(_) => Err(damaged("is another segment than the one the log wrote (byte 0)".to_string())),
        None => Err(damaged("has a header that is not readable (byte 0)".to_string())),
    }
}

fn read_at(FoundSegment { file, path, .. }: &FoundSegment, place: &Place) -> io::Result<Vec<u8>> {
    let mut blocks = vec![0; place.bytes];
    let read = file_read::some(file, &path.display(), &mut blocks, place.offset as u64)?;
    blocks.truncate(read);
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::Stamp;

    fn segment(log: &Path, number: u64, first: u64, taken: u64, records: &[u64]) {
        let salt = [number as u8; 16];
        let mut bytes = vec![0; FIRST_RECORD_AT as usize];
        for sequence in records {
            let stamp = Stamp { sequence: *sequence, durable: 0 };
            bytes.extend(record::of_body(b"", &salt, stamp).unwrap());
        }
        let path = segment_path(log, number);
        std::fs::write(&path, &bytes).unwrap();
        let description = Description { number, bytes: bytes.len() as u64, first, durable: 0, salt, taken };
        segment_header::write(&File::options().write(true).open(path).unwrap(), &description).unwrap();
    }

    /// Records 3 to 5 were given up because 2 was lost, and written anew: once more in vain, and then for good.
    #[test]
    fn without_a_manifest_the_segment_that_was_taken_last_counts() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path();
        for (number, first, taken, records) in
            [(4, 1, 1, &[1][..]), (1, 3, 2, &[3, 4, 5]), (3, 2, 3, &[3]), (2, 2, 4, &[2, 3])]
        {
            segment(log, number, first, taken, records);
        }
        let found = Found::look_without_manifest(log, Position::open(0, 0)).unwrap();
        assert_eq!(found.last_in_a_row(0), 3);
        let number = |place: &Place| found.segments[place.segment].description.number;
        let places: Vec<_> = found.records.iter().map(|(record, place)| (*record, number(place))).collect();
        assert_eq!(places, [(1, 4), (2, 2), (3, 2)]);
    }
}
