//! DescribeImport: an import's record.

use crate::Engine;
use crate::import::import_step::ImportRecord;
use partita_api::Exception;
use partita_api::import::describe_import::{DescribeImport, DescribeImportOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_import(&self, request: DescribeImport) -> Result<DescribeImportOutput, Exception> {
        Ok(DescribeImportOutput { import: self.exchange::<ImportRecord>(&request.arn)?.import })
    }
}
