//! ListBulkOperations: the records of bulk operations, as far as they are not old.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_upkeep::KEPT_MILLIS;
use partita_api::Exception;
use partita_api::bulk_operation::list_bulk_operations::{ListBulkOperations, ListBulkOperationsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn list_bulk_operations(
        &self,
        request: ListBulkOperations,
    ) -> Result<ListBulkOperationsOutput, Exception> {
        // Those that began before are not listed, even if they ended later.
        let oldest = self.clock.now_millis().saturating_sub(KEPT_MILLIS);
        let (mut records, mut next) = self.exchanges::<BulkRecord>(&request.page)?;
        let found = records.len();
        records.retain(|record| record.operation.started_millis >= oldest);
        if records.len() < found {
            // All that follow are older still.
            next = None;
        }
        let operations: Result<Vec<_>, _> = records.into_iter().map(|record| self.shown(record)).collect();
        Ok(ListBulkOperationsOutput { operations: operations?, next })
    }
}
