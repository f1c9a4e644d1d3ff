//! DescribeContinuousBackups: whether a table can be restored to a point in time, and to which.

use crate::Engine;
use crate::catalog::table::Table;
use crate::history::RecoveryRecord;
use partita_api::Exception;
use partita_api::backup::continuous_backups::{ContinuousBackups, Recovery};
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
        let now = self.clock.now_millis();
        let recovery = self.recovery(&table).map(|recovery| shown(recovery, now));
        Ok(DescribeContinuousBackupsOutput { backups: ContinuousBackups { recovery } })
    }

    /// A table's point-in-time recovery, if it is on.
    pub(crate) fn recovery(&self, table: &Table) -> Option<RecoveryRecord> {
        table.history.and_then(|space| self.catalog.history(space)).and_then(|history| history.recovery)
    }
}

/// Whole seconds, as clients send them back.
pub fn shown(recovery: RecoveryRecord, now: u64) -> Recovery {
    let seconds = |millis: u64| millis / 1_000 * 1_000;
    let earliest_millis = seconds(recovery.earliest(now) / 1_000);
    Recovery { period_days: recovery.days, earliest_millis, latest_millis: seconds(now).max(earliest_millis) }
}
