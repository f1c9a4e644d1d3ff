//! DeleteItem: a write that leaves nothing.

use crate::Engine;
use crate::key::item_key::ItemKey;
use crate::write::write_report::ReportWish;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::item::delete_item::{DeleteItem, DeleteItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn delete_item(&self, request: DeleteItem) -> Result<DeleteItemOutput, Exception> {
        let wish = ReportWish {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_of: request.return_item_collection_metrics.then(|| request.key.clone()),
        };
        let write = self.plan_delete(request)?;
        self.write_and_report(write, wish).await
    }

    pub(crate) fn plan_delete(&self, request: DeleteItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        Ok(ItemWrite {
            key: ItemKey::of_request(&table, &request.key)?,
            table,
            action: Action::Delete { key: request.key },
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }
}
