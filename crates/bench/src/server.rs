//! The servers that are measured, as child processes.

pub mod bare;
pub mod process;
