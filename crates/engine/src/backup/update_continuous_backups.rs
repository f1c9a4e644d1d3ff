//! UpdateContinuousBackups: enables or disables point-in-time recovery.

use crate::Engine;
use crate::catalog::table::TableRecord;
use crate::history::{History, Moment};
use partita_api::Exception;
use partita_api::backup::update_continuous_backups::{
    UpdateContinuousBackups, UpdateContinuousBackupsOutput,
};
use partita_store::{Rows, Store};

/// The default recovery period.
const DEFAULT_DAYS: u32 = 35;

impl<S: Store> Engine<S> {
    pub async fn update_continuous_backups(
        &self,
        request: UpdateContinuousBackups,
    ) -> Result<UpdateContinuousBackupsOutput, Exception> {
        let table = self.catalog.source_table(&request.table)?;
        let known = self.recovery(&table);
        if request.enabled || known.is_some() {
            let days = request.period_days.or(known.map(|known| known.days)).unwrap_or(DEFAULT_DAYS);
            let change = move |_: &TableRecord, history: &mut History, moment: Moment, _: &Rows<'_>| {
                match request.enabled {
                    true => history.enable_recovery(days, moment),
                    false => history.disable_recovery(moment),
                }
                Ok(Vec::new())
            };
            self.change_history(&table, Vec::new(), change).await?;
            self.wake_maintenance();
        }
        let table = self.catalog.source_table(&request.table)?;
        Ok(UpdateContinuousBackupsOutput { backups: self.continuous_backups(&table) })
    }
}
