//! The HTTP server. Open [`pipeline`] first: one function shows the whole path of a request.

mod access;
mod body;
mod content_coding;
mod cors;
mod courtesy;
mod eagerness;
mod fast_lane;
mod housekeeping;
mod http_date;
mod lingering;
mod listener;
pub mod models;
mod panic_guard;
pub mod pipeline;
mod prefixed;
mod reply;
mod silence;
mod stopping;
pub mod tls;
mod workers;

pub use access::Reach;
pub use listener::{Listen, Server, Stopped};
