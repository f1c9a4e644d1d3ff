//! DeleteItem: removes one item.

use crate::Engine;
use crate::write::write_report::ReportOptions;
use partita_api::Exception;
use partita_api::item::delete_item::{DeleteItem, DeleteItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn delete_item(&self, request: DeleteItem) -> Result<DeleteItemOutput, Exception> {
        let options = ReportOptions {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_key: request.return_item_collection_metrics.then(|| request.key.clone()),
        };
        let write = self.plan_delete(request)?;
        self.write_and_report(write, options).await
    }
}
