//! `cargo xtask bench`: builds what is measured and what measures it, and runs the workloads.

use crate::step::run;

const RESULTS: &str = "docs/benchmarks.md";

/// `growth` measures growing tables; further arguments go to the benchmark: `--seconds`, `--items`, `--only` …
pub fn measure(arguments: &[String]) -> Result<(), String> {
    run(
        "release build",
        "cargo",
        &["build", "--release", "--package", "partita", "--package", "partita-bench"],
    )?;
    let (growth, more) = match arguments.split_first() {
        Some((first, more)) if first == "growth" => (true, more),
        _ => (false, arguments),
    };
    let mut command =
        if growth { vec!["growth", "--append", RESULTS] } else { vec!["run", "--write", RESULTS] };
    command.extend(more.iter().map(String::as_str));
    run("benchmark", "target/release/partita-bench", &command)
}
