//! Background work of histories: trims rows that are no longer needed, expires system backups, deletes unneeded histories.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::catalog::change_table::SideWrites;
use crate::catalog::spaces::{Spaces, drop_space};
use crate::catalog::table::TableRecord;
use crate::exchange::exchange_record::key;
use crate::history::change_history::HistoryChange;
use crate::history::{History, Moment, Trim, last_moment_key};
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Decision, Direction, Rows, Snapshot, Space, Store, Write};
use partita_value::names::TableName;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A step ends after this many scanned rows,
const SCANNED_ROWS: usize = 4_096;
/// … or this many rows to remove.
const REMOVED_ROWS: usize = 512;

/// The result of scanning rows for a trim.
#[derive(Default)]
struct TrimScan {
    rows: usize,
    unneeded: Vec<Unneeded>,
    last: Option<Vec<u8>>,
    is_last: bool,
}

/// A row that was not needed when it was scanned.
struct Unneeded {
    key: Vec<u8>,
    /// The moment of the item's preceding row that stays.
    previous: Moment,
    moment: Moment,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn history_step(&self) -> Result<Progress, Exception> {
        let mut progress = Progress::Done;
        for history in self.catalog.histories().values() {
            let name = format!("the history of {} in space {}", history.table, history.space);
            progress = progress.or(self.backoffs.step(&name, self.maintain_history(history)).await);
        }
        Ok(progress)
    }

    async fn maintain_history(&self, history: &Arc<History>) -> Result<Progress, Exception> {
        let now = self.clock.now_millis();
        if history.pins.iter().any(|pin| pin.expires_millis.is_some_and(|at| at <= now)) {
            self.expire_pins(history, now).await?;
        } else if !history.is_needed() {
            self.delete_history(history).await?;
        } else if history.trim_is_due(now) {
            return self.trim_history(history, now).await;
        }
        Ok(Progress::Done)
    }

    async fn expire_pins(&self, history: &History, now: u64) -> Result<(), Exception> {
        let change = move |history: Option<&mut History>| {
            let Some(history) = history else { return Ok(Vec::new()) };
            let has_expired = |at: Option<u64>| at.is_some_and(|at| at <= now);
            let expired: Vec<String> = history
                .pins
                .iter()
                .filter(|pin| has_expired(pin.expires_millis))
                .map(|pin| pin.holder.clone())
                .collect();
            expired.iter().for_each(|holder| history.unpin(holder));
            Ok(expired.iter().map(|id| Write::Delete { key: key::<BackupRecord>(id) }).collect())
        };
        self.change_known_history(history.space(), change).await
    }

    /// Deletes a history that is not needed, with the items if its table is deleted.
    async fn delete_history(&self, history: &History) -> Result<(), Exception> {
        if history.table_deleted {
            return self.delete_items_and_history(history.space()).await;
        }
        let (space, catalog) = (history.space(), self.catalog.clone());
        let change = move |record: &mut TableRecord, _: &mut Spaces| {
            let is_needed = catalog.history(space).is_none_or(|history| history.is_needed());
            if is_needed || record.history != Some(space.0) {
                return Ok(SideWrites::default());
            }
            record.history = None;
            let writes = vec![Write::Delete { key: last_moment_key(Space(record.space)) }];
            Ok(SideWrites { writes, history: Some(HistoryChange::End(space)), ..SideWrites::default() })
        };
        match self.change_table(&TableName::new(&history.table), change).await {
            // The table has since been deleted: the next step handles that.
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }

    async fn delete_items_and_history(&self, space: Space) -> Result<(), Exception> {
        let catalog = self.catalog.clone();
        let decision = move |_: &Rows<'_>| {
            let Some(history) = catalog.history(space).filter(|history| !history.is_needed()) else {
                return Decision::rejection(());
            };
            let end = HistoryChange::End(space);
            let mut writes = end.writes();
            writes.extend(drop_space(history.items()));
            writes.push(Write::Delete { key: last_moment_key(history.items()) });
            let catalog = catalog.clone();
            Decision { writes, answer: (), on_commit: Some(Box::new(move || end.publish(&catalog))) }
        };
        self.store.decide(Vec::new(), decision).await.map_err(storage_failed)
    }

