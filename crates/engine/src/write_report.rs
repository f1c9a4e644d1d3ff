//! What PutItem, UpdateItem and DeleteItem answer: the same things about one write.

use crate::Engine;
use crate::table_consumption::collection_metrics;
use crate::write::ItemWrite;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::put_item::PutItemOutput;
use partita_store::Store;
use partita_value::Item;

impl<S: Store> Engine<S> {
    /// Writes one item and reports. `metrics_of` has the key, if collection metrics are wanted.
    pub(crate) async fn write_and_report(
        &self,
        write: ItemWrite,
        wanted: ReturnConsumedCapacity,
        metrics_of: Option<Item>,
    ) -> Result<PutItemOutput, Exception> {
        let table = write.table.clone();
        let outcome = self.write_one(write).await?;
        Ok(PutItemOutput {
            attributes: outcome.attributes,
            consumed_capacity: outcome.consumption.report(&table, wanted, None),
            item_collection_metrics: metrics_of
                .and_then(|key| collection_metrics(&table, &key, outcome.collection_bytes)),
        })
    }
}
