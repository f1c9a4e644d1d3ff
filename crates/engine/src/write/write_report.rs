//! What PutItem, UpdateItem and DeleteItem answer: the same things about one write.

use crate::Engine;
use crate::capacity::table_consumption::collection_metrics;
use crate::write::ItemWrite;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::put_item::PutItemOutput;
use partita_store::Store;
use partita_value::{Item, names::TableName};

/// What a request wants to be told of its write.
pub(crate) struct ReportWish {
    /// The table as the request names it.
    pub table: TableName,
    pub capacity: ReturnConsumedCapacity,
    /// The key, if collection metrics are wanted.
    pub metrics_of: Option<Item>,
}

impl<S: Store> Engine<S> {
    /// Writes one item and reports.
    pub(crate) async fn write_and_report(
        &self,
        write: ItemWrite,
        wish: ReportWish,
    ) -> Result<PutItemOutput, Exception> {
        let table = write.table.clone();
        let outcome = self.write_one(write).await?;
        Ok(PutItemOutput {
            attributes: outcome.attributes,
            consumed_capacity: outcome.consumption.report(&wish.table, wish.capacity, None),
            item_collection_metrics: wish
                .metrics_of
                .and_then(|key| collection_metrics(&table, &key, outcome.collection_bytes)),
        })
    }
}
