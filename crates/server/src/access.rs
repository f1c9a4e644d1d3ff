//! Who may reach a server that does not verify signatures.
//!
//! A page in a browser can send requests to this machine, under a name of its own that resolves here. So
//! without verified signatures only requests to a local name, from no foreign page, are answered.

use partita_api::{Exception, ExceptionKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this machine: the Host must be a local name, the Origin, if any, too.
    Local,
    /// Anyone; signatures are verified, or the user said so.
    Open,
}

impl Reach {
    pub fn check(self, host: Option<&str>, origin: Option<&str>) -> Result<(), Exception> {
        if self == Reach::Open {
            return Ok(());
        }
        let origin_host = origin.map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
        match host.into_iter().chain(origin_host).find(|name| !is_local(name)) {
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

    #[test]
    fn only_local_names_are_answered() {
        for host in
            ["localhost", "localhost:8000", "127.0.0.1:8000", "127.5.0.1", "[::1]:8000", "db.localhost:1"]
        {
            assert_eq!(Reach::Local.check(Some(host), None), Ok(()), "{host}");
        }
        for host in ["evil.example", "evil.example:8000", "192.168.0.1:8000", "localhost.evil.example"] {
            assert!(Reach::Local.check(Some(host), None).is_err(), "{host}");
            assert_eq!(Reach::Open.check(Some(host), None), Ok(()));
        }
        assert!(Reach::Local.check(Some("localhost:8000"), Some("https://evil.example")).is_err());
        assert_eq!(Reach::Local.check(Some("localhost:8000"), Some("http://localhost:3000")), Ok(()));
    }
}
