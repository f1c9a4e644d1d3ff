//! After a crash: gives the tree what the log has and the tree has not.
//!
//! All records of the last run are looked up, wherever they stand, and written to the tree in the order of their
//! numbers until one is missing: that is the end of what was acknowledged. A record that was being written when
//! the power went is not whole and so counts as missing. When a later one is there all the same, an acknowledged
//! record is damaged: the store says so and does not open, unless it was relaxed, where a power loss may well
//! leave later records and take earlier ones.
//!
//! Then the next run begins, which makes all records in the files old.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use partita_store::StoreError;

use crate::Durability;
use crate::batch::Batch;
use crate::environment::Environment;
use crate::open_error::OpenError;
use crate::overlay::Overlay;
use crate::position::Position;
use crate::record::{BLOCK_BYTES, Record};
use crate::segments::segment_files;

/// How much is written to the tree at once.
const BATCH_BYTES: usize = 8 << 20;

/// What to do when an acknowledged record is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    Refuse,
    /// Do without it and without all later ones.
    GiveUp,
}

/// Where a record stands.
struct Place {
    file: PathBuf,
    offset: u64,
    bytes: usize,
    durability: Durability,
}

/// Brings the tree up to date and begins a new run. Says where that starts.
pub(crate) fn recover(
    folder: &Path,
    log: &Path,
    environment: &Environment,
    on_damage: OnDamage,
) -> Result<Position, OpenError> {
    let damaged = |error: StoreError| OpenError::store(folder, error);
    let applied = environment.position().map_err(damaged)?;
    let found = records_after(applied, log).map_err(|error| OpenError::io(folder, error))?;
    let last = last_in_a_row(applied.sequence, &found);
    if let Some((later, place)) = found.range(last + 1..).next()
        && on_damage == OnDamage::Refuse
        && place.durability == Durability::Full
    {
        let what = format!("record {} of its commit log is not readable, though {later} is", last + 1);
        return Err(OpenError::damaged(folder, what));
    }
    let lost = found.range(last + 1..).count();
    if lost > 0 {
        tracing::warn!(lost, "records of the commit log stand behind a lost one and are given up");
    }
    let mut replayed = replay(applied, last, &found, environment);
    if matches!(replayed, Err(StoreError::Full(_))) {
        remove_all_but(&found, log).map_err(|error| OpenError::io(folder, error))?;
        replayed = replay(applied, last, &found, environment);
    }
    replayed.map_err(damaged)?;
    let next = Position { run: applied.run + 1, sequence: last };
    environment.write(|tree, txn| tree.position.set(txn, next)).map_err(damaged)?;
    if last > applied.sequence {
        tracing::info!(records = last - applied.sequence, "the commit log was written to the data file");
    }
    Ok(next)
}

/// All whole records of the position's run that come after it.
fn records_after(applied: Position, log: &Path) -> io::Result<BTreeMap<u64, Place>> {
    let mut found = BTreeMap::new();
    for file in segment_files(log)? {
        let blocks = fs::read(&file)?;
        let mut offset = 0;
        while offset < blocks.len() {
            let Some(record) = Record::find(&blocks[offset..], applied.run) else {
                offset += BLOCK_BYTES;
                continue;
            };
            let (bytes, durability) = (record.bytes(), record.stamp.durability);
            if record.stamp.sequence > applied.sequence {
                let place = Place { file: file.clone(), offset: offset as u64, bytes, durability };
                found.insert(record.stamp.sequence, place);
            }
            offset += bytes;
        }
    }
    Ok(found)
}

fn last_in_a_row(applied: u64, found: &BTreeMap<u64, Place>) -> u64 {
    let mut last = applied;
    while found.contains_key(&(last + 1)) {
        last += 1;
    }
    last
}

fn replay(
    applied: Position,
    last: u64,
    found: &BTreeMap<u64, Place>,
    environment: &Environment,
) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for (sequence, place) in found.range(..=last) {
        let lost = |error: io::Error| StoreError::Io(format!("record {sequence} of the commit log: {error}"));
        let blocks = read(place).map_err(lost)?;
        let record = Record::find(&blocks, applied.run)
            .ok_or_else(|| StoreError::damaged(format!("record {sequence} of its commit log has changed")))?;
        record.replay(&mut batch)?;
        if batch.bytes() >= BATCH_BYTES || *sequence == last {
            let position = Position { run: applied.run, sequence: *sequence };
            environment.apply(&Overlay::default().with(&batch), position)?;
            batch = Batch::default();
        }
    }
    Ok(())
}

/// Removes the segments without records to replay: the disk is full, and they may be the room that is missing.
fn remove_all_but(found: &BTreeMap<u64, Place>, log: &Path) -> io::Result<()> {
    let needed: BTreeSet<_> = found.values().map(|place| &place.file).collect();
    for file in segment_files(log)?.iter().filter(|file| !needed.contains(file)) {
        fs::remove_file(file)?;
    }
    Ok(())
}

fn read(place: &Place) -> io::Result<Vec<u8>> {
    let mut file = File::open(&place.file)?;
    file.seek(SeekFrom::Start(place.offset))?;
    let mut blocks = Vec::with_capacity(place.bytes);
    // A file that was cut may end within the zeros behind its last record.
    file.take(place.bytes as u64).read_to_end(&mut blocks)?;
    Ok(blocks)
}
