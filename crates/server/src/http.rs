//! HTTP: requests in, responses out.

pub(crate) mod content_coding;
pub(crate) mod cors;
pub(crate) mod date_header;
pub(crate) mod fast_lane;
pub(crate) mod host_policy;
pub(crate) mod reply;
pub(crate) mod request_body;
