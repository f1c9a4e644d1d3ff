//! The fast lane: HTTP/1.1 as SDKs use it: whole requests out of one buffer, whole responses in one write.
//!
//! A `POST /` with a content length and nothing unusual about it is served here. With the first request that is anything
//! else the connection is passed on to hyper for good, together with what was read of it: chunked bodies, `Expect`,
//! `Connection: close`, browsers, other paths, malformed requests. So this file implements only the usual case of HTTP.

use crate::connection::shutdown::CloseSignal;
use crate::connection::thread_yield;
use crate::http::reply::{EncodedReply, PlainReply, Refusal, Reply};
use crate::limits::budget::{Budget, BudgetExceeded, Reservation};
use crate::limits::idle_timeout::IdleTimeout;
use crate::limits::slow_client_timeout::SlowClientTimeout;
use crate::pipeline::{HEAD_BYTES, Pipeline, json_type};
use bytes::BufMut;
use hyper::StatusCode;
use partita_auth::{Headers, SignedRequest};
use partita_engine::yield_now;
use partita_store::Store;
use partita_value::limits::REQUEST_BYTES;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long a client may take to send the next request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// The size of the read buffer that every connection has.
const BUFFER_BYTES: usize = 8 * 1_024;
/// The most that is read at a time; after that the task yields before it reads the rest of a large body.
const MAX_READ_BYTES: usize = 256 * 1_024;
/// A larger buffer is shrunk after the request that needed it.
const KEPT_BYTES: usize = 64 * 1_024;
/// A longer head is refused before it is complete: request line, headers, and their separators.
const MAX_HEAD_BYTES: usize = 2 * HEAD_BYTES + 4 * 1_024;
/// Requests with more headers are unusual.
pub(crate) const MAX_HEADERS: usize = 32;
/// Requests with one of these headers are unusual.
const UNUSUAL_HEADERS: [&str; 6] =
    ["transfer-encoding", "content-encoding", "expect", "upgrade", "origin", "trailer"];

pub(crate) type HeaderPairs<'a> = [(&'a str, &'a [u8]); MAX_HEADERS];

/// How a connection left the fast lane.
pub enum LaneExit {
    Ended,
    /// It sent an unusual request; these bytes were read already.
    Unusual(Vec<u8>),
}

/// Serves a connection for as long as its requests are usual.
pub async fn serve<S: Store>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pipeline: &Pipeline<S>,
    close: &mut CloseSignal,
) -> io::Result<LaneExit> {
    let slot = Arc::clone(&close.slot);
    let mut close = pin!(close.received());
    let mut reader = RequestReader::new(pipeline);
    loop {
        let mut pairs: HeaderPairs<'_> = [("", b""); MAX_HEADERS];
        let (missing, has_head) = match reader.parse(&mut pairs) {
            Parsed::Complete(request) => {
                slot.request_started();
                let reply = pipeline.reply_if_allowed(&request.signed, request.content_type).await;
                let succeeded = reply.is_success();
                write(stream, reply.into_http1()).await?;
                slot.request_finished(succeeded);
                let end = request.end;
                reader.consume(end);
                thread_yield::after_response();
                continue;
            }
            Parsed::Incomplete { missing, has_head } => (missing, has_head),
            Parsed::HeadTooLong => {
                return write_last(stream, &PlainReply::bad_request().closing().into_http1()).await;
            }
            Parsed::Unusual => return Ok(LaneExit::Unusual(reader.buffer)),
        };
        if has_head {
            slot.request_started();
        }
        if reader.reserve(missing).is_err() {
            let refusal = Reply::closing(Refusal::BudgetExceeded, pipeline.budget.reservation()).into_http1();
            return write_last(stream, refusal.as_ref()).await;
        }
        let more = poll_fn(|context| {
            if let Poll::Ready(more) =
                pin!(stream.read_buf(&mut (&mut reader.buffer).limit(MAX_READ_BYTES))).poll(context)
            {
                return Poll::Ready(more.map(ReadOutcome::new));
            }
            if !has_head && close.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(ReadOutcome::CloseRequested));
            }
            reader.poll_timeout(context).map(Ok)
        });
        match more.await? {
            ReadOutcome::Bytes(bytes) => {
                slot.record_activity(reader.idle_timeout.reset().into_std());
                reader.slow_timeout.transferred(bytes);
                if bytes == MAX_READ_BYTES {
                    yield_now().await;
                }
            }
            ReadOutcome::Eof if reader.buffer.is_empty() => return Ok(LaneExit::Ended),
            // A client that still reads learns that its request was incomplete.
            ReadOutcome::Eof => {
                return write_last(stream, &PlainReply::closing_with(StatusCode::BAD_REQUEST).into_http1())
                    .await;
            }
            ReadOutcome::TimedOut if has_head => {
                return write_last(
                    stream,
                    &PlainReply::closing_with(StatusCode::REQUEST_TIMEOUT).into_http1(),
                )
                .await;
            }
            ReadOutcome::TimedOut | ReadOutcome::CloseRequested => return Ok(LaneExit::Ended),
        }
    }
}

