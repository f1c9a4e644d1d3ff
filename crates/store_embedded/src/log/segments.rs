//! The log's files: written full, kept until the tree has what they hold, then written anew.
//!
//! A file is filled with zeros when it is made. From then on writing to it changes no file's size and allocates
//! nothing, so one flush of the data makes a record durable. A segment that is taken for writing gets a new
//! [header](crate::log::segment_header) and is then listed in the [manifest](crate::log::manifest); once the tree has its
//! records it is listed no more, and only then taken again.

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
use crate::log::segment_header::{self, Description, Salt};

pub(crate) const FOLDER_NAME: &str = "log";
const SEGMENT_BYTES: u64 = 8 << 20;
/// More than this many are not kept for later.
const SPARE_SEGMENTS: usize = 4;
/// So many are kept even when the disk is full: with them the log gets on.
const LAST_SEGMENTS: usize = 2;
/// Where a segment's first record begins: behind the header.
pub(crate) const FIRST_RECORD_AT: u64 = BLOCK_BYTES as u64;

/// A segment that was taken for writing.
pub(crate) struct Segment {
    pub file: Arc<File>,
    pub bytes: u64,
    pub salt: Salt,
}

/// The log's files. The writer takes them and gives them back full; the applier frees them.
pub(crate) struct Segments {
    folder: PathBuf,
    shelves: Mutex<Shelves>,
    /// Whether the writer will soon take another.
    wanted: AtomicBool,
}

#[derive(Default)]
struct Shelves {
    free: Vec<Free>,
    /// Those whose records the tree may lack, oldest first.
    live: VecDeque<Live>,
    last_number: u64,
    /// How many times a segment was taken, over all starts.
    taken: u64,
    /// The tree has all records up to this one.
    applied: u64,
    /// Opened when it is first needed.
    manifest: Option<Manifest>,
}

/// A file that holds nothing of worth.
struct Free {
    file: Arc<File>,
    number: u64,
    bytes: u64,
}

/// A segment of the log as it is.
pub(crate) struct Live {
    pub file: Arc<File>,
    pub description: Description,
    /// Its last record, once it takes no more.
    pub last: Option<u64>,
}

impl Segments {
    /// Makes use of the files in `folder`. The tree may lack the records of the `live` ones; of the others it needs
    /// none. If the log is open, the next start will look for what the manifest lists.
    pub fn of(folder: &Path, live: Vec<Live>, is_open: bool) -> io::Result<Segments> {
        let mut shelves = Shelves { live: live.into(), ..Shelves::default() };
        if is_open && manifest::read(folder)?.as_deref() != Some(&shelves.descriptions()[..]) {
            // Before any of those that are no longer needed is written over or removed, even if that leaves none.
            shelves.list(folder)?;
        }
        let segments = Segments {
            folder: folder.to_path_buf(),
            shelves: Mutex::new(shelves),
            wanted: AtomicBool::new(false),
        };
        for path in segment_files(folder)? {
            segments.add(&path)?;
        }
        Ok(segments)
    }

    /// A segment with room for `bytes`, whose first record will be `first`.
    pub fn take(&self, bytes: u64, first: Stamp) -> io::Result<Segment> {
        let bytes = bytes + FIRST_RECORD_AT;
        let free = self.free_one(bytes)?;
        let salt: Salt = random::bytes()?;
        let description = Description {
            number: free.number,
            bytes: free.bytes,
            first: first.sequence,
            durable: first.durable,
            salt,
            taken: self.next_taken(),
        };
        segment_header::write(&free.file, &description)?;
        let mut shelves = self.lock();
        shelves.live.push_back(Live { file: Arc::clone(&free.file), description, last: None });
        let listed = shelves.list(&self.folder);
        if listed.is_err() {
            // Nobody can say whether it is listed, so until the next start it is left as it is.
            shelves.live.pop_back();
        }
        listed?;
        Ok(Segment { file: free.file, bytes: free.bytes, salt })
    }

    fn next_taken(&self) -> u64 {
        let mut shelves = self.lock();
        shelves.taken += 1;
        shelves.taken
    }

