//! CancelBulkOperation: notes that a bulk operation is to end; its next step ends it.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::bulk_operation::bulk_step::cancellation_key;
use crate::exchange::exchange_record::{self, ExchangeRecord};
use crate::storage_failed;
use partita_api::Exception;
use partita_api::bulk_operation::BulkStatus;
use partita_api::bulk_operation::cancel_bulk_operation::{CancelBulkOperation, CancelBulkOperationOutput};
use partita_store::{Decision, Rows, Store, Write};

impl<S: Store> Engine<S> {
    pub async fn cancel_bulk_operation(
        &self,
        request: CancelBulkOperation,
    ) -> Result<CancelBulkOperationOutput, Exception> {
        let record: BulkRecord = self.exchange(&request.arn)?;
        let keys = vec![exchange_record::key::<BulkRecord>(record.id())];
        let noted = Write::Put { key: cancellation_key(record.id()), value: Vec::new() };
        let decision = move |rows: &Rows<'_>| {
            let record = rows[0].as_deref().map(exchange_record::read::<BulkRecord>).transpose();
            match record.map(|record| record.is_some_and(|record| record.is_open())) {
                Ok(true) => Decision::commit(vec![noted.clone()], Ok(true)),
                other => Decision::rejection(other),
            }
        };
        let is_open = self.store.decide(keys, decision).await.and_then(|is_open| is_open);
        if !is_open.map_err(storage_failed)? {
            let status = self.exchange::<BulkRecord>(&request.arn)?.operation.status;
            return Err(Exception::validation(format!(
                "Bulk operation cannot be cancelled, its status is {}: {}",
                status.name(),
                request.arn
            )));
        }
        self.wake_maintenance();
        Ok(CancelBulkOperationOutput { arn: record.operation.arn, status: BulkStatus::Cancelling })
    }
}
