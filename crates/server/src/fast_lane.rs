//! HTTP/1.1 as SDKs speak it, without ceremony: whole requests out of one buffer, whole answers in one write.
//!
//! A `POST /` with a content length and nothing unusual about it is answered here. With the first request that is
//! anything else the connection goes over to hyper for good, together with what was read of it: chunked bodies,
//! `Expect`, `Connection: close`, pages in browsers, other paths, whatever is broken. So this file knows no more of
//! HTTP than the usual case.

use crate::budget::{Budget, NoRoom, Share};
use crate::courtesy;
use crate::pace::Pace;
use crate::pipeline::{HEAD_BYTES, Pipeline, json_type};
use crate::reply::{Answer, Notice, Refusal, Reply};
use crate::silence::Silence;
use crate::stopping::Stay;
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
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// Room for what is read at a time, which every connection has.
const BUFFER_BYTES: usize = 8 * 1_024;
/// More is not read at a time: others have their turn before the rest of a large body is taken.
const READ_BYTES: usize = 256 * 1_024;
/// A larger buffer is given back after the request that needed it.
const KEPT_BYTES: usize = 64 * 1_024;
/// A head of more is refused before it has ended: request line, headers, and what stands between them.
const MOST_HEAD_BYTES: usize = 2 * HEAD_BYTES + 4 * 1_024;
/// More headers are unusual.
pub(crate) const HEADERS: usize = 32;
/// Requests with one of these are unusual.
const UNUSUAL: [&str; 6] =
    ["transfer-encoding", "content-encoding", "expect", "upgrade", "origin", "trailer"];

pub(crate) type Pairs<'a> = [(&'a str, &'a [u8]); HEADERS];

/// How a connection left the lane.
pub enum Left {
    /// It is over.
    Ended,
    /// It goes on elsewhere; these bytes were read already.
    Unusual(Vec<u8>),
}

/// Serves a connection for as long as its requests are usual.
pub async fn serve<S: Store>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pipeline: &Pipeline<S>,
    stay: &mut Stay,
) -> io::Result<Left> {
    let place = Arc::clone(&stay.place);
    let mut is_over = pin!(stay.is_over());
    let mut lane = Lane::new(pipeline);
    loop {
        let mut pairs: Pairs<'_> = [("", b""); HEADERS];
        let (missing, has_head) = match lane.look(&mut pairs) {
            Look::Whole(request) => {
                place.begins();
                let reply = pipeline.reply_if_welcome(&request.signed, request.content_type).await;
                let in_order = reply.is_success();
                write(stream, reply.into_http1()).await?;
                place.ends(in_order);
                let end = request.end;
                lane.consume(end);
                courtesy::answered();
                continue;
            }
            Look::Missing { bytes, has_head } => (bytes, has_head),
            Look::TooLong => {
                return write_last(stream, &Notice::bad_request().and_no_more().into_http1()).await;
            }
            Look::Unusual => return Ok(Left::Unusual(lane.read)),
        };
        if has_head {
            place.begins();
        }
        if lane.make_room(missing).is_err() {
            let refusal = Reply::last(Refusal::NoRoom, pipeline.budget.share()).into_http1();
            return write_last(stream, refusal.as_ref()).await;
        }
        let more = poll_fn(|context| {
            if let Poll::Ready(more) =
                pin!(stream.read_buf(&mut (&mut lane.read).limit(READ_BYTES))).poll(context)
            {
                return Poll::Ready(more.map(Heard::of));
            }
            if !has_head && is_over.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(Heard::Enough));
            }
            lane.poll_patience(context).map(Ok)
        });
        match more.await? {
            Heard::Bytes(bytes) => {
                place.heard(lane.silence.broken().into_std());
                lane.pace.moved(bytes);
                if bytes == READ_BYTES {
                    yield_now().await;
                }
            }
            Heard::End if lane.read.is_empty() => return Ok(Left::Ended),
            // Whoever still listens is told that something is missing.
            Heard::End => {
                return write_last(stream, &Notice::last(StatusCode::BAD_REQUEST).into_http1()).await;
            }
            Heard::TooSlow if has_head => {
                return write_last(stream, &Notice::last(StatusCode::REQUEST_TIMEOUT).into_http1()).await;
            }
            Heard::TooSlow | Heard::Enough => return Ok(Left::Ended),
        }
    }
}

/// What came of waiting for a client.
enum Heard {
    Bytes(usize),
    /// It will send no more.
    End,
    TooSlow,
    /// The connection is to end.
    Enough,
}

impl Heard {
    fn of(bytes: usize) -> Heard {
        if bytes == 0 { Heard::End } else { Heard::Bytes(bytes) }
    }
}

/// What was read of a connection and is not answered, and how long more of it is waited for.
struct Lane {
    read: Vec<u8>,
    /// Of what the buffer takes beyond what every connection has.
    share: Share,
    budget: &'static Budget,
    silence: Silence,
    pace: Pace,
    /// How much must be here before it is worth looking at again; of a head that is not known.
    awaited: Option<usize>,
    /// How much was here when it was looked at last.
    looked_at: usize,
}

