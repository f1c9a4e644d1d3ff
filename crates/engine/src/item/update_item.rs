//! UpdateItem: a write whose new item is worked out from the old one.

use crate::Engine;
use crate::key::item_key::ItemKey;
use crate::write::write_report::ReportWish;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::item::update_item::{UpdateItem, UpdateItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn update_item(&self, request: UpdateItem) -> Result<UpdateItemOutput, Exception> {
        let wish = ReportWish {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_of: request.return_item_collection_metrics.then(|| request.key.clone()),
        };
        let write = self.plan_update(request)?;
        self.write_and_report(write, wish).await
    }

    pub(crate) fn plan_update(&self, request: UpdateItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        let key = ItemKey::of_request(&table, &request.key)?;
        let mut targets = request.update.iter().flat_map(|update| update.target_roots());
        if let Some(name) = targets.find(|name| table.key.contains(name)) {
            return Err(Exception::validation(format!(
                "One or more parameter values were invalid: Cannot update attribute {name}. This attribute is part of the key"
            )));
        }
        drop(targets);
        Ok(ItemWrite {
            key,
            table,
            action: Action::Update { key: request.key, update: request.update },
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }
}
