//! The commit log: every committed group of writes, until the tree has it.
//!
//! Records (`record`) are appended (`appender`) to segment files (`segments`, `segment_header`), which the `manifest` lists. The
//! `durable_watermark` tracks how much is on disk; with relaxed durability the `sync_thread` advances it. After a crash
//! `recovery` reads the records beyond the tree's `position`. `format_1` reads logs of the previous format.

pub(crate) mod appender;
pub(crate) mod durable_watermark;
pub(crate) mod format_1;
pub(crate) mod manifest;
pub(crate) mod position;
pub(crate) mod record;
pub(crate) mod recovery;
pub(crate) mod segment_header;
pub(crate) mod segments;
pub(crate) mod sync_thread;
