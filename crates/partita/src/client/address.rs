//! The address of a database, parsed from a URL.

use std::net::IpAddr;

/// Where a database listens, and whether connections are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub encrypted: bool,
    /// The value of the `Host` header: the host, with the port if the URL has one.
    pub host: String,
}

impl Address {
    /// Parses `http://127.0.0.1:8000` or `https://dynamodb.eu-central-1.amazonaws.com`. The default scheme is `http`.
    pub fn parse(url: &str) -> Result<Address, String> {
        let (encrypted, rest) = match url.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            None => (false, url),
            Some((scheme, _)) => {
                return Err(format!("{scheme}:// is not supported; write http:// or https://"));
            }
        };
        let host = rest.split('/').next().unwrap_or_default();
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(format!("{url} has no port number after the colon"));
        }
        if host.is_empty() {
            return Err(format!("{url} names no host"));
        }
        Ok(Address { encrypted, host: host.to_owned() })
    }

    /// `http://127.0.0.1:8000`, without a path.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.encrypted { "https" } else { "http" }, self.host)
    }

    /// The host without the port, and without the brackets of an IPv6 address.
    pub fn name(&self) -> &str {
        match self.host.strip_prefix('[') {
            Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
            None => self.host.split(':').next().unwrap_or_default(),
        }
    }

    pub fn is_loopback(&self) -> bool {
        self.name() == "localhost" || self.name().parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        let parse = |url: &str| Address::parse(url).map(|it| (it.url(), it.name().to_owned()));
        let parsed = |url: &str, name: &str| Ok((url.to_owned(), name.to_owned()));
        assert_eq!(parse("http://127.0.0.1:8000/"), parsed("http://127.0.0.1:8000", "127.0.0.1"));
        assert_eq!(parse("localhost"), parsed("http://localhost", "localhost"));
        assert_eq!(parse("http://[::1]:8000"), parsed("http://[::1]:8000", "::1"));
        assert_eq!(parse("http://[::1]"), parsed("http://[::1]", "::1"));
        let aws = "https://dynamodb.us-east-1.amazonaws.com";
        assert_eq!(parse(aws), parsed(aws, "dynamodb.us-east-1.amazonaws.com"));
        assert!(parse("ftp://x").is_err() && parse("http://").is_err() && parse("http://x:y").is_err());
    }
}
