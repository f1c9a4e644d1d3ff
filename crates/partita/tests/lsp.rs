//! `partita model lsp` as an editor talks to it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const URI: &str = "file:///shop.toml";
const MODEL: &str = r##"format = 1
[table]
name = "Shop"
keys = ["PK", "SK"]
type_attribute = "type"
[entity.Order]
attributes = { orderId = "ulid", userId = "ulid", note = "string" }
key = ["USER#{userId}", "ORDER#{orderId}"]
[pattern]
ordersOfUser = { in = ["userId"], out = "Order*", rps = 1 }
"##;

struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Editor {
    fn start(capabilities: &Value) -> (Editor, Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
        // As the client of VS Code starts it.
        command.args(["model", "lsp", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let input = server.stdin.take().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut editor = Editor { server, input, output, next: 0 };
        let answer = editor.request("initialize", &json!({ "capabilities": capabilities }));
        editor.notify("initialized", &json!({}));
        (editor, answer)
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    fn send_text(&mut self, text: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn notify(&mut self, method: &str, parameters: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters }));
        let answer = self.receive();
        assert_eq!(answer["id"], self.next, "{answer}");
        answer
    }

    /// Opens the document and returns its diagnostics.
    fn open(&mut self, text: &str) -> Vec<Value> {
        let document = json!({ "uri": URI, "languageId": "toml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        self.diagnostics()
    }

    fn diagnostics(&mut self) -> Vec<Value> {
        let message = self.receive();
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(&mut self, method: &str, line: usize, character: usize) -> Value {
        let position = json!({ "line": line, "character": character });
        let parameters = json!({ "textDocument": { "uri": URI }, "position": position });
        self.request(method, &parameters)["result"].clone()
    }

    fn stop(mut self) {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

/// The line of a text in the model, and the column of its last occurrence.
fn place(text: &str) -> (usize, usize) {
    let offset = MODEL.rfind(text).unwrap();
    let line = MODEL[..offset].matches('\n').count();
    (line, offset - MODEL[..offset].rfind('\n').unwrap() - 1)
}

#[test]
fn findings_appear_and_disappear_while_typing() {
    let (mut editor, answer) = Editor::start(&json!({}));
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16");
    assert!(editor.open(MODEL).iter().all(|finding| finding["severity"] != 1));
    let (line, column) = place("userId\"], out");
    let change = |text: &str, from: usize, to: usize| {
        let range =
            json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "range": range, "text": text }] })
    };
    editor.notify("textDocument/didChange", &change("orderId", column, column + 6));
    let found = editor.diagnostics();
    let error = found.iter().find(|finding| finding["severity"] == 1).unwrap();
    assert_eq!((&error["code"], &error["range"]["start"]["line"]), (&json!("P101"), &json!(line)));
    editor.notify("textDocument/didChange", &change("userId", column, column + 7));
    assert!(editor.diagnostics().iter().all(|finding| finding["severity"] != 1));
    editor.notify("textDocument/didClose", &json!({ "textDocument": { "uri": URI } }));
    assert!(editor.diagnostics().is_empty());
    editor.stop();
}

#[test]
fn names_are_completed_explained_and_found() {
    let (mut editor, _) = Editor::start(&json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } }));
    editor.open(MODEL);
    let (line, column) = place("orderId}");
    let labels = |answer: Value| -> Vec<String> {
        answer.as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels(editor.at("textDocument/completion", line, column + 2)), ["orderId"]);
    let hover = editor.at("textDocument/hover", place("ordersOfUser").0, 3);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Query on the table"), "{hover}");
    let definition = editor.at("textDocument/definition", line, column + 2);
    assert_eq!(definition["range"]["start"]["line"], place("orderId =").0);
    let symbols = editor.request("textDocument/documentSymbol", &json!({ "textDocument": { "uri": URI } }));
    let names: Vec<_> = symbols["result"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["Order", "ordersOfUser"]);
    editor.stop();
}

