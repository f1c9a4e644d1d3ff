//! Output to standard output. A reader that has seen enough, as in `partita model explain FILE | head`, ends the program, and is no error.

use std::fmt::Arguments;
use std::io::{ErrorKind, Result, Write};

/// The exit code of a program that a closed pipe ends: 128 and the number of SIGPIPE.
const PIPE_CLOSED: i32 = 141;
const NOT_WRITTEN: i32 = 1;

/// Prints text. Ends the program if nobody reads it.
pub fn print(text: Arguments<'_>) {
    written(std::io::stdout().write_fmt(text));
}

/// Ends the program if something could not be written to standard output.
pub fn written(result: Result<()>) {
    match result {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(PIPE_CLOSED),
        Err(error) => {
            eprintln!("partita: cannot write to standard output: {error}");
            std::process::exit(NOT_WRITTEN)
        }
    }
}

/// In place of the standard library's macro, which panics.
macro_rules! print {
    ($($text:tt)*) => { $crate::output::print(format_args!($($text)*)) };
}

/// In place of the standard library's macro, which panics.
macro_rules! println {
    () => { print!("\n") };
    ($($text:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($text)*))) };
}
