//! Work that would block a thread that serves connections, done on other threads.

pub mod aside;
pub mod heavy_work;
