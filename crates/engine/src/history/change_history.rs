//! Changing the history of a table: pins come and go, recovery is turned on and off.

use crate::Engine;
use crate::catalog::Catalog;
use crate::catalog::catalog_rows;
use crate::catalog::change_table::SideWrites;
use crate::catalog::table::{Table, TableRecord};
use crate::history::{self, History, Moment, tick};
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::table::create_table::Spaces;
use crate::table::delete_table::drop_space;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Decision, Rows, Space, Store, Write};

/// What becomes of a history in a decision.
pub enum HistoryChange {
    Store(Box<History>),
    /// Nobody needs it any more.
    End(Space),
}

impl HistoryChange {
    pub fn of(history: History) -> HistoryChange {
        HistoryChange::Store(Box::new(history))
    }

    pub fn writes(&self) -> Vec<Write> {
        match self {
            HistoryChange::Store(history) => history.store().to_vec(),
            HistoryChange::End(space) => {
                let mut writes = drop_space(*space).to_vec();
                writes.extend(catalog_rows::delete(Key::History { space: *space }));
                writes
            }
        }
    }

    /// Called between a commit and the next decision only.
    pub fn publish(self, catalog: &Catalog) {
        match self {
            HistoryChange::Store(history) => catalog.publish_history(*history),
            HistoryChange::End(space) => catalog.forget_history(space),
        }
    }
}

impl<S: Store> Engine<S> {
    /// Changes a table's history, which is made if there is none yet. `change` is told a moment of its own, and says
    /// what to write beside it.
    pub(crate) async fn change_history(
        &self,
        table: &Table,
        further_keys: Vec<Vec<u8>>,
        mut change: impl FnMut(&TableRecord, &mut History, Moment, &Rows<'_>) -> Result<Vec<Write>, Exception>
        + Send
        + 'static,
    ) -> Result<(), Exception> {
        let (catalog, items, id) = (self.catalog.clone(), table.space, table.record.id.clone());
        let (name, clock) = (table.name.clone(), self.clock.clone());
        let mut keys = vec![history::last_moment_key(items)];
        keys.extend(further_keys);
        let change = move |record: &mut TableRecord, spaces: &mut Spaces, rows: &Rows<'_>| {
            if record.id != id {
                return Err(source_not_found(&name));
            }
            let mut history = history_of(&catalog, record, spaces);
            let moment = tick(rows[0].as_deref(), clock.now_millis());
            let mut writes = change(record, &mut history, moment, &rows[1..])?;
            // No later change may come to lie before a pin, whatever the clock does.
            let last = history.pins.iter().map(|pin| pin.moment).fold(moment, Moment::max);
            writes.push(history::store_last_moment(items, last));
            Ok(SideWrites { writes, history: Some(HistoryChange::of(history)), ..SideWrites::default() })
        };
        match self.change_table_by(&table.name, keys, change).await {
            Err(exception) if exception.kind == ExceptionKind::ResourceNotFoundException => {
                Err(source_not_found(&table.name))
            }
            outcome => outcome.map(|_| ()),
        }
    }

    /// Changes a history, whether or not its table still is there. If the history is not, `change` is told none.
    pub(crate) async fn change_known_history(
        &self,
        space: Space,
        mut change: impl FnMut(Option<&mut History>) -> Result<Vec<Write>, Exception> + Send + 'static,
    ) -> Result<(), Exception> {
        let catalog = self.catalog.clone();
        let decision = move |_: &Rows<'_>| {
            let Some(known) = catalog.history(space) else {
                return match change(None) {
                    Ok(writes) => Decision::commit(writes, Ok(())),
                    Err(exception) => Decision::rejection(Err(exception)),
                };
            };
            let mut history = History::clone(&known);
            let mut writes = match change(Some(&mut history)) {
                Ok(writes) => writes,
                Err(exception) => return Decision::rejection(Err(exception)),
            };
            let changed = HistoryChange::of(history);
            writes.extend(changed.writes());
            let catalog = catalog.clone();
            let on_commit = Box::new(move || changed.publish(&catalog));
            Decision { writes, answer: Ok(()), on_commit: Some(on_commit) }
        };
        self.store.decide(Vec::new(), decision).await.map_err(storage_failed)?
    }

    /// Lets go of a moment, and stores what that ends.
    pub(crate) async fn unpin(
        &self,
        space: Space,
        holder: &str,
        writes: Vec<Write>,
    ) -> Result<(), Exception> {
        let holder = holder.to_owned();
        let change = move |history: Option<&mut History>| {
            history.into_iter().for_each(|history| history.unpin(&holder));
            Ok(writes.clone())
        };
        self.change_known_history(space, change).await
    }
}

/// The history of a table; a new one if it has none.
fn history_of(catalog: &Catalog, record: &mut TableRecord, spaces: &mut Spaces) -> History {
    match record.history.and_then(|space| catalog.history(Space(space))) {
        Some(history) => History::clone(&history),
        None => {
            let space = spaces.take();
            record.history = Some(space);
            History::of(record, space)
        }
    }
}

/// A backup, restore or export names a table that is not there.
pub fn source_not_found(name: impl std::fmt::Display) -> Exception {
    Exception::new(ExceptionKind::TableNotFoundException, format!("Table not found: {name}"))
}
