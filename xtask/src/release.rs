//! Builds programs in the release profile.
//!
//! Every command names the same packages, whichever programs it needs: Cargo unifies the features of the packages it is given,
//! and with others it would compile most crates once more.

use crate::step::run;

const PACKAGES: [&str; 4] = ["partita", "partita-bench", "partita-list-append", "partita-simulation"];

/// The programs CI runs. Its stages build all of them: for some alone, Cargo would compile most crates once more for their kind of
/// link-time optimization.
pub const CI_PROGRAMS: [&str; 4] = ["partita", "hot_paths", "complexity", "partita-list-append"];

pub fn build(programs: &[&str]) -> Result<(), String> {
    let mut arguments = vec!["build", "--release", "--quiet"];
    arguments.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
    arguments.extend(programs.iter().flat_map(|program| ["--bin", program]));
    run("release build", "cargo", &arguments)
}