    fn free_one(&self, bytes: u64) -> io::Result<Free> {
        if bytes <= SEGMENT_BYTES {
            let mut shelves = self.lock();
            if shelves.free.is_empty() {
                self.free_applied(&mut shelves)?;
            }
            if let Some(free) = shelves.free.pop() {
                return Ok(free);
            }
        }
        self.make(bytes.max(SEGMENT_BYTES))
    }

    /// The segment that was taken last takes no more; its last record is `last`.
    pub fn put_back(&self, last: u64) {
        if let Some(segment) = self.lock().live.back_mut() {
            segment.last = Some(last);
        }
    }

    /// Frees the segments whose records the tree has, up to `applied`.
    pub fn free(&self, applied: u64) -> io::Result<()> {
        let mut shelves = self.lock();
        shelves.applied = applied;
        self.free_applied(&mut shelves)
    }

    fn free_applied(&self, shelves: &mut Shelves) -> io::Result<()> {
        let mut freed = Vec::new();
        let applied = shelves.applied;
        let is_over = |segment: &mut Live| segment.last.is_some_and(|last| last <= applied);
        while let Some(segment) = shelves.live.pop_front_if(is_over) {
            freed.push(segment);
        }
        if freed.is_empty() {
            return Ok(());
        }
        shelves.list(&self.folder)?;
        for Live { file, description, .. } in freed {
            let bytes = file.metadata()?.len();
            self.keep_or_remove(shelves, Free { file, number: description.number, bytes })?;
        }
        Ok(())
    }

    /// The writer will soon take another.
    pub fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Makes a segment if one is wanted, so that the writer need not wait for it.
    pub fn prepare(&self) -> io::Result<()> {
        if self.wanted.swap(false, Ordering::Relaxed) && self.lock().free.is_empty() {
            let segment = self.make(SEGMENT_BYTES)?;
            self.lock().free.push(segment);
        }
        Ok(())
    }

    /// Removes segments that are kept for later, but for those that the log needs to get on.
    pub fn give_room(&self) {
        let mut shelves = self.lock();
        while shelves.free.len() > LAST_SEGMENTS
            && let Some(segment) = shelves.free.pop()
        {
            if let Err(error) = fs::remove_file(self.path(segment.number)) {
                tracing::warn!(%error, "a segment of the commit log could not be removed");
            }
        }
    }

    /// Puts a file that is not live where it belongs.
    fn add(&self, path: &Path) -> io::Result<()> {
        let mut shelves = self.lock();
        let number = path.extension().and_then(|number| number.to_str()?.parse::<u64>().ok());
        let Some(number) = number.filter(|number| self.path(*number) == path) else { return Ok(()) };
        shelves.last_number = shelves.last_number.max(number);
        let file = Arc::new(File::options().read(true).write(true).open(path)?);
        // Where the header is not readable, nobody will ask when it was written.
        let taken =
            segment_header::read(&file, path).ok().flatten().map_or(0, |description| description.taken);
        shelves.taken = shelves.taken.max(taken);
        if shelves.live.iter().any(|live| live.description.number == number) {
            return Ok(());
        }
        let bytes = file.metadata()?.len();
        self.keep_or_remove(&mut shelves, Free { file, number, bytes })
    }

    fn keep_or_remove(&self, shelves: &mut Shelves, segment: Free) -> io::Result<()> {
        if segment.bytes == SEGMENT_BYTES && shelves.free.len() < SPARE_SEGMENTS {
            shelves.free.push(segment);
            return Ok(());
        }
        fs::remove_file(self.path(segment.number))
    }

    fn make(&self, bytes: u64) -> io::Result<Free> {
        let number = {
            let mut shelves = self.lock();
            shelves.last_number += 1;
            shelves.last_number
        };
        let file = Arc::new(private_files::fill(&self.path(number), bytes)?);
        Ok(Free { file, number, bytes })
    }

    #[cfg(test)]
    pub fn live_segments(&self) -> usize {
        self.lock().live.len()
    }

    fn path(&self, number: u64) -> PathBuf {
        segment_path(&self.folder, number)
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelves {
    fn descriptions(&self) -> Vec<Description> {
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

/// The files of a log, in no order.
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

/// How many bytes the log's files take.
pub(crate) fn bytes_of(folder: &Path) -> io::Result<u64> {
    // A file may go while they are counted.
    Ok(segment_files(folder)?.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum())
}
