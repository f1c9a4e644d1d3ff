//! ExportTableToPointInTime: notes an export, which goes on in the background (`export_step.rs`).

use crate::Engine;
use crate::exchange_record::{ExchangeRecord, ExchangeToken};
use crate::export_step::ExportRecord;
use crate::stored_key::ExchangeKind;
use partita_api::exchange::ExchangeStatus;
use partita_api::export::Export;
use partita_api::export_table_to_point_in_time::{ExportTableToPointInTime, ExportTableToPointInTimeOutput};
use partita_api::{Exception, ExceptionKind};
use partita_store::Store;
use partita_value::names::table_arn;

/// A time this close to now is now: clocks differ, and a request travels.
const NOW_SECONDS: i64 = 60;

impl<S: Store> Engine<S> {
    pub async fn export_table_to_point_in_time(
        &self,
        request: ExportTableToPointInTime,
    ) -> Result<ExportTableToPointInTimeOutput, Exception> {
        let table = self.catalog.find(request.table.as_str()).ok_or_else(|| {
            Exception::new(
                ExceptionKind::TableNotFoundException,
                format!("Table not found: {}", request.table),
            )
        })?;
        let now = self.clock.now_millis();
        check_time(&request, now)?;
        let token = request
            .client_token
            .as_ref()
            .map(|token| ExchangeToken::new(ExchangeKind::Export, token, &format!("{request:?}"), now));
        let table_arn = table_arn(&self.region, table.name.as_str());
        let export = Export {
            arn: format!("{table_arn}/export/{}", self.new_exchange_id()),
            table_arn,
            table_id: table.record.id.clone(),
            status: ExchangeStatus::InProgress,
            started_millis: now,
            ended_millis: None,
            export_time_millis: now,
            format: request.format,
            target: request.target,
            client_token: request.client_token,
            manifest: None,
            items: 0,
            bytes: 0,
            failure: None,
        };
        let record = ExportRecord { export, table: table.name.to_string(), cursor: None, files: Vec::new() };
        let record = self.begin(record, token).await?;
        self.open_exports.add(record.id());
        self.wake_maintenance();
        Ok(ExportTableToPointInTimeOutput { export: record.export })
    }
}

/// Only the present can be exported: there is no history yet.
fn check_time(request: &ExportTableToPointInTime, now: u64) -> Result<(), Exception> {
    let now = now as i64 / 1_000;
    let time = request.time.unwrap_or(now);
    if time > now + NOW_SECONDS {
        let message = "The specified ExportTime is outside of the point in time recovery window.";
        return Err(Exception::new(ExceptionKind::InvalidExportTimeException, message));
    }
    if request.incremental || time < now - NOW_SECONDS {
        let message = format!("Point in time recovery is not enabled for table '{}'", request.table);
        return Err(Exception::new(ExceptionKind::PointInTimeRecoveryUnavailableException, message));
    }
    Ok(())
}
