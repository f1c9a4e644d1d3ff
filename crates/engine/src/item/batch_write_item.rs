//! BatchWriteItem: writes that stand each on its own, in one commit or, if they are large, in several.

use crate::Engine;
use crate::capacity::table_consumption::{CollectionsTouched, PerTable, collection_metrics};
use crate::catalog::table::Table;
use crate::index::index_entry::check_index_keys;
use crate::key::item_key::ItemKey;
use crate::read::slices::{Slice, let_others};
use crate::write::{Action, ItemWrite, Outcome};
use partita_api::item::batch_write_item::{BatchWrite, BatchWriteItem, BatchWriteItemOutput};
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, messages};
use partita_store::Store;
use partita_value::Item;
use std::collections::HashSet;
use std::sync::Arc;

/// A commit that stores more than this is divided.
const PART_BYTES: usize = 2 << 20;

impl<S: Store> Engine<S> {
    pub async fn batch_write_item(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput, Exception> {
        let wants_metrics = request.return_item_collection_metrics;
        let mut writes = Vec::new();
        let mut keys = Vec::new();
        let mut slice = Slice::new();
        for (name, requests) in request.tables {
            let table = self.catalog.table(&name)?;
            for request in requests {
                if slice.spend(work(&table, &request)) {
                    slice = Slice::new();
                    let_others().await;
                }
                let metrics_of = wants_metrics.then(|| key_of(&request));
                keys.push((name.clone(), Arc::clone(&table), metrics_of));
                writes.push(plan(&table, request)?);
            }
        }
        refuse_duplicates(&writes)?;
        let outcomes = self.write_in_parts(writes).await?;
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

impl<S: Store> Engine<S> {
    /// Writes in commits that are short enough for others to wait for.
    async fn write_in_parts(
        &self,
        writes: Vec<ItemWrite>,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        let (mut outcomes, mut part, mut bytes) = (Vec::with_capacity(writes.len()), Vec::new(), 0);
        for write in writes {
            let more = stored_bytes(&write);
            if bytes + more > PART_BYTES && !part.is_empty() {
                outcomes.extend(self.write_each(std::mem::take(&mut part)).await?);
                bytes = 0;
            }
            bytes += more;
            part.push(write);
        }
        outcomes.extend(self.write_each(part).await?);
        Ok(outcomes)
    }
}

/// What looking for the keys of a write costs: each index looks for its own.
fn work(table: &Table, request: &BatchWrite) -> usize {
    let (BatchWrite::Put(item) | BatchWrite::Delete(item)) = request;
    item.size() * (1 + table.indexes.len())
}

/// About as many bytes as a write stores: the item, and its entries in indexes that hold all of it.
fn stored_bytes(write: &ItemWrite) -> usize {
    let copies = 1 + write.table.indexes.iter().filter(|index| index.attributes.is_none()).count();
    match &write.action {
        Action::Put(item) => item.size() * copies,
        _ => 0,
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
