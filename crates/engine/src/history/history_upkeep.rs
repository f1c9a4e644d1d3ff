//! The background work of histories: rows that nobody needs are trimmed, system backups expire, histories end.

use crate::Engine;
use crate::backup::backup_record::BackupRecord;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::TableRecord;
use crate::exchange::exchange_record::key;
use crate::history::change_history::HistoryChange;
use crate::history::{History, Moment, Trim, last_moment_key};
use crate::key::stored_key::{self, Key};
use crate::maintenance::Progress;
use crate::storage_failed;
use crate::table::create_table::Spaces;
use crate::table::delete_table::drop_space;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Decision, Direction, Rows, Snapshot, Space, Store, Write};
use partita_value::names::TableName;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows looked at in one step.
const LOOKED: usize = 4_096;
/// … or so many that are removed.
const REMOVED: usize = 512;

/// What a step of trimming has found.
#[derive(Default)]
struct Looked {
    rows: usize,
    unneeded: Vec<Unneeded>,
    last: Option<Vec<u8>>,
    is_last: bool,
}

/// A row that nobody needs, as far as is known.
struct Unneeded {
    key: Vec<u8>,
    /// The moment of the item's row before it that stays, and its own.
    previous: Moment,
    moment: Moment,
}

impl<S: Store> Engine<S> {
    pub(crate) async fn history_step(&self) -> Result<Progress, Exception> {
        let mut progress = Progress::Done;
        for history in self.catalog.histories().values() {
            let name = format!("the history of {} in space {}", history.table, history.space);
            progress = progress.and(self.pauses.step(&name, self.keep_history_up(history)).await);
        }
        Ok(progress)
    }

    async fn keep_history_up(&self, history: &Arc<History>) -> Result<Progress, Exception> {
        let now = self.clock.now_millis();
        if history.pins.iter().any(|pin| pin.expires_millis.is_some_and(|at| at <= now)) {
            self.expire_pins(history, now).await?;
        } else if !history.is_needed() {
            self.end_history(history).await?;
        } else if history.trim_is_due(now) {
            return self.trim_history(history, now).await;
        }
        Ok(Progress::Done)
    }

    async fn expire_pins(&self, history: &History, now: u64) -> Result<(), Exception> {
        let change = move |history: Option<&mut History>| {
            let Some(history) = history else { return Ok(Vec::new()) };
            let is_over = |at: Option<u64>| at.is_some_and(|at| at <= now);
            let over: Vec<String> = history
                .pins
                .iter()
                .filter(|pin| is_over(pin.expires_millis))
                .map(|pin| pin.holder.clone())
                .collect();
            over.iter().for_each(|holder| history.unpin(holder));
            Ok(over.iter().map(|id| Write::Delete { key: key::<BackupRecord>(id) }).collect())
        };
        self.change_known_history(history.space(), change).await
    }

