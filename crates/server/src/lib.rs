//! The HTTP server. Open [`pipeline`] first: one function shows the whole path of a request.

mod access;
mod body;
mod content_coding;
mod cors;
mod housekeeping;
mod lingering;
mod listener;
pub mod models;
mod panic_guard;
pub mod pipeline;
mod reply;
pub mod tls;

pub use access::Reach;
pub use listener::{Server, Stopped};
