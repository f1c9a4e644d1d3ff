//! The segment files of the log: filled, kept until the tree has their records, then reused.
//!
//! A file is filled with zeros when it is created. From then on writing to it changes no file size and allocates nothing,
//! so one data sync makes a record durable. A segment that is taken into use gets a new
//! [header](crate::log::segment_header) and is then listed in the [manifest]; once the tree has
//! its records it is no longer listed, and only then reused.

use crate::random;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::folder::private_files;
use crate::log::manifest::{self, Manifest};
use crate::log::record::{BLOCK_BYTES, Stamp};
use crate::log::segment_header::{self, Salt, SegmentDescription};

pub(crate) const FOLDER_NAME: &str = "log";
const SEGMENT_BYTES: u64 = 8 << 20;
/// The number of free segments to keep.
const SPARE_SEGMENTS: usize = 4;
/// The number of free segments to keep even when the disk is full: with them the log can continue.
const MIN_SPARE_SEGMENTS: usize = 2;
/// The offset of a segment's first record, after the header.
pub(crate) const FIRST_RECORD_AT: u64 = BLOCK_BYTES as u64;

/// A segment that is in use for writing.
pub(crate) struct Segment {
    pub file: Arc<File>,
    pub bytes: u64,
    pub salt: Salt,
}

/// The segment files. The writer takes them and returns them full; the applier frees them.
pub(crate) struct Segments {
    folder: PathBuf,
    pool: Mutex<SegmentPool>,
    /// Whether the writer will soon need another one.
    spare_requested: AtomicBool,
}

#[derive(Default)]
struct SegmentPool {
    free: Vec<FreeSegment>,
    /// The segments whose records the tree may lack, oldest first.
    live: VecDeque<LiveSegment>,
    last_number: u64,
    /// How many times a segment was taken into use, across restarts.
    use_number: u64,
    /// The tree has all records up to this one.
    applied: u64,
    /// Opened on first use.
    manifest: Option<Manifest>,
}

/// A file whose contents are no longer needed.
struct FreeSegment {
    file: Arc<File>,
    number: u64,
    bytes: u64,
}

/// A segment that is part of the log.
pub(crate) struct LiveSegment {
    pub file: Arc<File>,
    pub description: SegmentDescription,
    /// Its last record, once it is full.
    pub last: Option<u64>,
}

impl Segments {
    /// Takes over the files in `folder`. The tree may lack the records of the `live` segments, and needs none of the others.
    /// If the log is open, the next start will look for the segments listed in the manifest.
    pub fn of(folder: &Path, live: Vec<LiveSegment>, is_open: bool) -> io::Result<Segments> {
        let mut pool = SegmentPool { live: live.into(), ..SegmentPool::default() };
        if is_open && manifest::read(folder)?.as_deref() != Some(&pool.descriptions()[..]) {
            // Before any unneeded segment is overwritten or removed, even if that leaves none.
            pool.list(folder)?;
        }
        let segments = Segments {
            folder: folder.to_path_buf(),
            pool: Mutex::new(pool),
            spare_requested: AtomicBool::new(false),
        };
        for path in segment_files(folder)? {
            segments.add(&path)?;
        }
        Ok(segments)
    }

    /// Takes a segment with space for `bytes`, whose first record will be `first`.
    pub fn take(&self, bytes: u64, first: Stamp) -> io::Result<Segment> {
        let bytes = bytes + FIRST_RECORD_AT;
        let free = self.free_one(bytes)?;
        let salt: Salt = random::bytes()?;
        let description = SegmentDescription {
            number: free.number,
            bytes: free.bytes,
            first: first.sequence,
            durable: first.durable,
            salt,
            use_number: self.next_use_number(),
        };
        segment_header::write(&free.file, &description)?;
        let mut pool = self.lock();
        pool.live.push_back(LiveSegment { file: Arc::clone(&free.file), description, last: None });
        let listed = pool.list(&self.folder);
        if listed.is_err() {
            // It is unknown whether it is listed, so it is left alone until the next start.
            pool.live.pop_back();
        }
        listed?;
        Ok(Segment { file: free.file, bytes: free.bytes, salt })
    }

    fn next_use_number(&self) -> u64 {
        let mut pool = self.lock();
        pool.use_number += 1;
        pool.use_number
    }

    fn free_one(&self, bytes: u64) -> io::Result<FreeSegment> {
        if bytes <= SEGMENT_BYTES {
            let mut pool = self.lock();
            if pool.free.is_empty() {
                self.free_applied(&mut pool)?;
            }
            if let Some(free) = pool.free.pop() {
                return Ok(free);
            }
        }
        self.create(bytes.max(SEGMENT_BYTES))
    }

