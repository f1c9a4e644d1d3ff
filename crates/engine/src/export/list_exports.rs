//! ListExports: the records of exports.

use crate::Engine;
use crate::export::export_step::ExportRecord;
use partita_api::Exception;
use partita_api::export::list_exports::{ListExports, ListExportsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn list_exports(&self, request: ListExports) -> Result<ListExportsOutput, Exception> {
        let (records, next) = self.exchanges::<ExportRecord>(&request.page)?;
        Ok(ListExportsOutput { exports: records.into_iter().map(|record| record.export).collect(), next })
    }
}
