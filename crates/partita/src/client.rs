//! A small blocking client of the DynamoDB API: one connection, signed requests, retries.

pub mod address;
pub mod certificate_file;
pub mod credentials;
pub mod insecure_tls;

use crate::arguments::Endpoint;
use crate::client::address::{Address, Connection};
use partita_auth::{Call, Signer};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const ATTEMPTS: u32 = 6;
/// No answer of the API is larger.
const MOST_BYTES: usize = 64 << 20;
/// Where a server shows and takes models.
pub const MODELS: &str = "/_partita/model";
/// Where a server verifies its database.
pub const VERIFY: &str = "/_partita/verify";

pub struct Client {
    url: String,
    address: Address,
    signer: Signer,
    connection: Option<BufReader<Connection>>,
}

/// What the database refuses, by its name, or that it cannot be reached.
pub enum Failure {
    Refused { kind: String, message: String },
    Unreachable(String),
}

impl Failure {
    pub fn is(&self, wanted: &str) -> bool {
        matches!(self, Failure::Refused { kind, .. } if kind == wanted)
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

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default()
}

impl Client {
    pub fn new(endpoint: &Endpoint) -> Result<Client, String> {
        let (url, signer) = credentials::resolve(endpoint)?;
        Ok(Client { address: Address::parse(&url)?, url, signer, connection: None })
    }

    /// Calls an operation; what may pass is tried again, each time after a longer pause.
    pub fn call(&mut self, operation: &str, body: &Value) -> Result<Value, Failure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.once(operation, body) {
                Err(failure) if failure.is_temporary() && attempt < ATTEMPTS => {
                    self.connection = None;
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

    /// Asks Partita itself, at a path of its own.
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
        let host = self.address.host.clone();
        let exchanged = self.exchange(&Call { method, host: &host, path, parameters, target, body });
        let (status, answer) = exchanged.map_err(|error| {
            self.connection = None;
            Failure::Unreachable(format!("no database answers at {}: {error}", self.url))
        })?;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or(Value::Null);
        if status == 200 {
            return Ok(answer);
        }
        let kind = answer["__type"].as_str().unwrap_or("unknown error");
        let kind = kind.rsplit('#').next().unwrap_or(kind).to_owned();
        let message =
            answer["message"].as_str().or(answer["Message"].as_str()).unwrap_or_default().to_owned();
        Err(Failure::Refused { kind, message })
    }

    fn exchange(&mut self, call: &Call<'_>) -> std::io::Result<(u16, Vec<u8>)> {
        let query: Vec<String> =
            call.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        let mut head = format!("{} {}{mark}{} HTTP/1.1\r\n", call.method, call.path, query.join("&"));
        for (name, value) in self.signer.sign(call, now() as i64) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", call.body.len()));
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::new(self.address.connect()?),
        };
        connection.get_mut().write_all(&[head.as_bytes(), call.body].concat())?;
        connection.get_mut().flush()?;
        let answer = read_answer(&mut connection)?;
        self.connection = Some(connection);
        Ok(answer)
    }
}

fn read_answer(connection: &mut BufReader<Connection>) -> std::io::Result<(u16, Vec<u8>)> {
    let broken = |message: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, message.to_owned());
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status =
        line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| broken("not HTTP"))?;
    let mut length = None;
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length =
        length.filter(|length| *length <= MOST_BYTES).ok_or_else(|| broken("an answer without a length"))?;
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok((status, body))
}
