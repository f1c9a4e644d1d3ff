//! `cargo xtask instructions`: counts the instructions of the hot paths and compares them with what was recorded.
//!
//! Counts do not depend on how busy the machine is, so this finds a slow-down that a timing would hide. The recorded
//! counts are in crates/bench/instructions.txt; `cargo xtask instructions --update` rewrites them.

use crate::release;
use crate::step::{root, run};
use std::fs;
use std::process::Command;

const RECORDED: &str = "crates/bench/instructions.txt";
const PATHS: [&str; 6] = ["get", "query", "query_filter", "scan", "put", "update"];
/// A path may take this much more than recorded: allocators and the C library differ a little between machines.
const TOLERANCE: f64 = 1.10;
const ROUNDS: [u64; 2] = [100, 300];

pub fn check(update: bool) -> Result<(), String> {
    release::build(&release::CI_PROGRAMS)?;
    need_valgrind()?;
    let counts: Vec<(&str, f64)> =
        PATHS.into_iter().map(|path| Ok((path, instructions(path)?))).collect::<Result<_, String>>()?;
    let file = root().join(RECORDED);
    if update {
        let lines: String = counts.iter().map(|(path, count)| format!("{path} {count:.0}\n")).collect();
        return fs::write(&file, lines).map_err(|error| format!("{RECORDED}: {error}"));
    }
    let recorded = fs::read_to_string(&file).map_err(|error| format!("{RECORDED}: {error}"))?;
    let mut slower = Vec::new();
    for (path, count) in counts {
        let line = recorded.lines().find_map(|line| line.strip_prefix(path)?.strip_prefix(' '));
        let before: f64 = line.and_then(|count| count.parse().ok()).unwrap_or(0.0);
        println!("{path:<14} {count:>9.0} instructions, recorded {before:>9.0}: {:.2}", count / before);
        if count > before * TOLERANCE {
            slower.push(path);
        }
    }
    if slower.is_empty() {
        println!("{} passed, 0 failed", PATHS.len());
        return Ok(());
    }
    Err(format!(
        "more instructions than recorded: {}; if that is intended, run cargo xtask instructions --update",
        slower.join(", ")
    ))
}

pub fn need_valgrind() -> Result<(), String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(_) => Ok(()),
        Err(_) => run("install", "apt-get", &["install", "--yes", "--quiet", "valgrind"]),
    }
}

/// Instructions per round: the difference between two numbers of rounds, so that the setup does not count.
fn instructions(path: &str) -> Result<f64, String> {
    let [few, many] = ROUNDS;
    let (less, more) = (collected(path, few)?, collected(path, many)?);
    Ok((more - less) as f64 / (many - few) as f64)
}

fn collected(path: &str, rounds: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "target/release/hot_paths", path])
        .arg(rounds.to_string())
        .current_dir(root())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    count
        .and_then(|count| count.parse().ok())
        .ok_or_else(|| format!("valgrind counted nothing for {path}: {text}"))
}
