//! HTTP for `object_store`: hyper's connections. Every answer is read whole, within a time: those asked for are small, because
//! objects are read in parts. So a connection that breaks in the middle is a request that is repeated.

use crate::last_error::Trouble;
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
/// One request and its answer, a part of an object in either direction.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(60);
/// A part of an object, or a page of a list.
const LONGEST_ANSWER: usize = 16 << 20;

/// The connections to an endpoint, shared by its buckets.
#[derive(Clone, Debug)]
pub struct Connections(Client<HttpsConnector<HttpConnector>, HttpRequestBody>);

impl Connections {
    pub fn new(tls: ClientConfig) -> Connections {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Connections(Client::builder(TokioExecutor::new()).build(connector))
    }

    /// The same connections, for a bucket that wants to know what goes wrong.
    pub fn noting(&self, trouble: &Arc<Trouble>) -> Transport {
        Transport { connections: self.clone(), trouble: Arc::clone(trouble) }
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = self.0.request(request).await.map_err(|error| {
            let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
            HttpError::new(kind, error)
        })?;
        let (parts, body) = answer.into_parts();
        Ok(HttpResponse::from_parts(parts, whole(body).await?.into()))
    }
}

async fn whole(body: Incoming) -> Result<bytes::Bytes, HttpError> {
    let collected = Limited::new(body, LONGEST_ANSWER).collect().await;
    let collected = collected.map_err(|error| HttpError::new_boxed(HttpErrorKind::Interrupted, error))?;
    Ok(collected.to_bytes())
}

/// What `object_store` sends requests with.
#[derive(Clone, Debug)]
pub struct Transport {
    connections: Connections,
    trouble: Arc<Trouble>,
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let exchanged = tokio::time::timeout(EXCHANGE_TIMEOUT, self.connections.exchange(request)).await;
        let late = |_| Err(HttpError::new(HttpErrorKind::Timeout, Error::from(ErrorKind::TimedOut)));
        match exchanged.unwrap_or_else(late) {
            Ok(answer) => {
                let (parts, body) = answer.into_parts();
                let body = body.bytes().await?;
                self.trouble.note_answer(parts.status, &body);
                Ok(HttpResponse::from_parts(parts, body.into()))
            }
            Err(error) => {
                self.trouble.note_silence(&error);
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
