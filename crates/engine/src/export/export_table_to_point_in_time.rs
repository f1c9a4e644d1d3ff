//! ExportTableToPointInTime: pins the exported moments and stores the export, which continues in the background (`export_step.rs`).

use crate::Engine;
use crate::backup::recovery_window::{recoverable_moment, recovery_is_disabled};
use crate::catalog::table::{Table, TableRecord};
use crate::exchange::exchange_record::{ExchangeRecord, ExchangeToken};
use crate::export::export_selection::ExportSelection;
use crate::export::export_step::ExportRecord;
use crate::history::change_history::source_not_found;
use crate::history::{History, Moment, Pin, RecoveryRecord};
use crate::key::stored_key::ExchangeKind;
use partita_api::exchange::ExchangeStatus;
use partita_api::export::export_table_to_point_in_time::{
    ExportTableToPointInTime, ExportTableToPointInTimeOutput,
};
use partita_api::export::{Export, ExportScope, ExportWindow};
use partita_api::{Exception, ExceptionKind};
use partita_store::{Rows, Store};
use partita_value::calendar::timestamp;
use partita_value::names::table_arn;
use std::time::Duration;

/// The longest window of an incremental export.
const LONGEST_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

impl<S: Store> Engine<S> {
    pub async fn export_table_to_point_in_time(
        &self,
        request: ExportTableToPointInTime,
    ) -> Result<ExportTableToPointInTimeOutput, Exception> {
        let now = self.clock.now_millis();
        let token = request
            .client_token
            .as_ref()
            .map(|token| ExchangeToken::new(ExchangeKind::Export, token, &format!("{request:?}"), now));
        let output = |export: ExportRecord| Ok(ExportTableToPointInTimeOutput { export: export.export });
        // AWS names the table the way the request does: by its ARN.
        let no_table = |_| source_not_found(table_arn(&self.region, request.table.as_str()));
        let table = self.catalog.source_table(&request.table).map_err(no_table)?;
        let recovery = self.recovery(&table).ok_or_else(|| recovery_is_disabled(table.name.as_str()))?;
        if let Some(record) = self.started_with_token(token.as_ref())? {
            return output(record);
        }
        let scope = scope(&request, recovery, &table.record, now)?;
        self.check_length(scope)?;
        ExportSelection::new(request.filter.as_deref(), (&table.key, table.token_key), table.space)?;
        let record = self.new_export(request, &table, scope, now);
        match self.pin_export(&table, record.clone(), token.clone()).await {
            Ok(()) => {
                self.open_exports.add(record.id());
                self.wake_maintenance();
                // As it was stored: it may have ended by now.
                output(record)
            }
            // A concurrent request with the same token may have been first.
            Err(exception) => output(self.started_with_token(token.as_ref())?.ok_or(exception)?),
        }
    }

    fn new_export(
        &self,
        request: ExportTableToPointInTime,
        table: &Table,
        scope: ExportScope,
        now: u64,
    ) -> ExportRecord {
        let table_arn = table_arn(&self.region, table.name.as_str());
        let export = Export {
            arn: format!("{table_arn}/export/{}", self.new_exchange_id()),
            table_arn,
            table_id: table.record.id.clone(),
            status: ExchangeStatus::InProgress,
            started_millis: now,
            ended_millis: None,
            export_time_millis: request.at_millis.map_or(now, i64::unsigned_abs),
            scope,
            filter: request.filter,
            format: request.format,
            target: request.target,
            client_token: request.client_token,
            manifest: None,
            items: 0,
            bytes: 0,
            failure: None,
        };
        ExportRecord {
            export,
            table: table.name.to_string(),
            history: 0,
            moments: match (scope, request.at_millis) {
                (ExportScope::Full, Some(millis)) => [millis.unsigned_abs() * 1_000 + 999; 2],
                // The moment of the decision.
                (ExportScope::Full, None) => [0; 2],
                // The end is not part of a window.
                (ExportScope::Incremental(window), _) => {
                    [window.from_millis, window.to_millis].map(|millis| (millis * 1_000).saturating_sub(1))
                }
            },
            key: table.key.clone(),
            token_key: table.record.token_key,
            cursor: None,
            files: Vec::new(),
            written: 0,
            lost: Vec::new(),
        }
    }

