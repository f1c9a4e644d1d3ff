//! Who may ask a server that does not verify signatures.
//!
//! A page in a browser can send requests to this server under a name of its own, which it lets resolve to here. So without
//! verified signatures only requests to names that no stranger can own are answered, and none from foreign pages.

use partita_auth::Headers;
use std::net::{IpAddr, Ipv6Addr};

/// By which names a server is asked.
pub enum Reach {
    /// By any: signatures decide.
    Verified,
    /// By addresses, names without dots, and these.
    Unverified(AllowedHosts),
}

/// Names that the user adds to the usual ones.
#[derive(Default)]
pub struct AllowedHosts {
    any: bool,
    names: Vec<String>,
}

impl AllowedHosts {
    /// Of what `--allow-host` says; a star stands for any name.
    pub fn new(names: &[String]) -> AllowedHosts {
        let any = names.iter().any(|name| name == "*");
        AllowedHosts { any, names: names.iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    fn adds(&self, name: &str) -> bool {
        self.any || self.names.iter().any(|added| added.eq_ignore_ascii_case(name))
    }
}

impl Reach {
    /// Why these headers are refused, if they are. What is sent more than once is checked each time.
    pub fn check(&self, headers: Headers<'_>) -> Result<(), String> {
        let Reach::Unverified(allowed) = self else { return Ok(()) };
        if !headers.contains("host") {
            return Err(refused("without a Host"));
        }
        for host in headers.get_all("host") {
            check_host(host, allowed)?;
        }
        for origin in headers.get_all("origin") {
            let origin = String::from_utf8_lossy(origin);
            if !is_welcome(&origin, allowed) {
                return Err(refused(&format!("from pages of {origin}")));
            }
        }
        Ok(())
    }

    /// The same for the authority that a request line may name.
    pub fn check_authority(&self, authority: &str) -> Result<(), String> {
        match self {
            Reach::Verified => Ok(()),
            Reach::Unverified(allowed) => check_host(authority.as_bytes(), allowed),
        }
    }

    /// Whether a page of this origin may read answers.
    pub fn welcomes(&self, origin: &str) -> bool {
        match self {
            Reach::Verified => true,
            Reach::Unverified(allowed) => is_welcome(origin, allowed),
        }
    }
}

fn check_host(sent: &[u8], allowed: &AllowedHosts) -> Result<(), String> {
    let name = std::str::from_utf8(sent).ok().and_then(name_of);
    match name {
        Some(name) if is_nobodys(name) || allowed.adds(name) => Ok(()),
        _ => Err(refused(&format!("to {}", String::from_utf8_lossy(sent)))),
    }
}

fn refused(whose: &str) -> String {
    format!(
        "Requests {whose} are refused: this server verifies no signatures, so that a web page could reach it by a name of its own. Ask it by its address, allow the name with --allow-host, or let it verify signatures with --access-key."
    )
}

/// The name in `name`, `name:port` or `[address]:port`; none if it is anything else.
fn name_of(authority: &str) -> Option<&str> {
    let (name, rest) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    let port_is_right = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    (port_is_right && !name.is_empty() && name.bytes().all(usual)).then_some(name)
}

/// Whether no stranger can have a page under this name.
fn is_nobodys(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || is_localhost(name)
        || name.eq_ignore_ascii_case("host.docker.internal")
}

fn is_localhost(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// Whether a page comes from this machine, or from where the user says.
fn is_welcome(origin: &str, allowed: &AllowedHosts) -> bool {
    if allowed.any {
        return true;
    }
    let Some(name) = origin.split_once("://").and_then(|(_, authority)| name_of(authority)) else {
        return false;
    };
    let is_here = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    is_localhost(name) || name.parse().is_ok_and(is_here) || allowed.adds(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(allowed: &[&str]) -> Reach {
        Reach::Unverified(AllowedHosts::new(
            &allowed.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
        ))
    }

    fn is_answered(reach: &Reach, sent: &[(&str, &[u8])]) -> bool {
        reach.check(Headers::new(sent)).is_ok()
    }

    #[test]
    fn names_that_no_stranger_owns_are_answered() {
        let usual = reach(&[]);
        for host in [
            "localhost",
            "localhost:8000",
            "127.0.0.1:8000",
            "192.168.0.1:8000",
            "[::1]:8000",
            "[2001:db8::1]",
            "db.localhost:1",
            "partita",
            "partita:8000",
            "my_db-1:80",
            "host.docker.internal:8000",
            "LOCALHOST",
        ] {
            assert!(is_answered(&usual, &[("host", host.as_bytes())]), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "",
            ":8000",
            "localhost:8000@evil.example",
            "evil@localhost",
            "localhost:80:80",
            "localhost:x",
            "[::1]x",
            "[evil.example]",
            "[::1",
            "localhost/",
            "local host",
            "evil.",
            "127.0.0.1.evil.example",
            "::1",
        ] {
            assert!(!is_answered(&usual, &[("host", host.as_bytes())]), "{host}");
            assert!(is_answered(&Reach::Verified, &[("host", host.as_bytes())]));
        }
        assert!(!is_answered(&usual, &[("host", b"localhost\xff")]));
        assert!(!is_answered(&usual, &[("host", b"localhost"), ("host", b"evil.example")]));
        assert!(!is_answered(&usual, &[]) && is_answered(&Reach::Verified, &[]));
    }

    #[test]
    fn names_can_be_allowed() {
        let named = reach(&["db.example"]);
        assert!(is_answered(&named, &[("host", b"DB.example:8000")]));
        assert!(!is_answered(&named, &[("host", b"other.example")]));
        let any = reach(&["*"]);
        assert!(is_answered(&any, &[("host", b"other.example"), ("origin", b"null")]));
        assert!(!is_answered(&any, &[("host", b"localhost:8000@evil.example")]));
    }

    #[test]
    fn only_local_pages_are_answered() {
        let usual = reach(&[]);
        let from = |reach: &Reach, origin: &str| {
            is_answered(reach, &[("host", b"localhost:8000"), ("origin", origin.as_bytes())])
        };
        assert!(
            ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:80"]
                .iter()
                .all(|origin| from(&usual, origin))
        );
        for origin in [
            "https://evil.example",
            "http://203.0.113.5",
            "http://partita",
            "null",
            "file://",
            "",
            "localhost",
        ] {
            assert!(!from(&usual, origin), "{origin}");
            assert_eq!(usual.welcomes(origin), from(&usual, origin));
        }
        assert!(from(&reach(&["app.example"]), "https://app.example"));
    }
}
