//! Where connections wait until they say what they want.
//!
//! Those who only ask how the server is are answered here, by the thread that accepts connections and does nothing else, or by
//! the one that agrees on keys with those who encrypt theirs: however busy the others are, they say so at once. All others go
//! on to a thread that serves requests.

use crate::connection::shutdown::Stay;
use crate::pipeline::Pipeline;
use hyper::Method;
use partita_store::Store;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long someone may stand there and say nothing.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// The head of a question that is answered here is shorter.
const QUESTION_BYTES: usize = 2 * 1_024;

/// Waits for a connection's first words. Gives it back if it is to be served elsewhere.
pub async fn receive<S: Store>(
    mut stream: TcpStream,
    pipeline: &Pipeline<S>,
    stay: &mut Stay,
) -> Option<TcpStream> {
    let mut words = [0; QUESTION_BYTES];
    let heard = tokio::select! {
        heard = tokio::time::timeout(LONGEST_SILENCE, stream.peek(&mut words)) => heard.ok()?.ok()?,
        () = stay.is_over() => return None,
    };
    if heard == 0 {
        return None;
    }
    let Some((length, answer)) = answer(&words[..heard], pipeline) else { return Some(stream) };
    let ended = async {
        stream.read_exact(&mut words[..length]).await?;
        say_goodbye(&mut stream, &answer).await
    };
    note(ended.await);
    None
}

/// The same of an encrypted connection, which gives its first words away. Returns them if it is to be served elsewhere.
pub async fn receive_encrypted<S: Store>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    pipeline: &Pipeline<S>,
    stay: &mut Stay,
) -> Option<Vec<u8>> {
    let mut words = Vec::with_capacity(QUESTION_BYTES);
    let heard = tokio::select! {
        heard = tokio::time::timeout(LONGEST_SILENCE, stream.read_buf(&mut words)) => heard.ok()?.ok()?,
        () = stay.is_over() => 0,
    };
    match answer(&words, pipeline) {
        None if heard > 0 => return Some(words),
        None => note(stream.shutdown().await),
        Some((_, answer)) => note(say_goodbye(stream, &answer).await),
    }
    None
}

async fn say_goodbye(stream: &mut (impl AsyncWrite + Unpin), answer: &[u8]) -> io::Result<()> {
    stream.write_all(answer).await?;
    stream.shutdown().await
}

fn note(ended: io::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The answer to a question, and the question's length; none if this is anything else.
fn answer<S: Store>(words: &[u8], pipeline: &Pipeline<S>) -> Option<(usize, Vec<u8>)> {
    let (length, path) = question(words)?;
    let notice = pipeline.notice(&Method::GET, path)?;
    Some((length, notice.and_no_more().into_http1()))
}

/// The length and the path of a whole GET request without a body.
fn question(words: &[u8]) -> Option<(usize, &'static str)> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(length)) = request.parse(words) else { return None };
    let has_body = |name: &str| {
        ["content-length", "transfer-encoding", "origin"].iter().any(|it| name.eq_ignore_ascii_case(it))
    };
    if request.method != Some("GET") || request.headers.iter().any(|header| has_body(header.name)) {
        return None;
    }
    ["/", crate::admin::readiness::PATH]
        .into_iter()
        .find(|path| request.path == Some(*path))
        .map(|path| (length, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_questions_are_understood() {
        let ask = |text: &str| question(text.as_bytes()).map(|(_, path)| path);
        assert_eq!(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Some("/"));
        assert_eq!(ask("GET /_partita/ready HTTP/1.0\r\n\r\n"), Some("/_partita/ready"));
        for other in [
            "",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\n\r\n",
            "GET /other HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
            "GET / HTTP/1.1\r\nOrigin: x\r\n\r\n",
        ] {
            assert_eq!(ask(other), None, "{other}");
        }
    }
}
