//! The database on one thread and a disk that fails. Everything that happens follows from a seed.
//!
//! ```text
//! scenario (what clients ask, what must hold) → simulator (who is next) → engine → store's steps
//!     → C library's calls (intercept) → disk (what is durable, what is pending, what fails, when the power goes)
//! ```
//! The store is the real one, LMDB included: its files are real files, which show what the process sees. Beside them the
//! [`disk`] keeps what would be left after a power loss. At a crash that is cut out ([`image`]), put into a new folder, and
//! the store is opened there. See docs/decisions/0016-simulation.md.

#[cfg(test)]
mod bucket_folder;
pub mod disk;
mod file;
pub mod folder_work;
pub mod image;
mod intercept;
pub mod plant;
pub mod scenario;
pub mod simulator;
mod trace;

pub use plant::Plant;
pub use simulator::{Crashes, Plan, Summary, simulate};