/// The result of waiting for a client.
enum ReadOutcome {
    Bytes(usize),
    Eof,
    TimedOut,
    CloseRequested,
}

impl ReadOutcome {
    fn new(bytes: usize) -> ReadOutcome {
        if bytes == 0 { ReadOutcome::Eof } else { ReadOutcome::Bytes(bytes) }
    }
}

/// The bytes that were read and are not answered yet, and the timeouts for more of them.
struct RequestReader {
    buffer: Vec<u8>,
    /// For the part of the buffer beyond what every connection has.
    reservation: Reservation,
    budget: &'static Budget,
    idle_timeout: IdleTimeout,
    slow_timeout: SlowClientTimeout,
    /// The length at which the request is complete; `None` while its head is incomplete.
    request_length: Option<usize>,
    /// The buffer's length when it was last parsed.
    parsed_length: usize,
}

impl RequestReader {
    fn new<S: Store>(pipeline: &Pipeline<S>) -> RequestReader {
        RequestReader {
            buffer: Vec::with_capacity(BUFFER_BYTES),
            reservation: pipeline.budget.reservation(),
            budget: pipeline.budget,
            idle_timeout: IdleTimeout::new(IDLE_TIMEOUT),
            slow_timeout: pipeline.slow_client_timeout(),
            request_length: None,
            parsed_length: 0,
        }
    }

    /// Parses the buffer, unless something is certainly missing.
    fn parse<'a>(&'a mut self, pairs: &'a mut HeaderPairs<'a>) -> Parsed<'a> {
        let parsed = match self.certainly_missing() {
            Some((missing, has_head)) => Parsed::Incomplete { missing, has_head },
            None => parse(&self.buffer, pairs),
        };
        if let Parsed::Incomplete { missing, has_head } = parsed {
            self.parsed_length = self.buffer.len();
            self.request_length = has_head.then(|| self.parsed_length + missing);
        }
        parsed
    }

    /// How much is missing, as far as that is certain without parsing: a head ends with a line, a body with its last byte.
    fn certainly_missing(&self) -> Option<(usize, bool)> {
        let length = self.buffer.len();
        if self.parsed_length == 0 || length > MAX_HEAD_BYTES && self.request_length.is_none() {
            return None;
        }
        match self.request_length {
            Some(complete) => (length < complete).then(|| (complete - length, true)),
            None => (!self.buffer[self.parsed_length..].contains(&b'\n')).then_some((1, false)),
        }
    }

    /// Makes space for some of the missing bytes: for twice as much as has arrived, whatever length was declared.
    fn reserve(&mut self, missing: usize) -> Result<(), BudgetExceeded> {
        let length = self.buffer.len();
        if self.buffer.capacity() - length >= missing.min(BUFFER_BYTES / 2) {
            return Ok(());
        }
        let more = missing.min(2 * length).max(BUFFER_BYTES);
        self.reservation.grow_to(length + more)?;
        self.buffer.reserve_exact(more);
        Ok(())
    }

    /// Ready when the client took too long: for the next request, or for more of this one.
    fn poll_timeout(&mut self, context: &mut Context<'_>) -> Poll<ReadOutcome> {
        let elapsed = if self.buffer.is_empty() {
            self.idle_timeout.poll(context)
        } else {
            self.slow_timeout.poll(context)
        };
        elapsed.map(|()| ReadOutcome::TimedOut)
    }

    /// Removes a request that was answered.
    fn consume(&mut self, end: usize) {
        self.buffer.drain(..end);
        (self.request_length, self.parsed_length) = (None, 0);
        self.slow_timeout.reset();
        let kept = if self.budget.is_under_pressure() { BUFFER_BYTES } else { KEPT_BYTES };
        if self.buffer.capacity() > kept {
            self.buffer.shrink_to(BUFFER_BYTES);
            let beyond = if self.buffer.capacity() > BUFFER_BYTES { self.buffer.capacity() } else { 0 };
            self.reservation.shrink_to(beyond);
        }
    }
}

