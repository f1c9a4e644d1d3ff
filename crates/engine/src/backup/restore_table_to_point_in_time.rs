//! RestoreTableToPointInTime: creates the table and stores the restore, which continues in the background
//! (`restore_step.rs`).

use crate::Engine;
use crate::backup::new_restore::NewRestore;
use crate::backup::recovery_window::{recoverable_moment, recovery_is_disabled, recovery_window};
use crate::catalog::Catalog;
use crate::catalog::change_table::read_record;
use crate::catalog::table::TableRecord;
use crate::history::change_history::source_not_found;
use crate::history::{self, History, RecoveryRecord, tick};
use crate::key::stored_key::Key;
use crate::storage_failed;
use partita_api::backup::continuous_backups::Recovery;
use partita_api::backup::restore_table_to_point_in_time::*;
use partita_api::table::RestoreSummary;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Decision, Rows, Space, Store};
use partita_value::calendar::timestamp;
use partita_value::names::{TableName, table_arn};

impl<S: Store> Engine<S> {
    pub async fn restore_table_to_point_in_time(
        &self,
        request: RestoreTableToPointInTime,
    ) -> Result<RestoreTableToPointInTimeOutput, Exception> {
        let source = self.catalog.source_table(&request.source)?;
        self.catalog.refuse_lost(&request.target)?;
        let restore = self.new_restore(request.target, request.overrides);
        let keys = vec![
            Key::TableRecord { name: restore.table.name.as_str() }.to_bytes(),
            Key::NextSpace.to_bytes(),
            Key::TableRecord { name: source.name.as_str() }.to_bytes(),
            history::last_moment_key(source.space),
        ];
        let planned = PointInTimeRestore {
            source: source.name.clone(),
            source_arn: table_arn(&self.region, source.name.as_str()),
            source_id: source.record.id.clone(),
            at_millis: request.at_millis,
            now: restore.table.now,
            restore: restore.clone(),
        };
        let catalog = self.catalog.clone();
        let decision = move |rows: &Rows<'_>| {
            planned.decide(rows, &catalog).unwrap_or_else(|exception| Decision::rejection(Err(exception)))
        };
        let record = self.store.decide(keys, decision).await.map_err(storage_failed)??;
        Ok(RestoreTableToPointInTimeOutput { table: self.restore_started(&restore, record)? })
    }
}

/// A restore to a point in time.
struct PointInTimeRestore {
    source: TableName,
    source_arn: String,
    source_id: String,
    /// `None` is the latest moment.
    at_millis: Option<i64>,
    now: u64,
    restore: NewRestore,
}

impl PointInTimeRestore {
    fn decide(
        &self,
        rows: &Rows<'_>,
        catalog: &Catalog,
    ) -> Result<Decision<Result<TableRecord, Exception>>, Exception> {
        let source = rows[2].as_deref().and_then(read_record).filter(|source| source.id == self.source_id);
        let source = source.ok_or_else(|| source_not_found(&self.source))?;
        let history = source.history.and_then(|space| catalog.history(Space(space)));
        let recovery = history.as_ref().and_then(|history| history.recovery);
        let (Some(history), Some(recovery)) = (history, recovery) else {
            return Err(recovery_is_disabled(&source.name));
        };
        let tick = tick(rows[3].as_deref(), self.now);
        let moment = match self.at_millis {
            None => tick,
            Some(millis) => recoverable_moment(recovery, millis, self.now)
                .ok_or_else(|| invalid_time(recovery, millis, self.now))?,
        };
        if let Some(row) = rows[0].as_deref() {
            return Err(self.restore.taken(row));
        }
        let mut history = History::clone(&history);
        history.pin_past(self.restore.pin(moment, None));
        let items = history.items();
        let summary = RestoreSummary {
            backup_arn: None,
            table_arn: Some(self.source_arn.clone()),
            at_millis: moment / 1_000,
            in_progress: true,
        };
        let mut decision =
            self.restore.begin(&source, summary, (history, moment), rows[1].as_deref(), catalog)?;
        // No later change may get a moment before it, whatever the clock does.
        decision.writes.push(history::store_last_moment(items, moment.max(tick)));
        Ok(decision)
    }
}

fn invalid_time(recovery: RecoveryRecord, millis: i64, now: u64) -> Exception {
    let Recovery { earliest_millis, latest_millis, .. } = recovery_window(recovery, now);
    let message = format!(
        "RestoreDateTime '{}' must be within EarliestRestorableDateTime '{}' and LatestRestorableDateTime '{}'",
        timestamp(millis.max(0).unsigned_abs()),
        timestamp(earliest_millis),
        timestamp(latest_millis)
    );
    Exception::new(ExceptionKind::InvalidRestoreTimeException, message)
}
