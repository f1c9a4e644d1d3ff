//! Models attached to the server: enforced, warning, and watched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::Server;

fn statistics(server: &Server) -> Value {
    let (status, statistics) = server.send("GET /_partita/model?table=Shop HTTP/1.1\r\n", "");
    assert_eq!(status, 200, "{statistics}");
    statistics
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

/// A pending order of [`USER`].
fn pending_order() -> Value {
    let id = "01K3ZYEJW856WCXCN1Z497PADR";
    json!({
        "EntityType": { "S": "Order" }, "PK": { "S": USER }, "SK": { "S": ORDER }, "orderId": { "S": id },
        "userId": { "S": &USER[5..] }, "createdAt": { "S": "2026-04-05T10:30:00Z" }, "status": { "S": "PENDING" },
        "total": { "N": "10" },
        "GSI1PK": { "S": format!("ORDER#{id}") }, "GSI1SK": { "S": format!("ORDER#{id}") },
        "GSI2PK": { "S": "STATUS#PENDING#0" }, "GSI2SK": { "S": format!("2026-04-05T10:30:00Z#{id}") },
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
        answer["message"]
            .as_str()
            .unwrap()
            .contains("key rule is broken: CUSTOMER#1 / X is not a key of User"),
        "{answer}"
    );
    let (status, answer) = server.call("UpdateItem", &ship(false));
    assert_eq!(status, 400);
    assert!(answer["message"].as_str().unwrap().contains("type rule is broken"), "an upsert: {answer}");
    let order = json!({ "TableName": "Shop", "Item": pending_order() });
    let (status, answer) = server.call("PutItem", &order);
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = server.call("UpdateItem", &ship(false));
    assert_eq!(status, 400);
    assert!(answer["message"].as_str().unwrap().contains("GSI2PK must be absent"), "{answer}");
    let (status, answer) = server.call("UpdateItem", &ship(true));
    assert_eq!(status, 200, "{answer}");
    let user = json!({
        "PK": { "S": "USER#01K6TH9480QZKHFWEAZCG61FZ8" }, "SK": { "S": "USER#01K6TH9480QZKHFWEAZCG61FZ8" },
        "EntityType": { "S": "User" }, "userId": { "S": "01K6TH9480QZKHFWEAZCG61FZ8" }, "name": { "S": "A" },
        "email": { "S": "a@b" }, "version": { "N": "1" },
    });
    let marker = json!({ "PK": { "S": "UNIQUE#User#email#a@b" }, "SK": { "S": "UNIQUE#User#email#a@b" } });
    let puts: Vec<Value> =
        [&user, &marker].iter().map(|item| json!({ "PutRequest": { "Item": item } })).collect();
    let (status, answer) = server.call("BatchWriteItem", &json!({ "RequestItems": { "Shop": puts } }));
    assert_eq!(status, 400, "a batch is not atomic");
    assert!(answer["message"].as_str().unwrap().contains("unique rule is broken"), "{answer}");
    let together = |items: &[&Value]| {
        let puts: Vec<Value> =
            items.iter().map(|item| json!({ "Put": { "TableName": "Shop", "Item": item } })).collect();
        server.call("TransactWriteItems", &json!({ "TransactItems": puts }))
    };
    let (status, answer) = together(&[&user]);
    assert_eq!((status, &answer["CancellationReasons"][0]["Code"]), (400, &json!("ValidationError")));
    assert!(
        answer["CancellationReasons"][0]["Message"].as_str().unwrap().contains("User#email#a@b is unique")
    );
    assert_eq!(together(&[&user, &marker]).0, 200);
    let statistics = statistics(&server);
    assert!(statistics["writes"].to_string().contains("register"), "{statistics}");
    let templates = statistics["hotKeys"].as_array().unwrap().iter().map(|keys| &keys["template"]);
    let markers = json!("markers of unique values");
    assert_eq!(templates.filter(|template| **template == markers).count(), 1, "{statistics}");
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
    let order = json!({ "TableName": "Shop", "Item": pending_order() });
    assert_eq!(server.call("PutItem", &order).0, 200);
    for (refused, text) in [(insert, "is not a key of User"), (stale.as_str(), "GSI2PK must be absent")] {
        let (status, answer) = run(refused);
        assert_eq!(status, 400, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(text), "{answer}");
        let (status, answer) = both("BatchExecuteStatement", "Statements", refused);
        assert_eq!(status, 200, "each statement has its own error: {answer}");
        assert!(answer["Responses"][0]["Error"]["Message"].as_str().unwrap().contains(text), "{answer}");
        let (status, answer) = both("ExecuteTransaction", "TransactStatements", refused);
        assert_eq!(status, 400, "{answer}");
        assert!(answer["CancellationReasons"][0]["Message"].as_str().unwrap().contains(text), "{answer}");
    }
    let (status, answer) = run(&current);
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = run(&format!(r#"SELECT * FROM "Shop" WHERE PK = '{USER}'"#));
    assert_eq!((status, answer.get("ConsumedCapacity")), (200, None));
    assert_eq!(statistics(&server)["patterns"][0]["pattern"], "userWithOrders");
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
    let statistics = statistics(&server);
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
        "total": { "N": "10" },
        "GSI1PK": { "S": format!("ORDER#{id}") }, "GSI1SK": { "S": format!("ORDER#{id}") },
    });
    let line = json!({
        "EntityType": { "S": "OrderItem" }, "PK": { "S": format!("ORDER#{id}") }, "SK": { "S": "ITEM#1" },
        "orderId": { "S": id }, "itemId": { "S": "1" }, "product": { "S": "tea" }, "quantity": { "N": "1" },
    });
    let puts: Vec<Value> =
        [order, line].iter().map(|item| json!({ "Put": { "TableName": "Shop", "Item": item } })).collect();
    let (status, answer) = server.call("TransactWriteItems", &json!({ "TransactItems": puts }));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(server.call("UpdateItem", &ship(true)).0, 200);
    let mut conditional = ship(true);
    conditional["ConditionExpression"] = "attribute_not_exists(PK)".into();
    assert_eq!(server.call("UpdateItem", &conditional).0, 400);
    let statistics = statistics(&server);
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
    let set_status = of("writes", "write", "setStatus");
    assert_eq!((&set_status["requests"], &set_status["failed"]), (&json!(2), &json!(1)));
    assert!(statistics["violations"].as_array().unwrap().is_empty(), "{statistics}");
}

#[test]
fn models_are_attached_and_detached_while_the_server_runs() {
    let server = Server::start(&["--model", "models/blog.toml", "--model", "models/task-manager.toml"]);
    server.seed();
    // What changes nothing is not judged.
    let put_wrong = |note: &str| {
        let mut request = wrong();
        request["Item"]["note"] = json!({ "S": note });
        server.call("PutItem", &request).0
    };
    assert_eq!(put_wrong("1"), 200);
    let text = server.model(0, &["attach", "models/shop-orders.toml", "--enforce"]);
    assert!(text.contains("attached to table Shop, mode enforce"), "{text}");
    assert_eq!(put_wrong("2"), 400);
    let text = server.model(0, &["watch"]);
    for part in ["table Blog, mode warn", "table Shop, mode enforce", "rule key broken 1 times"] {
        assert!(text.contains(part), "{text}");
    }
    let refused = server.model(2, &["attach", "models/shop-orders.toml"]);
    assert!(refused.contains("mode enforce becomes warn") && refused.contains("--force"), "{refused}");
    assert_eq!(put_wrong("3"), 400);
    let fewer = server.model(0, &["attach", "models/shop-orders.toml", "--force"]);
    assert!(fewer.contains("no longer checked as before: mode enforce becomes warn"), "{fewer}");
    assert_eq!(put_wrong("4"), 200);
    assert!(!text.contains("there is no table") && !fewer.contains("there is no table"));
    let early = server.model(0, &["attach", "models/shop-orders.toml", "--table", "Shpo"]);
    assert!(early.contains("there is no table Shpo yet: writes are judged once it is created"), "{early}");
    server.model(0, &["detach", "Shpo"]);
    server.model(0, &["detach", "Shop"]);
    assert_eq!(put_wrong("5"), 200);
    assert!(server.model(2, &["detach", "Shop"]).contains("No model is attached to table Shop"));
    assert!(server.model(2, &["attach", "crates/partita/tests/golden/typing.toml"]).contains("P00"));
}

#[test]
fn seed_says_what_it_wrote_before_an_enforced_model_refused_the_rest() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.toml");
    let text = "format = 1\n[table]\nname = \"Tab\"\nkeys = [\"PK\", \"SK\"]\ntype_attribute = \"type\"\n\
                [entity.Post]\nattributes = { postId = \"id\" }\nkey = [\"POST#{postId}\", \"POST\"]\naggregates = { comments = \"count Comment\" }\n\
                [entity.Comment]\nattributes = { postId = \"id\", commentId = \"id\" }\nkey = [\"POST#{postId}\", \"COMMENT#{commentId}\"]\n\
                expect = { per = \"Post\", average = 3 }\n[pattern]\npost = { in = [\"postId\"], out = [\"Post\", \"Comment*\"] }\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    server.model(0, &["attach", path, "--enforce"]);
    let refused = server.model(2, &["seed", path, "--items", "100"]);
    assert!(refused.contains("0 items were written to table Tab before"), "{refused}");
    assert!(refused.contains("detach it, seed again, and attach it afterwards"), "{refused}");
    server.model(0, &["detach", "Tab"]);
    server.model(0, &["seed", path, "--items", "100"]);
}

#[test]
fn items_of_an_enforced_table_expire_by_its_model_only() {
    let server = Server::start(&[]);
    server.model(0, &["seed", "models/shop-orders.toml", "--items", "50"]);
    let expire = |enabled: bool| {
        let expiry = json!({ "AttributeName": "removeAt", "Enabled": enabled });
        server.call("UpdateTimeToLive", &json!({ "TableName": "Shop", "TimeToLiveSpecification": expiry }))
    };
    server.model(0, &["attach", "models/shop-orders.toml", "--enforce"]);
    let (status, answer) = expire(true);
    assert_eq!((status, answer.to_string().contains("the model has no ttl")), (400, true), "{answer}");
    // What an audit reads is not what the application reads.
    server.model(0, &["audit", "models/shop-orders.toml"]);
    let text = server.model(0, &["watch", "Shop"]);
    assert!(text.contains("rule value broken 1 times") && !text.contains("Scan"), "{text}");
    server.model(0, &["detach", "Shop"]);
    assert_eq!(expire(true).0, 200);
    let text = server.model(0, &["attach", "models/shop-orders.toml", "--enforce"]);
    assert!(text.contains("expire by removeAt, which leaves behind"), "{text}");
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

fn query(condition: &str, values: &Value) -> Value {
    json!({ "TableName": "Shop", "KeyConditionExpression": condition, "ExpressionAttributeValues": values })
}

#[test]
fn reads_that_no_pattern_declares_are_refused() {
    let server = Server::start(&["--model", "models/shop-orders.toml", "--model-reads", "enforce"]);
    server.seed();
    let refused = |operation: &str, body: &Value| {
        let (status, answer) = server.call(operation, body);
        assert_eq!(status, 400, "{answer}");
        let message = answer["message"].as_str().unwrap().to_owned();
        assert!(message.contains("The model's read rule is broken"), "{message}");
        message
    };
    let statement = |text: &str| json!({ "Statement": text });
    let message = refused("Scan", &json!({ "TableName": "Shop" }));
    assert!(message.contains("Scan table") && message.contains("request = { scan = true }"), "{message}");
    assert!(refused("ExecuteStatement", &statement("SELECT * FROM Shop")).contains("SELECT table"));
    let undeclared = query("PK = :p AND SK < :s", &json!({ ":p": { "S": USER }, ":s": { "S": "A" } }));
    let message = refused("Query", &undeclared);
    // No line would admit it: it can return nothing.
    assert!(message.contains("no entity of the model has such a key"), "{message}");
    // One of the items that a pattern reads.
    let get =
        |pk: &str, sk: &str| json!({ "TableName": "Shop", "Key": { "PK": { "S": pk }, "SK": { "S": sk } } });
    assert_eq!(server.call("GetItem", &get("ORDER#01K3ZYEJW856WCXCN1Z497PADR", "ITEM#1")).0, 200);
    let marker = "UNIQUE#User#email#ada@example.com";
    let message = refused("GetItem", &get(marker, marker));
    assert!(message.contains("a marker of a unique value is for writes"), "{message}");
    let message = refused("GetItem", &get("BOX#1", "BOX#1"));
    assert!(message.contains("no entity of the model has such a key"), "{message}");

    let declared =
        query("PK = :p AND begins_with(SK, :s)", &json!({ ":p": { "S": USER }, ":s": { "S": "ORDER#" } }));
    let mut newest = declared.clone();
    newest["ScanIndexForward"] = json!(false);
    newest["Limit"] = json!(10);
    assert_eq!([&declared, &newest].map(|body| server.call("Query", body).0), [200, 200]);
    let select = format!("SELECT * FROM Shop WHERE PK = '{USER}' AND begins_with(SK, 'ORDER#')");
    assert_eq!(server.call("ExecuteStatement", &statement(&select)).0, 200);
    let index = r#"SELECT * FROM "Shop"."GSI1" WHERE GSI1PK = 'ORDER#01K3ZYEJW856WCXCN1Z497PADR' AND GSI1SK = 'ORDER#01K3ZYEJW856WCXCN1Z497PADR'"#;
    assert_eq!(server.call("ExecuteStatement", &statement(index)).0, 200);
    // Tools read everything, and say so.
    server.model(0, &["audit", "models/shop-orders.toml"]);

    let statistics = statistics(&server);
    assert_eq!(
        (&statistics["reads"], &statistics["violations"][0]["rule"]),
        (&json!("enforce"), &json!("read"))
    );
    let pattern = |name: &str| {
        let all = statistics["patterns"].as_array().unwrap();
        all.iter().find(|one| one["pattern"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(pattern("recentOrders")["declaredPerSecond"], 300.0);
    assert_eq!(pattern("orderById")["requests"], 1);
    let items = pattern("orderItems");
    assert_eq!((&items["requests"], &items["filterWaste"]), (&json!(1), &json!(0)), "no item has that key");
    let never: Vec<&Value> =
        statistics["patternsNeverAsked"].as_array().unwrap().iter().map(|one| &one["pattern"]).collect();
    assert!(never.contains(&&json!("pendingOrders")) && !never.contains(&&json!("orderById")), "{never:?}");
    let unused = &statistics["unusedIndexes"];
    assert_eq!((unused.as_array().unwrap().len(), &unused[0]["index"]), (1, &json!("GSI2")));
    assert!(unused[0]["monthlyCost"].as_f64().unwrap() > 1.0, "{unused}");
    let shown = server.model(0, &["watch"]);
    let patterns: Vec<&str> = shown
        .lines()
        .skip_while(|line| !line.starts_with("patterns "))
        .take_while(|line| !line.is_empty())
        .collect();
    let is_aligned = |line: &&str| line.chars().count() == patterns[0].chars().count();
    assert!(patterns.len() > 1 && patterns.iter().all(is_aligned), "{shown}");
    assert!(
        shown.contains("index GSI2 is never read; it costs") && shown.contains("patterns never asked"),
        "{shown}"
    );
}

#[test]
fn a_model_says_itself_what_happens_to_undeclared_reads() {
    let server = Server::start(&[]);
    server.seed();
    let text = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/shop-orders.toml"),
    );
    let text = text.unwrap().replace("[table]\n", "[table]\nreads = \"warn\"\n");
    let put =
        |query: &str| server.send(&format!("PUT /_partita/model?table=Shop{query} HTTP/1.1\r\n"), &text);
    assert_eq!(put("").0, 200);
    let scan = json!({ "TableName": "Shop" });
    assert_eq!(server.call("Scan", &scan).0, 200);
    assert_eq!(statistics(&server)["violations"][0]["times"], 1);
    assert_eq!(put("&reads=enforce").0, 200);
    assert_eq!(server.call("Scan", &scan).0, 400);
    assert_eq!(put("&reads=often").0, 400);
    let (status, answer) = put("");
    assert_eq!(status, 400, "{answer}");
    assert!(
        answer["message"].as_str().unwrap().contains("undeclared reads are no longer refused"),
        "{answer}"
    );
    assert_eq!(put("&force=true").0, 200);
}

#[test]
fn a_refused_transaction_says_why() {
    let server = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blog.toml");
    let model = r#"
format = 1
[table]
name = "Blog"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Post]
attributes = { postId = "id", title = "string" }
key = ["POST#{postId}", "POST"]
unique = ["title"]
aggregates = { comments = "count Comment" }
expect = { count = 10 }
[entity.Comment]
attributes = { postId = "id", commentId = "id" }
key = ["POST#{postId}", "COMMENT#{commentId}"]
expect = { per = "Post", average = 3 }
[pattern]
post = { in = ["postId"], out = ["Post", "Comment*"] }
"#;
    std::fs::write(&path, model).unwrap();
    let path = path.to_str().unwrap();
    server.model(0, &["seed", path, "--items", "1", "--table", "Other"]);
    let empty = serde_json::json!({
        "TableName": "Blog", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }, { "AttributeName": "SK", "KeyType": "RANGE" }],
        "AttributeDefinitions": [
            { "AttributeName": "PK", "AttributeType": "S" }, { "AttributeName": "SK", "AttributeType": "S" },
        ],
    });
    assert_eq!(server.call("CreateTable", &empty).0, 200);
    server.model(0, &["attach", path, "--enforce"]);
    let text = server.model(2, &["seed", path, "--items", "40"]);
    assert!(text.contains("ValidationError") && text.contains("comments"), "{text}");
}
