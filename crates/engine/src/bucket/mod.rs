//! Buckets: what exports are written to, imports and bulk operations are read from. Which kind there is (`bucket_folder.rs`, or an endpoint that
//! the program brings along) is said when the engine is set up.

pub mod bucket_folder;
pub mod bucket_output;

use partita_api::exchange::ExchangeFailure;
use std::io::{Error, Read};
use std::sync::{Arc, OnceLock};

/// Where buckets are. Their methods wait; they are called by background work only.
pub trait Buckets: Send + Sync {
    /// A bucket. Names are checked when a request is decoded: they have no slashes and do not begin with a dot.
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure>;

    /// Lets go of whatever is waited for: it fails, and so does all that is asked from now on.
    fn stop(&self) {}
}

/// The objects of one bucket.
pub trait Objects: Send {
    /// Writes an object, whole or not at all.
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure>;
    fn read(&self, key: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure>;
    /// The objects whose keys begin with a prefix, in the order of the keys.
    fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure>;
}

/// An object as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    pub key: String,
    pub bytes: u64,
}

/// An object that is being read, in parts that fit into memory.
pub trait ObjectParts: Send {
    /// The next part, never an empty one; none at the end.
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure>;
}

pub struct Bucket(Box<dyn Objects>);

impl Bucket {
    pub fn open(buckets: Option<&Arc<dyn Buckets>>, name: &str) -> Result<Bucket, ExchangeFailure> {
        buckets.ok_or_else(no_such_bucket)?.open(name).map(Bucket)
    }

    pub fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        self.0.write(key, bytes)
    }

    pub fn read(&self, key: &str) -> Result<ObjectReader, ExchangeFailure> {
        let parts = self.0.read(key)?;
        Ok(ObjectReader { parts, part: Vec::new(), read: 0, failure: Arc::default() })
    }

    pub fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        self.0.list(prefix)
    }
}

/// Why an object could not be read to its end, for whoever has given its reader away.
pub type ReadFailure = Arc<OnceLock<ExchangeFailure>>;

/// An object as a stream of bytes.
pub struct ObjectReader {
    parts: Box<dyn ObjectParts>,
    part: Vec<u8>,
    /// How much of the part is read.
    read: usize,
    failure: ReadFailure,
}

impl ObjectReader {
    /// Tells an object that cannot be read from one that is read and not understood.
    pub fn failure(&self) -> ReadFailure {
        Arc::clone(&self.failure)
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.part.len() {
            let next = self.parts.next_part().map_err(|failure| {
                let error = Error::other(failure.message.clone());
                let _ = self.failure.set(failure);
                error
            })?;
            self.part = next.unwrap_or_default();
            self.read = 0;
        }
        let read = (&self.part[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

pub fn no_such_bucket() -> ExchangeFailure {
    failure("S3NoSuchBucket", "The specified bucket does not exist")
}

pub fn internal_failure() -> ExchangeFailure {
    failure("InternalServerError", "Internal server error")
}

pub fn failure(code: &str, message: &str) -> ExchangeFailure {
    ExchangeFailure { code: code.to_owned(), message: message.to_owned() }
}
