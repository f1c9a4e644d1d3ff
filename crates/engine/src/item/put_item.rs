//! PutItem: writes one whole item.

use crate::Engine;
use crate::write::write_report::ReportOptions;
use partita_api::Exception;
use partita_api::item::put_item::{PutItem, PutItemOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn put_item(&self, request: PutItem) -> Result<PutItemOutput, Exception> {
        let options = ReportOptions {
            table: request.table.clone(),
            capacity: request.return_consumed_capacity,
            metrics_key: request.return_item_collection_metrics.then(|| request.item.clone()),
        };
        let write = self.plan_put(request)?;
        self.write_and_report(write, options).await
    }
}
