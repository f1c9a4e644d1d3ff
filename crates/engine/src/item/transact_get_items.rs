//! TransactGetItems: points of several tables out of one snapshot, which is what makes it serializable.

use crate::Engine;
use crate::capacity::table_consumption::PerTable;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::item::transact_write_items::{check_distinct, keys_or_cancellation};
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::read::{project, read_item};
use crate::storage_failed;
use partita_api::Exception;
use partita_api::capacity::TransactionUnits;
use partita_api::item::transact_get_items::{TransactGetItems, TransactGetItemsOutput};
use partita_store::Store;
use partita_value::limits;

impl<S: Store> Engine<S> {
    pub async fn transact_get_items(
        &self,
        request: TransactGetItems,
    ) -> Result<TransactGetItemsOutput, Exception> {
        let tables = request.gets.iter().map(|get| self.catalog.table(&get.table));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let gets = request.gets.iter().zip(&tables);
        let keys = keys_or_cancellation(gets.map(|(get, table)| ItemKey::of_request(table, &get.key)))?;
        for (get, table) in request.gets.iter().zip(&tables) {
            scalar_keys::check(table, get.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        }
        check_distinct(tables.iter().map(|table| table.space).zip(&keys))?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let mut consumed = PerTable::default();
        let mut responses = Vec::with_capacity(keys.len());
        let mut total = 0;
        for ((get, table), key) in request.gets.iter().zip(&tables).zip(&keys) {
            let (item, size) =
                read_item(&snapshot, table, key, |item| project(get.projection.as_ref(), item))?;
            total += size;
            if total > limits::TRANSACTION_BYTES {
                return Err(Exception::validation(
                    "Cannot fetch items: the size of the items in the transaction has exceeded the maximum of 4 MB",
                ));
            }
            consumed.add(&get.table, Consumption::of_table(read_units(size, Consistency::Transactional)));
            responses.push(item);
        }
        let consumed_capacity =
            consumed.report(request.return_consumed_capacity, Some(TransactionUnits::Read));
        Ok(TransactGetItemsOutput { responses, consumed_capacity })
    }
}
