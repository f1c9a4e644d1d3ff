//! Buckets as folders: `S3_ROOT/BUCKET/KEY`. An object is a regular file in its bucket's folder; a link to one outside of it, a pipe or a
//! device is refused, because reading it would tell what is none of the bucket's, or never end.
//!
//! What is written is there for good before anybody is told so, and is for the server's user alone: it holds the clients' data.

use crate::bucket::{Buckets, Listed, ObjectParts, Objects, failure, no_such_bucket};
use partita_api::exchange::ExchangeFailure;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
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

impl BucketFolder {
    /// Where links lead, unless that is outside the bucket.
    fn resolved(&self, path: &Path) -> std::io::Result<PathBuf> {
        let resolved = path.canonicalize()?;
        match resolved.starts_with(self.folder.canonicalize()?) {
            true => Ok(resolved),
            false => Err(Error::new(ErrorKind::PermissionDenied, "a link leads out of the bucket")),
        }
    }

    /// Makes a folder and those above it, durably, unless it is there; none outside the bucket. Another writer may make the same.
    fn make_folder(&self, folder: &Path) -> std::io::Result<()> {
        let Some(above) = folder.parent().filter(|_| !folder.is_dir()) else { return Ok(()) };
        self.make_folder(above)?;
        self.resolved(above)?;
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => sync_folder(above),
        }
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::other("a key names no file"));
        };
        self.make_folder(folder)?;
        let folder = self.resolved(folder)?;
        let unfinished = folder.join(format!("{HIDDEN}{}.unfinished", name.to_string_lossy()));
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private_file().open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, folder.join(name))?;
        sync_folder(&folder)
    }

    fn open_file(&self, path: &Path) -> std::io::Result<File> {
        let path = self.resolved(path)?;
        // Before it is opened: to open a pipe is to wait for a writer.
        let is_object = path.metadata()?.is_file();
        match is_object.then(|| File::open(path)).transpose()? {
            Some(file) if file.metadata()?.is_file() => Ok(file),
            _ => Err(Error::new(ErrorKind::Unsupported, "not a regular file")),
        }
    }
}

impl Objects for BucketFolder {
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        self.write_file(&self.path(key)?, bytes).map_err(|error| broken(key, &error))
    }

    fn read(&self, key: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure> {
        let file = self.open_file(&self.path(key)?).map_err(|error| broken(key, &error))?;
        Ok(Box::new(FileParts { file, key: key.to_owned() }))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        let mut found = Vec::new();
        collect(&self.folder, "", prefix, &mut found).map_err(|error| broken(prefix, &error))?;
        found.sort();
        Ok(found)
    }
}

/// To make a file that only its owner may read.
fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options
}

/// Makes durable which files and folders are in a folder.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
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
        // Links to folders are not followed: they may lead in a circle.
        if entry.file_type()?.is_dir() {
            if is_on_the_way {
                collect(&entry.path(), &key, prefix, found)?;
            }
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

    #[test]
    fn only_the_owner_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("b")).unwrap();
        let buckets: Arc<dyn Buckets> = Arc::new(BucketFolders(root.path().to_owned()));
        let bucket = Bucket::open(Some(&buckets), "b").unwrap();
        for _ in ["made", "replaced"] {
            bucket.write("one/two/three", b"data").unwrap();
            let mode = root.path().join("b/one/two/three").metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_file_of_the_bucket_is_refused() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("b");
        std::fs::create_dir_all(folder.join("sub/deeper")).unwrap();
        std::fs::create_dir_all(root.path().join("outside")).unwrap();
        std::fs::write(root.path().join("outside/secret"), "secret").unwrap();
        std::fs::write(folder.join("sub/good"), "good").unwrap();
        symlink("../../outside/secret", folder.join("sub/link-out")).unwrap();
        symlink("good", folder.join("sub/link-within")).unwrap();
        symlink("..", folder.join("sub/circle")).unwrap();
        symlink("/dev/zero", folder.join("sub/device")).unwrap();
        symlink("../outside", folder.join("away")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(folder.join("sub/pipe")).status().unwrap();
        assert!(pipe.success());
        let buckets: Arc<dyn Buckets> = Arc::new(BucketFolders(root.path().to_owned()));
        let bucket = Bucket::open(Some(&buckets), "b").unwrap();
        for key in
            ["sub/link-out", "sub/circle", "sub/device", "sub/pipe", "sub/deeper", "sub", "away/secret"]
        {
            assert!(bucket.read(key).is_err(), "{key}");
        }
        for key in ["sub/good", "sub/link-within"] {
            let mut text = String::new();
            bucket.read(key).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "good");
        }
        for key in ["away/new", "away/sub/deeper/new"] {
            assert!(bucket.write(key, b"").is_err());
        }
        assert_eq!(std::fs::read_dir(root.path().join("outside")).unwrap().count(), 1);
        // A link that lies where a file is written first is not followed.
        symlink("../../outside/secret", folder.join("sub/.new.unfinished")).unwrap();
        bucket.write("sub/new", b"new").unwrap();
        assert_eq!(std::fs::read(root.path().join("outside/secret")).unwrap(), b"secret");
        let listed: Vec<String> = bucket.list("sub/").unwrap().into_iter().map(|listed| listed.key).collect();
        assert!(listed.contains(&"sub/pipe".to_owned()) && listed.len() == 7, "{listed:?}");
    }
}
