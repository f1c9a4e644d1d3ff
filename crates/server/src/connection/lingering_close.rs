//! A socket that disconnects clients that do not read their responses, and that lingers when it closes: what the client is
//! still sending is read and discarded for a moment.
//!
//! Closing a socket with unread bytes resets it, and a reset discards the response that was just written: a client whose
//! request was refused half-way would not see the reason.

use crate::connection::busy_poll;
use crate::limits::slow_client_timeout::SlowClientTimeout;
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

/// How much is discarded, and for how long, before the connection is reset after all.
const MAX_DISCARDED_BYTES: usize = 4 * 1024 * 1024;
const MAX_LINGER: Duration = Duration::from_secs(2);

pub struct LingeringStream {
    stream: TcpStream,
    /// For a client that does not read.
    write_timeout: SlowClientTimeout,
    closing: Option<Closing>,
}

/// The state of a socket whose responses are written.
struct Closing {
    discarded: usize,
    deadline: Pin<Box<Sleep>>,
}

impl LingeringStream {
    pub fn new(stream: TcpStream, write_timeout: SlowClientTimeout) -> LingeringStream {
        LingeringStream { stream, write_timeout, closing: None }
    }

    /// Registers the socket with the runtime of the current thread.
    pub fn move_to_current_runtime(&mut self) -> Result<(), Error> {
        let same = std::net::TcpStream::from(self.stream.as_fd().try_clone_to_owned()?);
        self.stream = TcpStream::from_std(same)?;
        Ok(())
    }

    /// Passes on the result of a write, or a timeout if the client reads too slowly.
    fn check_timeout(
        &mut self,
        written: Poll<Result<usize, Error>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<usize, Error>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.write_timeout.transferred(bytes);
        }
        if written.is_pending() && self.write_timeout.poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl Closing {
    fn new() -> Closing {
        Closing { discarded: 0, deadline: Box::pin(sleep(MAX_LINGER)) }
    }

    /// Ready when nothing more arrives. A client that is not sending is not waited for.
    fn poll(&mut self, stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
        let mut bytes = [0; 8 * 1024];
        while self.discarded < MAX_DISCARDED_BYTES {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.discarded += buffer.filled().len(),
                Poll::Pending if self.discarded > 0 => return self.deadline.as_mut().poll(context),
                Poll::Ready(_) | Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for LingeringStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() && blocking::is_allowed() {
            // The waker is registered already: if more arrives meanwhile, the runtime sees it immediately.
            busy_poll::poll_until_readable(&self.stream);
        }
        read
    }
}

impl AsyncWrite for LingeringStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_timeout(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.check_timeout(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let LingeringStream { stream, closing, .. } = &mut *self;
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

    fn lingering(stream: TcpStream, credit: Duration) -> LingeringStream {
        LingeringStream::new(stream, SlowClientTimeout::new(Budget::new(1 << 20, || ()), credit))
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut server = lingering(listener.accept().await.unwrap().0, Duration::from_millis(50));
        let written = server.write_all(&vec![b'x'; 64 << 20]).await;
        assert_eq!(written.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_is_still_sending_reads_its_response() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = tokio::spawn(async move {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(&vec![b'x'; 1024 * 1024]).await.unwrap();
            let mut response = String::new();
            client.read_to_string(&mut response).await.unwrap();
            response
        });
        let mut server = lingering(listener.accept().await.unwrap().0, MAX_LINGER);
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
        let mut server = lingering(listener.accept().await.unwrap().0, MAX_LINGER);
        tokio::time::timeout(MAX_LINGER / 2, server.shutdown()).await.unwrap().unwrap();
    }
}
