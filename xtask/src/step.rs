//! Runs a command in the project's folder; prints the command and how long it took.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The project's folder.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs `program` with `arguments` in the project's folder; an error says what failed.
pub fn run(title: &str, program: &str, arguments: &[&str]) -> Result<(), String> {
    println!("\n=== {title}: {program} {}", arguments.join(" "));
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .status()
        .map_err(|error| format!("{title}: {program} did not start: {error}"))?;
    println!("=== {title}: {:.0} s", start.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("{title} ({program} {})", arguments.join(" "))) }
}
