//! The read transaction of TransactGetItems and ExecuteTransaction. All items come from one snapshot, which makes it
//! serializable.

use crate::Engine;
use crate::capacity::table_consumption::ConsumptionByTable;
use crate::capacity::{Consistency, Consumption, read_units};
use crate::item::cancellation::all_or_cancelled;
use crate::item::transaction_write::check_distinct;
use crate::key::item_key::ItemKey;
use crate::key::scalar_keys;
use crate::read::{project, read_item};
use crate::storage_failed;
use partita_api::Exception;
use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity, TransactionUnits};
use partita_api::item::transact_get_items::TransactGet;
use partita_store::Store;
use partita_value::{Item, limits};

/// The items of a read transaction, in the order of the gets.
pub(crate) struct TransactionRead {
    pub items: Vec<Option<Item>>,
    pub consumed_capacity: Option<Vec<ConsumedCapacity>>,
}

impl<S: Store> Engine<S> {
    pub(crate) fn read_transaction(
        &self,
        gets: &[TransactGet],
        return_consumed_capacity: ReturnConsumedCapacity,
    ) -> Result<TransactionRead, Exception> {
        let tables = gets.iter().map(|get| self.catalog.table(&get.table));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let keys = gets.iter().zip(&tables).map(|(get, table)| ItemKey::of_request(table, &get.key));
        let keys = all_or_cancelled(keys)?;
        for (get, table) in gets.iter().zip(&tables) {
            scalar_keys::check(table, get.projection.iter().flat_map(|paths| paths.nested_roots()))?;
        }
        check_distinct(tables.iter().map(|table| table.space).zip(&keys))?;
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let mut consumed = ConsumptionByTable::default();
        let mut items = Vec::with_capacity(keys.len());
        let mut total = 0;
        for ((get, table), key) in gets.iter().zip(&tables).zip(&keys) {
            let (item, size) =
                read_item(&snapshot, table, key, |item| project(get.projection.as_ref(), item))?;
            total += size;
            if total > limits::TRANSACTION_BYTES {
                return Err(Exception::validation(
                    "Cannot fetch items: the size of the items in the transaction has exceeded the maximum of 4 MB",
                ));
            }
            consumed.add(&get.table, Consumption::of_table(read_units(size, Consistency::Transactional)));
            items.push(item);
        }
        let consumed_capacity = consumed.report(return_consumed_capacity, Some(TransactionUnits::Read));
        Ok(TransactionRead { items, consumed_capacity })
    }
}
