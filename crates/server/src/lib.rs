//! The HTTP server. Open [`pipeline`] first: one function shows the whole path of a request.

mod access;
mod body;
mod budget;
mod connections;
mod content_coding;
mod cors;
mod courtesy;
mod eagerness;
mod fast_lane;
#[doc(hidden)]
pub mod fuzzing;
mod giving_back;
mod housekeeping;
mod http_date;
mod in_flight;
mod lingering;
mod listener;
mod lobby;
pub mod models;
mod pace;
mod panic_guard;
pub mod pipeline;
mod prefixed;
mod readiness;
mod reply;
mod silence;
mod spare_descriptor;
mod stopping;
pub mod tls;
#[cfg(test)]
mod turns;
pub mod verification;
mod workers;

pub use access::{AllowedHosts, Reach};
pub use budget::Budget;
pub use listener::{Listen, Server, Stopped};
pub use readiness::PATH as READINESS_PATH;
