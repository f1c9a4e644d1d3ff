//! Files that contain items or addresses of a database: only their owner may read them.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// Opens a file for writing, and creates it if it does not exist. It is not truncated.
pub fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    // It may have been created by an earlier version.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
