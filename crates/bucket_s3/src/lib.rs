//! Buckets at an S3 endpoint: AWS itself, MinIO, or whatever else speaks the protocol. The protocol is `object_store`'s; the
//! connections are hyper's, as the server's are. See docs/decisions/0011-object-stores.md.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod http_transport;
mod last_error;
mod objects;
mod worker;

use http_transport::Connections;
use last_error::Trouble;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::{BackoffConfig, RetryConfig};
use objects::S3Objects;
use partita_api::exchange::ExchangeFailure;
use partita_engine::bucket::{Buckets, Objects};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::ClientConfig;
use worker::Worker;

/// Attempts come further and further apart, up to this pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Where buckets are.
#[derive(Clone)]
pub enum S3Endpoint {
    /// Amazon's own, in the region.
    Aws,
    /// `http://127.0.0.1:9000`: buckets are the first part of the path.
    At(String),
}

pub struct S3Options {
    pub endpoint: S3Endpoint,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
    pub session_token: Option<String>,
    /// For how long a request is repeated while the endpoint cannot be reached or is overloaded.
    pub patience: Duration,
    /// Which certificates are trusted.
    pub tls: ClientConfig,
}

/// The buckets of an endpoint. They are opened without asking whether they exist: an export may be allowed to write and nothing
/// else.
pub struct S3Buckets {
    options: S3Options,
    connections: Connections,
    worker: Arc<Worker>,
}

impl S3Buckets {
    pub fn start(options: S3Options) -> std::io::Result<S3Buckets> {
        let connections = Connections::new(options.tls.clone());
        Ok(S3Buckets { options, connections, worker: Arc::new(Worker::start()?) })
    }

    fn store(&self, bucket: &str, trouble: &Arc<Trouble>) -> object_store::Result<AmazonS3> {
        let options = &self.options;
        let builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(&options.region)
            .with_access_key_id(&options.access_key)
            .with_secret_access_key(&options.secret_key)
            .with_retry(retries(options.patience))
            .with_http_connector(self.connections.noting(trouble));
        let builder = match &options.session_token {
            Some(token) => builder.with_token(token),
            None => builder,
        };
        match &options.endpoint {
            // Certificates of AWS hold for one name in front of the service's; a bucket with dots has more.
            S3Endpoint::Aws => builder.with_virtual_hosted_style_request(!bucket.contains('.')),
            S3Endpoint::At(url) => builder.with_endpoint(url).with_allow_http(true),
        }
        .build()
    }
}

fn retries(patience: Duration) -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: LONGEST_PAUSE.min(patience), ..BackoffConfig::default() };
    // The time is what bounds them.
    RetryConfig { backoff, max_retries: usize::MAX, retry_timeout: patience }
}

impl Buckets for S3Buckets {
    fn open(&self, name: &str) -> Result<Box<dyn Objects>, ExchangeFailure> {
        let trouble = Arc::new(Trouble::default());
        let store = self.store(name, &trouble).map_err(|error| trouble.failure(name, &error))?;
        Ok(Box::new(S3Objects::new(store, Arc::clone(&self.worker), trouble)))
    }

    fn stop(&self) {
        self.worker.stop();
    }
}
