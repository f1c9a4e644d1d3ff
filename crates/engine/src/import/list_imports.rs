//! ListImports: the records of imports.

use crate::Engine;
use crate::import::import_step::ImportRecord;
use partita_api::Exception;
use partita_api::import::list_imports::{ListImports, ListImportsOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn list_imports(&self, request: ListImports) -> Result<ListImportsOutput, Exception> {
        let (records, next) = self.exchanges::<ImportRecord>(&request.page)?;
        Ok(ListImportsOutput { imports: records.into_iter().map(|record| record.import).collect(), next })
    }
}
