//! Buckets as folders: `S3_ROOT/BUCKET/KEY`. Every object is written whole or not at all.

use partita_api::exchange::ExchangeFailure;
use std::fs::File;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

/// Files that begin so are not objects (yet).
const HIDDEN: char = '.';

pub struct Bucket {
    folder: PathBuf,
}

impl Bucket {
    /// A bucket that exists. Names are checked when a request is decoded: they have no slashes and do not begin with a dot.
    pub fn open(root: Option<&PathBuf>, name: &str) -> Result<Bucket, ExchangeFailure> {
        match root.map(|root| root.join(name)) {
            Some(folder) if folder.is_dir() => Ok(Bucket { folder }),
            _ => Err(failure("S3NoSuchBucket", "The specified bucket does not exist")),
        }
    }

    pub fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        let path = self.path(key)?;
        let write = || {
            let folder = path.parent().ok_or_else(|| Error::other("a key names no file"))?;
            let name = path.file_name().ok_or_else(|| Error::other("a key names no file"))?;
            std::fs::create_dir_all(folder)?;
            let unfinished = folder.join(format!("{HIDDEN}{}.unfinished", name.to_string_lossy()));
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&unfinished, &path)
        };
        write().map_err(|error| broken(key, &error))
    }

    pub fn read(&self, key: &str) -> Result<File, ExchangeFailure> {
        File::open(self.path(key)?).map_err(|error| broken(key, &error))
    }

    /// How many bytes an object has.
    pub fn size(&self, key: &str) -> Result<u64, ExchangeFailure> {
        let metadata = std::fs::metadata(self.path(key)?).map_err(|error| broken(key, &error))?;
        Ok(metadata.len())
    }

    /// The keys that begin with a prefix, in order.
    pub fn keys(&self, prefix: &str) -> Result<Vec<String>, ExchangeFailure> {
        let mut keys = Vec::new();
        collect(&self.folder, "", prefix, &mut keys).map_err(|error| broken(prefix, &error))?;
        keys.sort();
        Ok(keys)
    }

    /// Never outside the bucket.
    fn path(&self, key: &str) -> Result<PathBuf, ExchangeFailure> {
        let mut path = self.folder.clone();
        for part in key.split('/').filter(|part| !part.is_empty()) {
            if part.starts_with(HIDDEN) || part.contains('\0') {
                return Err(failure("S3InvalidKey", &format!("{key} cannot be a key of this bucket")));
            }
            path.push(part);
        }
        Ok(path)
    }
}

fn collect(folder: &Path, parent: &str, prefix: &str, keys: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(HIDDEN) {
            continue;
        }
        let key = if parent.is_empty() { name } else { format!("{parent}/{name}") };
        let is_on_the_way = key.starts_with(prefix) || prefix.starts_with(&format!("{key}/"));
        if entry.path().is_dir() && is_on_the_way {
            collect(&entry.path(), &key, prefix, keys)?;
        } else if key.starts_with(prefix) {
            keys.push(key);
        }
    }
    Ok(())
}

pub fn failure(code: &str, message: &str) -> ExchangeFailure {
    ExchangeFailure { code: code.to_owned(), message: message.to_owned() }
}

/// The client learns the key and the kind of error, not where the folder is.
fn broken(key: &str, error: &Error) -> ExchangeFailure {
    tracing::warn!(key, %error, "an object cannot be read or written");
    failure("S3AccessFailed", &format!("{key}: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_their_bucket() {
        let root = tempfile::tempdir().unwrap().keep();
        std::fs::create_dir_all(root.join("b")).unwrap();
        let bucket = Bucket::open(Some(&root), "b").unwrap();
        for key in ["../x", "a/../../x", "a/./b", ".hidden", "a\0b"] {
            assert!(bucket.write(key, b"").is_err() && bucket.read(key).is_err(), "{key}");
        }
        bucket.write("/etc/x", b"1").unwrap();
        bucket.write("pre/one", b"1").unwrap();
        bucket.write("prefix", b"1").unwrap();
        assert!(bucket.size("prefix").is_ok_and(|bytes| bytes == 1) && bucket.size("none").is_err());
        assert_eq!(bucket.keys("").unwrap(), ["etc/x", "pre/one", "prefix"]);
        assert_eq!(bucket.keys("pre").unwrap(), ["pre/one", "prefix"]);
        assert_eq!(bucket.keys("pre/").unwrap(), ["pre/one"]);
        assert_eq!(bucket.keys("none").unwrap(), Vec::<String>::new());
        assert!(Bucket::open(Some(&root), "c").is_err() && Bucket::open(None, "b").is_err());
        std::fs::remove_dir_all(root).unwrap();
    }
}
