//! Who may reach a server that does not verify signatures.
//!
//! A page in a browser can send requests to this machine, under a name of its own that resolves here. So
//! without verified signatures only requests to a local name, from no foreign page, are answered.

use partita_api::{Exception, ExceptionKind};
use partita_auth::Headers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this machine: the Host must be a local name, the Origin, if any, too.
    Local,
    /// Anyone; signatures are verified, or the user said so.
    Open,
}

impl Reach {
    pub fn check(self, headers: Headers<'_>) -> Result<(), Exception> {
        if self == Reach::Open {
            return Ok(());
        }
        // Whatever is sent more than once is checked each time; what is no text is no local name.
        let mut hosts = headers.get_all("host").map(String::from_utf8_lossy).filter(|host| !is_local(host));
        let mut origins =
            headers.get_all("origin").map(String::from_utf8_lossy).filter(|origin| !is_local_page(origin));
        match hosts.next().or_else(|| origins.next()) {
            None => Ok(()),
            Some(name) => Err(Exception::new(
                ExceptionKind::AccessDeniedException,
                format!(
                    "Requests to or from {name} are refused: this server verifies no signatures and answers only local names. Start it with --access-key and --secret-key, or with --open-access."
                ),
            )),
        }
    }
}

/// Whether a page of this origin comes from this machine.
pub fn is_local_page(origin: &str) -> bool {
    is_local(origin.split_once("://").map_or(origin, |(_, host)| host))
}

fn is_local(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    let address = host.parse::<std::net::IpAddr>();
    address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
        || host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reach: Reach, sent: &[(&str, &[u8])]) -> Result<(), Exception> {
        reach.check(Headers::new(sent))
    }

    #[test]
    fn only_local_names_are_answered() {
        for host in
            ["localhost", "localhost:8000", "127.0.0.1:8000", "127.5.0.1", "[::1]:8000", "db.localhost:1"]
        {
            assert_eq!(check(Reach::Local, &[("host", host.as_bytes())]), Ok(()), "{host}");
        }
        for host in ["evil.example", "evil.example:8000", "192.168.0.1:8000", "localhost.evil.example", ""] {
            assert!(check(Reach::Local, &[("host", host.as_bytes())]).is_err(), "{host}");
            assert_eq!(check(Reach::Open, &[("host", host.as_bytes())]), Ok(()));
        }
        assert!(check(Reach::Local, &[("host", b"localhost\xff")]).is_err());
        assert!(check(Reach::Local, &[("host", b"localhost"), ("host", b"evil.example")]).is_err());
    }

    #[test]
    fn only_local_pages_are_answered() {
        let from = |origin: &'static str| {
            check(Reach::Local, &[("host", b"localhost:8000"), ("origin", origin.as_bytes())])
        };
        assert_eq!(from("http://localhost:3000"), Ok(()));
        assert!(["https://evil.example", "null", "file://", ""].iter().all(|origin| from(origin).is_err()));
    }
}
