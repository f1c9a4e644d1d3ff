//! All tests of the engine's public side, as one program: the engine is generic over its store, and each program would compile it anew.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bulk_operations;
mod damage;
mod exchange_progress;
mod exchange_upkeep;
mod exports;
mod golden;
mod heavy_writes;
mod history;
mod history_stress;
mod hostile_objects;
mod long_reads;
mod plain_map;
mod statements;
mod streams;
mod support;
mod verify;
