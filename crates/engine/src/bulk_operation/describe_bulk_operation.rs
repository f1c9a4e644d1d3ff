//! DescribeBulkOperation: describes a bulk operation.

use crate::Engine;
use partita_api::Exception;
use partita_api::bulk_operation::describe_bulk_operation::{
    DescribeBulkOperation, DescribeBulkOperationOutput,
};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_bulk_operation(
        &self,
        request: DescribeBulkOperation,
    ) -> Result<DescribeBulkOperationOutput, Exception> {
        let operation = Box::new(self.describe_bulk_record(self.exchange(&request.arn)?)?);
        Ok(DescribeBulkOperationOutput { operation })
    }
}
