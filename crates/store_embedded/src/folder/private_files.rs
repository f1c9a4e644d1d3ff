//! Files and folders that only their owner may read: they hold the clients' data.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading and writing, and creates it for the owner alone if there is none.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options
}

/// Creates a file of zeros with its space allocated: overwriting it later needs no more.
pub(crate) fn create_zeroed(path: &Path, bytes: u64) -> io::Result<File> {
    let created = try_to_create_zeroed(path, bytes);
    if created.is_err() {
        // Half a file is useless, and its space may be needed.
        let _ = fs::remove_file(path);
    }
    created
}

fn try_to_create_zeroed(path: &Path, bytes: u64) -> io::Result<File> {
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

/// Creates a folder and its parents, durably, unless it exists.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let make = || DirBuilder::new().mode(0o700).create(folder);
    match folder.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => {
            create_folder(above)?;
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
