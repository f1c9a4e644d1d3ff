//! `cargo xtask simulate`: scenarios on one thread and a disk that fails, over many seeds.

use crate::step::run;

pub fn check(arguments: &[String]) -> Result<(), String> {
    run("build", "cargo", &["build", "--release", "--quiet", "--package", "partita-simulation"])?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run("simulation", "target/release/partita-simulation", &arguments)
}
