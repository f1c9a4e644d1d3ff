//! The load generator: connections, requests and measurements.

pub mod certificate;
pub mod connection;
pub mod load;
pub mod workload;
