//! DescribeEndpoints: clients that discover endpoints are sent back here.

use crate::Engine;
use partita_api::describe_endpoints::DescribeEndpointsOutput;
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub fn describe_endpoints(&self) -> DescribeEndpointsOutput {
        DescribeEndpointsOutput { address: self.endpoint(), cache_period_minutes: 1_440 }
    }
}
