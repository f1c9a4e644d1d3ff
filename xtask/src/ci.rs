//! What CI checks, in the order in which failures are cheapest to find.

use crate::step::run;
use crate::{complexity, fuzz, instructions, list_append, tidy};

pub fn quick() -> Result<(), String> {
    run("format", "cargo", &["fmt", "--all", "--check"])?;
    run("format of fuzz targets", "cargo", &["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    tidy::check()?;
    run("lints", "cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    run("unit tests", "cargo", &["test", "--workspace", "--quiet"])
}

pub fn all() -> Result<(), String> {
    quick()?;
    run("release build", "cargo", &["build", "--release", "--package", "partita"])?;
    instructions::check(false)?;
    complexity::check()?;
    fuzz::all(fuzz::CI_SECONDS)?;
    list_append::check(&[])?;
    run("real clients", "bash", &["tests/blackbox/run.sh"])?;
    run("kill -9", "bash", &["tests/crash/run.sh"])
}
