//! A connection to a database, plain or encrypted.

use crate::client::certificate_file::trust_in_file;
use rustls_pki_types::ServerName;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

const TIMEOUT: Duration = Duration::from_secs(30);
/// Where systems keep the certificates that they trust.
const TRUSTED: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/ca-certificates/cert.pem",
];

/// Where a database listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub encrypted: bool,
    /// As the `Host` header says it.
    pub host: String,
    pub port: u16,
}

pub enum Connection {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Address {
    /// `http://127.0.0.1:8000`, `https://dynamodb.eu-central-1.amazonaws.com`; without a scheme, plain.
    pub fn parse(url: &str) -> Result<Address, String> {
        let (encrypted, rest) = match url.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            None => (false, url),
            Some((scheme, _)) => {
                return Err(format!("{scheme}:// is not spoken here; write http:// or https://"));
            }
        };
        let host = rest.split('/').next().unwrap_or_default();
        let usual = if encrypted { 443 } else { 80 };
        let port = match host.rsplit_once(':') {
            Some((_, port)) if !port.ends_with(']') => {
                port.parse().map_err(|_| format!("{url} has no port number behind the colon"))?
            }
            _ => usual,
        };
        if host.is_empty() {
            return Err(format!("{url} names no host"));
        }
        Ok(Address { encrypted, host: host.to_owned(), port })
    }

    pub fn name(&self) -> &str {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        name.trim_start_matches('[').trim_end_matches(']')
    }

    pub fn is_loopback(&self) -> bool {
        self.name() == "localhost" || self.name().parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub fn connect(&self) -> std::io::Result<Connection> {
        self.connect_trusting(TIMEOUT, trust)
    }

    /// Connects, and if encrypted, to whom `trust` says.
    pub fn connect_trusting(
        &self,
        timeout: Duration,
        trust: impl Fn() -> std::io::Result<Arc<ClientConfig>>,
    ) -> std::io::Result<Connection> {
        let mut addresses = (self.name(), self.port).to_socket_addrs()?;
        let address = addresses.next().ok_or(ErrorKind::AddrNotAvailable)?;
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_nodelay(true)?;
        if !self.encrypted {
            return Ok(Connection::Plain(stream));
        }
        let name = ServerName::try_from(self.name().to_owned()).map_err(Error::other)?;
        let session = ClientConnection::new(trust()?, name).map_err(Error::other)?;
        Ok(Connection::Encrypted(Box::new(StreamOwned::new(session, stream))))
    }
}

/// Trusts what the system trusts, or what `SSL_CERT_FILE` or `AWS_CA_BUNDLE` name.
pub fn trust() -> std::io::Result<Arc<ClientConfig>> {
    let named =
        ["SSL_CERT_FILE", "AWS_CA_BUNDLE"].iter().find_map(|name| std::env::var_os(name).map(PathBuf::from));
    let usual = || TRUSTED.iter().map(PathBuf::from).find(|path| path.exists());
    let file = named
        .or_else(usual)
        .ok_or_else(|| Error::other("no file of trusted certificates is found; name one in SSL_CERT_FILE"))?;
    trust_in_file(&file)
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Connection::Plain(stream) => stream.read(buffer),
            Connection::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Connection::Plain(stream) => stream.write(bytes),
            Connection::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Connection::Plain(stream) => stream.flush(),
            Connection::Encrypted(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_understood() {
        let parse = |url: &str| {
            Address::parse(url).map(|a| (a.encrypted, a.host.clone(), a.port, a.name().to_owned()))
        };
        let plain = |host: &str, port, name: &str| Ok((false, host.to_owned(), port, name.to_owned()));
        assert_eq!(parse("http://127.0.0.1:8000/"), plain("127.0.0.1:8000", 8000, "127.0.0.1"));
        assert_eq!(parse("localhost"), plain("localhost", 80, "localhost"));
        assert_eq!(parse("http://[::1]:8000"), plain("[::1]:8000", 8000, "::1"));
        let aws = "dynamodb.us-east-1.amazonaws.com".to_owned();
        assert_eq!(parse("https://dynamodb.us-east-1.amazonaws.com"), Ok((true, aws.clone(), 443, aws)));
        assert!(parse("ftp://x").is_err() && parse("http://").is_err() && parse("http://x:y").is_err());
    }
}
