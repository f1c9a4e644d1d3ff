//! `cargo xtask long`: what takes too long for CI, to be run before a release.

use crate::step::run;
use crate::{fuzz, list_append, release, simulate};

/// How long each target is fuzzed.
const FUZZ_SECONDS: u64 = 60;

/// `arguments` go to the comparison with DynamoDB Local: `--requests`, `--seed`.
pub fn all(arguments: &[String]) -> Result<(), String> {
    release::build(&["partita"])?;
    fuzz::all(FUZZ_SECONDS)?;
    let owned =
        |arguments: &[&str]| arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>();
    list_append::check(&owned(&["--transactions", "500000", "--kills", "60"]))?;
    list_append::check(&owned(&["--transactions", "100000", "--kills", "20", "--durability", "relaxed"]))?;
    simulate::check(&owned(&["--seeds", "1000"]))?;
    differential(arguments)
}

fn differential(arguments: &[String]) -> Result<(), String> {
    let mut command = vec!["tests/differential/run.sh"];
    command.extend(arguments.iter().map(String::as_str));
    run("comparison with DynamoDB Local", "bash", &command)
}