    /// The segment in use is full; its last record is `last`.
    pub fn retire_current(&self, last: u64) {
        if let Some(segment) = self.lock().live.back_mut() {
            segment.last = Some(last);
        }
    }

    /// Frees the segments whose records the tree has, up to `applied`.
    pub fn free(&self, applied: u64) -> io::Result<()> {
        let mut pool = self.lock();
        pool.applied = applied;
        self.free_applied(&mut pool)
    }

    fn free_applied(&self, pool: &mut SegmentPool) -> io::Result<()> {
        let mut freed = Vec::new();
        let applied = pool.applied;
        let is_applied = |segment: &mut LiveSegment| segment.last.is_some_and(|last| last <= applied);
        while let Some(segment) = pool.live.pop_front_if(is_applied) {
            freed.push(segment);
        }
        if freed.is_empty() {
            return Ok(());
        }
        pool.list(&self.folder)?;
        for LiveSegment { file, description, .. } in freed {
            let bytes = file.metadata()?.len();
            self.keep_or_remove(pool, FreeSegment { file, number: description.number, bytes })?;
        }
        Ok(())
    }

    /// Records that the writer will soon need another segment.
    pub fn request_spare(&self) {
        self.spare_requested.store(true, Ordering::Relaxed);
    }

    /// Creates a segment if one is needed, so that the writer does not have to wait for it.
    pub fn prepare_spare(&self) -> io::Result<()> {
        if self.spare_requested.swap(false, Ordering::Relaxed) && self.lock().free.is_empty() {
            let segment = self.create(SEGMENT_BYTES)?;
            self.lock().free.push(segment);
        }
        Ok(())
    }

    /// Removes free segments, except for those that the log needs to continue.
    pub fn release_spares(&self) {
        let mut pool = self.lock();
        while pool.free.len() > MIN_SPARE_SEGMENTS
            && let Some(segment) = pool.free.pop()
        {
            if let Err(error) = fs::remove_file(self.path(segment.number)) {
                tracing::warn!(%error, "a segment of the commit log could not be removed");
            }
        }
    }

    /// Registers an existing file.
    fn add(&self, path: &Path) -> io::Result<()> {
        let mut pool = self.lock();
        let number = path.extension().and_then(|number| number.to_str()?.parse::<u64>().ok());
        let Some(number) = number.filter(|number| self.path(*number) == path) else { return Ok(()) };
        pool.last_number = pool.last_number.max(number);
        let file = Arc::new(File::options().read(true).write(true).open(path)?);
        // If the header is not readable, its use number does not matter.
        let use_number =
            segment_header::read(&file, path).ok().flatten().map_or(0, |description| description.use_number);
        pool.use_number = pool.use_number.max(use_number);
        if pool.live.iter().any(|live| live.description.number == number) {
            return Ok(());
        }
        let bytes = file.metadata()?.len();
        self.keep_or_remove(&mut pool, FreeSegment { file, number, bytes })
    }

    fn keep_or_remove(&self, pool: &mut SegmentPool, segment: FreeSegment) -> io::Result<()> {
        if segment.bytes == SEGMENT_BYTES && pool.free.len() < SPARE_SEGMENTS {
            pool.free.push(segment);
            return Ok(());
        }
        fs::remove_file(self.path(segment.number))
    }

    fn create(&self, bytes: u64) -> io::Result<FreeSegment> {
        let number = {
            let mut pool = self.lock();
            pool.last_number += 1;
            pool.last_number
        };
        let file = Arc::new(private_files::create_zeroed(&self.path(number), bytes)?);
        Ok(FreeSegment { file, number, bytes })
    }

    #[cfg(test)]
    pub fn live_segments(&self) -> usize {
        self.lock().live.len()
    }

    fn path(&self, number: u64) -> PathBuf {
        segment_path(&self.folder, number)
    }

    fn lock(&self) -> MutexGuard<'_, SegmentPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SegmentPool {
    fn descriptions(&self) -> Vec<SegmentDescription> {
        self.live.iter().map(|segment| segment.description).collect()
    }

    /// Lists the live segments in the manifest.
    fn list(&mut self, folder: &Path) -> io::Result<()> {
        let live = self.descriptions();
        let manifest = match self.manifest.take() {
            Some(manifest) => manifest,
            None => Manifest::open(folder)?,
        };
        self.manifest.insert(manifest).write(&live)
    }
}

pub(crate) fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("segment.{number}"))
}

/// The segment files of a log, in no particular order.
pub(crate) fn segment_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_stem().is_some_and(|stem| stem == "segment") {
            files.push(path);
        }
    }
    Ok(files)
}

/// The total length of the segment files.
pub(crate) fn bytes_of(folder: &Path) -> io::Result<u64> {
    // A file may be removed while they are counted.
    Ok(segment_files(folder)?.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum())
}
