//! All tests of the engine's public interface, as one program: the engine is generic over its store, and each further program would compile it again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bulk_operations;
mod damage;
mod exchange_progress;
mod exchange_retention;
mod exports;
mod golden;
mod heavy_writes;
mod history;
mod history_stress;
mod hostile_objects;
mod long_reads;
mod plain_map;
mod slow_buckets;
mod statements;
mod streams;
mod support;
mod verdicts;
mod verify;
