//! DescribeTimeToLive: returns whether a table's items expire, and by which attribute.

use crate::Engine;
use partita_api::Exception;
use partita_api::time_to_live::describe_time_to_live::*;
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<DescribeTimeToLiveOutput, Exception> {
        let table = self.catalog.named_table(&request.table)?;
        // Reported as enabled immediately, although older items expire only after the backfill has reached them.
        Ok(match &table.expiry {
            Some(expiry) => DescribeTimeToLiveOutput {
                status: TimeToLiveStatus::Enabled,
                attribute: Some(expiry.attribute.clone()),
            },
            None => DescribeTimeToLiveOutput { status: TimeToLiveStatus::Disabled, attribute: None },
        })
    }
}
