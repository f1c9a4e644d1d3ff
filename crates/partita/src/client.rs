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
    /// What the requests are for, in a header.
    purpose: &'static str,
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

    /// Whether a transaction was cancelled because a write is not valid, and not because of its conditions or of other requests.
    pub fn is_invalid_transaction(&self) -> bool {
        matches!(self, Failure::Refused { kind, message }
            if kind == "TransactionCanceledException" && message.contains("ValidationError"))
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
        Ok(Client { url, address, signer, http, purpose: "true" })
    }

    /// Creates a client of a migration, whose writes are not judged while its table is in transition.
    pub fn for_migration(endpoint: &Endpoint) -> Result<Client, String> {
        Ok(Client { purpose: "migration", ..Client::new(endpoint)? })
    }

    /// Creates a client of the DynamoDB Streams API, which has an address of its own at AWS.
    pub fn for_streams(endpoint: &Endpoint) -> Result<Client, String> {
        let mut client = Client::new(endpoint)?;
        if let Some(host) = client.url.strip_prefix("https://dynamodb.") {
            client.url = format!("https://streams.dynamodb.{host}");
            client.address = Address::parse(&client.url)?;
        }
        Ok(client)
    }

    /// Calls an operation. Temporary failures are retried with exponential backoff.
    pub fn call(&mut self, operation: &str, body: &Value) -> Result<Value, Failure> {
        self.call_target(&format!("DynamoDB_20120810.{operation}"), body)
    }

    /// Calls an operation of the DynamoDB Streams API.
    pub fn call_streams(&mut self, operation: &str, body: &Value) -> Result<Value, Failure> {
        self.call_target(&format!("DynamoDBStreams_20120810.{operation}"), body)
    }

    fn call_target(&mut self, target: &str, body: &Value) -> Result<Value, Failure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.once(target, body) {
                Err(failure) if failure.is_temporary() && attempt < ATTEMPTS => {
                    std::thread::sleep(Duration::from_millis(20 << attempt));
                }
                outcome => return outcome,
            }
        }
    }

    fn once(&mut self, target: &str, body: &Value) -> Result<Value, Failure> {
        self.request("POST", "/", &[], target, body.to_string().as_bytes())
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
        // A cancelled transaction names only codes; the first reason says more.
        let reasons = response["CancellationReasons"].as_array().into_iter().flatten();
        let message = match reasons.filter_map(|reason| reason["Message"].as_str()).next() {
            Some(reason) => format!("{message}: {reason}"),
            None => message,
        };
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
        // Models that enforce declared reads let tools pass, and models in transition the migration.
        request = request.header("x-partita-maintenance", self.purpose);
        let request = request.body(Full::new(Bytes::copy_from_slice(call.body)));
        self.http.send(request.map_err(std::io::Error::other)?)
    }
}
