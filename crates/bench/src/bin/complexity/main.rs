//! Runs every decoder, expression, statement, file reader, importer and model check with inputs of growing size.
//!
//! `complexity` runs each case at n, 2n and 4n and prints `case size milliseconds`. Under `valgrind --tool=callgrind` the
//! instructions of each run are dumped separately, and `cargo xtask complexity` compares them. A case is an input with
//! which an attacker might try to make a request cost more than its size.

mod callgrind;
mod decoders;
mod expressions;
mod files;
mod importers;
mod long_members;
mod models;
mod requests;
mod signatures;
mod statements;
mod updates;

use std::hint::black_box;
use std::time::Instant;

/// The work to be measured; returns whether its input was accepted.
pub type Work = Box<dyn FnOnce() -> bool>;

/// One kind of input, of any size. It is accepted at every size, or rejected at every size if its name ends with
/// `_rejected`: an input that is rejected only when it is too long would not measure the cost of shorter ones.
pub struct Case {
    pub name: &'static str,
    /// The smallest size at which it is run; the largest is four times that.
    pub size: usize,
    pub prepare: fn(usize) -> Work,
}

/// A case whose name is computed at run time.
pub struct DynamicCase {
    pub name: String,
    pub size: usize,
    pub prepare: Box<dyn Fn(usize) -> Work>,
}

fn cases() -> impl Iterator<Item = DynamicCase> {
    let groups = [
        &decoders::CASES[..],
        &expressions::CASES,
        &updates::CASES,
        &statements::CASES,
        &files::CASES,
        &importers::CASES,
        &models::CASES,
        &signatures::CASES,
    ];
    let static_cases = groups.into_iter().flatten().flat_map(|cases| cases.iter()).map(|case| DynamicCase {
        name: case.name.to_owned(),
        size: case.size,
        prepare: Box::new(case.prepare),
    });
    static_cases.chain(requests::cases())
}

/// Selects cases: `1/2` is every second case, starting at the second; anything else is a part of their names.
fn select(argument: Option<String>) -> Box<dyn Iterator<Item = DynamicCase>> {
    let Some(argument) = argument else { return Box::new(cases()) };
    let part = argument.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match part {
        Some((part, of)) => Box::new(cases().skip(part).step_by(usize::max(of, 1))),
        None => Box::new(cases().filter(move |case| case.name.contains(&argument))),
    }
}

fn main() -> Result<(), String> {
    let mut unexpected = Vec::new();
    for case in select(std::env::args().nth(1)) {
        // A first run for one-time initialization.
        black_box((case.prepare)(case.size)());
        for size in [case.size, 2 * case.size, 4 * case.size] {
            let work = (case.prepare)(size);
            let start = Instant::now();
            let is_accepted = callgrind::count(&format!("{} {size}", case.name), work);
            println!("{} {size} {:.3}", case.name, start.elapsed().as_secs_f64() * 1_000.0);
            if is_accepted == case.name.ends_with("_rejected") {
                let what = if is_accepted { "accepted" } else { "rejected" };
                unexpected.push(format!("{} {size} is {what}", case.name));
            }
        }
    }
    if unexpected.is_empty() { Ok(()) } else { Err(unexpected.join(", ")) }
}
