//! RestoreTableToPointInTime: makes the table and notes the restore, which goes on in the background
//! (`restore_step.rs`).

use crate::Engine;
use crate::backup::describe_continuous_backups::shown;
use crate::backup::restore_step::NewRestore;
use crate::catalog::Catalog;
use crate::catalog::change_table::read_record;
use crate::catalog::table::TableRecord;
use crate::history::change_history::source_not_found;
use crate::history::{self, History, Moment, RecoveryRecord, tick};
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
        let wanted = Wanted {
            source: source.name.clone(),
            source_arn: table_arn(&self.region, source.name.as_str()),
            source_id: source.record.id.clone(),
            at_millis: request.at_millis,
            now: restore.table.now,
            restore: restore.clone(),
        };
        let catalog = self.catalog.clone();
        let decision = move |rows: &Rows<'_>| {
            wanted.decide(rows, &catalog).unwrap_or_else(|exception| Decision::rejection(Err(exception)))
        };
        let record = self.store.decide(keys, decision).await.map_err(storage_failed)??;
        self.restore_begun(&restore, record)
    }
}

/// What is to be restored.
struct Wanted {
    source: TableName,
    source_arn: String,
    source_id: String,
    /// The latest moment, if none.
    at_millis: Option<i64>,
    now: u64,
    restore: NewRestore,
}

impl Wanted {
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
            return Err(recovery_is_off(&source.name));
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
        // No later change may come to lie before it, whatever the clock does.
        decision.writes.push(history::store_last_moment(items, moment.max(tick)));
        Ok(decision)
    }
}

pub fn recovery_is_off(table: &str) -> Exception {
    let message = format!("Point in time recovery is not enabled for table '{table}'");
    Exception::new(ExceptionKind::PointInTimeRecoveryUnavailableException, message)
}

fn invalid_time(recovery: RecoveryRecord, millis: i64, now: u64) -> Exception {
    let Recovery { earliest_millis, latest_millis, .. } = shown(recovery, now);
    let message = format!(
        "RestoreDateTime '{}' must be within EarliestRestorableDateTime '{}' and LatestRestorableDateTime '{}'",
        timestamp(millis.max(0).unsigned_abs()),
        timestamp(earliest_millis),
        timestamp(latest_millis)
    );
    Exception::new(ExceptionKind::InvalidRestoreTimeException, message)
}

/// The moment that a time stands for, with all changes of its millisecond, if recovery reaches it. Clients send whole
/// seconds, so that the first second counts as a whole.
pub fn recoverable_moment(recovery: RecoveryRecord, millis: i64, now: u64) -> Option<Moment> {
    let millis = u64::try_from(millis).ok()?;
    let earliest = recovery.earliest(now);
    let is_within = millis / 1_000 >= earliest / 1_000_000 && millis <= now;
    is_within.then(|| (millis * 1_000 + 999).max(earliest))
}
