//! Reads whose errors name the file and the byte at which they failed. A disk that has lost a sector only reports
//! "input/output error".

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How much of a file is read at once.
const PART_BYTES: usize = 1 << 20;

/// Reads a whole file.
pub(crate) fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| with_location(&path.display(), None, &error))?;
    let mut bytes = Vec::new();
    loop {
        let at = bytes.len();
        bytes.resize(at + PART_BYTES, 0);
        let read = up_to(&file, &path.display(), &mut bytes[at..], at as u64)?;
        bytes.truncate(at + read);
        if read < PART_BYTES {
            return Ok(bytes);
        }
    }
}

/// Fills `bytes` from an offset in a file, as far as the file goes. Returns how many bytes that is.
pub(crate) fn up_to(
    file: &File,
    name: &dyn std::fmt::Display,
    bytes: &mut [u8],
    at: u64,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        let here = at + filled as u64;
        match file.read_at(&mut bytes[filled..], here) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(with_location(name, Some(here), &error)),
        }
    }
    Ok(filled)
}

/// An error of the same kind that names the file and offset.
fn with_location(name: &dyn std::fmt::Display, at: Option<u64>, error: &io::Error) -> io::Error {
    let text = match at {
        Some(at) => format!("{name} cannot be read at byte {at}: {error}"),
        None => format!("{name} cannot be opened: {error}"),
    };
    io::Error::new(error.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_the_offset() {
        // A file that fails with an I/O error wherever it is read here.
        let file = Path::new("/proc/self/mem");
        let error = whole(file).unwrap_err().to_string();
        assert!(error.starts_with("/proc/self/mem cannot be read at byte 0: "), "{error}");
        let at = |at| up_to(&File::open(file).unwrap(), &"sums", &mut [0; 8], at).unwrap_err().to_string();
        assert!(at(4_096).starts_with("sums cannot be read at byte 4096: "));
        let missing = whole(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_whole_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for length in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1] {
            let bytes: Vec<_> = (0..length).map(|index| index as u8).collect();
            std::fs::write(folder.path().join("file"), &bytes).unwrap();
            assert!(whole(&folder.path().join("file")).unwrap() == bytes);
        }
    }
}
