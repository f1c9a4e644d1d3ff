//! UpdateContinuousBackups: turns point-in-time recovery on or off.

use crate::Engine;
use crate::catalog::table::TableRecord;
use crate::history::{History, Moment};
use partita_api::Exception;
use partita_api::backup::describe_continuous_backups::DescribeContinuousBackups;
use partita_api::backup::update_continuous_backups::{
    UpdateContinuousBackups, UpdateContinuousBackupsOutput,
};
use partita_store::{Rows, Store};

/// How far back a table can be restored if nothing else is asked for.
const USUAL_DAYS: u32 = 35;

impl<S: Store> Engine<S> {
    pub async fn update_continuous_backups(
        &self,
        request: UpdateContinuousBackups,
    ) -> Result<UpdateContinuousBackupsOutput, Exception> {
        let table = self.catalog.source_table(&request.table)?;
        let known = self.recovery(&table);
        if request.enabled || known.is_some() {
            let days = request.period_days.or(known.map(|known| known.days)).unwrap_or(USUAL_DAYS);
            let change = move |_: &TableRecord, history: &mut History, moment: Moment, _: &Rows<'_>| {
                match request.enabled {
                    true => history.turn_recovery_on(days, moment),
                    false => history.turn_recovery_off(moment),
                }
                Ok(Vec::new())
            };
            self.change_history(&table, Vec::new(), change).await?;
            self.wake_maintenance();
        }
        self.describe_continuous_backups(DescribeContinuousBackups { table: table.name.clone() }).await
    }
}
