//! DescribeExport: an export's record.

use crate::Engine;
use crate::export::export_step::ExportRecord;
use partita_api::Exception;
use partita_api::export::describe_export::{DescribeExport, DescribeExportOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_export(&self, request: DescribeExport) -> Result<DescribeExportOutput, Exception> {
        Ok(DescribeExportOutput { export: self.exchange::<ExportRecord>(&request.arn)?.export })
    }
}