    /// Pins the exported moments until the export ends, and commits the record with the pins.
    async fn pin_export(
        &self,
        table: &Table,
        record: ExportRecord,
        token: Option<ExchangeToken>,
    ) -> Result<(), Exception> {
        let (keys, clock) = (token.iter().map(ExchangeToken::key).collect(), self.clock.clone());
        let change = move |_: &TableRecord, history: &mut History, now: Moment, rows: &Rows<'_>| {
            let recovery = history.recovery.ok_or_else(|| recovery_is_disabled(&record.table))?;
            let known = token.as_ref().map(|token| token.known_id::<ExportRecord>(rows[0].as_deref()));
            if known.transpose()?.flatten().is_some() {
                return Err(outside_window());
            }
            let earliest = recovery.earliest(clock.now_millis());
            let moments = record.moments.map(|moment| if moment == 0 { now } else { moment });
            // Recovery may have been disabled and enabled again in the meantime. The first second belongs to the window as a whole.
            if moments.iter().any(|moment| moment / 1_000_000 + 1 < earliest / 1_000_000) {
                return Err(outside_window());
            }
            let moments = moments.map(|moment| moment.max(earliest));
            for moment in moments {
                let holder = record.id().to_owned();
                history.pin_past(Pin { holder, moment, backup: None, expires_millis: None });
            }
            let pinned = ExportRecord { history: history.space, moments, ..record.clone() };
            let mut writes = vec![pinned.store()];
            writes.extend(token.iter().map(|token| token.store(record.id())));
            Ok(writes)
        };
        self.change_history(table, keys, change).await
    }

    fn check_length(&self, scope: ExportScope) -> Result<(), Exception> {
        let ExportScope::Incremental(window) = scope else { return Ok(()) };
        let length = Duration::from_millis(window.to_millis.saturating_sub(window.from_millis));
        let period = "Difference between export period from time and export period to time is";
        if length < self.shortest_export {
            let (count, unit) = match self.shortest_export.as_secs() {
                seconds if seconds % 60 == 0 => (seconds / 60, "minutes"),
                seconds => (seconds, "seconds"),
            };
            return Err(invalid_time(format!("{period} less than {count} {unit}")));
        }
        if length > LONGEST_WINDOW {
            return Err(invalid_time(format!("{period} greater than 24 hours")));
        }
        Ok(())
    }
}

/// The scope of an export, if it is within the recovery window.
fn scope(
    request: &ExportTableToPointInTime,
    recovery: RecoveryRecord,
    table: &TableRecord,
    now: u64,
) -> Result<ExportScope, Exception> {
    let check = |millis: i64| recoverable_moment(recovery, millis, now).ok_or_else(outside_window);
    let Some(incremental) = request.incremental else {
        request.at_millis.map_or(Ok(0), check)?;
        return Ok(ExportScope::Full);
    };
    let (from, to) = (incremental.from_millis, incremental.to_millis.unwrap_or(now as i64));
    let window = ExportWindow {
        from_millis: from.max(0).unsigned_abs(),
        to_millis: to.max(0).unsigned_abs(),
        view: incremental.view,
    };
    check_window(window, table, now)?;
    check(from)?;
    Ok(ExportScope::Incremental(window))
}

fn check_window(window: ExportWindow, table: &TableRecord, now: u64) -> Result<(), Exception> {
    if window.to_millis > now {
        return Err(invalid_time(format!(
            "Incremental export period to time cannot be greater than the current time : {}",
            timestamp(now)
        )));
    }
    if window.from_millis / 1_000 < table.created_at_millis / 1_000 {
        return Err(invalid_time(format!(
            "Incremental export period from time cannot be less than the table creation time : {}",
            timestamp(table.created_at_millis)
        )));
    }
    Ok(())
}

fn outside_window() -> Exception {
    invalid_time("The specified ExportTime is outside of the point in time recovery window.".to_owned())
}

fn invalid_time(message: String) -> Exception {
    Exception::new(ExceptionKind::InvalidExportTimeException, message)
}
