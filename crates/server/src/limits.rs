//! Limits on what clients may use: memory, connections, time.

pub(crate) mod budget;
pub(crate) mod connection_limit;
pub(crate) mod idle_timeout;
pub(crate) mod in_flight_reads;
pub(crate) mod memory_release;
pub(crate) mod slow_client_timeout;
