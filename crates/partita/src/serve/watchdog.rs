//! Ends the process when it does not end by itself.

use std::time::Duration;

/// The program's exit code then.
pub const EXIT_CODE: u8 = 3;

/// Gives the process so long to end. What is acknowledged is in the commit log already: the next start catches up.
#[expect(clippy::disallowed_methods, reason = "starts the watchdog")]
pub fn start(patience: Duration) {
    let watch = move || {
        std::thread::sleep(patience);
        tell();
        std::process::exit(EXIT_CODE.into());
    };
    if let Err(error) = std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch) {
        tracing::warn!(%error, "no watchdog could be started");
    }
}

/// Says why it ended as it did.
pub fn tell() {
    eprintln!(
        "partita: something under way did not stop in time, and the process ends without it; every acknowledged write is in the log"
    );
}
