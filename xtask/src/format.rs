//! Formats every Rust file. `cargo fmt` alone misses the operations' files: a macro declares their modules.

use crate::step::root;
use std::process::Command;

/// Formats, or with `--check` fails if something is not formatted.
pub fn all(check: bool) -> Result<(), String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    let files = String::from_utf8_lossy(&listed.stdout);
    // A file that is deleted but not yet committed is listed, too.
    let files: Vec<&str> = files.lines().filter(|file| root().join(file).exists()).collect();
    if !listed.status.success() || files.is_empty() {
        return Err("git ls-files lists no Rust files: this needs a git checkout".to_owned());
    }
    let options = if check { &["--edition", "2024", "--check"][..] } else { &["--edition", "2024"] };
    let status = Command::new("rustfmt").args(options).args(files).current_dir(root()).status();
    match status.map_err(|error| format!("rustfmt: {error}"))?.success() {
        true => Ok(()),
        false => Err("not formatted; `cargo xtask format` does it".to_owned()),
    }
}
