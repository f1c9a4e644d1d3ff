//! Every decoder, expression, statement, file reader and model check, with inputs of any size.
//!
//! `complexity` runs each case at n, 2n and 4n and prints `case size milliseconds`. Under `valgrind --tool=callgrind` it
//! has the instructions of each run dumped by themselves: `cargo xtask complexity` compares them. A case is what a
//! stranger would send to make a request cost more than its size.

mod counted;
mod decoders;
mod expressions;
mod files;
mod models;
mod statements;
mod updates;

use std::time::Instant;

/// Work that has been prepared and is to be counted; it answers something, so that it is not left out.
pub type Work = Box<dyn FnOnce() -> usize>;

/// One kind of input, of any size.
pub struct Case {
    pub name: &'static str,
    /// The smallest size at which it is run; the largest is four times that.
    pub size: usize,
    pub prepare: fn(usize) -> Work,
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let groups = [
        &decoders::CASES[..],
        &expressions::CASES,
        &updates::CASES,
        &statements::CASES,
        &files::CASES,
        &models::CASES,
    ];
    groups.into_iter().flatten().flat_map(|cases| cases.iter())
}

fn main() {
    let wanted = std::env::args().nth(1);
    for case in cases().filter(|case| wanted.as_deref().is_none_or(|name| case.name.contains(name))) {
        // What happens only once, in any thread, has happened then.
        (case.prepare)(case.size)();
        for size in [case.size, 2 * case.size, 4 * case.size] {
            let work = (case.prepare)(size);
            let start = Instant::now();
            counted::count(&format!("{} {size}", case.name), work);
            println!("{} {size} {:.3}", case.name, start.elapsed().as_secs_f64() * 1_000.0);
        }
    }
}
