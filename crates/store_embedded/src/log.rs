//! The commit log: records in segments, the manifest that lists them, and recovery.

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
