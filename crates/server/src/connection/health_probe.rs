//! Health and readiness probes that are the first request of a connection.
//!
//! They are answered by the thread that accepts connections and does nothing else, or by the one for TLS handshakes:
//! however busy the worker threads are, a probe is answered immediately. All other connections are passed on to a worker thread.

use crate::connection::shutdown::CloseSignal;
use crate::pipeline::Pipeline;
use hyper::Method;
use partita_store::Store;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a new connection may stay silent.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(120);
/// The head of a probe is shorter.
const PROBE_BYTES: usize = 2 * 1_024;

/// Waits for a connection's first bytes and answers a probe. Returns the connection if it sent anything else.
pub async fn intercept<S: Store>(
    mut stream: TcpStream,
    pipeline: &Pipeline<S>,
    close: &mut CloseSignal,
) -> Option<TcpStream> {
    let mut bytes = [0; PROBE_BYTES];
    let peeked = tokio::select! {
        peeked = tokio::time::timeout(FIRST_BYTE_TIMEOUT, stream.peek(&mut bytes)) => peeked.ok()?.ok()?,
        () = close.received() => return None,
    };
    if peeked == 0 {
        return None;
    }
    let Some((length, response)) = response(&bytes[..peeked], pipeline) else { return Some(stream) };
    let ended = async {
        stream.read_exact(&mut bytes[..length]).await?;
        write_and_close(&mut stream, &response).await
    };
    log_error(ended.await);
    None
}

/// The same for an encrypted connection, whose first bytes cannot be peeked at. Returns them if they are no probe.
pub async fn intercept_encrypted<S: Store>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pipeline: &Pipeline<S>,
    close: &mut CloseSignal,
) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(PROBE_BYTES);
    let read = tokio::select! {
        read = tokio::time::timeout(FIRST_BYTE_TIMEOUT, stream.read_buf(&mut bytes)) => read.ok()?.ok()?,
        () = close.received() => 0,
    };
    match response(&bytes, pipeline) {
        None if read > 0 => return Some(bytes),
        None => log_error(stream.shutdown().await),
        Some((_, response)) => log_error(write_and_close(stream, &response).await),
    }
    None
}

async fn write_and_close(stream: &mut (impl AsyncWrite + Unpin), response: &[u8]) -> io::Result<()> {
    stream.write_all(response).await?;
    stream.shutdown().await
}

fn log_error(ended: io::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The length of a probe and the response to it; `None` for any other request.
fn response<S: Store>(bytes: &[u8], pipeline: &Pipeline<S>) -> Option<(usize, Vec<u8>)> {
    let (length, path) = probe(bytes)?;
    let reply = pipeline.probe_reply(&Method::GET, path)?;
    Some((length, reply.closing().into_http1()))
}

/// The length and the path of a complete GET request without a body.
fn probe(bytes: &[u8]) -> Option<(usize, &'static str)> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(length)) = request.parse(bytes) else { return None };
    let is_left_to_hyper = |name: &str| {
        ["content-length", "transfer-encoding", "origin"].iter().any(|it| name.eq_ignore_ascii_case(it))
    };
    if request.method != Some("GET") || request.headers.iter().any(|header| is_left_to_hyper(header.name)) {
        return None;
    }
    ["/", crate::admin::readiness::PATH]
        .into_iter()
        .find(|path| request.path == Some(*path))
        .map(|path| (length, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_probes_are_recognized() {
        let path = |text: &str| probe(text.as_bytes()).map(|(_, path)| path);
        assert_eq!(path("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Some("/"));
        assert_eq!(path("GET /_partita/ready HTTP/1.0\r\n\r\n"), Some("/_partita/ready"));
        for other in [
            "",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\n\r\n",
            "GET /other HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
            "GET / HTTP/1.1\r\nOrigin: x\r\n\r\n",
        ] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
