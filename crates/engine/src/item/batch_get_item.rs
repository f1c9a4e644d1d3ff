//! BatchGetItem: points of several tables, up to 16 MB, a slice a snapshot.

use crate::Engine;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::catalog::table::Table;
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::read::slices::{Slice, let_others};
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
        let planned = request.tables.iter().map(|wanted| self.plan_keys(wanted));
        let planned = planned.collect::<Result<Vec<_>, _>>()?;
        let mut output = BatchGetItemOutput::default();
        let mut capacity = Vec::new();
        let mut room = limits::BATCH_GET_BYTES;
        for (wanted, (table, keys)) in request.tables.iter().zip(planned) {
            let read = read_keys(&self.store, &table, (wanted, &keys), &mut room).await?;
            capacity.extend(read.consumption.report(&wanted.table, request.return_consumed_capacity, None));
            output.responses.push(TableItems { table: wanted.table.clone(), items: read.items });
            if read.processed < keys.len() {
                output.unprocessed.push(UnprocessedKeys {
                    table: wanted.table.clone(),
                    keys: wanted.keys[read.processed..].to_vec(),
                    consistent_read: wanted.consistent_read,
                    wording: wanted.wording.clone(),
                });
            }
        }
        output.consumed_capacity = (!capacity.is_empty()).then_some(capacity);
        Ok(output)
    }

    fn plan_keys(&self, wanted: &TableKeys) -> Result<(Arc<Table>, Vec<ItemKey>), Exception> {
        let table = self.catalog.table(&wanted.table)?;
        let keys = wanted.keys.iter().map(|key| ItemKey::of_request(&table, key));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        scalar_keys::check(&table, wanted.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        let distinct: HashSet<_> = keys.iter().map(|key| key.identity).collect();
        if distinct.len() < keys.len() {
            return Err(Exception::validation(messages::DUPLICATE_KEYS));
        }
        Ok((table, keys))
    }
}

/// The items of one table that still fitted the answer.
struct TableRead {
    items: Vec<Item>,
    processed: usize,
    consumption: Consumption,
}

async fn read_keys(
    store: &impl Store,
    table: &Table,
    (wanted, keys): (&TableKeys, &[ItemKey]),
    room: &mut usize,
) -> Result<TableRead, Exception> {
    let mut read = TableRead { items: Vec::new(), processed: 0, consumption: Consumption::default() };
    while read.read_slice(store, table, (wanted, keys), room)? {
        let_others().await;
    }
    Ok(read)
}

impl TableRead {
    /// Reads on; whether there is more to read.
    fn read_slice(
        &mut self,
        store: &impl Store,
        table: &Table,
        (wanted, keys): (&TableKeys, &[ItemKey]),
        room: &mut usize,
    ) -> Result<bool, Exception> {
        let snapshot = store.snapshot().map_err(storage_failed)?;
        let mut slice = Slice::new();
        for key in keys.iter().skip(self.processed) {
            let (item, size) =
                read_item(&snapshot, table, key, |item| project(wanted.projection.as_ref(), item))?;
            let Some(left) = room.checked_sub(size) else { return Ok(false) };
            *room = left;
            self.items.extend(item);
            self.processed += 1;
            self.consumption.table += read_units(size, Consistency::of(wanted.consistent_read));
            if slice.spend(size) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
