//! Deterministic simulation: the database on one thread, with a disk that fails. Everything follows from a seed.
//!
//! ```text
//! scenario (what clients request, what must hold) → simulator (what happens next) → engine → store's steps
//!     → C library calls (intercept) → disk (what is durable, what is pending, what fails, when the power fails)
//! ```
//! The store is the real one, LMDB included: its files are real files, which show what the process sees. In addition, the
//! [`disk`] tracks what would be left after a power loss. At a crash that is extracted ([`image`]) and written to a new
//! folder, where the store is opened again. See docs/decisions/0016-simulation.md.

#[cfg(test)]
mod bucket_folder;
pub mod crash_testing;
pub mod disk;
mod file;
pub mod image;
mod intercept;
pub mod planted_bug;
pub mod scenario;
pub mod simulator;
mod trace;

pub use planted_bug::PlantedBug;
pub use simulator::{Crashes, RunConfig, Summary, simulate};
