//! Removes a table, for DeleteTable and for failed imports. The record goes at once, the rows in the background, the stream
//! when its retention ends. Backups keep the items; a table with point-in-time recovery gets a last backup.

use crate::Engine;
use crate::backup::new_backup::pin_backup;
use crate::catalog::catalog_rows;
use crate::catalog::change_table::read_record;
use crate::catalog::spaces::drop_space;
use crate::catalog::table::{Table, TableRecord};
use crate::history::change_history::HistoryChange;
use crate::history::{History, last_moment_key, tick};
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::stream::Stream;
use crate::stream::stream_lifecycle::ended_stream;
use partita_api::backup::{BackupDetails, BackupKind, BackupStatus};
use partita_api::table::TableDescription;
use partita_api::{Exception, messages};
use partita_store::{Counters, Decision, Rows, Store, Write};
use partita_value::names::TableName;

/// How long the last backup of a deleted table is kept.
const LAST_BACKUP_MILLIS: u64 = 35 * 24 * 60 * 60 * 1_000;

impl<S: Store> Engine<S> {
    /// Removes a table unless `check` fails, and returns its description.
    pub(crate) async fn remove_table(
        &self,
        name: TableName,
        check: impl Fn(&TableRecord) -> Result<(), Exception> + Send + 'static,
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
            if let Err(exception) = check(&record) {
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

/// Leaves the items of a table with a history where they are, for its backups; with point-in-time recovery, makes a last
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
        history.disable_recovery(moment);
    }
    history.table_deleted = true;
    let change = HistoryChange::of(history);
    writes.extend(change.writes());
    change
}
