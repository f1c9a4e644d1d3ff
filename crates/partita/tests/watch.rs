//! Models attached to the server: enforced, warning, and watched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Server {
    process: Child,
    address: String,
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
        let address = line.split_whitespace().find_map(|word| word.split_once("://")).unwrap().1.to_owned();
        Server { process, address, _greeting: greeting }
    }

    fn seed(&self) {
        self.model(0, &["seed", "models/shop-orders.toml", "--items", "300"]);
    }

    /// Runs `partita model …` against this server, and returns its output.
    fn model(&self, code: i32, arguments: &[&str]) -> String {
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
    fn send(&self, head: &str, body: &str) -> (u16, Value) {
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

    fn call(&self, operation: &str, body: &Value) -> (u16, Value) {
        let head = format!(
            "POST / HTTP/1.1\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
             X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n"
        );
        self.send(&head, &body.to_string())
    }

    fn statistics(&self) -> Value {
        let (status, statistics) = self.send("GET /_partita/model?table=Shop HTTP/1.1\r\n", "");
        assert_eq!(status, 200, "{statistics}");
        statistics
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
    let user = json!({ "PK": { "S": USER }, "SK": { "S": USER }, "EntityType": { "S": "User" }, "email": { "S": "a@b" } });
    let marker = json!({ "PK": { "S": "UNIQUE#User#email#a@b" }, "SK": { "S": "UNIQUE#User#email#a@b" } });
    let put = |items: &[&Value]| {
        let puts: Vec<Value> = items.iter().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
        server.call("BatchWriteItem", &json!({ "RequestItems": { "Shop": puts } }))
    };
    let (status, answer) = put(&[&user]);
    assert_eq!(status, 400);
    assert!(
        answer["message"].as_str().unwrap().contains("unique rule is broken: email of User is unique"),
        "{answer}"
    );
    assert_eq!(put(&[&user, &marker]).0, 200);
}

#[test]
fn statements_are_checked_against_a_model_too() {
    let server = Server::start(&["--model", "models/shop-orders.toml", "--model-mode", "enforce"]);
    server.seed();
    let insert = r#"INSERT INTO "Shop" VALUE {'PK': 'CUSTOMER#1', 'SK': 'X', 'EntityType': 'User'}"#;
    let stale = format!(r#"UPDATE "Shop" SET status = 'SHIPPED' WHERE PK = '{USER}' AND SK = '{ORDER}'"#);
    let current = format!(
        r#"UPDATE "Shop" SET status = 'SHIPPED' REMOVE GSI2PK REMOVE GSI2SK WHERE PK = '{USER}' AND SK = '{ORDER}'"#
    );
    let run = |statement: &str| server.call("ExecuteStatement", &json!({ "Statement": statement }));
    let both = |operation: &str, member: &str, statement: &str| {
        server.call(operation, &json!({ member: [{ "Statement": statement }] }))
    };
    for (refused, text) in [(insert, "is no key of User"), (stale.as_str(), "the index would be stale")] {
        for (status, answer) in [
            run(refused),
            both("BatchExecuteStatement", "Statements", refused),
            both("ExecuteTransaction", "TransactStatements", refused),
        ] {
            assert_eq!(status, 400, "{answer}");
            assert!(answer["message"].as_str().unwrap().contains(text), "{answer}");
        }
    }
    // The model accepts it, but there is no such order to update.
    let (_, answer) = run(&current);
    assert!(answer["__type"].as_str().unwrap().ends_with("ConditionalCheckFailedException"), "{answer}");
    let (status, answer) = run(&format!(r#"SELECT * FROM "Shop" WHERE PK = '{USER}'"#));
    assert_eq!((status, answer.get("ConsumedCapacity")), (200, None));
    assert!(server.statistics().to_string().contains("SELECT table"));
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
    let statistics = server.statistics();
    assert_eq!(statistics["patterns"][0]["pattern"], "recentOrders");
    assert_eq!(statistics["patterns"][0]["units"], 0.5);
    assert!(statistics["patterns"][0]["p99Microseconds"].as_u64().unwrap() > 0);
    let undeclared: Vec<&str> = statistics["undeclared"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["request"].as_str().unwrap())
        .collect();
    assert!(
        undeclared.contains(&"Query table, partition key USER#…, sort key begins_with INVOICE#…"),
        "{undeclared:?}"
    );
    assert!(undeclared.contains(&"Scan table"), "{undeclared:?}");
    assert_eq!(statistics["violations"][0]["rule"], "key");
    let heat = statistics["hotKeys"].as_array().unwrap();
    let users =
        heat.iter().find(|heat| heat["template"] == "USER#{userId}" && heat["place"] == "table").unwrap();
    assert!(
        users["keys"]
            .as_array()
            .unwrap()
            .iter()
            .any(|key| key["key"] == USER && key["atLeast"].as_u64() >= Some(2)),
        "{users}"
    );
}

#[test]
fn several_keys_at_once_and_transactions_are_attributed() {
    let server = Server::start(&["--model", "models/shop-orders.toml"]);
    server.seed();
    let key = json!({ "PK": { "S": USER }, "SK": { "S": USER } });
    let odd = json!({ "PK": { "S": "INVOICE#1" }, "SK": { "S": "X" } });
    let batch = json!({ "RequestItems": { "Shop": { "Keys": [key, odd] } } });
    let (_, answer) = server.call("BatchGetItem", &batch);
    assert!(answer.get("ConsumedCapacity").is_none(), "the client did not ask: {answer}");
    assert_eq!(
        server
            .call(
                "TransactGetItems",
                &json!({ "TransactItems": [{ "Get": { "TableName": "Shop", "Key": key } }] })
            )
            .0,
        200
    );
    let id = "01K3ZYEJW856WCXCN1Z497PADR";
    let order = json!({
        "EntityType": { "S": "Order" }, "PK": { "S": USER }, "SK": { "S": ORDER }, "orderId": { "S": id },
        "userId": { "S": &USER[5..] }, "createdAt": { "S": "2026-04-05T10:30:00Z" }, "status": { "S": "PAID" },
        "GSI1PK": { "S": format!("ORDER#{id}") }, "GSI1SK": { "S": format!("ORDER#{id}") },
    });
    let line = json!({
        "EntityType": { "S": "OrderItem" }, "PK": { "S": format!("ORDER#{id}") }, "SK": { "S": "ITEM#1" },
        "orderId": { "S": id }, "itemId": { "S": "1" },
    });
    let puts: Vec<Value> =
        [order, line].iter().map(|item| json!({ "Put": { "TableName": "Shop", "Item": item } })).collect();
    let (status, answer) = server.call("TransactWriteItems", &json!({ "TransactItems": puts }));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(server.call("UpdateItem", &ship(true)).0, 200);
    let statistics = server.statistics();
    let of = |list: &str, label: &str, name: &str| {
        let found = statistics[list].as_array().unwrap().iter().find(|one| one[label] == name);
        found.unwrap_or_else(|| panic!("{name}: {statistics}")).clone()
    };
    assert_eq!(of("patterns", "pattern", "userById")["requests"], 2);
    assert!(of("patterns", "pattern", "userById")["units"].as_f64().unwrap() > 0.0);
    assert_eq!(
        of("undeclared", "request", "GetItem table, partition key INVOICE#…, sort key = …")["requests"],
        1
    );
    assert_eq!(of("writes", "write", "placeOrder")["requests"], 1);
    assert!(of("writes", "write", "placeOrder")["units"].as_f64().unwrap() >= 4.0);
    assert_eq!(of("writes", "write", "setStatus")["requests"], 1);
    assert!(statistics["violations"].as_array().unwrap().is_empty(), "{statistics}");
}

#[test]
fn models_are_attached_and_detached_while_the_server_runs() {
    let server = Server::start(&["--model", "models/blog.toml", "--model", "models/task-manager.toml"]);
    server.seed();
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    let text = server.model(0, &["attach", "models/shop-orders.toml", "--enforce"]);
    assert!(text.contains("attached to table Shop, mode enforce"), "{text}");
    assert_eq!(server.call("PutItem", &wrong()).0, 400);
    let text = server.model(0, &["watch"]);
    for part in ["table Blog, mode warn", "table Shop, mode enforce", "rule key broken 1 times"] {
        assert!(text.contains(part), "{text}");
    }
    server.model(0, &["detach", "Shop"]);
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    assert!(server.model(2, &["detach", "Shop"]).contains("No model is attached to table Shop"));
    assert!(server.model(2, &["attach", "crates/partita/tests/golden/typing.toml"]).contains("P00"));
}

#[test]
fn servers_that_verify_signatures_refuse_to_attach_without_the_right_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = |secret: &str| {
        let path = folder.path().join(secret);
        std::fs::write(&path, secret).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let server = Server::start(&["--access-key", "me", "--secret-key-file", &file("secret")]);
    let attach = ["attach", "models/blog.toml", "--access-key", "me", "--secret-key-file"];
    server.model(0, &[&attach[..], &[&file("secret")]].concat());
    server.model(2, &[&attach[..], &[&file("wrong")]].concat());
    let refused =
        server.model(2, &["attach", "models/blog.toml", "--access-key", "me", "--secret-key", "secret"]);
    assert!(refused.contains("--secret-key-file"), "{refused}");
}

#[test]
fn encrypted_servers_are_reached_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .args(["-keyout", &path("key.pem"), "-out", &path("cert.pem")])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
    let server = Server::start(&["--tls-cert", &path("cert.pem"), "--tls-key", &path("key.pem")]);
    let port = server.address.rsplit(':').next().unwrap();
    let seed = |trusted: &str| {
        Command::new(env!("CARGO_BIN_EXE_partita"))
            .args([
                "model",
                "seed",
                "models/blog.toml",
                "--items",
                "50",
                "--endpoint",
                &format!("https://localhost:{port}"),
            ])
            .env("SSL_CERT_FILE", trusted)
            .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .output()
            .unwrap()
    };
    let output = seed(&path("cert.pem"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = seed(&path("key.pem"));
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no certificate can be read"));
}

#[test]
fn a_table_is_audited() {
    let server = Server::start(&[]);
    server.seed();
    let audit = ["audit", "models/shop-orders.toml"];
    let text = server.model(0, &audit);
    assert!(text.contains("0 violations"), "{text}");
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    let user = json!({ "PK": { "S": USER }, "SK": { "S": USER }, "EntityType": { "S": "User" }, "email": { "S": "new@b" } });
    assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": user })).0, 200);
    let text = server.model(1, &audit);
    assert!(text.contains("key: 1") && text.contains("User#email#new@b has no marker"), "{text}");
}

#[test]
fn keys_of_several_attributes_work_on_a_live_table() {
    let server = Server::start(&["--model", "crates/design/tests/good/freight.toml"]);
    server.model(0, &["seed", "crates/design/tests/good/freight.toml", "--items", "200"]);
    let (_, page) = server.call("Scan", &json!({ "TableName": "Freight", "IndexName": "ByLane" }));
    let item = &page["Items"][0];
    assert!(item["weight"]["N"].is_string(), "{page}");
    let query = json!({
        "TableName": "Freight", "IndexName": "ByLane", "Limit": 10, "ScanIndexForward": false,
        "KeyConditionExpression": "carrier = :c AND lane = :l AND dispatchedOn = :d",
        "ExpressionAttributeValues": { ":c": item["carrier"], ":l": item["lane"], ":d": item["dispatchedOn"] },
    });
    let (status, answer) = server.call("Query", &query);
    assert_eq!((status, answer["Count"].as_u64() > Some(0)), (200, true), "{answer}");
    let statistics = server.model(0, &["watch", "Freight"]);
    assert!(statistics.contains("heavyOfDay"), "{statistics}");
    server.model(0, &["audit", "crates/design/tests/good/freight.toml"]);
}

#[test]
fn a_server_without_models_behaves_as_usual() {
    let server = Server::start(&[]);
    server.seed();
    assert_eq!(server.call("PutItem", &wrong()).0, 200);
    assert_eq!(server.send("GET /_partita/model HTTP/1.1\r\n", "").1["models"], json!([]));
}

/// Writes the shop's model with changes to a file.
fn shop_with(folder: &tempfile::TempDir, changes: &[(&str, &str)]) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut text = std::fs::read_to_string(root.join(SHOP)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = folder.path().join(format!("{}.toml", changes.len()));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const SHOP: &str = "models/shop-orders.toml";
const PROFILE: (&str, &str) =
    ("key = [\"USER#{userId}\", \"USER#{userId}\"]", "key = [\"USER#{userId}\", \"PROFILE\"]");

#[test]
fn a_table_moves_to_the_next_version_and_back() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let index = "[index.GSI3]\nkeys = [\"GSI3PK\", \"GSI3SK\"]\n[entity.User]\nindex.GSI3 = { key = [\"EMAIL#{email}\", \"USER\"] }";
    let new = shop_with(&folder, &[PROFILE, ("[entity.User]", index)]);
    let text = server.model(0, &["migrate", SHOP, &new]);
    assert!(text.contains("dry run") && text.contains("index GSI3 is added"), "{text}");
    assert!(text.contains("USD on demand, prices of 20"), "{text}");
    let checkpoint = folder.path().join("checkpoint");
    let text =
        server.model(0, &["migrate", SHOP, &new, "--apply", "--checkpoint", checkpoint.to_str().unwrap()]);
    assert!(text.contains("adding index GSI3") && text.contains("0 do not"), "{text}");
    let scan = json!({ "TableName": "Shop", "IndexName": "GSI3" });
    let (_, answer) = server.call("Scan", &scan);
    assert!(answer["Count"].as_u64().unwrap() > 0);
    assert_eq!(answer["Items"][0]["SK"]["S"], "PROFILE");
    server.model(0, &["audit", &new]);
    let text = server.model(0, &["migrate", &new, SHOP, "--apply"]);
    assert!(text.contains("index GSI3, which the new model does not have, is left"), "{text}");
    assert_eq!(server.call("Scan", &scan).1["Count"], 0);
    let text = server.model(0, &["migrate", &new, SHOP, "--apply", "--remove-indexes"]);
    assert!(text.contains("removing index GSI3"), "{text}");
    assert_eq!(server.call("Scan", &scan).0, 400);
    server.model(0, &["audit", SHOP]);
}

#[test]
fn items_of_removed_types_are_deleted_if_requested() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let whole =
        std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOP)).unwrap();
    let start = whole.find("[entity.OrderItem]").unwrap();
    let entity = &whole[start..start + whole[start..].find("\n[").unwrap()];
    let new = shop_with(
        &folder,
        &[
            (entity, ""),
            ("transact = [\"create Order\", \"create OrderItem*\"]", "create = \"Order\""),
            (whole.lines().find(|line| line.starts_with("orderItems")).unwrap(), ""),
        ],
    );
    let text = server.model(1, &["migrate", SHOP, &new, "--apply"]);
    assert!(text.contains("items of OrderItem, which the new model does not have, are left alone"), "{text}");
    let text = server.model(0, &["migrate", SHOP, &new, "--apply", "--delete-removed"]);
    assert!(text.contains("are deleted"), "{text}");
    server.model(0, &["audit", &new]);
}

#[test]
fn changes_that_a_table_cannot_take_go_into_a_new_table() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    let text = server.model(2, &["migrate", SHOP, &new, "--apply"]);
    assert!(
        text.contains("keys change from PK, SK to pk, sk") && text.contains("--into NEW-TABLE"),
        "{text}"
    );
    let text = server.model(0, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    assert!(text.contains("table Shop2 has all items"), "{text}");
    let count = |table: &str| server.call("Scan", &json!({ "TableName": table })).1["Count"].clone();
    assert_eq!(count("Shop2"), count("Shop"));
    server.model(0, &["audit", &new, "--table", "Shop2"]);
    let changed = shop_with(
        &folder,
        &[
            PROFILE,
            ("keys = [\"GSI1PK\", \"GSI1SK\"]", "keys = [\"GSI1PK\"]"),
            ("\"ORDER#{orderId}\", \"ORDER#{orderId}\"", "\"ORDER#{orderId}\""),
        ],
    );
    assert!(server.model(2, &["migrate", SHOP, &changed]).contains("call it GSI1v2 in the new model"));
}

#[test]
fn items_that_would_get_the_same_key_are_reported_and_not_lost() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let keys = ("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]");
    let new = shop_with(&folder, &[keys, ("\"ITEM#{itemId}\"", "\"ITEM\"")]);
    let migrate = || server.model(1, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    let count =
        |table: &str| server.call("Scan", &json!({ "TableName": table })).1["Count"].as_u64().unwrap();
    let count_of = |text: &str, what: &str| -> u64 {
        let line = text.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{text}"));
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    const TAKEN: &str = "items are not copied: the new table has an item with their key";
    let text = migrate();
    assert!(count_of(&text, TAKEN) > 0);
    assert_eq!(count("Shop2") + count_of(&text, TAKEN), count("Shop"), "{text}");
    assert!(text.contains(r#"{"pk":{"S":"ORDER#"#) && text.contains(r#""sk":{"S":"ITEM"}}"#), "{text}");
    assert!(text.contains("still needed") && !text.contains("can be deleted"), "{text}");
    // A repetition recognizes what was copied; the rest is still missing.
    let again = migrate();
    assert_eq!(count_of(&again, TAKEN), count_of(&text, TAKEN));
    assert_eq!(count_of(&again, "were in the new table already"), count("Shop2"));
}

#[test]
fn items_that_become_equal_are_reported_and_not_lost() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let keys = ("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]");
    let new = shop_with(&folder, &[keys, ("\"ITEM#{itemId}\"", "\"ITEM\""), ("itemId = \"string\", ", "")]);
    // Only the old key distinguishes them.
    for number in 1..=2 {
        let item = json!({
            "EntityType": { "S": "OrderItem" }, "PK": { "S": "ORDER#01K3ZYEJW856WCXCN1Z497PADR" },
            "SK": { "S": format!("ITEM#{number}") },
        });
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": item })).0, 200);
    }
    let text = server.model(1, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
    assert!(text.contains("that is, or may be, another"), "{text}");
    assert!(!text.contains("were in the new table already"), "{text}");
}

#[test]
fn an_interrupted_copy_is_repeated_without_complaint() {
    let server = Server::start(&[]);
    server.seed();
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    for _ in 0..2 {
        let text = server.model(0, &["migrate", SHOP, &new, "--into", "Shop2", "--apply"]);
        assert!(text.contains("can be deleted"), "{text}");
    }
}

/// Puts more than a megabyte of items, so that a migration reads several pages.
fn fill_pages(server: &Server) {
    for number in 0..8 {
        let key = json!({ "S": format!("USER#01K6TH9480QZKHFWEAZCG61FZ{number}") });
        let item = json!({
            "PK": key, "SK": key, "EntityType": { "S": "User" }, "name": { "S": "n".repeat(300_000) },
        });
        assert_eq!(server.call("PutItem", &json!({ "TableName": "Shop", "Item": item })).0, 200);
    }
}

#[test]
fn a_checkpoint_is_private_and_only_for_its_own_migration() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start(&[]);
    server.seed();
    fill_pages(&server);
    let folder = tempfile::tempdir().unwrap();
    let new = shop_with(&folder, &[("keys = [\"PK\", \"SK\"]", "keys = [\"pk\", \"sk\"]")]);
    let path = folder.path().join("checkpoint");
    let file = path.to_str().unwrap();
    let copy = |code, into: &str| {
        server.model(code, &["migrate", SHOP, &new, "--into", into, "--apply", "--checkpoint", file])
    };
    let watched = std::thread::scope(|scope| {
        let running = scope.spawn(|| copy(0, "Shop2"));
        let mut seen = None;
        while !running.is_finished() {
            if let Ok(metadata) = std::fs::metadata(&path) {
                seen = std::fs::read(&path)
                    .ok()
                    .map(|bytes| (bytes, metadata.permissions().mode() & 0o777))
                    .or(seen);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        seen
    });
    let (bytes, mode) = watched.expect("a checkpoint after the first page");
    assert_eq!(mode, 0o600);
    assert!(!path.exists(), "removed at the end");
    std::fs::write(&path, &bytes).unwrap();
    assert!(copy(2, "Shop3").contains("belongs to another migration"));
    std::fs::write(&path, "{\"PK\": {\"S\": \"USER#1\"}}").unwrap();
    assert!(copy(2, "Shop2").contains("is not a checkpoint of this program"));
    std::fs::write(&path, &bytes).unwrap();
    copy(0, "Shop2");
}

#[test]
fn the_requests_that_explain_shows_are_accepted() {
    let server = Server::start(&[]);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sent = 0;
    for folder in ["models", "crates/design/tests/good"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let model = path.to_str().unwrap();
            server.model(0, &["seed", model, "--items", "40", "--table", "Explained"]);
            let output = Command::new(env!("CARGO_BIN_EXE_partita"))
                .args(["model", "explain", model, "--format", "json"])
                .output()
                .unwrap();
            let plans: Value = serde_json::from_slice(&output.stdout).unwrap();
            for pattern in plans["patterns"].as_array().unwrap() {
                for step in pattern["steps"].as_array().unwrap() {
                    let mut request = step["request"].clone();
                    match request["RequestItems"]
                        .as_object()
                        .map(|tables| tables.values().next().unwrap().clone())
                    {
                        Some(keys) => request["RequestItems"] = json!({ "Explained": keys }),
                        None => request["TableName"] = json!("Explained"),
                    }
                    let (status, answer) = server.call(step["operation"].as_str().unwrap(), &request);
                    assert_eq!(status, 200, "{model} {}: {request} {answer}", pattern["pattern"]);
                    sent += 1;
                }
            }
            assert_eq!(server.call("DeleteTable", &json!({ "TableName": "Explained" })).0, 200);
        }
    }
    assert!(sent > 200, "{sent}");
}
