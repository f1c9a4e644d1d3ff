//! PutItem: a write of one item.

use crate::Engine;
use crate::key::item_key::ItemKey;
use crate::write::write_report::ReportWish;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::item::put_item::{PutItem, PutItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn put_item(&self, request: PutItem) -> Result<PutItemOutput, Exception> {
        let wish = ReportWish {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_of: request.return_item_collection_metrics.then(|| request.item.clone()),
        };
        let write = self.plan_put(request)?;
        self.write_and_report(write, wish).await
    }

    pub(crate) fn plan_put(&self, request: PutItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        Ok(ItemWrite {
            key: ItemKey::of_new_item(&table, request.item.view())?,
            table,
            action: Action::Put(request.item),
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }
}
