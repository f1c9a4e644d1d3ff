//! `partita model lsp`: the language server protocol for model files, on standard input and output.
//!
//! Findings appear while typing; names, templates and fields are completed; a pattern shows its plan; names lead to their declarations.
//! What there is to say about a text is said by `partita_design::editor`; here it is only carried.

mod documents;
mod messages;
mod text_position;
mod transport;

use super::{FINE, FOUND, Outcome};
use crate::clock;
use crossbeam_channel::SendError;
use documents::Documents;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use text_position::Encoding;

/// Findings are published after such a pause in typing.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest time that they wait for one.
const MAX_DELAY: Duration = Duration::from_millis(300);

/// Runs until the editor closes the connection.
pub fn run() -> Outcome {
    let (connection, threads) = transport::connect();
    let failed = |error: &dyn std::fmt::Display| format!("the editor's connection failed: {error}");
    let code = match initialize(&connection).map_err(|error| failed(&error))? {
        Some(encoding) => serve(&connection, Documents::new(encoding)).map_err(|error| failed(&error))?,
        None => FOUND,
    };
    drop(connection);
    threads.join().map_err(|error| failed(&error))?;
    Ok(code)
}

/// Waits for the first request, which says how positions are counted; `None` if the editor leaves before.
fn initialize(connection: &Connection) -> Result<Option<Encoding>, SendError<Message>> {
    for message in &connection.receiver {
        match message {
            Message::Request(request) if request.method == "initialize" => {
                let encoding =
                    Encoding::offered(&request.params["capabilities"]["general"]["positionEncodings"]);
                let answer = json!({
                    "capabilities": capabilities(encoding),
                    "serverInfo": { "name": "partita", "version": env!("CARGO_PKG_VERSION") },
                });
                connection.sender.send(Response::new_ok(request.id, answer).into())?;
                return Ok(Some(encoding));
            }
            Message::Request(request) => {
                let message = "the first request is initialize";
                connection.sender.send(refused(request, ErrorCode::ServerNotInitialized, message).into())?;
            }
            Message::Notification(notification) if notification.method == "exit" => return Ok(None),
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
    Ok(None)
}

fn capabilities(encoding: Encoding) -> Value {
    json!({
        "positionEncoding": encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": false },
        "completionProvider": { "triggerCharacters": ["{", "\"", "[", ".", ":", "=", " "] },
        "hoverProvider": true,
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "codeActionProvider": { "codeActionKinds": ["quickfix"] },
    })
}

/// What the editor does.
enum Event {
    Message(Message),
    /// Nothing, for a moment.
    Pause,
    /// It has closed the connection.
    End,
}

/// Documents whose findings the editor has not seen yet.
#[derive(Default)]
struct Unpublished {
    uris: BTreeSet<String>,
    /// When the first of them changed.
    since: Option<Instant>,
}

impl Unpublished {
    fn add(&mut self, uri: &str) {
        self.uris.insert(uri.to_owned());
        self.since.get_or_insert_with(clock::monotonic_now);
    }

    /// What happens next. Findings wait for a pause in typing, but not for long.
    fn next(&self, connection: &Connection) -> Event {
        let Some(since) = self.since else {
            return connection.receiver.recv().map_or(Event::End, Event::Message);
        };
        if since.elapsed() > MAX_DELAY {
            return Event::Pause;
        }
        match connection.receiver.recv_timeout(PAUSE) {
            Ok(message) => Event::Message(message),
            Err(error) if error.is_timeout() => Event::Pause,
            Err(_) => Event::End,
        }
    }

    fn publish(
        &mut self,
        connection: &Connection,
        documents: &Documents,
    ) -> Result<(), Box<dyn std::error::Error>> {
        self.since = None;
        for uri in std::mem::take(&mut self.uris) {
            let none = || json!({ "uri": uri, "diagnostics": [] });
            let params = documents.diagnostics(&uri).unwrap_or_else(none);
            let method = "textDocument/publishDiagnostics".to_owned();
            connection.sender.send(Message::Notification(Notification { method, params }))?;
        }
        Ok(())
    }
}

fn serve(connection: &Connection, mut documents: Documents) -> Result<u8, Box<dyn std::error::Error>> {
    let (mut unpublished, mut is_shut_down) = (Unpublished::default(), false);
    loop {
        match unpublished.next(connection) {
            Event::Pause => unpublished.publish(connection, &documents)?,
            Event::Message(Message::Request(request)) => {
                let is_shutdown = request.method == "shutdown";
                let response = match is_shut_down {
                    true => refused(request, ErrorCode::InvalidRequest, "the server is shut down"),
                    false if is_shutdown => Response::new_ok(request.id, Value::Null),
                    false => answer(&documents, request),
                };
                is_shut_down |= is_shutdown;
                connection.sender.send(Message::Response(response))?;
            }
            // The protocol has an exit code for an editor that leaves without a word.
            Event::Message(Message::Notification(notification)) if notification.method == "exit" => {
                return Ok(if is_shut_down { FINE } else { FOUND });
            }
            Event::Message(Message::Notification(_)) if is_shut_down => {}
            Event::Message(Message::Notification(notification)) => {
                take(&mut documents, &notification).into_iter().for_each(|uri| unpublished.add(uri));
            }
            Event::Message(Message::Response(_)) => {}
            Event::End => return Ok(FINE),
        }
    }
}

fn refused(request: Request, code: ErrorCode, message: &str) -> Response {
    Response::new_err(request.id, code as i32, message.to_owned())
}

/// Follows the changes of a document; returns which one changed.
fn take<'n>(documents: &mut Documents, notification: &'n Notification) -> Option<&'n str> {
    let parameters = &notification.params;
    let uri = parameters["textDocument"]["uri"].as_str()?;
    match notification.method.as_str() {
        "textDocument/didOpen" => {
            documents.open(uri, parameters["textDocument"]["text"].as_str()?);
        }
        "textDocument/didChange" => documents.change(uri, parameters["contentChanges"].as_array()?),
        "textDocument/didClose" => documents.close(uri),
        _ => return None,
    }
    Some(uri)
}