#[test]
fn unknown_requests_and_documents_are_answered() {
    let (mut editor, _) = Editor::start(&json!({}));
    assert_eq!(editor.request("textDocument/rename", &json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", &json!({ "x": 1 }))["error"]["code"], -32602);
    assert_eq!(editor.at("textDocument/hover", 5, 5), Value::Null);
    let found = editor.open("format = ");
    assert_eq!(found[0]["code"], "P001");
    editor.stop();
}

#[test]
fn a_thousand_changes_are_checked_in_pauses_and_the_last_text_is_right() {
    let (mut editor, _) = Editor::start(&json!({}));
    editor.open(MODEL);
    for number in 0..1_000 {
        let at = json!({ "line": 0, "character": 0 });
        let text = if number % 2 == 0 { "é𝄞" } else { "#" };
        let change = json!({ "range": { "start": at, "end": at }, "text": text });
        let document = json!({ "uri": URI, "version": number });
        editor.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": [change] }),
        );
    }
    let whole = json!({ "text": MODEL.replace("out = \"Order*\"", "out = \"Ordr*\"") });
    editor.notify(
        "textDocument/didChange",
        &json!({ "textDocument": { "uri": URI }, "contentChanges": [whole] }),
    );
    let mut published = 0;
    loop {
        published += 1;
        let found = editor.diagnostics();
        if found.iter().any(|finding| finding["message"].as_str().unwrap().contains("Ordr")) {
            break;
        }
    }
    assert!(published < 500, "{published} publications for 1,001 changes");
    editor.stop();
}

#[test]
fn a_file_that_is_no_model_does_not_occupy_the_server() {
    let (mut editor, _) = Editor::start(&json!({}));
    let found = editor.open(&"x".repeat(5 << 20));
    assert!(found[0]["message"].as_str().unwrap().contains("a model has at most"), "{found:?}");
    for position in [json!({ "line": 0, "character": 4_000_000 }), json!({ "line": -1 }), json!(null)] {
        let parameters = json!({ "textDocument": { "uri": URI }, "position": position });
        assert_eq!(editor.request("textDocument/hover", &parameters)["result"], json!(null));
    }
    editor.stop();
}

#[test]
fn a_wrong_name_is_repaired_in_the_editor() {
    let (mut editor, _) = Editor::start(&json!({}));
    let text = MODEL.replace("in = [\"userId\"]", "in = [\"userid\"]");
    let range = editor.open(&text)[0]["range"].clone();
    let actions = json!({ "textDocument": { "uri": URI }, "range": range, "context": {} });
    let actions = editor.request("textDocument/codeAction", &actions);
    let edit = &actions["result"][0]["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "I", "{actions}");
    editor.stop();
}

#[test]
fn an_editor_that_leaves_without_shutdown_is_told() {
    let (mut editor, _) = Editor::start(&json!({}));
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.server.wait().unwrap().code(), Some(1));
}

#[test]
fn what_is_no_message_is_refused_and_the_session_goes_on() {
    let (mut editor, _) = Editor::start(&json!({}));
    for (text, code) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":5", -32700),
        (&*"[".repeat(100_000), -32700),
        ("null", -32600),
        ("[]", -32600),
        ("\"x\"", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        (&*" ".repeat(26 << 20), -32600),
    ] {
        editor.send_text(text);
        let answer = editor.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)), "{answer}");
    }
    assert!(editor.open(MODEL).iter().all(|finding| finding["severity"] != 1));
    editor.stop();
}

#[test]
fn a_request_that_is_none_is_refused_with_its_id() {
    let (mut editor, _) = Editor::start(&json!({}));
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":99999999999,"method":"shutdown"}"#, json!(99_999_999_999_u64)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"shutdown"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"shutdown"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7,"method":7}"#, json!(7)),
    ] {
        editor.send_text(text);
        let answer = editor.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{text}");
    }
    editor.send_text(r#"{"jsonrpc":"2.0","id":null,"result":1}"#);
    assert_eq!(editor.request("initialize", &json!({}))["error"]["code"], -32600);
    for position in [json!(null), json!({ "line": 1 }), json!({ "line": -1, "character": 0 })] {
        let parameters = json!({ "textDocument": { "uri": URI }, "position": position });
        assert_eq!(
            editor.request("textDocument/hover", &parameters)["error"]["code"],
            -32602,
            "{parameters}"
        );
    }
    let parameters = json!({ "textDocument": { "uri": URI }, "range": { "start": 1 } });
    assert_eq!(editor.request("textDocument/codeAction", &parameters)["error"]["code"], -32602);
    editor.stop();
}

#[test]
fn a_header_that_is_none_is_skipped() {
    let (mut editor, _) = Editor::start(&json!({}));
    for text in
        ["no header\r\n", "Content-Length: many\r\n\r\n", "\u{fffd}\n", "\r\n", "Content-Type: x\r\n\r\n"]
    {
        write!(editor.input, "{text}").unwrap();
        if !text.starts_with('\r') {
            assert_eq!(editor.receive()["error"]["code"], -32700, "{text:?}");
        }
        assert_eq!(editor.request("textDocument/rename", &json!({}))["error"]["code"], -32601, "{text:?}");
    }
    // A body that is longer than its header says.
    write!(editor.input, "Content-Length: 2\r\n\r\n{{}} and more").unwrap();
    assert_eq!(editor.receive()["error"]["code"], -32600);
    editor.next += 1;
    editor.send(&json!({ "jsonrpc": "2.0", "id": editor.next, "method": "x" }));
    assert_eq!(editor.receive()["error"]["code"], -32700);
    assert_eq!(editor.receive()["error"]["code"], -32601);
    editor.stop();
}

#[test]
fn requests_before_initialize_and_after_shutdown_are_refused() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partita"));
    command.args(["model", "lsp"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut editor = Editor { server, input, output, next: 0 };
    assert_eq!(editor.request("shutdown", &Value::Null)["error"]["code"], -32002);
    editor.send(&json!({ "jsonrpc": "2.0", "id": 9, "result": null }));
    assert!(editor.request("initialize", &json!({}))["result"].is_object());
    assert!(editor.request("shutdown", &Value::Null)["error"].is_null());
    assert_eq!(editor.request("textDocument/hover", &json!({}))["error"]["code"], -32600);
    assert_eq!(editor.request("shutdown", &Value::Null)["error"]["code"], -32600);
    editor.notify("textDocument/didOpen", &json!({}));
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_body_that_does_not_come_takes_no_memory_and_ends_with_the_input() {
    let (mut editor, _) = Editor::start(&json!({}));
    write!(editor.input, "Content-Length: 9999999999999\r\n\r\n{{}}").unwrap();
    editor.input.flush().unwrap();
    assert_eq!(editor.receive()["error"]["code"], -32600);
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.server.id()));
    let used = status.iter().flat_map(|text| text.lines()).find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: Option<u64> = used.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
    assert!(kilobytes.is_none_or(|used| used < 200_000), "{kilobytes:?} KB");
    drop(editor.input);
    assert!(editor.server.wait().unwrap().code().is_some(), "it ends");
}
