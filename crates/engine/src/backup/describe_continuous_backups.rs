//! DescribeContinuousBackups: returns whether point-in-time recovery is enabled, and its window.

use crate::Engine;
use partita_api::Exception;
use partita_api::backup::describe_continuous_backups::{
    DescribeContinuousBackups, DescribeContinuousBackupsOutput,
};
use partita_store::Store;

impl<S: Store> Engine<S> {
    pub async fn describe_continuous_backups(
        &self,
        request: DescribeContinuousBackups,
    ) -> Result<DescribeContinuousBackupsOutput, Exception> {
        let table = self.catalog.source_table(&request.table)?;
        Ok(DescribeContinuousBackupsOutput { backups: self.continuous_backups(&table) })
    }
}
