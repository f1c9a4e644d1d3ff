//! One HTTP connection of the load generator: sends prepared requests and reads complete responses.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub struct Connection {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
}

/// A plain or encrypted stream.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// The response to a request.
pub struct HttpResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Connection {
    pub async fn open(address: &str, tls: Option<&TlsConnector>) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let host = stream.peer_addr()?.ip();
        let stream: Box<dyn Stream> = match tls {
            Some(tls) => Box::new(tls.connect(host.into(), stream).await?),
            None => Box::new(stream),
        };
        Ok(Connection { stream, buffer: Vec::with_capacity(256 * 1024) })
    }

    /// Sends a request and reads the response; returns the status and the length of the body.
    pub async fn send(&mut self, request: &[u8]) -> io::Result<(u16, usize)> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            self.fill().await?;
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
        };
        let (status, length) = read_head(&self.buffer[..head]).ok_or(io::ErrorKind::InvalidData)?;
        while self.buffer.len() < head + length {
            self.fill().await?;
        }
        Ok((status, length))
    }

    /// Like [`Connection::send`], but returns the body.
    pub async fn send_and_read(&mut self, request: &[u8]) -> io::Result<HttpResponse> {
        let (status, length) = self.send(request).await?;
        let body = self.buffer[self.buffer.len() - length..].to_vec();
        Ok(HttpResponse { status, body })
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

/// Status and content length.
fn read_head(head: &[u8]) -> Option<(u16, usize)> {
    let head = std::str::from_utf8(head).ok()?;
    let status = head.get(9..12)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some((status, length.unwrap_or(0)))
}
