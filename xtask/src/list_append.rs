//! `cargo xtask list-append`: transactions against a server that is killed are strictly serializable.

use crate::release;
use crate::step::run;

/// Without arguments: 20,000 transactions and 5 kills.
pub fn check(arguments: &[String]) -> Result<(), String> {
    release::build(&["partita", "partita-list-append"])?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run("list-append", "target/release/partita-list-append", &arguments)
}