/// Writes a response. One that the client does not read immediately counts against the budget while it waits.
async fn write(stream: &mut (impl AsyncWrite + Unpin), mut response: EncodedReply) -> io::Result<()> {
    let first_write =
        poll_fn(|context| Poll::Ready(Pin::new(&mut *stream).poll_write(context, response.as_ref()))).await;
    let written = match first_write {
        Poll::Ready(written) => written?,
        Poll::Pending => 0,
    };
    if written < response.as_ref().len() {
        response.reserve_until_read().map_err(|_| io::ErrorKind::OutOfMemory)?;
        stream.write_all(&response.as_ref()[written..]).await?;
    }
    stream.flush().await
}

async fn write_last(stream: &mut (impl AsyncWrite + Unpin), response: &[u8]) -> io::Result<LaneExit> {
    stream.write_all(response).await?;
    stream.flush().await?;
    Ok(LaneExit::Ended)
}

/// The result of parsing the bytes that have arrived.
pub(crate) enum Parsed<'a> {
    Complete(UsualRequest<'a>),
    Incomplete {
        /// At least this many bytes of the request have not arrived.
        missing: usize,
        has_head: bool,
    },
    HeadTooLong,
    Unusual,
}

/// A request that the fast lane serves.
pub(crate) struct UsualRequest<'a> {
    pub signed: SignedRequest<'a>,
    content_type: Option<&'static str>,
    /// Where the next request begins.
    pub end: usize,
}

pub(crate) fn parse<'a>(bytes: &'a [u8], pairs: &'a mut HeaderPairs<'a>) -> Parsed<'a> {
    if bytes.is_empty() {
        return Parsed::Incomplete { missing: 1, has_head: false };
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() > MAX_HEAD_BYTES => return Parsed::HeadTooLong,
        Ok(httparse::Status::Partial) => return Parsed::Incomplete { missing: 1, has_head: false },
        Err(_) => return Parsed::Unusual,
    };
    if (request.method, request.path, request.version) != (Some("POST"), Some("/"), Some(1)) {
        return Parsed::Unusual;
    }
    let sent = request.headers.len();
    for (pair, header) in pairs.iter_mut().zip(request.headers.iter()) {
        *pair = (header.name, header.value);
    }
    let headers = Headers::new(&pairs[..sent]);
    let Some(length) = usual_length(headers).filter(|_| head <= HEAD_BYTES) else { return Parsed::Unusual };
    let content_type = json_type(headers);
    if content_type.is_none() && length > 0 {
        return Parsed::Unusual;
    }
    let end = head + length;
    let Some(body) = bytes.get(head..end) else {
        return Parsed::Incomplete { missing: end - bytes.len(), has_head: true };
    };
    let signed = SignedRequest { method: "POST", path: "/", query: "", headers, body };
    Parsed::Complete(UsualRequest { signed, content_type, end })
}

