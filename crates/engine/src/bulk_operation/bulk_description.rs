//! The description of a bulk operation, as every operation on bulk operations returns it.

use crate::Engine;
use crate::bulk_operation::bulk_record::BulkRecord;
use crate::exchange::exchange_record::ExchangeRecord;
use partita_api::Exception;
use partita_api::bulk_operation::{BulkOperation, BulkStatus};
use partita_store::Store;

impl<S: Store> Engine<S> {
    /// Describes a bulk operation. A requested cancellation is stored in a separate row.
    pub(crate) fn describe_bulk_record(&self, record: BulkRecord) -> Result<BulkOperation, Exception> {
        let is_cancelling = record.is_open() && self.is_bulk_cancelled(record.id())?;
        let mut operation = record.operation;
        if is_cancelling {
            operation.status = BulkStatus::Cancelling;
        }
        Ok(operation)
    }
}
