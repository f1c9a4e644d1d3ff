//! Every decoder, expression, statement, file reader and model check, with inputs of any size.
//!
//! `complexity` runs each case at n, 2n and 4n and prints `case size milliseconds`. Under `valgrind --tool=callgrind` it
//! has the instructions of each run dumped by themselves: `cargo xtask complexity` compares them. A case is what a
//! stranger would send to make a request cost more than its size.

mod counted;
mod decoders;
mod expressions;
mod files;
mod long_members;
mod models;
mod requests;
mod signatures;
mod statements;
mod updates;

use std::hint::black_box;
use std::time::Instant;

/// Work that has been prepared and is to be counted; it tells whether its input was accepted.
pub type Work = Box<dyn FnOnce() -> bool>;

/// One kind of input, of any size. It is accepted at every size, or refused at every size if its name ends with
/// `_refused`: an input that is refused for its length alone would tell nothing of those that are not.
pub struct Case {
    pub name: &'static str,
    /// The smallest size at which it is run; the largest is four times that.
    pub size: usize,
    pub prepare: fn(usize) -> Work,
}

/// A case whose name is made while it runs.
pub struct Prepared {
    pub name: String,
    pub size: usize,
    pub prepare: Box<dyn Fn(usize) -> Work>,
}

fn cases() -> impl Iterator<Item = Prepared> {
    let groups = [
        &decoders::CASES[..],
        &expressions::CASES,
        &updates::CASES,
        &statements::CASES,
        &files::CASES,
        &models::CASES,
        &signatures::CASES,
    ];
    let written = groups.into_iter().flatten().flat_map(|cases| cases.iter()).map(|case| Prepared {
        name: case.name.to_owned(),
        size: case.size,
        prepare: Box::new(case.prepare),
    });
    written.chain(requests::cases())
}

/// `1/2` is every second case from the second on, anything else a part of their names.
fn chosen(argument: Option<String>) -> Box<dyn Iterator<Item = Prepared>> {
    let Some(argument) = argument else { return Box::new(cases()) };
    let part = argument.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match part {
        Some((part, of)) => Box::new(cases().skip(part).step_by(usize::max(of, 1))),
        None => Box::new(cases().filter(move |case| case.name.contains(&argument))),
    }
}

fn main() -> Result<(), String> {
    let mut mistaken = Vec::new();
    for case in chosen(std::env::args().nth(1)) {
        // What happens only once, in any thread, has happened then.
        black_box((case.prepare)(case.size)());
        for size in [case.size, 2 * case.size, 4 * case.size] {
            let work = (case.prepare)(size);
            let start = Instant::now();
            let is_accepted = counted::count(&format!("{} {size}", case.name), work);
            println!("{} {size} {:.3}", case.name, start.elapsed().as_secs_f64() * 1_000.0);
            if is_accepted == case.name.ends_with("_refused") {
                let what = if is_accepted { "accepted" } else { "refused" };
                mistaken.push(format!("{} {size} is {what}", case.name));
            }
        }
    }
    if mistaken.is_empty() { Ok(()) } else { Err(mistaken.join(", ")) }
}
