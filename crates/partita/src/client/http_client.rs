//! A blocking HTTP client: hyper-util's client on a small runtime of its own.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Body;
use hyper::{Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::TokioExecutor;
use std::error::Error as StdError;
use std::io::{Error, ErrorKind};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::rustls::ClientConfig;

/// The slowest upload to wait for; the response is due [`HttpClient::timeout`] after that.
const UPLOAD_BYTES_PER_SECOND: u64 = 64 * 1_024;

/// Connections to one server, kept alive between requests.
pub struct HttpClient {
    runtime: Runtime,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// How long to wait for a connection, for a response's head, and for each further piece of its body.
    timeout: Duration,
    max_response_bytes: usize,
}

impl HttpClient {
    pub fn new(
        tls: ClientConfig,
        timeout: Duration,
        max_response_bytes: usize,
    ) -> std::io::Result<HttpClient> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(1).build(connector);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(HttpClient { runtime, client, timeout, max_response_bytes })
    }

    /// Sends a request and waits for the whole response. What is not HTTP is [`ErrorKind::InvalidData`].
    pub fn send(&self, request: Request<Full<Bytes>>) -> std::io::Result<(StatusCode, Vec<u8>)> {
        self.runtime.block_on(self.exchange(request))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> std::io::Result<(StatusCode, Vec<u8>)> {
        let body_bytes = request.body().size_hint().lower();
        let upload = Duration::from_secs(body_bytes / UPLOAD_BYTES_PER_SECOND);
        let response = tokio::time::timeout(self.timeout + upload, self.client.request(request));
        let response = response.await?.map_err(request_error)?;
        let status = response.status();
        let declared_bytes = response.body().size_hint().lower() as usize;
        let mut body = Limited::new(response.into_body(), self.max_response_bytes);
        let mut bytes = Vec::with_capacity(declared_bytes.min(self.max_response_bytes));
        while let Some(frame) = tokio::time::timeout(self.timeout, body.frame()).await? {
            let frame = frame.map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            bytes.extend(frame.into_data().unwrap_or_default());
        }
        Ok((status, bytes))
    }
}

/// The innermost cause, which says more to a user than hyper's own "client error (Connect)".
fn request_error(error: legacy::Error) -> Error {
    let mut cause: &(dyn StdError + 'static) = &error;
    let mut is_http = true;
    while let Some(source) = cause.source() {
        cause = source;
        is_http &= !cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    }
    if is_http { Error::other(cause.to_string()) } else { Error::new(ErrorKind::InvalidData, "not HTTP") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tls;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Accepts one connection, and sends one response per request; then the connection stays open.
    fn serve(responses: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for response in responses {
                let _ = stream.read(&mut [0; 4_096]).unwrap();
                stream.write_all(response.as_bytes()).unwrap();
            }
            std::thread::sleep(Duration::from_secs(60));
        });
        url
    }

    fn client(timeout: Duration) -> HttpClient {
        HttpClient::new(tls::config_for(false).unwrap(), timeout, 64).unwrap()
    }

    fn get(client: &HttpClient, url: &str) -> std::io::Result<(StatusCode, Vec<u8>)> {
        client.send(Request::get(url).body(Full::default()).unwrap())
    }

    #[test]
    fn a_connection_is_used_for_several_requests() {
        let url = serve(&[
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 3\r\n\r\ntwo",
        ]);
        let client = client(Duration::from_secs(10));
        assert_eq!(get(&client, &url).unwrap(), (StatusCode::OK, b"one".to_vec()));
        assert_eq!(get(&client, &url).unwrap(), (StatusCode::BAD_REQUEST, b"two".to_vec()));
    }

    #[test]
    fn other_protocols_and_long_responses_are_invalid() {
        const OTHER: &[&str] = &["SSH-2.0-OpenSSH_9.6\r\n\r\n"];
        const LONG: &[&str] = &["HTTP/1.1 200 OK\r\ncontent-length: 128\r\n\r\n\
            0123456789012345678901234567890123456789012345678901234567890123456789"];
        for responses in [OTHER, LONG] {
            let url = serve(responses);
            let error = get(&client(Duration::from_secs(10)), &url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
        }
    }

    #[test]
    fn errors_show_their_cause() {
        let silent = get(&client(Duration::from_millis(50)), &serve(&[""])).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
        let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = get(&client(Duration::from_secs(10)), &format!("http://{unused}/")).unwrap_err();
        assert!(refused.to_string().starts_with("Connection refused"), "{refused}");
    }
}
