//! A model attached to the server: enforced, warned about, and watched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Server {
    process: Child,
    place: String,
    _greeting: BufReader<ChildStdout>,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
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
        let place = line.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap().to_owned();
        Server { process, place, _greeting: greeting }
    }

    fn seed(&self) {
        let status = Command::new(env!("CARGO_BIN_EXE_partita"))
            .args(["model", "seed", "models/shop-orders.toml", "--items", "300", "--endpoint"])
            .arg(format!("http://{}", self.place))
            .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Status and answer.
    fn send(&self, head: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.place).unwrap();
        let place = &self.place;
        let length = body.len();
        write!(stream, "{head}Host: {place}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn call(&self, operation: &str, body: &Value) -> (u16, Value) {
        let head = format!(
            "POST / HTTP/1.1\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
             X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n"
        );
        self.send(&head, &body.to_string())
    }

    fn figures(&self) -> (u16, Value) {
        self.send("GET /_partita/model HTTP/1.1\r\n", "")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

const USER: &str = "USER#01K6TH9480QZKHFWEAZCG61FZ7";
const ORDER: &str = "ORDER#2026-04-05T10:30:00Z#01K3ZYEJW856WCXCN1Z497PADR";

fn wrong() -> Value {
    json!({ "TableName": "Shop", "Item": { "PK": { "S": "CUSTOMER#1" }, "SK": { "S": "X" }, "EntityType": { "S": "User" } } })
}

fn ship(with_keys: bool) -> Value {
    let expression = if with_keys { "SET #s = :s REMOVE GSI2PK, GSI2SK" } else { "SET #s = :s" };
    json!({
        "TableName": "Shop", "Key": { "PK": { "S": USER }, "SK": { "S": ORDER } }, "UpdateExpression": expression,
        "ExpressionAttributeNames": { "#s": "status" }, "ExpressionAttributeValues": { ":s": { "S": "SHIPPED" } },
    })
}

#[test]
fn an_enforced_model_refuses_what_breaks_it() {
    let server = Server::start(&["--model", "models/shop-orders.toml", "--model-mode", "enforce"]);
    server.seed();
    let (status, answer) = server.call("PutItem", &wrong());
    assert_eq!(status, 400);
    assert!(answer["__type"].as_str().unwrap().ends_with("ValidationException"));
    assert!(
        answer["message"].as_str().unwrap().contains("key rule is broken: CUSTOMER#1 / X is no key of User"),
        "{answer}"
    );
    let (status, answer) = server.call("UpdateItem", &ship(false));
    assert_eq!(status, 400);
    assert!(answer["message"].as_str().unwrap().contains("the index would be stale"), "{answer}");
    assert_eq!(server.call("UpdateItem", &ship(true)).0, 200);
}

#[test]
fn a_watched_table_names_its_patterns() {
    let server = Server::start(&["--model", "models/shop-orders.toml"]);
    server.seed();
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    let query = |prefix: &str| {
        json!({
            "TableName": "Shop", "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)", "Limit": 10, "ScanIndexForward": false,
            "ExpressionAttributeValues": { ":p": { "S": USER }, ":s": { "S": prefix } },
        })
    };
    assert_eq!(server.call("Query", &query("ORDER#")).0, 200);
    assert_eq!(server.call("Query", &query("INVOICE#")).0, 200);
    assert_eq!(server.call("Scan", &json!({ "TableName": "Shop" })).0, 200);
    let (status, figures) = server.figures();
    assert_eq!(status, 200);
    assert_eq!(figures["patterns"][0]["pattern"], "recentOrders");
    assert_eq!(figures["undeclared"].as_array().unwrap().len(), 2, "{figures}");
    assert_eq!(figures["violations"][0]["rule"], "key");
    assert_eq!(figures["hotKeys"][0]["key"], format!("table {USER}"));
}

#[test]
fn without_a_model_nothing_is_different() {
    let server = Server::start(&[]);
    server.seed();
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    assert_ne!(server.figures().0, 200);
}

#[test]
fn a_table_moves_to_the_next_version_and_back() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let old = root.join("models/shop-orders.toml");
    let text = std::fs::read_to_string(&old).unwrap();
    let new = folder.path().join("new.toml");
    let text = text
        .replace("key = [\"USER#{userId}\", \"USER#{userId}\"]", "key = [\"USER#{userId}\", \"PROFILE\"]")
        .replace("[entity.User]", "[index.GSI3]\nkeys = [\"GSI3PK\", \"GSI3SK\"]\n[entity.User]\nindex.GSI3 = { key = [\"EMAIL#{email}\", \"USER\"] }")
        .replace("[pattern]", "[pattern]\nuserByEmail = { in = [\"email\"], out = \"User\", rps = 1 }");
    std::fs::write(&new, text).unwrap();
    let migrate = |from: &PathBuf, to: &PathBuf, more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_partita"))
            .args(["model", "migrate"])
            .args([from, to])
            .args(more)
            .args(["--endpoint", &format!("http://{}", server.place)])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (code, text) = migrate(&old, &new, &[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("dry run"), "{text}");
    let checkpoint = folder.path().join("checkpoint");
    let (code, text) = migrate(&old, &new, &["--apply", "--checkpoint", checkpoint.to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("adding index GSI3") && text.contains("0 are not"), "{text}");
    let scan = json!({ "TableName": "Shop", "IndexName": "GSI3" });
    let (_, answer) = server.call("Scan", &scan);
    assert!(answer["Count"].as_u64().unwrap() > 0);
    assert_eq!(answer["Items"][0]["SK"]["S"], "PROFILE");
    let (code, text) = migrate(&new, &old, &["--apply"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(server.call("Scan", &scan).1["Count"], 0);
}
