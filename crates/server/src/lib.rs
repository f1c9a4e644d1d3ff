//! The HTTP server. Open [`pipeline`] first: one function shows the whole path of a request.

mod admin;
mod background_tasks;
mod connection;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod limits;
pub mod models;
mod panic_guard;
pub mod pipeline;
mod server;
#[cfg(test)]
mod yield_counter;

pub use admin::readiness::PATH as READINESS_PATH;
pub use admin::verification::Verification;
pub use connection::tls;
pub use http::host_policy::{AllowedHosts, HostPolicy};
pub use limits::budget::Budget;
pub use server::{ListenOptions, Server, StoppedServer};
