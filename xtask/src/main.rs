//! The project's own tasks. `cargo xtask` lists them.

mod bench;
mod ci;
mod complexity;
mod fuzz;
mod instructions;
mod list_append;
mod step;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask ci       everything CI checks: format, lints, tidiness, unit tests, tests with real clients, kill -9
cargo xtask quick    format, lints, tidiness and unit tests
cargo xtask bench    builds release, measures Partita beside a bare hyper server, writes docs/benchmarks.md
cargo xtask instructions    counts the hot paths' instructions and compares them with what was recorded (--update)
cargo xtask fuzz     replays fuzz/corpus and fuzzes every target for 5 s (--seconds N; TARGET FILE runs one input)
cargo xtask list-append    transactions through kill -9 are strictly serializable (--transactions 500000 --kills 100)
cargo xtask complexity    counts instructions of every decoder, expression, statement, file reader and model check at n, 2n and 4n
cargo xtask tidy     the rules of ARCHITECTURE.md that a machine can check
";

fn main() -> ExitCode {
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("bench") => bench::measure(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("ci") => ci::all(),
        Some("fuzz") => fuzz::command(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("list-append") => list_append::check(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("quick") => ci::quick(),
        Some("complexity") => complexity::check(),
        Some("instructions") => instructions::check(std::env::args().any(|argument| argument == "--update")),
        Some("tidy") => tidy::check(),
        _ => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nfailed: {failure}");
            ExitCode::FAILURE
        }
    }
}
