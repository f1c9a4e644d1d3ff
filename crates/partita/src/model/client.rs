//! A small blocking client of the DynamoDB API over plain HTTP: one connection, signed requests, retries.

use super::arguments::Endpoint;
use partita_auth::{Credential, Signer};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TIMEOUT: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 6;
/// No answer of the API is larger.
const MOST_BYTES: usize = 64 << 20;

pub struct Client {
    /// `127.0.0.1:8000`.
    place: String,
    signer: Signer,
    connection: Option<BufReader<TcpStream>>,
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
        let url = endpoint.endpoint.as_deref().ok_or("no endpoint is given")?;
        if url.starts_with("https://") {
            return Err(format!(
                "{url} needs TLS, which this client does not speak. For a table on AWS: \
                 aws dynamodb scan --table-name NAME > items.json, then partita model infer items.json"
            ));
        }
        let place = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
        let place = if place.contains(':') { place.to_owned() } else { format!("{place}:80") };
        let credential = Credential::new(&endpoint.access_key, &endpoint.secret_key);
        Ok(Client { place, signer: Signer::new(credential, &endpoint.region), connection: None })
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
        let body = body.to_string();
        let exchanged = self.exchange(operation, body.as_bytes());
        let (status, answer) = exchanged.map_err(|error| {
            self.connection = None;
            Failure::Unreachable(format!("no database answers at http://{}: {error}", self.place))
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

    fn exchange(&mut self, operation: &str, body: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        let target = format!("DynamoDB_20120810.{operation}");
        let mut head = "POST / HTTP/1.1\r\n".to_owned();
        for (name, value) in self.signer.headers(&self.place, &target, body, now() as i64) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        connection.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        let answer = read_answer(&mut connection)?;
        self.connection = Some(connection);
        Ok(answer)
    }

    fn connect(&self) -> std::io::Result<BufReader<TcpStream>> {
        let address = self.place.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::AddrNotAvailable)?;
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }
}

fn read_answer(connection: &mut BufReader<TcpStream>) -> std::io::Result<(u16, Vec<u8>)> {
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
