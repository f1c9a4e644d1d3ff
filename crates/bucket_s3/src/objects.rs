//! The objects of one bucket: written atomically, by one request; read in parts; listed in pages.

use crate::last_error::LastError;
use crate::worker::Worker;
use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use partita_api::exchange::ExchangeFailure;
use partita_engine::bucket::{Listed, ObjectParts, Objects, failure};
use std::future::Future;
use std::sync::Arc;

/// How much of an object is in memory at a time.
const PART_BYTES: u64 = 4 << 20;
/// The most objects that are listed.
const MAX_OBJECTS: usize = 1_000_000;

#[derive(Clone)]
pub struct S3Objects {
    store: AmazonS3,
    worker: Arc<Worker>,
    last_error: Arc<LastError>,
}

impl S3Objects {
    pub fn new(store: AmazonS3, worker: Arc<Worker>, last_error: Arc<LastError>) -> S3Objects {
        S3Objects { store, worker, last_error }
    }

    fn wait<T: Send + 'static>(
        &self,
        key: &str,
        job: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<T, ExchangeFailure> {
        let done = self.worker.run(job);
        let done = done.ok_or_else(|| failure("S3ServiceUnavailable", "The server is stopping."))?;
        done.map_err(|error| self.last_error.failure(key, &error))
    }

    fn path(&self, key: &str) -> Result<Path, ExchangeFailure> {
        Path::parse(key).map_err(|source| self.last_error.failure(key, &source.into()))
    }
}

impl Objects for S3Objects {
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        let (store, path) = (self.store.clone(), self.path(key)?);
        let payload = PutPayload::from(bytes.to_vec());
        self.wait(key, async move { store.put(&path, payload).await }).map(|_| ())
    }

    fn read(&self, key: &str) -> Result<Box<dyn ObjectParts>, ExchangeFailure> {
        let (store, path) = (self.store.clone(), self.path(key)?);
        let found = self.wait(key, async move { store.head(&path).await })?;
        Ok(Box::new(S3Parts {
            objects: self.clone(),
            path: found.location,
            size: found.size,
            version: found.e_tag,
            read: 0,
        }))
    }

    /// Leaves out empty objects, which some programs write in place of folders.
    fn list(&self, prefix: &str) -> Result<Vec<Listed>, ExchangeFailure> {
        let mut found = Vec::new();
        let mut page_token: Option<String> = None;
        loop {
            let previous_token = page_token.clone();
            let (store, requested) = (self.store.clone(), prefix.to_owned());
            let options = PaginatedListOptions { page_token: page_token.take(), ..Default::default() };
            let page = self.wait(prefix, async move {
                store
                    .list_paginated(Some(requested.as_str()).filter(|prefix| !prefix.is_empty()), options)
                    .await
            })?;
            let objects = page.result.objects.into_iter().filter(|object| object.size > 0);
            found.extend(
                objects.map(|object| Listed { key: String::from(object.location), bytes: object.size }),
            );
            page_token = page.page_token;
            if found.len() > MAX_OBJECTS || (page_token.is_some() && page_token == previous_token) {
                return Err(failure(
                    "S3InvalidListing",
                    &format!("{prefix}: the list of objects has no end"),
                ));
            }
            if page_token.is_none() {
                found.sort();
                return Ok(found);
            }
        }
    }
}

/// The parts of an object that is being read.
struct S3Parts {
    objects: S3Objects,
    path: Path,
    size: u64,
    version: Option<String>,
    read: u64,
}

impl ObjectParts for S3Parts {
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, ExchangeFailure> {
        if self.read >= self.size {
            return Ok(None);
        }
        let end = self.size.min(self.read + PART_BYTES);
        let options = GetOptions {
            range: Some(GetRange::Bounded(self.read..end)),
            if_match: self.version.clone(),
            ..GetOptions::default()
        };
        let (store, path) = (self.objects.store.clone(), self.path.clone());
        let part = self
            .objects
            .wait(self.path.as_ref(), async move { store.get_opts(&path, options).await?.bytes().await })?;
        if part.len() as u64 != end - self.read {
            let message = format!("{}: fewer bytes arrived than were requested", self.path);
            return Err(failure("S3IncompleteBody", &message));
        }
        self.read = end;
        Ok(Some(part.into()))
    }
}
