//! Buckets as folders: `S3_ROOT/BUCKET/KEY`.

use crate::bucket::{Buckets, Listed, ObjectParts, Objects, failure, no_such_bucket};
use partita_api::exchange::ExchangeFailure;
use std::fs::File;
use std::io::{Error, Read, Write};
use std::path::{Path, PathBuf};

/// Files that begin so are not objects (yet).
const HIDDEN: char = '.';
const PART_BYTES: usize = 64 << 10;

/// The folder whose folders are buckets.
pub struct BucketFolders(pub PathBuf);

impl Buckets for BucketFolders {
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure> {
        let folder = self.0.join(name);
        if folder.is_dir() { Ok(Box::new(BucketFolder { folder })) } else { Err(no_such_bucket()) }
    }
}

struct BucketFolder {
    folder: PathBuf,
}

impl BucketFolder {
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

impl Objects for BucketFolder {
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure> {
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

    fn read(&self, key: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure> {
        let file = File::open(self.path(key)?).map_err(|error| broken(key, &error))?;
        Ok(Box::new(FileParts { file, key: key.to_owned() }))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        let mut found = Vec::new();
        collect(&self.folder, "", prefix, &mut found).map_err(|error| broken(prefix, &error))?;
        found.sort();
        Ok(found)
    }
}

struct FileParts {
    file: File,
    key: String,
}

impl ObjectParts for FileParts {
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure> {
        let mut part = vec![0; PART_BYTES];
        let read = self.file.read(&mut part).map_err(|error| broken(&self.key, &error))?;
        part.truncate(read);
        Ok((read > 0).then_some(part))
    }
}

fn collect(folder: &Path, parent: &str, prefix: &str, found: &mut Vec<Listed>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(HIDDEN) {
            continue;
        }
        let key = if parent.is_empty() { name } else { format!("{parent}/{name}") };
        let is_on_the_way = key.starts_with(prefix) || prefix.starts_with(&format!("{key}/"));
        if entry.path().is_dir() && is_on_the_way {
            collect(&entry.path(), &key, prefix, found)?;
        } else if key.starts_with(prefix) {
            found.push(Listed { key, bytes: entry.metadata()?.len() });
        }
    }
    Ok(())
}

/// The client learns the key and the kind of error, not where the folder is.
fn broken(key: &str, error: &Error) -> ExchangeFailure {
    tracing::warn!(key, %error, "an object cannot be read or written");
    failure("S3AccessFailed", &format!("{key}: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::Bucket;
    use std::sync::Arc;

    #[test]
    fn keys_stay_in_their_bucket() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("b")).unwrap();
        let buckets: Arc<dyn Buckets> = Arc::new(BucketFolders(root.path().to_owned()));
        let bucket = Bucket::open(Some(&buckets), "b").unwrap();
        for key in ["../x", "a/../../x", "a/./b", ".hidden", "a\0b"] {
            assert!(bucket.write(key, b"").is_err() && bucket.read(key).is_err(), "{key}");
        }
        bucket.write("/etc/x", b"1").unwrap();
        bucket.write("pre/one", &vec![7; PART_BYTES + 1]).unwrap();
        bucket.write("prefix", b"").unwrap();
        let keys = |prefix: &str| -> Vec<String> {
            bucket.list(prefix).unwrap().into_iter().map(|listed| listed.key).collect()
        };
        assert_eq!(keys(""), ["etc/x", "pre/one", "prefix"]);
        assert_eq!(keys("pre"), ["pre/one", "prefix"]);
        assert_eq!(keys("pre/"), ["pre/one"]);
        assert_eq!(keys("none"), Vec::<String>::new());
        assert_eq!(bucket.list("etc").unwrap()[0].bytes, 1);
        for (key, length) in [("etc/x", 1), ("pre/one", PART_BYTES + 1), ("prefix", 0)] {
            let mut bytes = Vec::new();
            bucket.read(key).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes.len(), length);
        }
        assert!(Bucket::open(Some(&buckets), "c").is_err() && Bucket::open(None, "b").is_err());
    }
}
