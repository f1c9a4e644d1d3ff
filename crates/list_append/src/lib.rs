//! Histories of transactions that append to lists, and a checker for anomalies that no serial execution explains.
//!
//! The program of this crate records such histories on a server that is killed; the simulation records them on a store
//! whose disk fails.

pub mod checker;
pub mod graph;
pub mod history;
pub mod lists;
pub mod random;
pub mod request;
