//! TransactWriteItems: several writes that all commit, or none.

use crate::Engine;
use crate::index::index_entry;
use crate::item::cancellation::all_or_cancelled;
use crate::item::transaction_write::{ReportedAction, check_total_size, item_or_key, table_of};
use crate::key::item_key::check_not_empty;
use partita_api::Exception;
use partita_api::item::transact_write_items::{TransactWrite, TransactWriteItems, TransactWriteItemsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn transact_write_items(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput, Exception> {
        request.actions.iter().try_for_each(|action| self.refuse_empty_keys(action))?;
        check_total_size(request.actions.iter())?;
        let wants_metrics = request.return_item_collection_metrics;
        let reported = |action: &TransactWrite| ReportedAction {
            table: table_of(action).clone(),
            metrics_key: wants_metrics.then(|| item_or_key(action).clone()),
        };
        let reported: Vec<_> = request.actions.iter().map(reported).collect();
        let planned = request.actions.into_iter().map(|action| self.plan_action(action));
        let writes = all_or_cancelled(planned)?;
        self.write_transaction(
            writes,
            reported,
            request.client_request_token,
            request.return_consumed_capacity,
        )
        .await
    }

    /// AWS rejects a request with empty key values; any other invalid key is a cancellation reason.
    fn refuse_empty_keys(&self, action: &TransactWrite) -> Result<(), Exception> {
        let table = self.catalog.table(table_of(action))?;
        check_not_empty(&table.key, item_or_key(action).view())?;
        match action {
            TransactWrite::Put(put) => index_entry::check_not_empty(&table, put.item.view()),
            TransactWrite::Update(update) => {
                let mut update = update.update.iter();
                update.try_for_each(|update| index_entry::check_update_not_empty(&table, update))
            }
            TransactWrite::Delete(_) | TransactWrite::ConditionCheck(_) => Ok(()),
        }
    }
}