fn answer(documents: &Documents, request: Request) -> Response {
    let parameters = &request.params;
    let uri = || parameters["textDocument"]["uri"].as_str().ok_or("textDocument.uri");
    let position = || Some(&parameters["position"]).filter(|own| is_position(own)).ok_or("position");
    let range = || Some(&parameters["range"]).filter(|own| is_range(own)).ok_or("range");
    let result = || -> Result<Option<Value>, &str> {
        Ok(match request.method.as_str() {
            "textDocument/completion" => documents.completions(uri()?, position()?),
            "textDocument/hover" => documents.hover(uri()?, position()?),
            "textDocument/definition" => documents.definition(uri()?, position()?),
            "textDocument/documentSymbol" => documents.symbols(uri()?),
            _ => documents.repairs(uri()?, range()?),
        })
    };
    let known = ["completion", "hover", "definition", "documentSymbol", "codeAction"];
    match request.method.strip_prefix("textDocument/") {
        Some(own) if known.contains(&own) => {}
        _ if request.method == "initialize" => {
            return refused(request, ErrorCode::InvalidRequest, "the server is initialized");
        }
        _ => {
            let message = format!("{} is not supported", request.method);
            return refused(request, ErrorCode::MethodNotFound, &message);
        }
    }
    match result() {
        Ok(result) => Response::new_ok(request.id, result.unwrap_or_default()),
        Err(needed) => {
            let message = format!("{} needs {needed}", request.method);
            refused(request, ErrorCode::InvalidParams, &message)
        }
    }
}

fn is_position(position: &Value) -> bool {
    ["line", "character"].iter().all(|part| position[part].is_u64())
}

fn is_range(range: &Value) -> bool {
    ["start", "end"].iter().all(|end| is_position(&range[end]))
}
