//! DescribeLimits: AWS's defaults for an account. Nothing is throttled by them.

use crate::Engine;
use partita_api::Exception;
use partita_api::account::describe_limits::{DescribeLimits, DescribeLimitsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_limits(&self, _: DescribeLimits) -> Result<DescribeLimitsOutput, Exception> {
        Ok(DescribeLimitsOutput {
            account_read: 80_000,
            account_write: 80_000,
            table_read: 40_000,
            table_write: 40_000,
        })
    }
}
