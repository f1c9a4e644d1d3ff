//! What is found in a folder after a power loss.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Relative paths, parents first; folders have no bytes.
#[derive(Default, Clone)]
pub struct Image(pub BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Image {
    /// Makes a folder of it.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir(folder)?;
        for (path, bytes) in &self.0 {
            match bytes {
                None => std::fs::create_dir(folder.join(path))?,
                Some(bytes) => std::fs::write(folder.join(path), bytes)?,
            }
        }
        Ok(())
    }
}
