//! TransactGetItems: reads items of several tables as one transaction.

use crate::Engine;
use partita_api::Exception;
use partita_api::item::transact_get_items::{TransactGetItems, TransactGetItemsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn transact_get_items(
        &self,
        request: TransactGetItems,
    ) -> Result<TransactGetItemsOutput, Exception> {
        let read = self.read_transaction(&request.gets, request.return_consumed_capacity)?;
        Ok(TransactGetItemsOutput { responses: read.items, consumed_capacity: read.consumed_capacity })
    }
}
