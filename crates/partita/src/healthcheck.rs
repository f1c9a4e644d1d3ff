//! `partita healthcheck`: checks whether a database is ready for requests of every kind.

use crate::arguments::Healthcheck;
use crate::client::address::Address;
use crate::client::http_client::HttpClient;
use crate::client::tls;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_RESPONSE_BYTES: usize = 64 * 1_024;

pub fn run(check: &Healthcheck) -> Result<(), Box<dyn Error>> {
    let address = address(check);
    let place = &address.host;
    let unknown = || format!("the server at {place} does not report whether it is ready").into();
    let (status, body) = match send(check, &address) {
        Ok((status, body)) => (status, String::from_utf8_lossy(&body).into_owned()),
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(unknown()),
        Err(error) => return Err(format!("no database answers at {place}: {error}").into()),
    };
    if status == StatusCode::OK && body.contains("\"ready\":true") {
        println!("ready: {place}");
        return Ok(());
    }
    if body.contains("\"ready\":false") {
        return Err(format!("the database at {place} is not ready: {}", body.trim_end()).into());
    }
    Err(unknown())
}

fn address(check: &Healthcheck) -> Address {
    let host = if check.host.contains(':') {
        format!("[{}]:{}", check.host, check.port)
    } else {
        format!("{}:{}", check.host, check.port)
    };
    Address { encrypted: check.tls_ca.is_some() || check.insecure, host }
}

fn send(check: &Healthcheck, address: &Address) -> std::io::Result<(StatusCode, Vec<u8>)> {
    if check.insecure && !address.is_loopback() {
        return Err(std::io::Error::other("--insecure is for this machine only; give --tls-ca FILE"));
    }
    let tls = match &check.tls_ca {
        Some(file) => tls::trust_file(file)?,
        None if check.insecure => tls::trust_anyone(),
        None => tls::config_for(false)?,
    };
    let url = format!("{}{}", address.url(), partita_server::READINESS_PATH);
    let request = Request::get(url).header("connection", "close").body(Full::<Bytes>::default());
    HttpClient::new(tls, TIMEOUT, MAX_RESPONSE_BYTES)?.send(request.map_err(std::io::Error::other)?)
}
