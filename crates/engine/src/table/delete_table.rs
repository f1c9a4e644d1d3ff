//! DeleteTable: removes a table that is neither protected nor still being created.

use crate::Engine;
use crate::catalog::change_table::check_created;
use crate::catalog::table::TableRecord;
use partita_api::Exception;
use partita_api::table::ResourceStatus;
use partita_api::table::delete_table::{DeleteTable, DeleteTableOutput};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn delete_table(&self, request: DeleteTable) -> Result<DeleteTableOutput, Exception> {
        let check = |record: &TableRecord| {
            check_created(record)?;
            match record.deletion_protection {
                true => Err(protected(record)),
                false => Ok(()),
            }
        };
        let mut table = self.remove_table(request.name, check).await?;
        table.status = ResourceStatus::Deleting;
        Ok(DeleteTableOutput { table })
    }
}

fn protected(record: &TableRecord) -> Exception {
    Exception::validation(format!(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first. Table: {}",
        record.name
    ))
}
