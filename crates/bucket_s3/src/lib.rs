//! Buckets at an S3 endpoint: AWS itself, MinIO, or another implementation. The protocol is implemented by `object_store`, the
//! connections by hyper, as in the server. See docs/decisions/0011-object-stores.md.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod http_transport;
mod last_error;
mod objects;
mod worker;

use http_transport::ConnectionPool;
use last_error::LastError;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::{BackoffConfig, RetryConfig};
use objects::S3Objects;
use partita_api::exchange::ExchangeFailure;
use partita_engine::bucket::{Buckets, Objects};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::ClientConfig;
use worker::Worker;

/// The longest backoff between retries.
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// The address of the buckets.
#[derive(Clone)]
pub enum S3Endpoint {
    /// Amazon's own, in the region.
    Aws,
    /// A URL such as `http://127.0.0.1:9000`; the bucket is the first part of the path.
    At(String),
}

pub struct S3Options {
    pub endpoint: S3Endpoint,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
    pub session_token: Option<String>,
    /// For how long a request is retried while the endpoint is unreachable or overloaded.
    pub patience: Duration,
    /// With the certificates to trust.
    pub tls: ClientConfig,
}

/// The buckets of an endpoint. They are opened without checking whether they exist: an export may have permission only to
/// write.
pub struct S3Buckets {
    options: S3Options,
    connections: ConnectionPool,
    worker: Arc<Worker>,
}

impl S3Buckets {
    pub fn start(options: S3Options) -> std::io::Result<S3Buckets> {
        let connections = ConnectionPool::new(options.tls.clone());
        Ok(S3Buckets { options, connections, worker: Arc::new(Worker::start()?) })
    }

    fn store(&self, bucket: &str, last_error: &Arc<LastError>) -> object_store::Result<AmazonS3> {
        let options = &self.options;
        let builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(&options.region)
            .with_access_key_id(&options.access_key)
            .with_secret_access_key(&options.secret_key)
            .with_retry(retries(options.patience))
            .with_http_connector(self.connections.recording(last_error));
        let builder = match &options.session_token {
            Some(token) => builder.with_token(token),
            None => builder,
        };
        match &options.endpoint {
            // AWS's certificates cover one label before the service's name; a bucket with dots has more.
            S3Endpoint::Aws => builder.with_virtual_hosted_style_request(!bucket.contains('.')),
            S3Endpoint::At(url) => builder.with_endpoint(url).with_allow_http(true),
        }
        .build()
    }
}

fn retries(patience: Duration) -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: MAX_BACKOFF.min(patience), ..BackoffConfig::default() };
    // Retries are limited by time only.
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: patience }
}

impl Buckets for S3Buckets {
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure> {
        let last_error = Arc::new(LastError::default());
        let store = self.store(name, &last_error).map_err(|error| last_error.failure(name, &error))?;
        Ok(Box::new(S3Objects::new(store, Arc::clone(&self.worker), last_error)))
    }

    fn stop(&self) {
        self.worker.stop();
    }
}
