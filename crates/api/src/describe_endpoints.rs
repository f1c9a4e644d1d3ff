//! DescribeEndpoints: where to send requests.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeEndpointsOutput {
    pub address: String,
    pub cache_period_minutes: u64,
}
