//! `cargo xtask long`: what takes too long for CI, to be run before a release.

use crate::step::run;

/// `arguments` go to the comparison with DynamoDB Local: `--requests`, `--seed`.
pub fn all(arguments: &[String]) -> Result<(), String> {
    run("release build", "cargo", &["build", "--release", "--package", "partita"])?;
    differential(arguments)
}

fn differential(arguments: &[String]) -> Result<(), String> {
    let mut command = vec!["tests/differential/run.sh"];
    command.extend(arguments.iter().map(String::as_str));
    run("beside DynamoDB Local", "bash", &command)
}
