//! DescribeLimits: AWS's defaults for an account. Nothing is throttled by them.

use crate::Engine;
use partita_api::describe_limits::DescribeLimitsOutput;
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub fn describe_limits(&self) -> DescribeLimitsOutput {
        DescribeLimitsOutput {
            account_read: 80_000,
            account_write: 80_000,
            table_read: 40_000,
            table_write: 40_000,
        }
    }
}
