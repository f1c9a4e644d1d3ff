//! BatchWriteItem: independent writes, in one commit or, if they are large, in several.

use crate::Engine;
use crate::capacity::table_consumption::{ConsumptionByTable, TouchedCollections, collection_metrics};
use crate::catalog::table::Table;
use crate::item::planned_write::plan_batched;
use crate::read::work_budget::{WorkBudget, yield_now};
use crate::write::{Action, ItemWrite, Outcome};
use partita_api::item::batch_write_item::{BatchWrite, BatchWriteItem, BatchWriteItemOutput};
use partita_api::{Exception, messages};
use partita_store::Store;
use partita_value::Item;
use std::collections::HashSet;
use std::sync::Arc;

/// A commit that stores more than this is split.
const PART_BYTES: usize = 2 << 20;

impl<S: Store> Engine<S> {
    pub async fn batch_write_item(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput, Exception> {
        let wants_metrics = request.return_item_collection_metrics;
        let mut writes = Vec::new();
        let mut keys = Vec::new();
        let mut budget = WorkBudget::new();
        for (name, requests) in request.tables {
            let table = self.catalog.table(&name)?;
            for request in requests {
                if budget.spend(work(&table, &request)) {
                    budget = WorkBudget::new();
                    yield_now().await;
                }
                let metrics_key = wants_metrics.then(|| item_or_key(&request));
                keys.push((name.clone(), Arc::clone(&table), metrics_key));
                writes.push(plan_batched(&table, request)?);
            }
        }
        refuse_duplicates(&writes)?;
        let outcomes = self.write_in_parts(writes).await?;
        let mut consumed = ConsumptionByTable::default();
        let mut collections = TouchedCollections::default();
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
    /// Commits the writes in parts that do not hold up other writes for long.
    async fn write_in_parts(
        &self,
        writes: Vec<ItemWrite>,
    ) -> Result<Vec<Result<Outcome, Exception>>, Exception> {
        let (mut outcomes, mut part, mut bytes) = (Vec::with_capacity(writes.len()), Vec::new(), 0);
        for write in writes {
            let more = stored_bytes(&write);
            if bytes + more > PART_BYTES && !part.is_empty() {
                outcomes.extend(self.write_batch(std::mem::take(&mut part)).await?);
                bytes = 0;
            }
            bytes += more;
            part.push(write);
        }
        outcomes.extend(self.write_batch(part).await?);
        Ok(outcomes)
    }
}

/// The cost of planning a write: the item is searched for its own key and for that of each index.
fn work(table: &Table, request: &BatchWrite) -> usize {
    let (BatchWrite::Put(item) | BatchWrite::Delete(item)) = request;
    item.size() * (1 + table.indexes.len())
}

/// An estimate of the bytes that a write stores: the item, and its entries in indexes that hold all of it.
fn stored_bytes(write: &ItemWrite) -> usize {
    let copies = 1 + write.table.indexes.iter().filter(|index| index.attributes.is_none()).count();
    match &write.action {
        Action::Put(item) => item.size() * copies,
        _ => 0,
    }
}

fn item_or_key(request: &BatchWrite) -> Item {
    match request {
        BatchWrite::Put(item) | BatchWrite::Delete(item) => item.clone(),
    }
}

fn refuse_duplicates(writes: &[ItemWrite]) -> Result<(), Exception> {
    let mut seen = HashSet::with_capacity(writes.len());
    if writes.iter().all(|write| seen.insert(&write.key.stored)) {
        Ok(())
    } else {
        Err(Exception::validation(messages::DUPLICATE_KEYS))
    }
}
