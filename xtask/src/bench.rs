//! `cargo xtask bench`: builds what is measured and what measures it, and runs the workloads.

use crate::step::run;
use crate::{pictures, release};

const RESULTS: &str = "docs/benchmarks.md";

/// `growth` measures growing tables, `history` what streams and backups cost, `overload` what is left when too much is asked; further arguments go to the benchmark: `--seconds`, `--items`, `--only` …
pub fn measure(arguments: &[String]) -> Result<(), String> {
    release::build(&["partita", "partita-bench"])?;
    let (mut command, more) = match arguments.split_first() {
        Some((first, more)) if ["growth", "history"].contains(&first.as_str()) => {
            (vec![first.as_str(), "--append", RESULTS], more)
        }
        Some((first, more)) if first == "overload" => (vec![first.as_str()], more),
        _ => (vec!["run", "--write", RESULTS], arguments),
    };
    command.extend(more.iter().map(String::as_str));
    run("benchmark", "target/release/partita-bench", &command)?;
    pictures::draw()
}
