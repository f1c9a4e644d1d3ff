//! DescribeEndpoints: where to send requests.

#[derive(Clone, Copy, Debug)]
pub struct DescribeEndpoints;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeEndpointsOutput {
    pub address: String,
    pub cache_period_minutes: u64,
}
