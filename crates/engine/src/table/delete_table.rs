//! DeleteTable: the record goes at once, the rows in the background, the stream when its time has come. Backups keep
//! the items; of a table with point-in-time recovery a last backup is made.

use crate::Engine;
use crate::backup::create_backup::pin_backup;
use crate::catalog::Catalog;
use crate::catalog::catalog_rows;
use crate::catalog::change_table::{check_created, read_record};
use crate::catalog::table::{Table, TableRecord};
use crate::history::change_history::HistoryChange;
use crate::history::{History, last_moment_key, tick};
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::stream::Stream;
use partita_api::backup::{BackupDetails, BackupKind, BackupStatus};
use partita_api::table::delete_table::{DeleteTable, DeleteTableOutput};
use partita_api::table::{ResourceStatus, TableDescription};
use partita_api::{Exception, messages};
use partita_store::{Counters, Decision, Rows, Space, Store, Write};
use partita_value::names::{StreamName, TableName};

/// How long the last backup of a deleted table stays.
const LAST_BACKUP_MILLIS: u64 = 35 * 24 * 60 * 60 * 1_000;

impl<S: Store> Engine<S> {
    pub async fn delete_table(&self, request: DeleteTable) -> Result<DeleteTableOutput, Exception> {
        let may_go = |record: &TableRecord| {
            check_created(record)?;
            match record.deletion_protection {
                true => Err(protected(record)),
                false => Ok(()),
            }
        };
        let mut table = self.remove_table(request.name, may_go).await?;
        table.status = ResourceStatus::Deleting;
        Ok(DeleteTableOutput { table })
    }

    /// Removes a table if it may go, and tells what it was.
    pub(crate) async fn remove_table(
        &self,
        name: TableName,
        may_go: impl Fn(&TableRecord) -> Result<(), Exception> + Send + 'static,
    ) -> Result<TableDescription, Exception> {
        let table = self.catalog.named_table(&name)?;
        let description = self.describe(&table)?;
        let keys = vec![
            Key::TableRecord { name: name.as_str() }.to_bytes(),
            last_moment_key(table.space),
            Key::Counters { of: table.space }.to_bytes(),
        ];
        let (catalog, now) = (self.catalog.clone(), self.clock.now_millis());
        let last_backup = BackupDetails {
            arn: self.backup_arn(name.as_str()),
            name: format!("{name}$DeletedTableBackup"),
            kind: BackupKind::System,
            status: BackupStatus::Available,
            size_bytes: 0,
            created_millis: now,
            expires_millis: Some(now + LAST_BACKUP_MILLIS),
        };
        let decision = move |rows: &Rows<'_>| {
            let Some(record) = rows[0].as_deref().and_then(read_record) else {
                return Decision::rejection(Err(Exception::resource_not_found(messages::table_not_found(
                    &name,
                ))));
            };
            if let Err(exception) = may_go(&record) {
                return Decision::rejection(Err(exception));
            }
            let mut writes = catalog_rows::delete(Key::TableRecord { name: &record.name }).to_vec();
            let stream = ended_stream(&record, now, &catalog);
            writes.extend(stream.iter().flat_map(Stream::store));
            let table = Table::new(record);
            writes.extend(table.side_spaces().into_iter().flat_map(drop_space));
            let history = match table.history.and_then(|space| catalog.history(space)) {
                Some(history) => {
                    let last = last_backup.clone();
                    Some(leave_items(&table, &history, &rows[1..], now, last, &mut writes))
                }
                None => {
                    writes.extend(drop_space(table.space));
                    None
                }
            };
            let (catalog, name) = (catalog.clone(), name.clone());
            let on_commit = Box::new(move || {
                catalog.forget(name.as_str());
                stream.into_iter().for_each(|stream| catalog.publish_stream(stream));
                history.into_iter().for_each(|history| history.publish(&catalog));
            });
            Decision { writes, answer: Ok(()), on_commit: Some(on_commit) }
        };
        self.store.decide(keys, decision).await.map_err(storage_failed)??;
        Ok(description)
    }
}

/// The items of a table with a history stay where they are, for its backups; with point-in-time recovery there is a last
/// one.
fn leave_items(
    table: &Table,
    history: &History,
    rows: &Rows<'_>,
    now: u64,
    last_backup: BackupDetails,
    writes: &mut Vec<Write>,
) -> HistoryChange {
    let mut history = History::clone(history);
    if history.recovery.is_some() {
        let moment = tick(rows[0].as_deref(), now);
        let counters = Counters::read(rows[1].as_deref());
        writes.push(pin_backup(&table.record, &mut history, moment, counters, last_backup));
        history.turn_recovery_off(moment);
    }
    history.table_deleted = true;
    let change = HistoryChange::of(history);
    writes.extend(change.writes());
    change
}

/// The table's stream as it is once nothing is told to it any more. It stays readable.
pub fn ended_stream(record: &TableRecord, now: u64, catalog: &Catalog) -> Option<Stream> {
    let label = record.stream.as_ref()?.label.clone();
    let stream = catalog.stream(&StreamName { table: record.name.clone(), label })?;
    Some(Stream { ended_at_millis: Some(now), ..Stream::clone(&stream) })
}

/// Forgets the rows of a space and what is kept about it elsewhere.
pub fn drop_space(space: Space) -> [Write; 3] {
    [
        Write::DropSpace(space),
        Write::Delete { key: Key::Counters { of: space }.to_bytes() },
        Write::Delete { key: Key::BackfillCursor { of: space }.to_bytes() },
    ]
}

fn protected(record: &TableRecord) -> Exception {
    Exception::validation(format!(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first. Table: {}",
        record.name
    ))
}
