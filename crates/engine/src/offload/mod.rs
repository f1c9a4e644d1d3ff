//! Work that must not run on a thread that serves connections.
//!
//! [`blocking_task`] starts a thread for work that waits for I/O; [`heavy_work`] limits how much CPU-heavy work runs at a time.

pub mod blocking_task;
pub mod heavy_work;
