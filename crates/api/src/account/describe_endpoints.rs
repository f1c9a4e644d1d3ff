//! DescribeEndpoints: where to send requests.

/// The request of DescribeEndpoints.
#[derive(Clone, Copy, Debug)]
pub struct DescribeEndpoints;

/// The response to DescribeEndpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeEndpointsOutput {
    /// Host and port.
    pub address: String,
    /// How long a client may cache the address.
    pub cache_period_minutes: u64,
}
