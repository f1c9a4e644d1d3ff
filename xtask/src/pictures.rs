//! `cargo xtask pictures`: draws the README's pictures from what was printed and measured.
//!
//! - `model-check.svg` from `model-check.txt`, which a test of the program compares with its output;
//! - `benchmark.csv` and `benchmark.svg` from the table in docs/benchmarks.md.

mod chart;
mod terminal;

use crate::step::root;
use std::fs;

const BENCHMARKS: &str = "docs/benchmarks.md";
const CHECK_OUTPUT: &str = "docs/pictures/model-check.txt";

/// Redraws all pictures.
pub fn draw() -> Result<(), String> {
    for (path, text) in drawn() {
        fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))?;
        println!("{path}");
    }
    Ok(())
}

/// Pictures that are out of date.
pub fn outdated() -> Vec<String> {
    let differs = |(path, text): &(&str, String)| read(path) != *text;
    let message = |(path, _): (&str, String)| format!("{path}: out of date; run cargo xtask pictures");
    drawn().into_iter().filter(differs).map(message).collect()
}

/// Files and their contents.
fn drawn() -> [(&'static str, String); 3] {
    let rates = chart::rates(&read(BENCHMARKS));
    [
        (
            "docs/pictures/model-check.svg",
            terminal::picture("partita model check shop.toml", &read(CHECK_OUTPUT)),
        ),
        ("docs/pictures/benchmark.csv", chart::table(&rates)),
        ("docs/pictures/benchmark.svg", chart::picture(&rates)),
    ]
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Text for an SVG document.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
