//! The messages of an editor on standard input, and those for it on standard output. What is no message is answered with an error, and the
//! connection goes on as long as the lengths of the bodies are right.

use crossbeam_channel::{Sender, bounded};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{BufRead, Error, ErrorKind, Read, Write, copy, sink, stdin, stdout};
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
            refuse(ErrorCode::InvalidRequest, &format!("a message has at most {MAX_BODY_BYTES} bytes"))?;
            copy(&mut input.take(length), &mut sink())?;
            continue;
        }
        // It grows as it arrives: its length is only what the editor says.
        let mut body = Vec::new();
        input.take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Ok(());
        }
        let message = match serde_json::from_slice::<Value>(&body).map(serde_json::from_value::<Message>) {
            Ok(Ok(message)) => message,
            Ok(Err(_)) => {
                refuse(ErrorCode::InvalidRequest, "this is not one request, response or notification")?;
                continue;
            }
            Err(error) => {
                refuse(ErrorCode::ParseError, &format!("this is not JSON: {error}"))?;
                continue;
            }
        };
        let is_exit =
            matches!(&message, Message::Notification(notification) if notification.method == "exit");
        if messages.send(message).is_err() || is_exit {
            break;
        }
    }
    Ok(())
}

/// Reads the header of a message; returns the length of its body, or `None` if the input has ended.
fn read_length(input: &mut impl BufRead) -> Result<Option<u64>, Error> {
    let malformed = |what: &str| Error::new(ErrorKind::InvalidData, format!("malformed header: {what}"));
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.take(MAX_HEADER_BYTES).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.strip_suffix("\r\n").ok_or_else(|| malformed("a line does not end with CR LF"))?;
        if text.is_empty() {
            return length.ok_or_else(|| malformed("no Content-Length")).map(Some);
        }
        let (name, value) = text.split_once(':').ok_or_else(|| malformed("a line has no colon"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| malformed("Content-Length is not a number"))?);
        }
    }
}

/// Answers what is no message: whatever its id was is not known.
fn refuse(code: ErrorCode, message: &str) -> Result<(), Error> {
    let error = json!({ "code": code as i32, "message": message });
    let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    let mut output = stdout().lock();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
