//! The log of format 1, read once when such a folder is opened: records that the tree lacks are applied to it.
//!
//! ```text
//! length of the body (4) │ crc32 (4) │ run (8) │ sequence (8) │ durability (1) │ body │ zeros
//! ```
//! Its checksum had no key, and records were searched for everywhere, so a client could plant records in it. Now only
//! records count that belong to the last run and follow one another from the start of a file, where nothing but a record
//! ever began: a planted record could at most be right after the last real one.
//!
//! The position in the tree was a run, which is one opening of the store, and a sequence. It is replaced once the tree
//! has everything; an upgrade that is interrupted before that starts over, and writing rows twice changes nothing.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use partita_store::StoreError;

use crate::folder::creation;
use crate::folder::file_read;
use crate::log::position::LogPosition;
use crate::log::record::{self, BLOCK_BYTES};
use crate::log::recovery::OnDamage;
use crate::log::segments::{FOLDER_NAME, segment_files};
use crate::open_error::OpenError;
use crate::tree::environment::Environment;
use crate::write::batch::Batch;
use crate::write::overlay::Overlay;

const HEADER_BYTES: usize = 25;
const CHECKSUM_END: usize = 8;
const FULL_DURABILITY: u8 = 0;
/// How much is written to the tree at once.
const BATCH_BYTES: usize = 8 << 20;

/// Creation in format 1 could be interrupted between naming the format and creating the data file.
pub(crate) fn finish_interrupted_creation(folder: &Path) -> Result<(), OpenError> {
    let failed = |error: io::Error| OpenError::io(folder, error);
    if creation::has_data(folder) {
        return Ok(());
    }
    let log = folder.join(FOLDER_NAME);
    if log.exists() && !segment_files(&log).map_err(failed)?.is_empty() {
        return creation::check_data_file(folder);
    }
    creation::create_data_file(folder)
}

/// Applies the log to the tree, after which the log is no longer needed.
pub(crate) fn drain_log(
    folder: &Path,
    environment: &Environment,
    on_damage: OnDamage,
) -> Result<(), OpenError> {
    let failed = |error: StoreError| OpenError::store(folder, error);
    let numbers = environment.position_numbers().map_err(failed)?.unwrap_or(vec![0, 0]);
    // Anything else is a position of format 2: only naming the format is left to do.
    let [run, applied] = numbers[..] else { return Ok(()) };
    let log = folder.join(FOLDER_NAME);
    let found = records_after(applied, run, &log).map_err(|error| OpenError::io(folder, error))?;
    let last = last_contiguous(applied, &found);
    if let Some((later, location)) = found.range(last + 1..).next()
        && on_damage == OnDamage::Refuse
        && location.is_full
    {
        let what = format!("record {} of its commit log is not readable, though {later} is", last + 1);
        return Err(OpenError::damaged(folder, what));
    }
    replay(run, last, &found, environment).map_err(failed)?;
    let position = LogPosition::closed(last);
    environment.write(|databases, txn| databases.position.set(txn, position)).map_err(failed)?;
    make_private(folder).map_err(|error| OpenError::io(folder, error))
}

/// Where a record is.
struct RecordLocation {
    file: PathBuf,
    offset: usize,
    bytes: usize,
    is_full: bool,
}

/// A complete record at the beginning of `blocks`.
struct Record<'a> {
    sequence: u64,
    is_full: bool,
    body: &'a [u8],
}

impl<'a> Record<'a> {
    fn parse(blocks: &'a [u8], run: u64) -> Option<Record<'a>> {
        let (header, rest) = blocks.split_first_chunk::<HEADER_BYTES>()?;
        let number = |from: usize| header.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        if number(CHECKSUM_END)? != run {
            return None;
        }
        let (length, checksum) = (header.first_chunk::<4>()?, header[4..CHECKSUM_END].try_into().ok()?);
        let body = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(length);
        hasher.update(&blocks[CHECKSUM_END..HEADER_BYTES + body.len()]);
        if hasher.finalize() != u32::from_le_bytes(checksum) {
            return None;
        }
        let is_full = header[HEADER_BYTES - 1] == FULL_DURABILITY;
        Some(Record { sequence: number(CHECKSUM_END + 8)?, is_full, body })
    }

    fn bytes(&self) -> usize {
        (HEADER_BYTES + self.body.len()).next_multiple_of(BLOCK_BYTES)
    }
}

/// All complete records of the run that come after `applied`.
fn records_after(applied: u64, run: u64, log: &Path) -> io::Result<BTreeMap<u64, RecordLocation>> {
    let mut found = BTreeMap::new();
    for file in segment_files(log)? {
        let blocks = file_read::whole(&file)?;
        let (mut offset, mut next) = (0, None);
        while let Some(record) = blocks.get(offset..).and_then(|rest| Record::parse(rest, run))
            && next.is_none_or(|next| next == record.sequence)
        {
            let (bytes, is_full) = (record.bytes(), record.is_full);
            if record.sequence > applied {
                found.insert(record.sequence, RecordLocation { file: file.clone(), offset, bytes, is_full });
            }
            next = Some(record.sequence + 1);
            offset += bytes;
        }
    }
    Ok(found)
}

fn last_contiguous(applied: u64, found: &BTreeMap<u64, RecordLocation>) -> u64 {
    let mut last = applied;
    while found.contains_key(&(last + 1)) {
        last += 1;
    }
    last
}

fn replay(
    run: u64,
    last: u64,
    found: &BTreeMap<u64, RecordLocation>,
    environment: &Environment,
) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for (sequence, location) in found.range(..=last) {
        let unreadable =
            |error: io::Error| StoreError::Io(format!("record {sequence} of the commit log: {error}"));
        let mut blocks = vec![0; location.bytes];
        let file = File::open(&location.file).map_err(unreadable)?;
        file.read_exact_at(&mut blocks, location.offset as u64).map_err(unreadable)?;
        let record = Record::parse(&blocks, run)
            .ok_or_else(|| StoreError::damaged(format!("record {sequence} of its commit log has changed")))?;
        record::replay(*sequence, record.body, &mut batch)?;
        if batch.bytes() >= BATCH_BYTES || *sequence == last {
            let rows = Overlay::default().with(&batch);
            environment.apply_rows(&rows)?;
            batch = Batch::default();
        }
    }
    Ok(())
}

/// Some files were world-readable; they are reused.
fn make_private(folder: &Path) -> io::Result<()> {
    let log = folder.join(FOLDER_NAME);
    for entry in fs::read_dir(folder)?.chain(fs::read_dir(&log)?) {
        let path = entry?.path();
        if path.is_file() {
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
        }
    }
    fs::set_permissions(log, Permissions::from_mode(0o700))
}
