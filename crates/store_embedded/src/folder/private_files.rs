//! Files and folders that only their owner may read: they hold the clients' data.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// To read and write a file, which is made for the owner alone if there is none.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options
}

/// A file of zeros, whose room is its own: to write over it later takes no more.
pub(crate) fn fill(path: &Path, bytes: u64) -> io::Result<File> {
    let filled = try_to_fill(path, bytes);
    if filled.is_err() {
        // Half a file is of no use, and the room may be needed.
        let _ = fs::remove_file(path);
    }
    filled
}

fn try_to_fill(path: &Path, bytes: u64) -> io::Result<File> {
    let mut file = options().truncate(true).open(path)?;
    let zeros = vec![0; bytes.min(1 << 20) as usize];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()?;
    if let Some(folder) = path.parent() {
        sync_folder(folder)?;
    }
    Ok(file)
}

/// Makes a folder and those above it, durably, unless it is there.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let make = || DirBuilder::new().mode(0o700).create(folder);
    match folder.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => {
            make_folder(above)?;
            make()?;
            sync_folder(above)
        }
        None => make(),
    }
}

/// Makes the creation, renaming and removal of files in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
