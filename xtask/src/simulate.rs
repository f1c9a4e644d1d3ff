//! `cargo xtask simulate`: scenarios on one thread and a disk that fails, over many seeds.

use crate::release;
use crate::step::run;

pub fn check(arguments: &[String]) -> Result<(), String> {
    release::build(&["partita-simulation"])?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run("simulation", "target/release/partita-simulation", &arguments)
}
