//! UpdateItem: a write whose new item is computed from the old one.

use crate::Engine;
use crate::write::write_report::ReportOptions;
use partita_api::Exception;
use partita_api::item::update_item::{UpdateItem, UpdateItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn update_item(&self, request: UpdateItem) -> Result<UpdateItemOutput, Exception> {
        let options = ReportOptions {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_key: request.return_item_collection_metrics.then(|| request.key.clone()),
        };
        let write = self.plan_update(request)?;
        self.write_and_report(write, options).await
    }
}
