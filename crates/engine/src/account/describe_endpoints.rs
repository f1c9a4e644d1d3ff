//! DescribeEndpoints: clients that discover endpoints are sent back here.

use crate::Engine;
use partita_api::Exception;
use partita_api::account::describe_endpoints::{DescribeEndpoints, DescribeEndpointsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_endpoints(
        &self,
        _: DescribeEndpoints,
    ) -> Result<DescribeEndpointsOutput, Exception> {
        Ok(DescribeEndpointsOutput { address: self.endpoint(), cache_period_minutes: 1_440 })
    }
}
