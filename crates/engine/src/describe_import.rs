//! DescribeImport: an import's record.

use crate::Engine;
use crate::import_step::ImportRecord;
use partita_api::Exception;
use partita_api::describe_import::{DescribeImport, DescribeImportOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub fn describe_import(&self, request: &DescribeImport) -> Result<DescribeImportOutput, Exception> {
        Ok(DescribeImportOutput { import: self.exchange::<ImportRecord>(&request.arn)?.import })
    }
}
