//! The log's files: written full, kept until the tree has what they hold, then written anew.
//!
//! A file is filled with zeros when it is made. From then on writing to it changes no file's size and allocates
//! nothing, so one flush of the data makes a record durable. What a file is for is told by the records in it and
//! not by its name, so to use it again takes no renaming.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::format::sync_folder;

pub(crate) const FOLDER_NAME: &str = "log";
const SEGMENT_BYTES: u64 = 8 << 20;
/// More than this many are not kept for later.
const SPARE_SEGMENTS: usize = 4;

pub(crate) struct Segment {
    pub file: Arc<File>,
    pub bytes: u64,
    path: PathBuf,
}

/// All segments but the one being written. The writer takes them and puts them back full; the applier frees them.
pub(crate) struct Segments {
    folder: PathBuf,
    shelves: Mutex<Shelves>,
    /// Whether the writer will soon take another.
    wanted: AtomicBool,
}

#[derive(Default)]
struct Shelves {
    free: Vec<Segment>,
    /// Full, each with the sequence of its last record; oldest first.
    full: VecDeque<(Segment, u64)>,
    next_name: u64,
}

impl Segments {
    /// Makes use of the files in `folder`, whose records the tree has.
    pub fn of(folder: &Path) -> io::Result<Segments> {
        let mut shelves = Shelves::default();
        for path in segment_files(folder)? {
            let number = path.extension().and_then(|number| number.to_str()?.parse::<u64>().ok());
            shelves.next_name = shelves.next_name.max(number.map_or(0, |number| number + 1));
            let file = File::options().read(true).write(true).open(&path)?;
            let bytes = file.metadata()?.len();
            let segment = Segment { file: Arc::new(file), bytes, path };
            shelves.keep_or_remove(segment)?;
        }
        Ok(Segments {
            folder: folder.to_path_buf(),
            shelves: Mutex::new(shelves),
            wanted: AtomicBool::new(false),
        })
    }

    /// A segment with room for `bytes`.
    pub fn take(&self, bytes: u64) -> io::Result<Segment> {
        if bytes <= SEGMENT_BYTES
            && let Some(segment) = self.lock().free.pop()
        {
            return Ok(segment);
        }
        self.make(bytes.max(SEGMENT_BYTES))
    }

    /// Puts a full segment back, whose last record is `last`.
    pub fn put_back(&self, segment: Segment, last: u64) {
        self.lock().full.push_back((segment, last));
    }

    /// Frees the segments whose records the tree has, up to `applied`.
    pub fn free(&self, applied: u64) -> io::Result<()> {
        let mut shelves = self.lock();
        while let Some((segment, _)) = shelves.full.pop_front_if(|(_, last)| *last <= applied) {
            shelves.keep_or_remove(segment)?;
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

    /// Removes the segments that are kept for later.
    pub fn give_room(&self) {
        for segment in std::mem::take(&mut self.lock().free) {
            if let Err(error) = fs::remove_file(&segment.path) {
                tracing::warn!(%error, "a segment of the commit log could not be removed");
            }
        }
    }

    fn make(&self, bytes: u64) -> io::Result<Segment> {
        let number = {
            let mut shelves = self.lock();
            shelves.next_name += 1;
            shelves.next_name
        };
        let path = self.folder.join(format!("segment.{number}"));
        let filled = fill(&path, bytes);
        if filled.is_err() {
            // Half a segment is of no use, and the room may be needed.
            let _ = fs::remove_file(&path);
        }
        let file = Arc::new(filled?);
        sync_folder(&self.folder)?;
        Ok(Segment { file, bytes, path })
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelves {
    fn keep_or_remove(&mut self, segment: Segment) -> io::Result<()> {
        if segment.bytes == SEGMENT_BYTES && self.free.len() < SPARE_SEGMENTS {
            self.free.push(segment);
            return Ok(());
        }
        fs::remove_file(&segment.path)
    }
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

fn fill(path: &Path, bytes: u64) -> io::Result<File> {
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    let zeros = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()?;
    Ok(file)
}
