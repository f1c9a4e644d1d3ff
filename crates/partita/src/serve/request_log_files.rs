//! The files of the request log: the newest has the name that was given, the ones before it `.1`, `.2` and so on. The oldest is removed, so
//! that the log never takes more than its share of the disk.

use crate::transfer::private_file;
use std::ffi::OsString;
use std::fs::{File, remove_file, rename};
use std::io::{BufWriter, ErrorKind, Result, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Files to write whole lines to: each write is a line, and no line is divided between two files.
pub struct RequestLogFiles {
    path: PathBuf,
    file: BufWriter<File>,
    /// The bytes in the newest file.
    size: u64,
    /// The most that a file has.
    max_size: u64,
    max_files: NonZeroUsize,
}

impl RequestLogFiles {
    /// Goes on after what the newest file has.
    pub fn open(path: &Path, max_size: u64, max_files: NonZeroUsize) -> Result<RequestLogFiles> {
        let mut file = private_file::open(path)?;
        let size = file.seek(SeekFrom::End(0))?;
        Ok(RequestLogFiles { path: path.to_owned(), file: BufWriter::new(file), size, max_size, max_files })
    }

    /// The name of a file by its age: the newest is 0.
    fn name(&self, age: usize) -> PathBuf {
        if age == 0 {
            return self.path.clone();
        }
        let mut name: OsString = self.path.clone().into_os_string();
        name.push(format!(".{age}"));
        PathBuf::from(name)
    }

    /// Makes every file one older, removes the oldest, and starts a new one.
    fn rotate(&mut self) -> Result<()> {
        self.file.flush()?;
        let oldest = self.max_files.get() - 1;
        unless_absent(remove_file(self.name(oldest)))?;
        for age in (0..oldest).rev() {
            unless_absent(rename(self.name(age), self.name(age + 1)))?;
        }
        self.file = BufWriter::new(private_file::open(&self.path)?);
        self.size = 0;
        Ok(())
    }
}

fn unless_absent(result: Result<()>) -> Result<()> {
    result.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

impl Write for RequestLogFiles {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        let length = line.len() as u64;
        if self.size > 0 && self.size.saturating_add(length) > self.max_size {
            self.rotate()?;
        }
        self.file.write_all(line)?;
        self.size += length;
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_kept_and_none_is_divided() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.jsonl");
        std::fs::write(&path, "before\n").unwrap();
        let write = |files: usize, lines: std::ops::Range<u32>| {
            let mut log = RequestLogFiles::open(&path, 20, NonZeroUsize::new(files).unwrap()).unwrap();
            lines.for_each(|number| log.write_all(format!("line {number}\n").as_bytes()).unwrap());
            log.flush().unwrap();
        };
        let read = |end: &str| std::fs::read_to_string(format!("{}{end}", path.display()));
        write(3, 0..5);
        assert_eq!(read("").unwrap(), "line 3\nline 4\n");
        assert_eq!(read(".1").unwrap(), "line 1\nline 2\n");
        assert_eq!(read(".2").unwrap(), "before\nline 0\n");
        write(3, 5..7);
        assert_eq!(read("").unwrap(), "line 5\nline 6\n");
        assert_eq!(read(".2").unwrap(), "line 1\nline 2\n");
        assert!(read(".3").is_err());
        write(1, 7..8);
        assert_eq!(read("").unwrap(), "line 7\n");
    }

    #[test]
    fn a_line_that_is_longer_than_a_file_has_one_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = RequestLogFiles::open(&path, 4, NonZeroUsize::new(2).unwrap()).unwrap();
        ["a\n", "longer than it\n", "b\n"].iter().for_each(|line| log.write_all(line.as_bytes()).unwrap());
        log.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "b\n");
        assert_eq!(std::fs::read_to_string(folder.path().join("log.1")).unwrap(), "longer than it\n");
    }
}
