//! Which `Host` and `Origin` headers a server without verified signatures accepts.
//!
//! A web page can send requests to this server under a name of its own that it lets resolve to this address (DNS rebinding).
//! So without verified signatures only requests to names that no stranger can own are accepted, and none from foreign pages.

use partita_auth::Headers;
use std::net::{IpAddr, Ipv6Addr};

/// The names under which a server accepts requests.
pub enum HostPolicy {
    /// Signatures are verified, so any name is accepted.
    Verified,
    /// Signatures are not verified: addresses, names without dots, and these are accepted.
    Unverified(AllowedHosts),
}

/// Names that the user adds to the default ones.
#[derive(Default)]
pub struct AllowedHosts {
    any: bool,
    names: Vec<String>,
}

impl AllowedHosts {
    /// From the values of `--allow-host`; `*` means any name.
    pub fn new(names: &[String]) -> AllowedHosts {
        let any = names.iter().any(|name| name == "*");
        AllowedHosts { any, names: names.iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    fn contains(&self, name: &str) -> bool {
        self.any || self.names.iter().any(|added| added.eq_ignore_ascii_case(name))
    }
}

impl HostPolicy {
    /// Checks all `Host` and `Origin` headers. The error says why they are refused.
    pub fn check(&self, headers: Headers<'_>) -> Result<(), String> {
        let HostPolicy::Unverified(allowed) = self else { return Ok(()) };
        if !headers.contains("host") {
            return Err(refused("without a Host"));
        }
        for host in headers.get_all("host") {
            check_host(host, allowed)?;
        }
        for origin in headers.get_all("origin") {
            let origin = String::from_utf8_lossy(origin);
            if !is_allowed_origin(&origin, allowed) {
                return Err(refused(&format!("from pages of {origin}")));
            }
        }
        Ok(())
    }

    /// The same for the authority in a request line.
    pub fn check_authority(&self, authority: &str) -> Result<(), String> {
        match self {
            HostPolicy::Verified => Ok(()),
            HostPolicy::Unverified(allowed) => check_host(authority.as_bytes(), allowed),
        }
    }

    /// Whether pages of this origin may read responses.
    pub fn allows_origin(&self, origin: &str) -> bool {
        match self {
            HostPolicy::Verified => true,
            HostPolicy::Unverified(allowed) => is_allowed_origin(origin, allowed),
        }
    }
}

fn check_host(sent: &[u8], allowed: &AllowedHosts) -> Result<(), String> {
    let name = std::str::from_utf8(sent).ok().and_then(host_name);
    match name {
        Some(name) if is_unownable(name) || allowed.contains(name) => Ok(()),
        _ => Err(refused(&format!("to {}", String::from_utf8_lossy(sent)))),
    }
}

fn refused(which: &str) -> String {
    format!(
        "Requests {which} are refused: this server does not verify signatures, so a web page could reach it under a name of its own. Use its address, allow the name with --allow-host, or verify signatures with --access-key."
    )
}

/// The name in `name`, `name:port` or `[address]:port`; `None` for anything else.
fn host_name(authority: &str) -> Option<&str> {
    let (name, rest) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    let has_valid_port = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    (has_valid_port && !name.is_empty() && name.bytes().all(is_name_byte)).then_some(name)
}

/// Whether no stranger can serve a web page under this name.
fn is_unownable(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok()
        || !name.contains('.')
        || is_localhost(name)
        || name.eq_ignore_ascii_case("host.docker.internal")
}

fn is_localhost(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// Whether an origin is on this machine, or allowed by the user.
fn is_allowed_origin(origin: &str, allowed: &AllowedHosts) -> bool {
    if allowed.any {
        return true;
    }
    let Some(name) = origin.split_once("://").and_then(|(_, authority)| host_name(authority)) else {
        return false;
    };
    let is_local = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    is_localhost(name) || name.parse().is_ok_and(is_local) || allowed.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allowed: &[&str]) -> HostPolicy {
        HostPolicy::Unverified(AllowedHosts::new(
            &allowed.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
        ))
    }

    fn is_accepted(policy: &HostPolicy, sent: &[(&str, &[u8])]) -> bool {
        policy.check(Headers::new(sent)).is_ok()
    }

    #[test]
    fn names_that_no_stranger_can_own_are_accepted() {
        let default = policy(&[]);
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
            assert!(is_accepted(&default, &[("host", host.as_bytes())]), "{host}");
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
            assert!(!is_accepted(&default, &[("host", host.as_bytes())]), "{host}");
            assert!(is_accepted(&HostPolicy::Verified, &[("host", host.as_bytes())]));
        }
        assert!(!is_accepted(&default, &[("host", b"localhost\xff")]));
        assert!(!is_accepted(&default, &[("host", b"localhost"), ("host", b"evil.example")]));
        assert!(!is_accepted(&default, &[]) && is_accepted(&HostPolicy::Verified, &[]));
    }

    #[test]
    fn names_can_be_allowed() {
        let named = policy(&["db.example"]);
        assert!(is_accepted(&named, &[("host", b"DB.example:8000")]));
        assert!(!is_accepted(&named, &[("host", b"other.example")]));
        let any = policy(&["*"]);
        assert!(is_accepted(&any, &[("host", b"other.example"), ("origin", b"null")]));
        assert!(!is_accepted(&any, &[("host", b"localhost:8000@evil.example")]));
    }

    #[test]
    fn only_local_pages_are_accepted() {
        let default = policy(&[]);
        let from = |policy: &HostPolicy, origin: &str| {
            is_accepted(policy, &[("host", b"localhost:8000"), ("origin", origin.as_bytes())])
        };
        assert!(
            ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:80"]
                .iter()
                .all(|origin| from(&default, origin))
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
            assert!(!from(&default, origin), "{origin}");
            assert_eq!(default.allows_origin(origin), from(&default, origin));
        }
        assert!(from(&policy(&["app.example"]), "https://app.example"));
    }
}
