//! One client connection: how it is handed to a thread, read, written and closed.

pub(crate) mod busy_poll;
pub(crate) mod health_probe;
pub(crate) mod lingering_close;
pub(crate) mod prefixed_stream;
pub(crate) mod shutdown;
pub(crate) mod spare_descriptor;
pub(crate) mod thread_yield;
pub mod tls;
pub(crate) mod worker_threads;
