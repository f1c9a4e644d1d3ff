//! Ends the process if a shutdown hangs.

use std::time::Duration;

/// The exit code of a shutdown that hung.
pub const EXIT_CODE: u8 = 3;

/// Ends the process after a timeout. Acknowledged writes are in the commit log already: the next start catches up.
#[expect(clippy::disallowed_methods, reason = "starts the watchdog")]
pub fn start(timeout: Duration) {
    let watch = move || {
        std::thread::sleep(timeout);
        report();
        std::process::exit(EXIT_CODE.into());
    };
    if let Err(error) = std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch) {
        tracing::warn!(%error, "the watchdog could not be started");
    }
}

/// Prints why the process ended without a clean shutdown.
pub fn report() {
    eprintln!(
        "partita: a request or background task did not stop in time, and the process exits without waiting for it; every acknowledged write is in the log"
    );
}
