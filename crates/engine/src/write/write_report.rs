//! The response to the write of a single item: PutItem, UpdateItem, DeleteItem and a PartiQL statement report the same.

use crate::Engine;
use crate::capacity::table_consumption::collection_metrics;
use crate::write::ItemWrite;
use partita_api::Exception;
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::write_output::WriteOutput;
use partita_store::Store;
use partita_value::{Item, names::TableName};

/// What a request wants reported about its write.
pub(crate) struct ReportOptions {
    /// The table as the request names it.
    pub table: TableName,
    pub capacity: ReturnConsumedCapacity,
    /// The key, if collection metrics are requested.
    pub metrics_key: Option<Item>,
}

impl<S: Store> Engine<S> {
    /// Commits one write and reports it.
    pub(crate) async fn write_and_report(
        &self,
        write: ItemWrite,
        options: ReportOptions,
    ) -> Result<WriteOutput, Exception> {
        let table = write.table.clone();
        let outcome = self.write_one(write).await?;
        Ok(WriteOutput {
            attributes: outcome.attributes,
            consumed_capacity: outcome.consumption.report(&options.table, options.capacity, None),
            item_collection_metrics: options
                .metrics_key
                .and_then(|key| collection_metrics(&table, &key, outcome.collection_bytes)),
        })
    }
}
