//! HTTP for `object_store`, by hyper. Every response is read completely, within a timeout: responses are small, because
//! objects are read in parts. So a request whose connection breaks in the middle is retried as a whole.

use crate::last_error::LastError;
use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector as ClientFactory, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpService,
};
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::ClientConfig;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For a request and its response, with a part of an object in either direction.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(60);
/// A part of an object, or a page of a list, is smaller.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// The connections to an endpoint, shared by its buckets.
#[derive(Clone, Debug)]
pub struct ConnectionPool(Client<HttpsConnector<HttpConnector>, HttpRequestBody>);

impl ConnectionPool {
    pub fn new(tls: ClientConfig) -> ConnectionPool {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        ConnectionPool(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// The same connections, for a bucket that records its errors in `last_error`.
    pub fn recording(&self, last_error: &Arc<LastError>) -> Transport {
        Transport { connections: self.clone(), last_error: Arc::clone(last_error) }
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.request(request).await.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
            HttpError::new(kind, error)
        })?;
        let (parts, body) = response.into_parts();
        Ok(HttpResponse::from_parts(parts, collect(body).await?.into()))
    }
}

async fn collect(body: Incoming) -> Result<bytes::Bytes, HttpError> {
    let collected = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
    let collected = collected.map_err(|error| HttpError::new_boxed(HttpErrorKind::Interrupted, error))?;
    Ok(collected.to_bytes())
}

/// The HTTP client of `object_store`.
#[derive(Clone, Debug)]
pub struct Transport {
    connections: ConnectionPool,
    last_error: Arc<LastError>,
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let exchanged = tokio::time::timeout(EXCHANGE_TIMEOUT, self.connections.exchange(request)).await;
        let timed_out = |_| Err(HttpError::new(HttpErrorKind::Timeout, Error::from(ErrorKind::TimedOut)));
        match exchanged.unwrap_or_else(timed_out) {
            Ok(response) => {
                let (parts, body) = response.into_parts();
                let body = body.bytes().await?;
                self.last_error.record_response(parts.status, &body);
                Ok(HttpResponse::from_parts(parts, body.into()))
            }
            Err(error) => {
                self.last_error.record_transport_error(&error);
                Err(error)
            }
        }
    }
}

impl ClientFactory for Transport {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}
