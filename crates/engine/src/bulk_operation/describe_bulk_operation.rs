//! DescribeBulkOperation: a bulk operation's record.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_record::ExchangeRecord;
use partita_api::Exception;
use partita_api::bulk_operation::describe_bulk_operation::{
    DescribeBulkOperation, DescribeBulkOperationOutput,
};
use partita_api::bulk_operation::{BulkOperation, BulkStatus};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_bulk_operation(
        &self,
        request: DescribeBulkOperation,
    ) -> Result<DescribeBulkOperationOutput, Exception> {
        let operation = Box::new(self.shown(self.exchange(&request.arn)?)?);
        Ok(DescribeBulkOperationOutput { operation })
    }

    /// That an operation is to end is stored beside it.
    pub(crate) fn shown(&self, record: BulkRecord) -> Result<BulkOperation, Exception> {
        let is_ending = record.is_open() && self.is_bulk_cancelled(record.id())?;
        let mut operation = record.operation;
        if is_ending {
            operation.status = BulkStatus::Cancelling;
        }
        Ok(operation)
    }
}
