//! HTTP/1.1 as SDKs speak it, without ceremony: whole requests out of one buffer, whole answers in one write.
//!
//! A `POST /` with a content length and nothing unusual about it is answered here. With the first request that is
//! anything else the connection goes over to hyper for good, together with what was read of it: chunked bodies,
//! `Expect`, `Connection: close`, pages in browsers, other paths, clients that stall, whatever is broken. So this file
//! knows no more of HTTP than the usual case.

use crate::courtesy;
use crate::pipeline::{HEAD_BYTES, Pipeline, json_type};
use crate::silence::Silence;
use crate::stopping::Stop;
use partita_auth::{Headers, SignedRequest};
use partita_store::Store;
use partita_value::limits::REQUEST_BYTES;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long a client may take to send the next request, or more of this one.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// Room for what is read at a time.
const BUFFER_BYTES: usize = 8 * 1_024;
/// A larger buffer is given back after the request that needed it.
const KEPT_BYTES: usize = 64 * 1_024;
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
    mut stop: Stop,
) -> io::Result<Left> {
    let mut stop = pin!(stop.wanted());
    let mut silence = Silence::of_at_most(LONGEST_SILENCE);
    let mut read = Vec::with_capacity(BUFFER_BYTES);
    loop {
        let mut pairs: Pairs<'_> = [("", b""); HEADERS];
        let missing = match look(&read, &mut pairs) {
            Look::Whole(request) => {
                let reply = pipeline.reply(&request.signed, request.signed.body, request.content_type).await;
                stream.write_all(reply.into_http1().as_bytes()).await?;
                let end = request.end;
                consume(&mut read, end);
                courtesy::answered();
                continue;
            }
            Look::Missing(bytes) => bytes,
            Look::Unusual => return Ok(Left::Unusual(read)),
        };
        read.reserve(missing.max(BUFFER_BYTES));
        let more = poll_fn(|context| {
            if let Poll::Ready(more) = pin!(stream.read_buf(&mut read)).poll(context) {
                return Poll::Ready(more);
            }
            if read.is_empty() && stop.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(0));
            }
            silence.poll(context).map(|()| Ok(0))
        });
        match more.await? {
            0 if read.is_empty() => return Ok(Left::Ended),
            0 => return Ok(Left::Unusual(read)),
            _ => silence.broken(),
        }
    }
}

/// What the bytes at hand are.
pub(crate) enum Look<'a> {
    Whole(Usual<'a>),
    /// So many bytes of the next request are not here yet.
    Missing(usize),
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
        return Look::Missing(1);
    }
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut parsed);
    let (Ok(httparse::Status::Complete(head)), Some("POST"), Some("/"), Some(1)) =
        (request.parse(bytes), request.method, request.path, request.version)
    else {
        return Look::Unusual;
    };
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
    let Some(body) = bytes.get(head..end) else { return Look::Missing(end - bytes.len()) };
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

/// Forgets a request that was answered.
fn consume(read: &mut Vec<u8>, end: usize) {
    read.drain(..end);
    if read.capacity() > KEPT_BYTES {
        read.shrink_to(BUFFER_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n";

    fn seen(request: &str) -> &'static str {
        match look(request.as_bytes(), &mut [("", b""); HEADERS]) {
            Look::Whole(_) => "whole",
            Look::Missing(_) => "missing",
            Look::Unusual => "unusual",
        }
    }

    #[test]
    fn whole_requests_are_seen_and_cut_out() {
        let two = format!("{USUAL}Connection: Keep-Alive\r\n\r\n{{}}{USUAL}\r\n[]");
        let mut pairs = [("", &b""[..]); HEADERS];
        let Look::Whole(first) = look(two.as_bytes(), &mut pairs) else { panic!("not seen") };
        assert_eq!((first.signed.body, first.signed.headers.text("host")), (&b"{}"[..], Some("localhost")));
        let mut read = two.clone().into_bytes();
        consume(&mut read, first.end);
        assert_eq!(read, format!("{USUAL}\r\n[]").into_bytes());
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
        let long = format!("{USUAL}x: {}\r\n\r\n{{}}", "y".repeat(HEAD_BYTES));
        let many = format!("{USUAL}{}\r\n{{}}", "x: y\r\n".repeat(HEADERS));
        assert_eq!((seen(&long), seen(&many)), ("unusual", "unusual"));
        let head = format!("{USUAL}\r\n");
        assert!((1..head.len()).all(|cut| seen(&head[..cut]) == "unusual"));
    }
}
