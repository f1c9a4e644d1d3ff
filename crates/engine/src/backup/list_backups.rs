//! ListBackups: lists the backups of one table or of all, oldest first.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::exchange::exchange_record::{ExchangeRecord, id_of_arn};
use partita_api::Exception;
use partita_api::backup::list_backups::{ListBackups, ListBackupsOutput};
use partita_store::{Direction, Store};
use std::ops::ControlFlow;

impl<S: Store> Engine<S> {
    pub async fn list_backups(&self, request: ListBackups) -> Result<ListBackupsOutput, Exception> {
        let mut found: Vec<BackupRecord> = Vec::new();
        let after = request.start_after.as_deref().map(id_of_arn);
        self.visit_exchanges(after, Direction::Ascending, |record: BackupRecord| {
            if matches_request(&request, &record) {
                found.push(record);
            }
            if found.len() > request.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let more = found.len() > request.limit;
        found.truncate(request.limit);
        let last = found.last().filter(|_| more).map(|last| last.arn().to_owned());
        Ok(ListBackupsOutput { backups: found.into_iter().map(BackupRecord::summary).collect(), last })
    }
}

fn matches_request(request: &ListBackups, record: &BackupRecord) -> bool {
    let created = record.details.created_millis;
    request.table.as_ref().is_none_or(|table| table.as_str() == record.table.name)
        && request.kinds.contains(&record.details.kind)
        && request.from_millis.is_none_or(|from| from <= created)
        && request.before_millis.is_none_or(|before| created < before)
}
