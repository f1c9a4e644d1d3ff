//! Histories of transactions that append to lists, and what no serial execution explains in them.
//!
//! The program of this crate makes such histories with a server that is killed; the simulation makes them with a store
//! whose disk fails.

pub mod checker;
pub mod graph;
pub mod history;
pub mod lists;
pub mod random;
pub mod request;