impl Lane {
    fn new<S: Store>(pipeline: &Pipeline<S>) -> Lane {
        Lane {
            read: Vec::with_capacity(BUFFER_BYTES),
            share: pipeline.budget.share(),
            budget: pipeline.budget,
            silence: Silence::of_at_most(LONGEST_SILENCE),
            pace: pipeline.pace(),
            awaited: None,
            looked_at: 0,
        }
    }

    /// What the bytes at hand are, without another look where something is missing for sure.
    fn look<'a>(&'a mut self, pairs: &'a mut Pairs<'a>) -> Look<'a> {
        let look = match self.still_missing() {
            Some((bytes, has_head)) => Look::Missing { bytes, has_head },
            None => look(&self.read, pairs),
        };
        if let Look::Missing { bytes, has_head } = look {
            self.looked_at = self.read.len();
            self.awaited = has_head.then(|| self.looked_at + bytes);
        }
        look
    }

    /// What is missing for sure, without another look: a head ends with a line, a body with its last byte.
    fn still_missing(&self) -> Option<(usize, bool)> {
        let length = self.read.len();
        if self.looked_at == 0 || length > MOST_HEAD_BYTES && self.awaited.is_none() {
            return None;
        }
        match self.awaited {
            Some(awaited) => (length < awaited).then(|| (awaited - length, true)),
            None => (!self.read[self.looked_at..].contains(&b'\n')).then_some((1, false)),
        }
    }

    /// Makes room for some of the bytes that are missing: for twice as much as is here, whatever was declared.
    fn make_room(&mut self, missing: usize) -> Result<(), NoRoom> {
        let length = self.read.len();
        if self.read.capacity() - length >= missing.min(BUFFER_BYTES / 2) {
            return Ok(());
        }
        let more = missing.min(2 * length).max(BUFFER_BYTES);
        self.share.grow_to(length + more)?;
        self.read.reserve_exact(more);
        Ok(())
    }

    /// Ready when it was waited for long enough: for the next request, or for more of this one.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<Heard> {
        let waited = if self.read.is_empty() { self.silence.poll(context) } else { self.pace.poll(context) };
        waited.map(|()| Heard::TooSlow)
    }

    /// Forgets a request that was answered.
    fn consume(&mut self, end: usize) {
        self.read.drain(..end);
        (self.awaited, self.looked_at) = (None, 0);
        self.pace.settle();
        let kept = if self.budget.is_tight() { BUFFER_BYTES } else { KEPT_BYTES };
        if self.read.capacity() > kept {
            self.read.shrink_to(BUFFER_BYTES);
            let beyond = if self.read.capacity() > BUFFER_BYTES { self.read.capacity() } else { 0 };
            self.share.shrink_to(beyond);
        }
    }
}

/// Writes an answer. One that the client does not take at once has its share of the budget while it waits.
async fn write(stream: &mut (impl AsyncWrite + Unpin), mut answer: Answer) -> io::Result<()> {
    let at_once =
        poll_fn(|context| Poll::Ready(Pin::new(&mut *stream).poll_write(context, answer.as_ref()))).await;
    let written = match at_once {
        Poll::Ready(written) => written?,
        Poll::Pending => 0,
    };
    if written < answer.as_ref().len() {
        answer.waits().map_err(|_| io::ErrorKind::OutOfMemory)?;
        stream.write_all(&answer.as_ref()[written..]).await?;
    }
    stream.flush().await
}

async fn write_last(stream: &mut (impl AsyncWrite + Unpin), answer: &[u8]) -> io::Result<Left> {
    stream.write_all(answer).await?;
    stream.flush().await?;
    Ok(Left::Ended)
}

/// What the bytes at hand are.
pub(crate) enum Look<'a> {
    Whole(Usual<'a>),
    /// So many bytes of the next request are not here yet, at least.
    Missing {
        bytes: usize,
        has_head: bool,
    },
    /// Its head has no end.
    TooLong,
    Unusual,
}

/// A request for this lane.
pub(crate) struct Usual<'a> {
    pub signed: SignedRequest<'a>,
    content_type: Option<&'static str>,
    /// Where the next one begins.
    pub end: usize,
}

pub(crate) fn look<'a>(bytes: &'a [u8], pairs: &'a mut Pairs<'a>) -> Look<'a> {
    if bytes.is_empty() {
        return Look::Missing { bytes: 1, has_head: false };
    }
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut parsed);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) if bytes.len() > MOST_HEAD_BYTES => return Look::TooLong,
        Ok(httparse::Status::Partial) => return Look::Missing { bytes: 1, has_head: false },
        Err(_) => return Look::Unusual,
    };
    if (request.method, request.path, request.version) != (Some("POST"), Some("/"), Some(1)) {
        return Look::Unusual;
    }
    let sent = request.headers.len();
    for (pair, header) in pairs.iter_mut().zip(request.headers.iter()) {
        *pair = (header.name, header.value);
    }
    let headers = Headers::new(&pairs[..sent]);
    let Some(length) = usual_length(headers).filter(|_| head <= HEAD_BYTES) else { return Look::Unusual };
    let content_type = json_type(headers);
    if content_type.is_none() && length > 0 {
        return Look::Unusual;
    }
    let end = head + length;
    let Some(body) = bytes.get(head..end) else {
        return Look::Missing { bytes: end - bytes.len(), has_head: true };
    };
    let signed = SignedRequest { method: "POST", path: "/", query: "", headers, body };
    Look::Whole(Usual { signed, content_type, end })
}

