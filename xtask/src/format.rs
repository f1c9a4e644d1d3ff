//! Formats every Rust file. `cargo fmt` alone misses the operations' files: a macro declares their modules.

use crate::step::root;
use std::process::Command;

/// Formats, or with `--check` fails if something is not formatted.
pub fn all(check: bool) -> Result<(), String> {
    let files = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root()).output();
    let files = files.map_err(|error| format!("git ls-files: {error}"))?.stdout;
    let files = String::from_utf8_lossy(&files);
    let options = if check { &["--edition", "2024", "--check"][..] } else { &["--edition", "2024"] };
    // A file that is deleted but not yet committed is listed, too.
    let files = files.lines().filter(|file| root().join(file).exists());
    let status = Command::new("rustfmt").args(options).args(files).current_dir(root()).status();
    match status.map_err(|error| format!("rustfmt: {error}"))?.success() {
        true => Ok(()),
        false => Err("not formatted; `cargo xtask format` does it".to_owned()),
    }
}
