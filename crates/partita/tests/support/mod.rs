//! A server, and `partita model` against it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server in memory.
pub struct Server {
    process: Child,
    pub address: String,
    _greeting: BufReader<ChildStdout>,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_partita"))
            .args(["serve", "--in-memory", "--port", "0"])
            .args(arguments)
            .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut greeting = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        greeting.read_line(&mut line).unwrap();
        let address = line.split_whitespace().find_map(|word| word.split_once("://")).unwrap().1.to_owned();
        Server { process, address, _greeting: greeting }
    }

    pub fn seed(&self) {
        self.model(0, &["seed", "models/shop-orders.toml", "--items", "300"]);
    }

    /// Runs `partita model …` against this server, and returns its output.
    pub fn model(&self, code: i32, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_partita"))
            .arg("model")
            .args(arguments)
            .args(["--endpoint", &format!("http://{}", self.address)])
            .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        text
    }

    /// Sends a request, and returns status and body.
    pub fn send(&self, head: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let address = &self.address;
        let length = body.len();
        write!(
            stream,
            "{head}Host: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    pub fn call(&self, operation: &str, body: &Value) -> (u16, Value) {
        let head = format!(
            "POST / HTTP/1.1\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
             X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n"
        );
        self.send(&head, &body.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
