//! `cargo xtask complexity`: counts the instructions of every decoder, expression, statement, file reader and model check
//! at n, 2n and 4n, and fails if a case grows faster than its input.
//!
//! Counts do not depend on how busy the machine is, so that a case that grows too fast is always found. The cases
//! stand in crates/bench/src/bin/complexity.

use crate::instructions::need_valgrind;
use crate::release;
use crate::step::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Four times the input may take this many times the instructions: enough for sorting, far from a square.
const MOST_GROWTH: f64 = 4.0 * 1.35;
/// Processes that count at the same time, each a part of the cases.
const PARTS: usize = 2;

pub fn check() -> Result<(), String> {
    release::build(&release::CI_PROGRAMS)?;
    need_valgrind()?;
    let folder = empty_folder()?;
    let processes: Vec<Child> = (0..PARTS).map(|part| start(&folder, part)).collect::<Result<_, String>>()?;
    for process in processes {
        let output = process.wait_with_output().map_err(|error| format!("valgrind: {error}"))?;
        if !output.status.success() {
            return Err(format!("the cases ended early: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    judge(&counts(&folder)?)
}

/// Starts to count one part of the cases.
fn start(folder: &Path, part: usize) -> Result<Child, String> {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", folder.join(format!("count-{part}")).display()))
        .arg("target/release/complexity")
        .arg(format!("{part}/{PARTS}"))
        .current_dir(root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("valgrind: {error}"))
}

/// Where callgrind's counts go.
fn empty_folder() -> Result<PathBuf, String> {
    let folder = root().join("target/complexity");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// The instructions of each case at each size.
fn counts(folder: &Path) -> Result<BTreeMap<String, BTreeMap<usize, f64>>, String> {
    let mut counts: BTreeMap<String, BTreeMap<usize, f64>> = BTreeMap::new();
    let files = fs::read_dir(folder).map_err(|error| error.to_string())?;
    for file in files.flatten() {
        let text = fs::read_to_string(file.path()).map_err(|error| error.to_string())?;
        let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).map(str::trim);
        let Some((name, size)) = line("desc: Trigger: Client Request:").and_then(|run| run.split_once(' '))
        else {
            continue;
        };
        let total = line("summary:").or(line("totals:")).and_then(|count| count.parse().ok());
        let (Ok(size), Some(total)) = (size.parse(), total) else {
            return Err(format!("{}: no count in it", file.path().display()));
        };
        counts.entry(name.to_owned()).or_default().insert(size, total);
    }
    Ok(counts)
}

fn judge(counts: &BTreeMap<String, BTreeMap<usize, f64>>) -> Result<(), String> {
    let mut too_fast = Vec::new();
    for (name, sizes) in counts {
        let totals: Vec<f64> = sizes.values().copied().collect();
        let [once, twice, four_times] = totals[..] else {
            return Err(format!("{name}: {} sizes were counted, not three", totals.len()));
        };
        let growth = four_times / once;
        println!("{name:<32} {once:>11.0} instructions, {:.2} at 2n, {growth:.2} at 4n", twice / once);
        if growth > MOST_GROWTH {
            too_fast.push(name.as_str());
        }
    }
    println!("{} passed, {} failed", counts.len() - too_fast.len(), too_fast.len());
    match counts.len() {
        0 => Err("nothing was counted".to_owned()),
        _ if too_fast.is_empty() => Ok(()),
        _ => Err(format!("growing faster than their input: {}", too_fast.join(", "))),
    }
}
