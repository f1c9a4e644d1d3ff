//! BatchWriteItem: writes that stand each on its own, in one commit.

use crate::Engine;
use crate::index_entry::check_index_keys;
use crate::item_key::ItemKey;
use crate::table::Table;
use crate::table_consumption::{CollectionsTouched, PerTable, collection_metrics};
use crate::write::{Action, ItemWrite};
use partita_api::batch_write_item::{BatchWrite, BatchWriteItem, BatchWriteItemOutput};
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, messages};
use partita_store::Store;
use partita_value::Item;
use std::collections::HashSet;
use std::sync::Arc;

impl<S: Store> Engine<S> {
    pub async fn batch_write_item(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput, Exception> {
        let wants_metrics = request.return_item_collection_metrics;
        let mut writes = Vec::new();
        let mut keys = Vec::new();
        for (name, requests) in request.tables {
            let table = self.catalog.table(&name)?;
            for request in requests {
                let metrics_of = wants_metrics.then(|| key_of(&request));
                keys.push((name.clone(), Arc::clone(&table), metrics_of));
                writes.push(plan(&table, request)?);
            }
        }
        refuse_duplicates(&writes)?;
        let outcomes = self.write_each(writes).await?;
        let mut consumed = PerTable::default();
        let mut collections = CollectionsTouched::default();
        for ((name, table, key), outcome) in keys.iter().zip(outcomes) {
            let outcome = outcome?;
            let bytes = outcome.collection_bytes;
            collections.add(name, key.as_ref().and_then(|key| collection_metrics(table, key, bytes)));
            consumed.add(name, outcome.consumption);
        }
        Ok(BatchWriteItemOutput {
            consumed_capacity: consumed.report(request.return_consumed_capacity, None),
            item_collection_metrics: collections.report(),
        })
    }
}

fn key_of(request: &BatchWrite) -> Item {
    match request {
        BatchWrite::Put(item) | BatchWrite::Delete(item) => item.clone(),
    }
}

/// What is wrong with one item here refuses them all.
pub fn plan(table: &Arc<Table>, request: BatchWrite) -> Result<ItemWrite, Exception> {
    let (key, action) = match request {
        BatchWrite::Put(item) => {
            let key = ItemKey::of_batched_item(table, item.view())?;
            check_index_keys(table, item.view())?;
            (key, Action::Put(item))
        }
        BatchWrite::Delete(key) => (ItemKey::of_request(table, &key)?, Action::Delete { key }),
    };
    Ok(ItemWrite {
        table: Arc::clone(table),
        key,
        action,
        condition: None,
        return_values: ReturnValues::None,
        return_item_on_condition_failure: false,
    })
}

fn refuse_duplicates(writes: &[ItemWrite]) -> Result<(), Exception> {
    let mut seen = HashSet::with_capacity(writes.len());
    if writes.iter().all(|write| seen.insert(&write.key.stored)) {
        Ok(())
    } else {
        Err(Exception::validation(messages::DUPLICATE_KEYS))
    }
}
