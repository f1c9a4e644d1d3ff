//! What is left of a trial that is interrupted: its table is deleted, or named.

use crate::arguments::Endpoint;
use crate::client::Client;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a program that Ctrl-C ends.
const INTERRUPTED: i32 = 130;

/// From now on, Ctrl-C deletes the table of the trial before it ends the program.
#[expect(clippy::disallowed_methods, reason = "a thread that waits for signals")]
pub fn delete_when_interrupted(endpoint: &Endpoint, table: &str) {
    let (endpoint, table) = (endpoint.clone(), table.to_owned());
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let stopped = runtime.block_on(async {
            let mut terminate = signal(SignalKind::terminate()).ok()?;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            Some(())
        });
        drop(runtime);
        if stopped.is_some() {
            eprintln!("\n{}", delete(&endpoint, &table));
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Deletes the table; returns what to tell the user.
fn delete(endpoint: &Endpoint, table: &str) -> String {
    let request = json!({ "TableName": table });
    let deleted = Client::new(endpoint)
        .and_then(|mut client| client.call("DeleteTable", &request).map_err(|failure| failure.to_string()));
    match deleted {
        Ok(_) => format!("interrupted; table {table} is deleted"),
        Err(failure) => format!("interrupted; table {table} is left, and must be deleted: {failure}"),
    }
}
