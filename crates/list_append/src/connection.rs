//! An HTTP connection of a client: sends a request's JSON and waits for the response's.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The server does not verify signatures, but requires one.
const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0";
/// A server that is not killed responds sooner.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

pub struct Response {
    pub status: u16,
    pub body: Value,
}

impl Response {
    /// The name of the exception, if the response is one.
    pub fn exception(&self) -> Option<&str> {
        self.body["__type"].as_str().map(|name| name.rsplit('#').next().unwrap_or(name))
    }
}

impl Connection {
    pub fn open(address: &str) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Connection { stream: BufReader::new(stream), host: address.to_owned() })
    }

    pub fn call(&mut self, operation: &str, body: &str) -> io::Result<Response> {
        let request = format!(
            "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: {SIGNATURE}\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.read_line()?.get(9..12).and_then(|status| status.parse().ok());
        let mut length = 0;
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
        Ok(Response { status: status.ok_or(io::ErrorKind::InvalidData)?, body })
    }

    fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
