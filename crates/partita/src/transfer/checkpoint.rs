//! A checkpoint file with the progress of a transfer. It is replaced atomically, so that it is never half written.

use super::private_file;
use crate::clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often it is written.
const INTERVAL: Duration = Duration::from_millis(500);

pub struct Checkpoint {
    path: PathBuf,
    /// The command-line option that chooses another file.
    option: &'static str,
    saved: Instant,
}

impl Checkpoint {
    pub fn new(path: PathBuf) -> Checkpoint {
        Checkpoint::with_option(path, "--progress")
    }

    pub fn with_option(path: PathBuf, option: &'static str) -> Checkpoint {
        Checkpoint { path, option, saved: clock::monotonic_now() }
    }

    /// Reads the state that an interrupted transfer has left.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, String> {
        match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                format!("{} is not a checkpoint of this program: {error}", self.path.display())
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read {}: {error}", self.path.display())),
        }
    }

    pub fn is_due(&self) -> bool {
        self.saved.elapsed() >= INTERVAL
    }

    pub fn save(&mut self, state: &impl Serialize) -> Result<(), String> {
        let next = with_suffix(&self.path, "new");
        let write = || {
            let mut file = private_file::open(&next)?;
            file.set_len(0)?;
            file.write_all(&serde_json::to_vec(state)?)?;
            file.sync_all()?;
            std::fs::rename(&next, &self.path)
        };
        write().map_err(|error| {
            format!(
                "cannot write the checkpoint {}: {error}; {} chooses another file",
                self.path.display(),
                self.option
            )
        })?;
        self.saved = clock::monotonic_now();
        Ok(())
    }

    pub fn remove(&self) -> Result<(), String> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("cannot remove {}: {error}", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The path with a suffix after its own extension.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}