    /// Ends a history that nobody needs; with it go the items of a table that is deleted.
    async fn end_history(&self, history: &History) -> Result<(), Exception> {
        if history.table_deleted {
            return self.end_deleted_table(history.space()).await;
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
            // It was deleted meanwhile: the next step sees it.
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }

    async fn end_deleted_table(&self, space: Space) -> Result<(), Exception> {
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

    /// Looks through some rows and removes those that nobody needs. What is looked at may be newer than what was known about pins
    /// then, and pins may have come since: who needs what is judged again when rows are removed.
    async fn trim_history(&self, history: &Arc<History>, now: u64) -> Result<Progress, Exception> {
        let looked = self.look_through(history, now)?;
        let space = history.space();
        let cursor = Key::BackfillCursor { of: space }.to_bytes();
        let Looked { unneeded, last, is_last, .. } = looked;
        let progress = match last.filter(|_| !is_last) {
            Some(last) => Write::Put { key: cursor, value: last },
            None => Write::Delete { key: cursor },
        };
        let seen = Arc::clone(history);
        let change = move |history: Option<&mut History>| {
            let Some(history) = history else { return Ok(Vec::new()) };
            let is_unneeded = |row: &&Unneeded| !history.needs(row.previous, row.moment, now);
            let removed =
                unneeded.iter().filter(is_unneeded).map(|row| Write::Delete { key: row.key.clone() });
            let writes = removed.chain([progress.clone()]).collect();
            history.trimmed(&seen, is_last, now);
            Ok(writes)
        };
        self.change_known_history(space, change).await?;
        Ok(Progress::of(!is_last))
    }

    fn look_through(&self, history: &History, now: u64) -> Result<Looked, Exception> {
        let space = history.space();
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let cursor = snapshot.get(&Key::BackfillCursor { of: space }.to_bytes()).map_err(storage_failed)?;
        let cursor = cursor.filter(|_| history.trim == Trim::Running);
        let mut range = stored_key::all_rows(space);
        if let Some(last) = cursor {
            range.start = stored_key::just_behind(&last);
        }
        let mut looked = Looked { is_last: true, ..Looked::default() };
        // The item of the row before, and the moment of its last row that stays. Of an item that is begun in the
        // middle more may stay than is needed, until the next time.
        let (mut item_before, mut previous) = (Vec::new(), 0);
        let visit = |key: &[u8], _: &[u8]| {
            if let Some((item, moment)) = stored_key::item_and_moment(key) {
                if item != item_before {
                    (item_before, previous) = (item.to_vec(), 0);
                }
                if history.needs(previous, moment, now) {
                    previous = moment;
                } else {
                    looked.unneeded.push(Unneeded { key: key.to_vec(), previous, moment });
                }
            }
            looked.rows += 1;
            looked.last = Some(key.to_vec());
            looked.is_last = looked.rows < LOOKED && looked.unneeded.len() < REMOVED;
            if looked.is_last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        snapshot.range(&range, Direction::Ascending, visit).map_err(storage_failed)?;
        Ok(looked)
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

    async fn ask(engine: &Engine<MemoryStore>, operation: &str, body: &str) -> String {
        let operation = Operation::from_name(operation).unwrap();
        let Ok(request) = partita_wire::decode(operation, body.as_bytes()) else { panic!("{body}") };
        let response = engine.execute(request).await.unwrap_or_else(|exception| panic!("{exception:?}"));
        String::from_utf8(partita_wire::encode(&response)).unwrap()
    }

    async fn put(engine: &Engine<MemoryStore>, value: &str) {
        let body = format!(r#"{{"TableName":"Kept","Item":{{"pk":{{"S":"p"}},"x":{{"S":"{value}"}}}}}}"#);
        ask(engine, "PutItem", &body).await;
    }

    async fn back_up(engine: &Engine<MemoryStore>) -> String {
        let made = ask(engine, "CreateBackup", r#"{"TableName":"Kept","BackupName":"one"}"#).await;
        made.split('"').find(|part| part.contains("/backup/")).unwrap().to_owned()
    }

    /// What is removed was found before the second backup was known, and what was read is younger than it.
    #[tokio::test]
    async fn a_backup_made_during_a_trim_keeps_what_it_needs() {
        let engine = Engine::open(MemoryStore::new(), "us-east-1", Clock::System).unwrap();
        ask(&engine, "CreateTable", TABLE).await;
        put(&engine, "one").await;
        back_up(&engine).await;
        put(&engine, "two").await;
        let seen = engine.catalog.histories().values().next().cloned().unwrap();
        let second = back_up(&engine).await;
        put(&engine, "three").await;
        engine.trim_history(&seen, engine.clock.now_millis()).await.unwrap();
        let restore = format!(r#"{{"BackupArn":"{second}","TargetTableName":"Restored"}}"#);
        ask(&engine, "RestoreTableFromBackup", &restore).await;
        while engine.maintain().await.unwrap() == Progress::More {}
        let found = ask(&engine, "Scan", r#"{"TableName":"Restored"}"#).await;
        assert!(found.contains(r#""x":{"S":"two"}"#), "{found}");
    }
}
