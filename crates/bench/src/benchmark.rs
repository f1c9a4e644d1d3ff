//! The benchmarks, one file per subcommand.

pub mod growth;
pub mod history;
pub mod overload;
pub mod ratios;
