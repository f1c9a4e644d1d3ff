//! What CI checks, in the order in which failures are cheapest to find.

use crate::step::run;
use crate::{book, complexity, fuzz, instructions, list_append, tidy};

const UNIT_TESTS: [&str; 4] = ["cargo", "test", "--workspace", "--quiet"];
/// With this, tests that need a disk of their own fail where they cannot have one.
const REQUIRE_FULL_DISK: &str = "PARTITA_REQUIRE_FULL_DISK=1";

pub fn quick() -> Result<(), String> {
    without_tests()?;
    run("unit tests", "env", &UNIT_TESTS)
}

fn without_tests() -> Result<(), String> {
    run("format", "cargo", &["fmt", "--all", "--check"])?;
    run("format of fuzz targets", "cargo", &["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    tidy::check()?;
    book::check()?;
    run("lints", "cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

pub fn all() -> Result<(), String> {
    without_tests()?;
    run("unit tests", "env", &[&[REQUIRE_FULL_DISK], &UNIT_TESTS[..]].concat())?;
    run("release build", "cargo", &["build", "--release", "--package", "partita"])?;
    instructions::check(false)?;
    complexity::check()?;
    fuzz::all(fuzz::CI_SECONDS)?;
    list_append::check(&[])?;
    run("real clients", "bash", &["tests/blackbox/run.sh"])?;
    run("kill -9", "bash", &["tests/crash/run.sh"])
}
