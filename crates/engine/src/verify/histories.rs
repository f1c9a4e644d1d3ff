//! Histories: every row tells what an item was, under that item's key and a moment that has been. Backups have theirs.

use super::catalog::Records;
use super::finding::{Finding, FindingKind};
use super::items::{checked_item, is_at};
use super::walk::{Outcome, Seen, Verification, page, record};
use crate::backup::backup_record::BackupRecord;
use crate::catalog::table::Table;
use crate::exchange::exchange_record::ExchangeRecord;
use crate::history::past;
use crate::history::{History, last_moment_key};
use crate::key::stored_key::{self, ExchangeKind, Key};
use crate::stream::read_stream::read_number;
use partita_store::{Snapshot, Store, StoreError};
use partita_value::{ItemRef, canonical};

impl<S: Store> Verification<'_, S> {
    pub fn check_history(&mut self, known: &History, records: &Records) -> Outcome<()> {
        let table = self.table_of(known, records)?;
        let key = Key::History { space: known.space() }.to_bytes();
        let mut range = stored_key::all_rows(known.space());
        let at = format!("the history of {}", known.table);
        loop {
            let Some(history) = record::<History>(&self.snapshot, &key)? else { return Ok(()) };
            let last = last_moment(&self.snapshot, &history)?;
            let mut findings = Vec::new();
            let page = page(&self.snapshot, &range, |seen| {
                findings.extend(match seen {
                    Seen::Row(key, row) => check_row(&history, table.as_ref(), last, key, row),
                    Seen::Damage(damage) => Some(Finding::of_damage(Some(&history.table), damage)),
                });
                Ok(())
            })?;
            self.report(findings)?;
            self.rest(page.rows, &at)?;
            let Some(next) = page.next else { break };
            range.start = next;
        }
        match table.filter(|_| known.table_deleted) {
            Some(table) => self.check_left_items(known, &table),
            None => Ok(()),
        }
    }

    /// The items of a deleted table that its backups need.
    fn check_left_items(&mut self, known: &History, table: &Table) -> Outcome<()> {
        let range = stored_key::all_rows(known.items());
        self.walk(range, &format!("the deleted table {}", known.table), |_, key, row, findings| {
            checked_item(table, key, row, findings);
            Ok(())
        })
    }

    /// What the table is, or was when a backup was made of it.
    fn table_of(&self, history: &History, records: &Records) -> Outcome<Option<Table>> {
        let known = records.tables.iter().find(|record| record.space == history.items);
        if let Some(record) = known {
            return Ok(Some(Table::new(record.clone())));
        }
        for pin in &history.pins {
            let key = Key::Exchange { kind: ExchangeKind::Backup, id: pin.holder.as_bytes() }.to_bytes();
            if let Some(backup) = record::<BackupRecord>(&self.snapshot, &key)? {
                return Ok(Some(Table::new(backup.table)));
            }
        }
        Ok(None)
    }
}

/// The last moment that a change of the table can have.
fn last_moment(snapshot: &impl Snapshot, history: &History) -> Result<u64, StoreError> {
    let last = match snapshot.get(&last_moment_key(history.items())) {
        Ok(row) => read_number(row.as_deref()).unwrap_or(0),
        Err(StoreError::Damaged(_)) => u64::MAX - 1,
        Err(error) => return Err(error),
    };
    Ok(last.max(history.base + 1))
}

fn check_row(history: &History, table: Option<&Table>, last: u64, key: &[u8], row: &[u8]) -> Option<Finding> {
    let tell = |kind, text: String| Some(Finding::new(kind, Some(&history.table), key, text));
    let Some((item, moment)) = stored_key::item_and_moment(key).filter(|(item, _)| item.len() >= 16) else {
        return tell(FindingKind::UnknownRow, "a row of a history that is not known".to_owned());
    };
    if moment > last {
        return tell(FindingKind::WrongPast, format!("moment {moment} lies behind the last one, {last}"));
    }
    let was = match past::read_row(row) {
        Ok(Some(was)) => was,
        Ok(None) => return None,
        Err(flaw) => return tell(FindingKind::Undecodable, format!("a row of a history: {flaw}")),
    };
    if let Err(flaw) = canonical::check_item(was) {
        return tell(FindingKind::Undecodable, format!("what an item was: {flaw}"));
    }
    let is_misplaced =
        table.is_some_and(|table| ItemRef::new(was).is_none_or(|was| !is_at(table, was, item)));
    match is_misplaced {
        true => tell(FindingKind::Misplaced, "what an item was lies under another's key".to_owned()),
        false => None,
    }
}

/// What is wrong with a backup: its history is gone, or does not keep its moment.
pub fn check_backup(
    snapshot: &impl Snapshot,
    backup: &BackupRecord,
    key: &[u8],
) -> Result<Option<Finding>, StoreError> {
    let history_key = Key::History { space: backup.history() }.to_bytes();
    let history = record::<History>(snapshot, &history_key)?;
    let keeps = |history: &History| {
        history.pins.iter().any(|pin| pin.holder == backup.id() && pin.moment == backup.moment)
    };
    let is_kept = history.as_ref().is_some_and(keeps);
    let text = format!("backup {}: nothing keeps what the table was", backup.details.arn);
    Ok((!is_kept).then(|| Finding::new(FindingKind::WrongPast, Some(&backup.table.name), key, text)))
}