    /// Scans some rows and removes those that are not needed. `history` may be older than the scanned rows, and pins may have been
    /// added since, so that the rows are checked again when they are removed.
    async fn trim_history(&self, history: &Arc<History>, now: u64) -> Result<Progress, Exception> {
        let scan = self.scan_for_trim(history, now)?;
        let space = history.space();
        let cursor = Key::BackfillCursor { of: space }.to_bytes();
        let TrimScan { unneeded, last, is_last, .. } = scan;
        let progress = match last.filter(|_| !is_last) {
            Some(last) => Write::Put { key: cursor, value: last },
            None => Write::Delete { key: cursor },
        };
        let earlier = Arc::clone(history);
        let change = move |history: Option<&mut History>| {
            let Some(history) = history else { return Ok(Vec::new()) };
            let is_unneeded = |row: &&Unneeded| !history.needs(row.previous, row.moment, now);
            let removed =
                unneeded.iter().filter(is_unneeded).map(|row| Write::Delete { key: row.key.clone() });
            let writes = removed.chain([progress.clone()]).collect();
            history.trimmed(&earlier, is_last, now);
            Ok(writes)
        };
        self.change_known_history(space, change).await?;
        Ok(Progress::of(!is_last))
    }

    fn scan_for_trim(&self, history: &History, now: u64) -> Result<TrimScan, Exception> {
        let space = history.space();
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let cursor = snapshot.get(&Key::BackfillCursor { of: space }.to_bytes()).map_err(storage_failed)?;
        let cursor = cursor.filter(|_| history.trim == Trim::Running);
        let mut range = stored_key::all_rows(space);
        if let Some(last) = cursor {
            range.start = stored_key::next_key_after(&last);
        }
        let mut scan = TrimScan { is_last: true, ..TrimScan::default() };
        // The item of the previous row, and the moment of its last row that stays. If a scan starts in the middle of an item's
        // rows, more of them may stay than needed, until the next trim.
        let (mut previous_item, mut previous) = (Vec::new(), 0);
        let visit = |key: &[u8], _: &[u8]| {
            if let Some((item, moment)) = stored_key::item_and_moment(key) {
                if item != previous_item {
                    (previous_item, previous) = (item.to_vec(), 0);
                }
                if history.needs(previous, moment, now) {
                    previous = moment;
                } else {
                    scan.unneeded.push(Unneeded { key: key.to_vec(), previous, moment });
                }
            }
            scan.rows += 1;
            scan.last = Some(key.to_vec());
            scan.is_last = scan.rows < SCANNED_ROWS && scan.unneeded.len() < REMOVED_ROWS;
            if scan.is_last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        snapshot.range(&range, Direction::Ascending, visit).map_err(storage_failed)?;
        Ok(scan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use partita_api::Operation;
    use partita_store_memory::MemoryStore;

    const TABLE: &str = r#"{"TableName":"Kept","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;

    async fn run(engine: &Engine<MemoryStore>, operation: &str, body: &str) -> String {
        let operation = Operation::from_name(operation).unwrap();
        let Ok(request) = partita_wire::decode(operation, body.as_bytes()) else { panic!("{body}") };
        let response = engine.execute(request).await.unwrap_or_else(|exception| panic!("{exception:?}"));
        String::from_utf8(partita_wire::encode(&response)).unwrap()
    }

    async fn put(engine: &Engine<MemoryStore>, value: &str) {
        let body = format!(r#"{{"TableName":"Kept","Item":{{"pk":{{"S":"p"}},"x":{{"S":"{value}"}}}}}}"#);
        run(engine, "PutItem", &body).await;
    }

    async fn back_up(engine: &Engine<MemoryStore>) -> String {
        let created = run(engine, "CreateBackup", r#"{"TableName":"Kept","BackupName":"one"}"#).await;
        created.split('"').find(|part| part.contains("/backup/")).unwrap().to_owned()
    }

    /// The trim uses a history record from before the second backup, but scans rows written after it.
    #[tokio::test]
    async fn a_backup_made_during_a_trim_keeps_what_it_needs() {
        let engine = Engine::open(MemoryStore::new(), "us-east-1", Clock::System).unwrap();
        run(&engine, "CreateTable", TABLE).await;
        put(&engine, "one").await;
        back_up(&engine).await;
        put(&engine, "two").await;
        let earlier = engine.catalog.histories().values().next().cloned().unwrap();
        let second = back_up(&engine).await;
        put(&engine, "three").await;
        engine.trim_history(&earlier, engine.clock.now_millis()).await.unwrap();
        let restore = format!(r#"{{"BackupArn":"{second}","TargetTableName":"Restored"}}"#);
        run(&engine, "RestoreTableFromBackup", &restore).await;
        while engine.maintain().await.unwrap() == Progress::More {}
        let found = run(&engine, "Scan", r#"{"TableName":"Restored"}"#).await;
        assert!(found.contains(r#""x":{"S":"two"}"#), "{found}");
    }
}
