//! `partita healthcheck`: asks whether a database is ready for requests of every kind.

use crate::arguments::Healthcheck;
use crate::client::address::{self, Address};
use crate::client::certificate_file::trust_in_file;
use crate::client::insecure_tls::trust_in_anyone;
use std::error::Error;
use std::io::{Read, Write};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);
const MOST_BYTES: u64 = 64 * 1_024;

pub fn run(check: &Healthcheck) -> Result<(), Box<dyn Error>> {
    let place = if check.host.contains(':') {
        format!("[{}]:{}", check.host, check.port)
    } else {
        format!("{}:{}", check.host, check.port)
    };
    let answer = ask(check, &place).map_err(|error| format!("no database answers at {place}: {error}"))?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200") && body.contains("\"ready\":true") => {
            println!("ready: {place}");
            Ok(())
        }
        Some((_, body)) if body.contains("\"ready\":false") => {
            Err(format!("the database at {place} is not ready: {}", body.trim_end()).into())
        }
        _ => Err(format!("what answers at {place} is not a database that says whether it is ready").into()),
    }
}

fn ask(check: &Healthcheck, place: &str) -> std::io::Result<String> {
    let trust = match (&check.tls_ca, check.insecure) {
        (Some(file), _) => Some(trust_in_file(file)?),
        (None, true) => Some(trust_in_anyone()),
        (None, false) => None,
    };
    let address = Address { encrypted: trust.is_some(), host: place.to_owned(), port: check.port };
    if check.insecure && !address.is_loopback() {
        return Err(std::io::Error::other("--insecure is for this machine only; give --tls-ca FILE"));
    }
    let mut stream = address.connect_trusting(TIMEOUT, || trust.clone().map_or_else(address::trust, Ok))?;
    let path = partita_server::READINESS_PATH;
    // In one piece: encrypted, each would be a record of its own, and a question is answered at once only if it is whole.
    let question = format!("GET {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
    stream.write_all(question.as_bytes())?;
    let mut answer = Vec::new();
    match stream.take(MOST_BYTES).read_to_end(&mut answer) {
        // An encrypted connection may end without a word, once the answer is there.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof && !answer.is_empty() => {}
        read => drop(read?),
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
