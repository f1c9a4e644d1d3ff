//! BatchGetItem: items of several tables, up to 16 MB. Continues in a new snapshot whenever the work budget is used up.

use crate::Engine;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::catalog::table::Table;
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::read::work_budget::{WorkBudget, yield_now};
use crate::read::{project, read_item};
use crate::storage_failed;
use partita_api::item::batch_get_item::{
    BatchGetItem, BatchGetItemOutput, TableItems, TableKeys, UnprocessedKeys,
};
use partita_api::{Exception, messages};
use partita_store::Store;
use partita_value::{Item, limits};
use std::collections::HashSet;
use std::sync::Arc;

impl<S: Store> Engine<S> {
    pub async fn batch_get_item(&self, request: BatchGetItem) -> Result<BatchGetItemOutput, Exception> {
        let planned = request.tables.iter().map(|requested| self.plan_keys(requested));
        let planned = planned.collect::<Result<Vec<_>, _>>()?;
        let mut output = BatchGetItemOutput::default();
        let mut capacity = Vec::new();
        let mut bytes_left = limits::BATCH_GET_BYTES;
        for (requested, (table, keys)) in request.tables.iter().zip(planned) {
            let read = read_keys(&self.store, &table, (requested, &keys), &mut bytes_left).await?;
            capacity.extend(read.consumption.report(
                &requested.table,
                request.return_consumed_capacity,
                None,
            ));
            output.responses.push(TableItems { table: requested.table.clone(), items: read.items });
            if read.processed < keys.len() {
                output.unprocessed.push(UnprocessedKeys {
                    table: requested.table.clone(),
                    keys: requested.keys[read.processed..].to_vec(),
                    consistent_read: requested.consistent_read,
                    wording: requested.wording.clone(),
                });
            }
        }
        output.consumed_capacity = (!capacity.is_empty()).then_some(capacity);
        Ok(output)
    }

    fn plan_keys(&self, requested: &TableKeys) -> Result<(Arc<Table>, Vec<ItemKey>), Exception> {
        let table = self.catalog.table(&requested.table)?;
        let keys = requested.keys.iter().map(|key| ItemKey::of_request(&table, key));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        scalar_keys::check(&table, requested.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        let distinct: HashSet<_> = keys.iter().map(|key| key.identity).collect();
        if distinct.len() < keys.len() {
            return Err(Exception::validation(messages::DUPLICATE_KEYS));
        }
        Ok((table, keys))
    }
}

/// The items of one table that fit the response.
struct TableRead {
    items: Vec<Item>,
    processed: usize,
    consumption: Consumption,
}

async fn read_keys(
    store: &impl Store,
    table: &Table,
    (requested, keys): (&TableKeys, &[ItemKey]),
    bytes_left: &mut usize,
) -> Result<TableRead, Exception> {
    let mut read = TableRead { items: Vec::new(), processed: 0, consumption: Consumption::default() };
    while read.read_part(store, table, (requested, keys), bytes_left)? {
        yield_now().await;
    }
    Ok(read)
}

impl TableRead {
    /// Reads items from one snapshot; returns whether there are more to read.
    fn read_part(
        &mut self,
        store: &impl Store,
        table: &Table,
        (requested, keys): (&TableKeys, &[ItemKey]),
        bytes_left: &mut usize,
    ) -> Result<bool, Exception> {
        let snapshot = store.snapshot().map_err(storage_failed)?;
        let mut budget = WorkBudget::new();
        for key in keys.iter().skip(self.processed) {
            let (item, size) =
                read_item(&snapshot, table, key, |item| project(requested.projection.as_ref(), item))?;
            let Some(left) = bytes_left.checked_sub(size) else { return Ok(false) };
            *bytes_left = left;
            self.items.extend(item);
            self.processed += 1;
            self.consumption.table += read_units(size, Consistency::of(requested.consistent_read));
            if budget.spend(size) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
