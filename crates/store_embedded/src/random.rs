//! Random bytes, behind a seam: nothing else in the store calls the operating system for them.
//!
//! The simulation replaces the system call, so that they follow from its seed.

use std::io;

#[expect(clippy::disallowed_methods, reason = "the store's source of randomness")]
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
