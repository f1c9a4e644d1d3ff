//! The write transaction of TransactWriteItems and ExecuteTransaction: its limits, its commit and its report.

use crate::Engine;
use crate::capacity::table_consumption::{ConsumptionByTable, TouchedCollections, collection_metrics};
use crate::capacity::{Consistency, Consumption, read_units};
use crate::key::item_key::ItemKey;
use crate::write::{ItemWrite, Transaction};
use partita_api::Exception;
use partita_api::capacity::{ReturnConsumedCapacity, TransactionUnits, Units};
use partita_api::item::client_request_token::ClientRequestToken;
use partita_api::item::transact_write_items::{TransactWrite, TransactWriteItemsOutput};
use partita_store::{Space, Store};
use partita_value::{Item, limits, names::TableName};
use std::collections::HashSet;

/// What the report needs to know about one action.
pub(crate) struct ReportedAction {
    /// The table as the request names it.
    pub table: TableName,
    /// The key, if collection metrics are requested.
    pub metrics_key: Option<Item>,
}

impl<S: Store> Engine<S> {
    /// Commits all writes or none, and reports what they consumed.
    pub(crate) async fn write_transaction(
        &self,
        writes: Vec<ItemWrite>,
        actions: Vec<ReportedAction>,
        token: Option<ClientRequestToken>,
        return_consumed_capacity: ReturnConsumedCapacity,
    ) -> Result<TransactWriteItemsOutput, Exception> {
        check_distinct(writes.iter().map(|write| (write.table.space, &write.key)))?;
        let tables: Vec<_> = writes.iter().map(|write| write.table.clone()).collect();
        let transaction = self.write_together(writes, token).await?;
        let mut consumed = ConsumptionByTable::default();
        let mut collections = TouchedCollections::default();
        let units = match transaction {
            Transaction::Done(outcomes) => {
                for ((table, action), mut outcome) in tables.iter().zip(&actions).zip(outcomes) {
                    let key = action.metrics_key.as_ref();
                    let metrics =
                        key.and_then(|key| collection_metrics(table, key, outcome.collection_bytes));
                    collections.add(&action.table, metrics);
                    // A transaction is charged twice for the table, once for its indexes.
                    outcome.consumption.table = Units(outcome.consumption.table.0 * 2);
                    consumed.add(&action.table, outcome.consumption);
                }
                TransactionUnits::Write
            }
            Transaction::Repeated(sizes) => {
                for (action, size) in actions.iter().zip(sizes) {
                    let units = read_units(size, Consistency::Transactional);
                    consumed.add(&action.table, Consumption::of_table(units));
                }
                TransactionUnits::Read
            }
        };
        Ok(TransactWriteItemsOutput {
            consumed_capacity: consumed.report(return_consumed_capacity, Some(units)),
            item_collection_metrics: collections.report(),
        })
    }
}

pub fn table_of(action: &TransactWrite) -> &TableName {
    match action {
        TransactWrite::Put(put) => &put.table,
        TransactWrite::Update(update) => &update.table,
        TransactWrite::Delete(delete) => &delete.table,
        TransactWrite::ConditionCheck(check) => &check.table,
    }
}

/// An item that has at least the attributes of the key.
pub fn item_or_key(action: &TransactWrite) -> &Item {
    match action {
        TransactWrite::Put(put) => &put.item,
        TransactWrite::Update(update) => &update.key,
        TransactWrite::Delete(delete) => &delete.key,
        TransactWrite::ConditionCheck(check) => &check.key,
    }
}

/// Checks the size of the items and keys as they are sent.
pub fn check_total_size<'a>(actions: impl Iterator<Item = &'a TransactWrite>) -> Result<(), Exception> {
    let total: usize = actions.map(|action| item_or_key(action).size()).sum();
    if total > limits::TRANSACTION_BYTES { Err(too_large(total)) } else { Ok(()) }
}

/// The exception for a transaction whose items exceed 4 MB in total, as sent or after its updates.
pub fn too_large(bytes: usize) -> Exception {
    let text = format!("Transaction payload size cannot exceed 4MB. Payload Size: {bytes}");
    // AWS repeats the message; the first time without the number.
    let first = text.trim_end_matches(|c: char| c.is_ascii_digit());
    Exception::validation(format!("{first}: {text}"))
}

/// Checks that no two actions are on the same item.
pub fn check_distinct<'a>(keys: impl Iterator<Item = (Space, &'a ItemKey)>) -> Result<(), Exception> {
    let mut seen = HashSet::new();
    for (space, key) in keys {
        if !seen.insert((space, key.identity)) {
            return Err(Exception::validation(
                "Transaction request cannot include multiple operations on one item",
            ));
        }
    }
    Ok(())
}
