//! From a request that writes an item to the [`ItemWrite`] that the writer executes: finds the table, computes the stored
//! key, and rejects what is invalid whatever is stored.

use crate::Engine;
use crate::catalog::table::Table;
use crate::index::index_entry::check_index_keys;
use crate::key::item_key::ItemKey;
use crate::write::{Action, ItemWrite};
use partita_api::Exception;
use partita_api::item::batch_write_item::BatchWrite;
use partita_api::item::delete_item::DeleteItem;
use partita_api::item::put_item::PutItem;
use partita_api::item::transact_write_items::{ConditionCheck, TransactWrite};
use partita_api::item::update_item::UpdateItem;
use partita_api::reporting::ReturnValues;
use partita_store::Store;
use std::sync::Arc;

impl<S: Store> Engine<S> {
    pub(crate) fn plan_put(&self, request: PutItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        Ok(ItemWrite {
            key: ItemKey::of_new_item(&table, request.item.view())?,
            table,
            action: Action::Put(request.item),
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }

    pub(crate) fn plan_update(&self, request: UpdateItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        let key = ItemKey::of_request(&table, &request.key)?;
        let mut targets = request.update.iter().flat_map(|update| update.target_roots());
        if let Some(name) = targets.find(|name| table.key.contains(name)) {
            return Err(Exception::validation(format!(
                "One or more parameter values were invalid: Cannot update attribute {name}. This attribute is part of the key"
            )));
        }
        drop(targets);
        Ok(ItemWrite {
            key,
            table,
            action: Action::Update { key: request.key, update: request.update },
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }

    pub(crate) fn plan_delete(&self, request: DeleteItem) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&request.table)?;
        Ok(ItemWrite {
            key: ItemKey::of_request(&table, &request.key)?,
            table,
            action: Action::Delete { key: request.key },
            condition: request.condition,
            return_values: request.return_values,
            return_item_on_condition_failure: request.return_item_on_condition_failure,
        })
    }

    fn plan_condition_check(&self, check: ConditionCheck) -> Result<ItemWrite, Exception> {
        let table = self.catalog.table(&check.table)?;
        Ok(ItemWrite {
            key: ItemKey::of_request(&table, &check.key)?,
            table,
            action: Action::Check { key: check.key },
            condition: Some(check.condition),
            return_values: ReturnValues::None,
            return_item_on_condition_failure: check.return_item_on_condition_failure,
        })
    }

    /// Plans one action of a transaction.
    pub(crate) fn plan_action(&self, action: TransactWrite) -> Result<ItemWrite, Exception> {
        match action {
            TransactWrite::Put(put) => self.plan_put(put),
            TransactWrite::Update(update) => self.plan_update(update),
            TransactWrite::Delete(delete) => self.plan_delete(delete),
            TransactWrite::ConditionCheck(check) => self.plan_condition_check(check),
        }
    }
}

/// Plans one write of a batch. Unlike in single writes and transactions, invalid index keys fail here, before anything is
/// written: one invalid item rejects the whole batch.
pub fn plan_batched(table: &Arc<Table>, request: BatchWrite) -> Result<ItemWrite, Exception> {
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
