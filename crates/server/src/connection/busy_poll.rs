//! A thread that serves one connection stays awake for the next request a little while.
//!
//! A client that asks one thing after another sends the next request some microseconds after it has the answer. To fall
//! asleep and be woken takes longer than that, on virtual machines longer than most requests do. Other threads that
//! want the core are let in.

use crate::clock;
use socket2::SockRef;
use std::mem::MaybeUninit;
use std::time::Duration;
use tokio::net::TcpStream;

/// About as long as falling asleep and being woken takes where that is slow.
const LONGEST: Duration = Duration::from_micros(60);

/// Returns when there is something to read, or after a moment.
pub fn await_briefly(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let end = clock::monotonic_now() + LONGEST;
    // Anything but a socket that would block is for the reader to see.
    while would_block(&socket) && clock::monotonic_now() < end {
        std::thread::yield_now();
    }
}

fn would_block(socket: &SockRef<'_>) -> bool {
    socket
        .peek(&mut [MaybeUninit::uninit()])
        .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}
