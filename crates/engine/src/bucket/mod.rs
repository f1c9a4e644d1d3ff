//! Buckets, which exports write to and imports and bulk operations read from.
//!
//! [`Buckets`] is implemented by folders ([`bucket_folder`]) and by the crate `bucket_s3`; the host chooses with
//! [`crate::Engine::set_buckets`].

pub mod bucket_folder;
pub mod bucket_output;

use partita_api::exchange::ExchangeFailure;
use std::io::{Error, Read};
use std::sync::{Arc, OnceLock};

/// A provider of buckets. All methods here and of [`Objects`] block; only background work calls them.
pub trait Buckets: Send + Sync {
    /// Opens a bucket. Names are validated when a request is decoded: they contain no slash and do not start with a dot.
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure>;

    /// Makes all running and future calls fail.
    fn stop(&self) {}
}

/// The objects of one bucket.
pub trait Objects: Send {
    /// Writes an object atomically.
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure>;
    fn read(&self, key: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure>;
    /// Returns the objects whose keys start with a prefix, in key order.
    fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure>;
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    pub key: String,
    pub bytes: u64,
}

/// An object that is being read, in parts that fit into memory.
pub trait ObjectParts: Send {
    /// Returns the next part, which is never empty; `None` at the end.
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure>;
}

/// An open bucket.
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

/// Why an object could not be read to its end. It remains available after the reader has been moved.
pub type ReadFailure = Arc<OnceLock<ExchangeFailure>>;

/// An object as a [`Read`].
pub struct ObjectReader {
    parts: Box<dyn ObjectParts>,
    part: Vec<u8>,
    /// How many bytes of the part were consumed.
    read: usize,
    failure: ReadFailure,
}

impl ObjectReader {
    /// Distinguishes an object that cannot be read from one that can be read but not parsed.
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
