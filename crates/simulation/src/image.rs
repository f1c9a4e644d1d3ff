//! The contents of a folder after a power loss.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Relative paths, parents first; folders have no bytes.
#[derive(Default, Clone)]
pub struct Image(pub BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Image {
    /// Reads the contents of a folder.
    pub fn read(folder: &Path) -> io::Result<Image> {
        let mut image = Image::default();
        image.take(folder, Path::new(""))?;
        Ok(image)
    }

    fn take(&mut self, folder: &Path, below: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder.join(below))? {
            let path = below.join(entry?.file_name());
            if folder.join(&path).is_dir() {
                self.0.insert(path.clone(), None);
                self.take(folder, &path)?;
            } else {
                self.0.insert(path.clone(), Some(std::fs::read(folder.join(&path))?));
            }
        }
        Ok(())
    }

    /// Writes the contents to a new folder.
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
