//! A small blocking client of the DynamoDB API: signed requests, with retries.

pub mod address;
pub mod credentials;
pub mod http_client;
pub mod tls;

use crate::arguments::Endpoint;
use crate::clock;
use address::Address;
use bytes::Bytes;
use http_body_util::Full;
use http_client::HttpClient;
use hyper::{Request, StatusCode};
use partita_auth::{Signer, UnsignedRequest};
use serde_json::Value;
use std::time::Duration;

const ATTEMPTS: u32 = 6;
const TIMEOUT: Duration = Duration::from_secs(30);
/// No response of the API is larger.
const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// Where a server lists, attaches and detaches models.
pub const MODELS_PATH: &str = "/_partita/model";
/// Where a server verifies its database.
pub const VERIFY_PATH: &str = "/_partita/verify";

pub struct Client {
    url: String,
    address: Address,
    signer: Signer,
    http: HttpClient,
}

/// An exception that the database returned, or the reason why it could not be reached.
pub enum Failure {
    Refused { kind: String, message: String },
    Unreachable(String),
}

impl Failure {
    pub fn is(&self, exception: &str) -> bool {
        matches!(self, Failure::Refused { kind, .. } if kind == exception)
    }

    fn is_temporary(&self) -> bool {
        let temporary = [
            "ProvisionedThroughputExceededException",
            "ThrottlingException",
            "InternalServerError",
            "ResourceInUseException",
        ];
        temporary.iter().any(|kind| self.is(kind)) || matches!(self, Failure::Unreachable(_))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused { kind, message } => write!(out, "the database refuses: {kind}: {message}"),
            Failure::Unreachable(message) => out.write_str(message),
        }
    }
}

impl Client {
    pub fn new(endpoint: &Endpoint) -> Result<Client, String> {
        let (url, signer) = credentials::resolve(endpoint)?;
        let address = Address::parse(&url)?;
        let http = tls::config_for(address.encrypted)
            .and_then(|tls| HttpClient::new(tls, TIMEOUT, MAX_RESPONSE_BYTES))
            .map_err(|error| error.to_string())?;
        Ok(Client { url, address, signer, http })
    }

    /// Calls an operation. Temporary failures are retried with exponential backoff.
    pub fn call(&mut self, operation: &str, body: &Value) -> Result<Value, Failure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.once(operation, body) {
                Err(failure) if failure.is_temporary() && attempt < ATTEMPTS => {
                    std::thread::sleep(Duration::from_millis(20 << attempt));
                }
                outcome => return outcome,
            }
        }
    }

    fn once(&mut self, operation: &str, body: &Value) -> Result<Value, Failure> {
        let (target, body) = (format!("DynamoDB_20120810.{operation}"), body.to_string());
        self.request("POST", "/", &[], &target, body.as_bytes())
    }

    /// Sends a request to one of Partita's own endpoints.
    pub fn administer(
        &mut self,
        path: &str,
        method: &str,
        parameters: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Value, String> {
        let parameters: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.request(method, path, &parameters, "", body).map_err(|failure| failure.to_string())
    }

    fn request(
        &mut self,
        method: &str,
        path: &str,
        parameters: &[(String, String)],
        target: &str,
        body: &[u8],
    ) -> Result<Value, Failure> {
        let call = UnsignedRequest { method, host: &self.address.host, path, parameters, target, body };
        let (status, response) = self
            .send(&call)
            .map_err(|error| Failure::Unreachable(format!("no database answers at {}: {error}", self.url)))?;
        let response: Value = serde_json::from_slice(&response).unwrap_or(Value::Null);
        if status == StatusCode::OK {
            return Ok(response);
        }
        let kind = response["__type"].as_str().unwrap_or("unknown error");
        let kind = kind.rsplit('#').next().unwrap_or(kind).to_owned();
        let message =
            response["message"].as_str().or(response["Message"].as_str()).unwrap_or_default().to_owned();
        Err(Failure::Refused { kind, message })
    }

    fn send(&self, call: &UnsignedRequest<'_>) -> std::io::Result<(StatusCode, Vec<u8>)> {
        let query: Vec<String> =
            call.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{}{mark}{}", self.address.url(), call.path, query.join("&"));
        let mut request = Request::builder().method(call.method).uri(url);
        for (name, value) in self.signer.sign(call, clock::unix_seconds() as i64) {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(call.body)));
        self.http.send(request.map_err(std::io::Error::other)?)
    }
}
