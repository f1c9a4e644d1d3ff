//! `cargo xtask bench`: builds what is measured and what measures it, and runs the workloads.

use crate::step::run;

/// Further arguments go to the benchmark: `--seconds`, `--items`, `--only` …
pub fn measure(more: &[String]) -> Result<(), String> {
    run(
        "release build",
        "cargo",
        &["build", "--release", "--package", "partita", "--package", "partita-bench"],
    )?;
    let mut arguments = vec!["run", "--write", "docs/benchmarks.md"];
    arguments.extend(more.iter().map(String::as_str));
    run("benchmark", "target/release/partita-bench", &arguments)
}
