//! `cargo xtask fuzz`: fuzzes every target from its corpus in fuzz/corpus, for some seconds each. Unit tests replay the corpora.
//!
//! A target of libFuzzer is a program built with the compiler's coverage pass, which stable has; cargo-fuzz is not needed,
//! though fuzz/ has its layout. What is found lies in fuzz/artifacts; `cargo xtask fuzz TARGET FILE` runs it again.

use crate::step::{root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// How long a target is fuzzed unless the command line says otherwise.
const SECONDS: u64 = 5;
/// An input that takes longer is a finding, and so is one that needs more memory.
const MOST_SECONDS: u32 = 2;
const MOST_MEGABYTES: u32 = 1_024;
const LONGEST_INPUT: u32 = 4_096;
const BUILT: &str = "target/fuzz";

/// What cargo-fuzz passes, without a sanitizer.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

/// `cargo xtask fuzz [--seconds N]` or `cargo xtask fuzz TARGET FILE…`
pub fn command(arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => all(SECONDS),
        [option, seconds] if option == "--seconds" => {
            all(seconds.parse().map_err(|error| format!("--seconds {seconds}: {error}"))?)
        }
        [target, files @ ..] => {
            let program = build()?.join(target);
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            run("fuzz", &program.to_string_lossy(), &files)
        }
    }
}

/// Fuzzes every target for this many seconds, one per core at a time.
pub fn all(seconds: u64) -> Result<(), String> {
    let programs = build()?;
    let waiting = Mutex::new(targets()?);
    let failed = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(target) = pop(&waiting) {
                    if let Err(failure) = fuzz(&programs.join(&target), &target, seconds) {
                        push(&failed, failure);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn pop(waiting: &Mutex<Vec<String>>) -> Option<String> {
    waiting.lock().ok()?.pop()
}

fn push(failed: &Mutex<Vec<String>>, failure: String) {
    if let Ok(mut failed) = failed.lock() {
        failed.push(failure);
    }
}

/// A target is a folder of inputs and a program of the same name.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/corpus");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

/// Builds all targets and says where they are.
fn build() -> Result<PathBuf, String> {
    println!("\n=== fuzz targets: cargo build");
    let start = Instant::now();
    let host = host()?;
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--target", &host, "--target-dir"])
        .arg(root().join(BUILT))
        .current_dir(root().join("fuzz"))
        .env("RUSTFLAGS", FLAGS.join(" "))
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    println!("=== fuzz targets: {:.0} s", start.elapsed().as_secs_f64());
    if !status.success() {
        return Err("the fuzz targets do not build".to_owned());
    }
    Ok(root().join(BUILT).join(host).join("debug"))
}

/// The compiler's own target: named, so that build scripts are built without libFuzzer's flags.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not report its host".to_owned())
}

fn fuzz(program: &Path, target: &str, seconds: u64) -> Result<(), String> {
    let folder = |name: &str| {
        let folder = root().join(name).join(target);
        fs::create_dir_all(&folder).map(|()| folder).map_err(|error| format!("{name}/{target}: {error}"))
    };
    let (found, artifacts) = (folder("target/fuzz/corpus")?, folder("fuzz/artifacts")?);
    let output = Command::new(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={MOST_SECONDS}"))
        .arg(format!("-rss_limit_mb={MOST_MEGABYTES}"))
        .arg(format!("-max_len={LONGEST_INPUT}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(found)
        .arg(root().join("fuzz/corpus").join(target))
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let runs = text.lines().find_map(|line| line.strip_prefix("Done ")).unwrap_or("no summary");
        println!("{target:<14} {runs}");
        return Ok(());
    }
    Err(format!("{target}: a finding is in fuzz/artifacts/{target}\n{text}"))
}
