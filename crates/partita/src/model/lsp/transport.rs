//! The messages of an editor on standard input, and those for it on standard output. What is no message is answered with an error, and the
//! connection goes on with the next header.

use crossbeam_channel::{Sender, bounded};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{BufRead, Error, Read, Write, copy, sink, stdin, stdout};
use std::thread::{JoinHandle, spawn};

/// The longest body: a model has 4 MB at most, of which JSON writes each byte as six at most.
const MAX_BODY_BYTES: u64 = 25 << 20;
const MAX_HEADER_BYTES: u64 = 8 << 10;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<Result<(), Error>>,
    writer: JoinHandle<Result<(), Error>>,
}

impl Threads {
    /// Waits until the editor has closed the connection, and everything is written.
    pub fn join(self) -> Result<(), Error> {
        let ended = |_| Error::other("a thread has ended early");
        self.reader.join().map_err(ended)??;
        self.writer.join().map_err(ended)?
    }
}

/// Connects standard input and output.
#[expect(clippy::disallowed_methods, reason = "threads that wait for the editor")]
pub fn connect() -> (Connection, Threads) {
    let (sender, outgoing) = bounded::<Message>(0);
    let (incoming, receiver) = bounded(0);
    let reader = spawn(move || read_all(&mut stdin().lock(), &incoming));
    let writer =
        spawn(move || outgoing.into_iter().try_for_each(|message| message.write(&mut stdout().lock())));
    (Connection { sender, receiver }, Threads { reader, writer })
}

/// Reads messages until the input ends, or the editor says that it does.
fn read_all(input: &mut impl BufRead, messages: &Sender<Message>) -> Result<(), Error> {
    while let Some(length) = read_length(input)? {
        if length > MAX_BODY_BYTES {
            let message = format!("a message has at most {MAX_BODY_BYTES} bytes");
            refuse(&Value::Null, ErrorCode::InvalidRequest, &message)?;
            copy(&mut input.take(length), &mut sink())?;
            continue;
        }
        // It grows as it arrives: its length is only what the editor says.
        let mut body = Vec::new();
        input.take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Ok(());
        }
        let value: Value = match serde_json::from_slice(&body) {
            Ok(value) => value,
            Err(error) => {
                refuse(&Value::Null, ErrorCode::ParseError, &format!("this is not JSON: {error}"))?;
                continue;
            }
        };
        let Some(message) = message_of(value)? else { continue };
        let is_exit =
            matches!(&message, Message::Notification(notification) if notification.method == "exit");
        if messages.send(message).is_err() || is_exit {
            break;
        }
    }
    Ok(())
}

/// The message that a body is. What is none is refused, unless it looks like a response.
fn message_of(body: Value) -> Result<Option<Message>, Error> {
    let is_response = body.get("method").is_none() && (body.get("result").or(body.get("error"))).is_some();
    let id = body.get("id").cloned();
    match serde_json::from_value::<Message>(body) {
        // With an identifier that is none, it is not a notification.
        Ok(Message::Notification(_)) if id.is_some() => {}
        Ok(message) => return Ok(Some(message)),
        Err(_) if is_response => return Ok(None),
        Err(_) => {}
    }
    let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
    refuse(&id, ErrorCode::InvalidRequest, "this is not one request, response or notification")?;
    Ok(None)
}

/// Reads the header of a message; returns the length of its body, or `None` if the input has ended. What is no header is answered with an error
/// once, and skipped up to the next one.
fn read_length(input: &mut impl BufRead) -> Result<Option<u64>, Error> {
    const NAME: &str = "content-length:";
    let (mut length, mut is_begun, mut is_refused) = (None, false, false);
    loop {
        let mut line = Vec::new();
        if input.take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        let text = line.trim_end_matches(['\r', '\n']);
        if let (true, Some(length)) = (text.is_empty(), length) {
            return Ok(Some(length));
        }
        // It may follow a body that was longer than its header said.
        let found = text.rfind(NAME).map(|at| (at, text[at + NAME.len()..].trim().parse().ok()));
        let is_malformed = match found {
            Some((at, Some(_))) => at > 0,
            Some((_, None)) => true,
            None if text.is_empty() => is_begun,
            None => !text.contains(':') || !line.ends_with('\n'),
        };
        is_begun = !text.is_empty();
        if let Some((_, found)) = found {
            length = found;
        }
        if is_malformed && !is_refused {
            is_refused = true;
            refuse(&Value::Null, ErrorCode::ParseError, "this is not the header of a message")?;
        }
    }
}

/// Answers what is no message; its id is null if it is not known.
fn refuse(id: &Value, code: ErrorCode, message: &str) -> Result<(), Error> {
    let error = json!({ "code": code as i32, "message": message });
    let text = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    let mut output = stdout().lock();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
