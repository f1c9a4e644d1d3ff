//! The HTTP server. Open [`pipeline`] first: one function shows the whole path of a request.
//!
//! `server` accepts connections, `connection` serves each of them, `http` reads requests and writes responses, `limits` bounds
//! what clients may use, `models` checks and measures requests by attached models, `admin` has the endpoints under
//! `/_partita/`, and `background_tasks` drives the engine's background work.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod admin;
mod background_tasks;
mod clock;
mod connection;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod limits;
pub mod models;
mod panic_guard;
pub mod pipeline;
mod request_log;
mod server;
#[cfg(test)]
mod yield_counter;

pub use admin::readiness::PATH as READINESS_PATH;
pub use admin::verification::Verification;
pub use connection::tls;
pub use http::host_policy::{AllowedHosts, HostPolicy};
pub use limits::budget::Budget;
pub use request_log::RequestLog;
pub use server::{ListenOptions, Server, StoppedServer};