/// The length of the body, if all that these headers say is usual.
fn usual_length(headers: Headers<'_>) -> Option<usize> {
    let keeps_alive = |value: &[u8]| value.eq_ignore_ascii_case(b"keep-alive");
    if UNUSUAL.iter().any(|name| headers.contains(name))
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

    fn seen(request: &str) -> &'static str {
        match look(request.as_bytes(), &mut [("", b""); HEADERS]) {
            Look::Whole(_) => "whole",
            Look::Missing { .. } => "missing",
            Look::TooLong => "too long",
            Look::Unusual => "unusual",
        }
    }

    fn lane(read: Vec<u8>) -> Lane {
        let budget = Budget::new(64 << 20, || ());
        let (silence, pace) = (Silence::of_at_most(LONGEST_SILENCE), Pace::new(budget, LONGEST_SILENCE));
        Lane { read, share: budget.share(), budget, silence, pace, awaited: None, looked_at: 0 }
    }

    #[tokio::test]
    async fn room_grows_with_what_has_arrived() {
        let mut lane = lane(Vec::with_capacity(BUFFER_BYTES));
        let whole = 16 << 20;
        while lane.read.len() < whole {
            lane.make_room(whole - lane.read.len()).unwrap();
            assert!(
                lane.read.capacity() <= (3 * lane.read.len()).max(2 * BUFFER_BYTES),
                "{}",
                lane.read.len()
            );
            assert!(lane.budget.used() >= lane.read.capacity() || lane.read.capacity() == BUFFER_BYTES);
            lane.read.resize(lane.read.capacity().min(whole), b'x');
        }
        lane.consume(whole);
        assert_eq!((lane.read.capacity(), lane.budget.used()), (BUFFER_BYTES, 0));
        let mut other = lane.budget.share();
        other.grow_to(50 << 20).unwrap();
        assert!(lane.make_room(whole).is_ok());
        lane.read.resize(8 << 20, b'x');
        assert!(lane.make_room(whole).is_err());
    }

    /// However small the pieces are in which it comes.
    #[tokio::test]
    async fn a_request_is_looked_at_a_few_times() {
        let request = format!("{USUAL}\r\n{{}}").replace("Length: 2", "Length: 1000").into_bytes();
        let (mut lane, mut looks) = (lane(Vec::new()), 0);
        for byte in request.iter().chain(&[b' '; 998]) {
            lane.read.push(*byte);
            looks += usize::from(lane.still_missing().is_none());
            match lane.look(&mut [("", b""); HEADERS]) {
                Look::Missing { .. } => {}
                Look::Whole(_) => break,
                Look::TooLong | Look::Unusual => panic!("not usual"),
            }
        }
        let lines = request.iter().filter(|byte| **byte == b'\n').count();
        assert!(looks <= lines + 2, "{looks} looks at {lines} lines");
        assert!(lane.read.len() > 1000);
    }

    #[tokio::test]
    async fn whole_requests_are_seen_and_cut_out() {
        let two = format!("{USUAL}Connection: Keep-Alive\r\n\r\n{{}}{USUAL}\r\n[]");
        let mut pairs = [("", &b""[..]); HEADERS];
        let Look::Whole(first) = look(two.as_bytes(), &mut pairs) else { panic!("not seen") };
        assert_eq!((first.signed.body, first.signed.headers.text("host")), (&b"{}"[..], Some("localhost")));
        let mut lane = lane(two.clone().into_bytes());
        lane.consume(first.end);
        assert_eq!(lane.read, format!("{USUAL}\r\n[]").into_bytes());
        assert_eq!((seen(""), seen(&format!("{USUAL}\r\n{{"))), ("missing", "missing"));
    }

    #[test]
    fn all_else_is_left_to_hyper() {
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
            assert_eq!(seen(&format!("{USUAL}{more}\r\n{{}}")), "unusual", "{more}");
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
            assert_eq!(seen(&format!("{USUAL}\r\n{{}}").replace(usual, unusual)), "unusual", "{unusual}");
        }
        let endless = format!("{USUAL}x: {}", "y".repeat(MOST_HEAD_BYTES));
        assert_eq!(seen(&endless), "too long");
        let long = format!("{USUAL}x: {}\r\n\r\n{{}}", "y".repeat(HEAD_BYTES));
        let many = format!("{USUAL}{}\r\n{{}}", "x: y\r\n".repeat(HEADERS));
        assert_eq!((seen(&long), seen(&many)), ("unusual", "unusual"));
        let head = format!("{USUAL}\r\n");
        assert!((1..head.len()).all(|cut| seen(&head[..cut]) == "missing"));
    }
}
