//! TransactWriteItems: several writes in one decision, all or none.

use crate::Engine;
use crate::capacity::table_consumption::{CollectionsTouched, PerTable, collection_metrics};
use crate::capacity::{Consistency, Consumption, read_units};
use crate::index::index_entry;
use crate::key::item_key::{ItemKey, check_not_empty};
use crate::write::{Action, ItemWrite, Transaction};
use partita_api::capacity::{ReturnConsumedCapacity, TransactionUnits, Units};
use partita_api::exception::CancellationReason;
use partita_api::item::transact_write_items::*;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Space, Store};
use partita_value::{Item, limits, names::TableName};
use std::collections::HashSet;

/// What is told of one write of a transaction.
pub(crate) struct NamedWrite {
    /// The table as the request names it.
    pub table: TableName,
    /// The key, if collection metrics are wanted.
    pub metrics_of: Option<Item>,
}

impl<S: Store> Engine<S> {
    pub async fn transact_write_items(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput, Exception> {
        for action in &request.actions {
            let table = self.catalog.table(table_of(action))?;
            // AWS tells of empty key values at once; what else is wrong with one is a reason of the cancellation.
            check_not_empty(&table.key, key_of(action).view())?;
            match action {
                TransactWrite::Put(put) => index_entry::check_not_empty(&table, put.item.view())?,
                TransactWrite::Update(update) => {
                    let mut update = update.update.iter();
                    update.try_for_each(|update| index_entry::check_update_not_empty(&table, update))?;
                }
                TransactWrite::Delete(_) | TransactWrite::ConditionCheck(_) => {}
            }
        }
        check_total_size(request.actions.iter())?;
        let wants_metrics = request.return_item_collection_metrics;
        let named = |action: &TransactWrite| NamedWrite {
            table: table_of(action).clone(),
            metrics_of: wants_metrics.then(|| key_of(action).clone()),
        };
        let named: Vec<_> = request.actions.iter().map(named).collect();
        let planned = request.actions.into_iter().map(|action| self.plan_action(action));
        let writes = keys_or_cancellation(planned)?;
        self.write_transaction(writes, named, request.client_request_token, request.return_consumed_capacity)
            .await
    }

    /// Writes all or nothing, and reports.
    pub(crate) async fn write_transaction(
        &self,
        writes: Vec<ItemWrite>,
        named: Vec<NamedWrite>,
        token: Option<ClientRequestToken>,
        wanted: ReturnConsumedCapacity,
    ) -> Result<TransactWriteItemsOutput, Exception> {
        check_distinct(writes.iter().map(|write| (write.table.space, &write.key)))?;
        let tables: Vec<_> = writes.iter().map(|write| write.table.clone()).collect();
        let transaction = self.write_together(writes, token).await?;
        let mut consumed = PerTable::default();
        let mut collections = CollectionsTouched::default();
        let units = match transaction {
            Transaction::Done(outcomes) => {
                for ((table, named), mut outcome) in tables.iter().zip(&named).zip(outcomes) {
                    let key = named.metrics_of.as_ref();
                    let metrics =
                        key.and_then(|key| collection_metrics(table, key, outcome.collection_bytes));
                    collections.add(&named.table, metrics);
                    // A transaction is charged twice for the table, once for its indexes.
                    outcome.consumption.table = Units(outcome.consumption.table.0 * 2);
                    consumed.add(&named.table, outcome.consumption);
                }
                TransactionUnits::Write
            }
            Transaction::Repeated(sizes) => {
                for (named, size) in named.iter().zip(sizes) {
                    let units = read_units(size, Consistency::Transactional);
                    consumed.add(&named.table, Consumption::of_table(units));
                }
                TransactionUnits::Read
            }
        };
        Ok(TransactWriteItemsOutput {
            consumed_capacity: consumed.report(wanted, Some(units)),
            item_collection_metrics: collections.report(),
        })
    }

    pub(crate) fn plan_action(&self, action: TransactWrite) -> Result<ItemWrite, Exception> {
        match action {
            TransactWrite::Put(put) => self.plan_put(put),
            TransactWrite::Update(update) => self.plan_update(update),
            TransactWrite::Delete(delete) => self.plan_delete(delete),
            TransactWrite::ConditionCheck(check) => {
                let table = self.catalog.table(&check.table)?;
                Ok(ItemWrite {
                    key: ItemKey::of_request(&table, &check.key)?,
                    table,
                    action: Action::Check,
                    condition: Some(check.condition),
                    return_values: ReturnValues::None,
                    return_item_on_condition_failure: check.return_item_on_condition_failure,
                })
            }
        }
    }
}

fn table_of(action: &TransactWrite) -> &TableName {
    match action {
        TransactWrite::Put(put) => &put.table,
        TransactWrite::Update(update) => &update.table,
        TransactWrite::Delete(delete) => &delete.table,
        TransactWrite::ConditionCheck(check) => &check.table,
    }
}

/// An item that has at least the key's attributes.
fn key_of(action: &TransactWrite) -> &Item {
    match action {
        TransactWrite::Put(put) => &put.item,
        TransactWrite::Update(update) => &update.key,
        TransactWrite::Delete(delete) => &delete.key,
        TransactWrite::ConditionCheck(check) => &check.key,
    }
}

pub fn check_total_size<'a>(actions: impl Iterator<Item = &'a TransactWrite>) -> Result<(), Exception> {
    let total: usize = actions.map(|action| key_of(action).size()).sum();
    if total > limits::TRANSACTION_BYTES { Err(too_large(total)) } else { Ok(()) }
}

