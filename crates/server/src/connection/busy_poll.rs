//! A thread with a single connection polls for the next request for a moment before it sleeps.
//!
//! A client that sends one request after another sends the next a few microseconds after it has the response. To sleep and
//! be woken takes longer than that, on virtual machines longer than most requests. Other threads that want the core get it.

use crate::clock;
use socket2::SockRef;
use std::mem::MaybeUninit;
use std::time::Duration;
use tokio::net::TcpStream;

/// About as long as sleeping and waking takes where that is slow.
const MAX_POLL: Duration = Duration::from_micros(60);

/// Returns when there is something to read, or after [`MAX_POLL`].
pub fn poll_until_readable(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let end = clock::monotonic_now() + MAX_POLL;
    // Errors other than `WouldBlock` are left for the reader to find.
    while would_block(&socket) && clock::monotonic_now() < end {
        std::thread::yield_now();
    }
}

fn would_block(socket: &SockRef<'_>) -> bool {
    socket
        .peek(&mut [MaybeUninit::uninit()])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}
