//! A socket that waits for no one who does not read his answers, and closes gently: what the client is still sending
//! is taken and thrown away for a moment.
//!
//! To close a socket with unread bytes in it is to reset it, and a reset takes back the answer that was just
//! written: a client whose request was refused half-way would see no reason.

use crate::connection::busy_poll;
use crate::limits::slow_client_timeout::Pace;
use partita_store::blocking;
use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How much is thrown away, and for how long, before the client is reset after all.
const MOST_BYTES: usize = 4 * 1024 * 1024;
const LONGEST: Duration = Duration::from_secs(2);

pub struct Lingering {
    stream: TcpStream,
    /// Of what the client reads.
    pace: Pace,
    closing: Option<Closing>,
}

/// A socket whose answers are written.
struct Closing {
    thrown_away: usize,
    deadline: Pin<Box<Sleep>>,
}

impl Lingering {
    pub fn new(stream: TcpStream, pace: Pace) -> Lingering {
        Lingering { stream, pace, closing: None }
    }

    /// From now on the thread that calls this serves it.
    pub fn settle_here(&mut self) -> Result<(), Error> {
        let same = std::net::TcpStream::from(self.stream.as_fd().try_clone_to_owned()?);
        self.stream = TcpStream::from_std(same)?;
        Ok(())
    }

    /// What came of a write, or that the client reads too slowly.
    fn paced(
        &mut self,
        written: Poll<Result<usize, Error>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<usize, Error>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.pace.moved(bytes);
        }
        if written.is_pending() && self.pace.poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl Closing {
    fn new() -> Closing {
        Closing { thrown_away: 0, deadline: Box::pin(sleep(LONGEST)) }
    }

    /// Ready when nothing more comes. A client that is not sending is not waited for.
    fn poll(&mut self, stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 8 * 1024];
        while self.thrown_away < MOST_BYTES {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.thrown_away += buffer.filled().len()
                }
                Poll::Pending if self.thrown_away > 0 => return self.deadline.as_mut().poll(context),
                Poll::Ready(_) | Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Lingering {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() && blocking::is_allowed() {
            // The runtime knows already whom to wake: if more comes meanwhile, it sees it at once.
            busy_poll::await_briefly(&self.stream);
        }
        read
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.paced(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.paced(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Lingering { stream, closing, .. } = &mut *self;
        if closing.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        closing.get_or_insert_with(Closing::new).poll(stream, context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::budget::Budget;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn lingering(stream: TcpStream, patience: Duration) -> Lingering {
        Lingering::new(stream, Pace::new(Budget::new(1 << 20, || ()), patience))
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut server = lingering(listener.accept().await.unwrap().0, Duration::from_millis(50));
        let written = server.write_all(&vec![b'x'; 64 << 20]).await;
        assert_eq!(written.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_still_sending_reads_its_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = tokio::spawn(async move {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(&vec![b'x'; 1024 * 1024]).await.unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).await.unwrap();
            answer
        });
        let mut server = lingering(listener.accept().await.unwrap().0, LONGEST);
        server.read_exact(&mut [0; 10]).await.unwrap();
        server.write_all(b"no").await.unwrap();
        server.shutdown().await.unwrap();
        drop(server);
        assert_eq!(client.await.unwrap(), "no");
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut server = lingering(listener.accept().await.unwrap().0, LONGEST);
        tokio::time::timeout(LONGEST / 2, server.shutdown()).await.unwrap().unwrap();
    }
}
