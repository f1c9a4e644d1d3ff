//! The project's own tasks. `cargo xtask` lists them.

mod bench;
mod book;
mod ci;
mod complexity;
mod dependencies;
mod format;
mod fuzz;
mod instructions;
mod list_append;
mod long;
mod pictures;
mod release;
mod simulate;
mod stages;
mod step;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask ci       everything CI checks, in parallel: format, tidiness, the book, dependencies, lints, unit tests, instructions, complexity,
                     tests with real clients, transactions through kills, kill -9
cargo xtask quick    format, tidiness, the book, lints and unit tests
cargo xtask format   formats every Rust file (--check)
cargo xtask long     what takes too long for CI: fuzzing, transactions through kills, the simulation, and random requests compared with
                     DynamoDB Local (--requests, --seed)
cargo xtask bench    builds release, compares Partita with a bare hyper server, writes docs/benchmarks.md
cargo xtask instructions    counts the hot paths' instructions and compares them with what was recorded (--update)
cargo xtask fuzz     fuzzes every target from fuzz/corpus for 5 s (--seconds N; TARGET FILE runs one input)
cargo xtask list-append    transactions through kill -9 are strictly serializable (--transactions 500000 --kills 100)
cargo xtask simulate    the database on a disk that fails, from seeds (--seeds 1000, --scenario, --kind, --from)
cargo xtask complexity    counts instructions of every decoder, expression, statement, file reader and model check at n, 2n and 4n
cargo xtask dependencies    cargo-deny: bans, licences and sources of dependencies, by deny.toml
cargo xtask release  builds the programs that CI runs
cargo xtask book     links of all Markdown files, pages of the book in docs/, pictures
cargo xtask pictures    draws the pictures of the README from docs/pictures and docs/benchmarks.md
cargo xtask tidy     the rules of ARCHITECTURE.md that a machine can check
";

fn main() -> ExitCode {
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("bench") => bench::measure(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("book") => book::check(),
        Some("ci") => ci::all(),
        Some("format") => format::all(std::env::args().any(|argument| argument == "--check")),
        Some("fuzz") => fuzz::command(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("list-append") => list_append::check(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("quick") => ci::quick(),
        Some("complexity") => complexity::check(),
        Some("dependencies") => dependencies::check(),
        Some("release") => release::build(&release::CI_PROGRAMS),
        Some("long") => long::all(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("instructions") => instructions::check(std::env::args().any(|argument| argument == "--update")),
        Some("pictures") => pictures::draw(),
        Some("simulate") => simulate::check(&std::env::args().skip(2).collect::<Vec<_>>()),
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