/// The length of the body, if the headers are usual.
fn usual_length(headers: Headers<'_>) -> Option<usize> {
    let keeps_alive = |value: &[u8]| value.eq_ignore_ascii_case(b"keep-alive");
    if UNUSUAL_HEADERS.iter().any(|name| headers.contains(name))
        || !headers.get_all("connection").all(keeps_alive)
        || headers.get_all("host").count() != 1
        || headers.get_all("content-length").count() != 1
    {
        return None;
    }
    let digits = headers.text("content-length")?;
    let length = digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())??;
    (length <= REQUEST_BYTES).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n";

    fn parsed(request: &str) -> &'static str {
        match parse(request.as_bytes(), &mut [("", b""); MAX_HEADERS]) {
            Parsed::Complete(_) => "complete",
            Parsed::Incomplete { .. } => "incomplete",
            Parsed::HeadTooLong => "too long",
            Parsed::Unusual => "unusual",
        }
    }

    fn reader(buffer: Vec<u8>) -> RequestReader {
        let budget = Budget::new(64 << 20, || ());
        RequestReader {
            buffer,
            reservation: budget.reservation(),
            budget,
            idle_timeout: IdleTimeout::new(IDLE_TIMEOUT),
            slow_timeout: SlowClientTimeout::new(budget, IDLE_TIMEOUT),
            request_length: None,
            parsed_length: 0,
        }
    }

    #[tokio::test]
    async fn the_buffer_grows_with_what_has_arrived() {
        let mut reader = reader(Vec::with_capacity(BUFFER_BYTES));
        let whole = 16 << 20;
        while reader.buffer.len() < whole {
            reader.reserve(whole - reader.buffer.len()).unwrap();
            assert!(
                reader.buffer.capacity() <= (3 * reader.buffer.len()).max(2 * BUFFER_BYTES),
                "{}",
                reader.buffer.len()
            );
            assert!(
                reader.budget.used() >= reader.buffer.capacity() || reader.buffer.capacity() == BUFFER_BYTES
            );
            reader.buffer.resize(reader.buffer.capacity().min(whole), b'x');
        }
        reader.consume(whole);
        assert_eq!((reader.buffer.capacity(), reader.budget.used()), (BUFFER_BYTES, 0));
        let mut other = reader.budget.reservation();
        other.grow_to(50 << 20).unwrap();
        assert!(reader.reserve(whole).is_ok());
        reader.buffer.resize(8 << 20, b'x');
        assert!(reader.reserve(whole).is_err());
    }

    #[tokio::test]
    async fn a_request_in_tiny_pieces_is_parsed_only_a_few_times() {
        let request = format!("{USUAL}\r\n{{}}").replace("Length: 2", "Length: 1000").into_bytes();
        let (mut reader, mut parses) = (reader(Vec::new()), 0);
        for byte in request.iter().chain(&[b' '; 998]) {
            reader.buffer.push(*byte);
            parses += usize::from(reader.certainly_missing().is_none());
            match reader.parse(&mut [("", b""); MAX_HEADERS]) {
                Parsed::Incomplete { .. } => {}
                Parsed::Complete(_) => break,
                Parsed::HeadTooLong | Parsed::Unusual => panic!("not usual"),
            }
        }
        let lines = request.iter().filter(|byte| **byte == b'\n').count();
        assert!(parses <= lines + 2, "{parses} parses of {lines} lines");
        assert!(reader.buffer.len() > 1000);
    }

    #[tokio::test]
    async fn complete_requests_are_parsed_and_consumed() {
        let two = format!("{USUAL}Connection: Keep-Alive\r\n\r\n{{}}{USUAL}\r\n[]");
        let mut pairs = [("", &b""[..]); MAX_HEADERS];
        let Parsed::Complete(first) = parse(two.as_bytes(), &mut pairs) else { panic!("incomplete") };
        assert_eq!((first.signed.body, first.signed.headers.text("host")), (&b"{}"[..], Some("localhost")));
        let mut reader = reader(two.clone().into_bytes());
        reader.consume(first.end);
        assert_eq!(reader.buffer, format!("{USUAL}\r\n[]").into_bytes());
        assert_eq!((parsed(""), parsed(&format!("{USUAL}\r\n{{"))), ("incomplete", "incomplete"));
    }

    #[test]
    fn unusual_requests_are_left_to_hyper() {
        for more in [
            "Transfer-Encoding: chunked\r\n",
            "content-encoding: gzip\r\n",
            "Expect: 100-continue\r\n",
            "Origin: http://localhost\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive, upgrade\r\n",
            "Content-Length: 2\r\n",
            "Host: other\r\n",
        ] {
            assert_eq!(parsed(&format!("{USUAL}{more}\r\n{{}}")), "unusual", "{more}");
        }
        for (usual, unusual) in [
            ("POST", "GET"),
            ("/ HTTP/1.1", "/other HTTP/1.1"),
            ("/ HTTP/1.1", "/?query HTTP/1.1"),
            ("HTTP/1.1", "HTTP/1.0"),
            ("Length: 2", "Length: +2"),
            ("Length: 2", "Length: 16777217"),
            ("Length: 2", "Length: 99999999999999999999999"),
            ("Length: 2", "Language: 2"),
            ("x-amz-json-1.0", "xml"),
            ("POST", "\u{1}"),
        ] {
            assert_eq!(parsed(&format!("{USUAL}\r\n{{}}").replace(usual, unusual)), "unusual", "{unusual}");
        }
        let endless = format!("{USUAL}x: {}", "y".repeat(MAX_HEAD_BYTES));
        assert_eq!(parsed(&endless), "too long");
        let long = format!("{USUAL}x: {}\r\n\r\n{{}}", "y".repeat(HEAD_BYTES));
        let many = format!("{USUAL}{}\r\n{{}}", "x: y\r\n".repeat(MAX_HEADERS));
        assert_eq!((parsed(&long), parsed(&many)), ("unusual", "unusual"));
        let head = format!("{USUAL}\r\n");
        assert!((1..head.len()).all(|cut| parsed(&head[..cut]) == "incomplete"));
    }
}