/// The items of a transaction may have 4 MB together: as they are sent, and as they are after its updates.
pub fn too_large(bytes: usize) -> Exception {
    let text = format!("Transaction payload size cannot exceed 4MB. Payload Size: {bytes}");
    // AWS says it twice, the first time without the number.
    let first = text.trim_end_matches(|c: char| c.is_ascii_digit());
    Exception::validation(format!("{first}: {text}"))
}

/// One action per item.
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

/// Takes what every action of a transaction needs; what is wrong with one action cancels them all. AWS looks no
/// further than the first.
pub fn keys_or_cancellation<T>(
    planned: impl ExactSizeIterator<Item = Result<T, Exception>>,
) -> Result<Vec<T>, Exception> {
    let count = planned.len();
    let mut ready = Vec::with_capacity(count);
    for plan in planned {
        match plan {
            Ok(plan) => ready.push(plan),
            Err(exception) => {
                let mut outcomes: Vec<_> = (0..count).map(|_| Ok(())).collect();
                outcomes[ready.len()] = Err(exception);
                return Err(cancelled(outcomes));
            }
        }
    }
    Ok(ready)
}

/// The exception of a transaction that did not happen: a reason per action.
pub fn cancelled<T>(outcomes: Vec<Result<T, Exception>>) -> Exception {
    let names_no_action = |outcome: &&Result<T, Exception>| {
        outcome.as_ref().is_err_and(|exception| exception.kind.reason_code().is_none())
    };
    if let Some(Err(exception)) = outcomes.iter().find(names_no_action) {
        return exception.clone();
    }
    cancellation(
        outcomes.into_iter().map(|outcome| outcome.err().map_or_else(Default::default, reason)).collect(),
    )
}

/// The exception that tells these reasons.
pub fn cancellation(reasons: Vec<CancellationReason>) -> Exception {
    let codes: Vec<_> = reasons.iter().map(|reason| reason.code.unwrap_or("None")).collect();
    let message = format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    );
    let mut exception = Exception::new(ExceptionKind::TransactionCanceledException, message);
    exception.cancellation_reasons = Some(reasons);
    exception
}

fn reason(exception: Exception) -> CancellationReason {
    CancellationReason {
        code: exception.kind.reason_code(),
        message: Some(exception.message),
        item: exception.item,
    }
}
