//! The text that the README's picture of `partita model check` is drawn from is the program's own output.
//!
//! `PARTITA_WRITE=1 cargo test -p partita --test pictures` rewrites it, and `cargo xtask pictures` draws it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::Command;

#[test]
fn the_pictured_check_is_what_the_program_prints() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let output = Command::new(env!("CARGO_BIN_EXE_partita"))
        .args(["model", "check", "shop.toml"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let path = folder.join("model-check.txt");
    if std::env::var_os("PARTITA_WRITE").is_some() {
        std::fs::write(&path, &printed).unwrap();
    }
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), printed);
}
