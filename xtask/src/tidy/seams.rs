//! Every crate of the product denies clippy's disallowed methods (clippy.toml): clocks, randomness and threads stay behind seams.

use super::Repository;
use super::layers::TOOLS;

/// Tests may look at the clock.
const DENIED: &str = "#![cfg_attr(not(test), deny(clippy::disallowed_methods))]";

pub fn problems(repository: &Repository) -> Vec<String> {
    let roots = repository.files.iter().filter(|file| {
        let crate_root =
            file.crate_name().filter(|name| !TOOLS.contains(name)).map(|name| format!("crates/{name}/src/"));
        crate_root.is_some_and(|folder| {
            [format!("{folder}lib.rs"), format!("{folder}main.rs")].contains(&file.path)
        })
    });
    let without = roots.filter(|file| !file.text.contains(DENIED));
    without.map(|file| format!("{}: lacks {DENIED}", file.path)).collect()
}
