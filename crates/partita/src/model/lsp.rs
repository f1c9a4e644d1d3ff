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
    let (id, parameters) = connection.initialize_start().map_err(|error| failed(&error))?;
    let encoding = Encoding::offered(&parameters["capabilities"]["general"]["positionEncodings"]);
    let answer = json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "partita", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(|error| failed(&error))?;
    let code = serve(&connection, Documents::new(encoding)).map_err(|error| failed(&error))?;
    drop(connection);
    threads.join().map_err(|error| failed(&error))?;
    Ok(code)
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
    let mut unpublished = Unpublished::default();
    loop {
        match unpublished.next(connection) {
            Event::Pause => unpublished.publish(connection, &documents)?,
            Event::Message(Message::Request(request)) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(FINE);
                }
                connection.sender.send(Message::Response(answer(&documents, request)))?;
            }
            // The protocol has an exit code for an editor that leaves without a word.
            Event::Message(Message::Notification(notification)) if notification.method == "exit" => {
                return Ok(FOUND);
            }
            Event::Message(Message::Notification(notification)) => {
                take(&mut documents, &notification).into_iter().for_each(|uri| unpublished.add(uri));
            }
            Event::Message(Message::Response(_)) => {}
            Event::End => return Ok(FINE),
        }
    }
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
    let named = parameters["textDocument"]["uri"].as_str();
    let uri = named.unwrap_or_default();
    let position = &parameters["position"];
    let result = match request.method.as_str() {
        "textDocument/completion" => documents.completions(uri, position),
        "textDocument/hover" => documents.hover(uri, position),
        "textDocument/definition" => documents.definition(uri, position),
        "textDocument/documentSymbol" => documents.symbols(uri),
        "textDocument/codeAction" => documents.repairs(uri, &parameters["range"]),
        other => {
            let message = format!("{other} is not supported");
            return Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message);
        }
    };
    if named.is_none() {
        let message = format!("{} needs textDocument.uri", request.method);
        return Response::new_err(request.id, ErrorCode::InvalidParams as i32, message);
    }
    Response::new_ok(request.id, result.unwrap_or_default())
}
