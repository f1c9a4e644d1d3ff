//! Changes a table's record: reads it, decides, stores it, publishes it.

use crate::Engine;
use crate::catalog::spaces::Spaces;
use crate::catalog::store_record;
use crate::catalog::table::TableRecord;
use crate::history::change_history::HistoryChange;
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::stream::Stream;
use partita_api::{Exception, ExceptionKind, messages};
use partita_store::{Decision, Rows, Store, Write};
use partita_value::names::TableName;

/// What is written in addition to the record when it changes.
#[derive(Default)]
pub struct SideWrites {
    pub writes: Vec<Write>,
    /// A stream of the table that starts or ends.
    pub stream: Option<Stream>,
    /// A history that changes.
    pub history: Option<HistoryChange>,
}

impl SideWrites {
    pub fn of(writes: Vec<Write>) -> SideWrites {
        SideWrites { writes, ..SideWrites::default() }
    }
}

impl<S: Store> Engine<S> {
    /// Changes the record of a table in one decision. `change` returns what to write in addition to the record.
    pub(crate) async fn change_table(
        &self,
        name: &TableName,
        mut change: impl FnMut(&mut TableRecord, &mut Spaces) -> Result<SideWrites, Exception> + Send + 'static,
    ) -> Result<TableRecord, Exception> {
        self.change_table_by(name, Vec::new(), move |record, spaces, _| change(record, spaces)).await
    }

    /// Like [`Engine::change_table`], with further rows for `change` to depend on.
    pub(crate) async fn change_table_by(
        &self,
        name: &TableName,
        further_keys: Vec<Vec<u8>>,
        mut change: impl FnMut(&mut TableRecord, &mut Spaces, &Rows<'_>) -> Result<SideWrites, Exception>
        + Send
        + 'static,
    ) -> Result<TableRecord, Exception> {
        let mut keys = vec![Key::TableRecord { name: name.as_str() }.to_bytes(), Key::NextSpace.to_bytes()];
        keys.extend(further_keys);
        let catalog = self.catalog.clone();
        let name = name.clone();
        let decision = move |rows: &Rows<'_>| {
            let Some(mut record) = rows[0].as_deref().and_then(read_record) else {
                return Decision::rejection(Err(Exception::resource_not_found(messages::table_not_found(
                    &name,
                ))));
            };
            let mut spaces = catalog.spaces(rows[1].as_deref());
            let SideWrites { mut writes, stream, history } =
                match change(&mut record, &mut spaces, &rows[2..]) {
                    Ok(side_writes) => side_writes,
                    Err(exception) => return Decision::rejection(Err(exception)),
                };
            writes.extend([store_record(&record), spaces.store()].concat());
            writes.extend(stream.iter().flat_map(Stream::store));
            writes.extend(history.iter().flat_map(HistoryChange::writes));
            let (published, catalog) = (record.clone(), catalog.clone());
            let on_commit = Box::new(move || {
                // The stream and the history are published first: a reader that sees the table looks them up.
                stream.into_iter().for_each(|stream| catalog.publish_stream(stream));
                // A history that ends is removed only after the table no longer refers to it.
                let (ending, kept): (Vec<_>, Vec<_>) =
                    history.into_iter().partition(|change| matches!(change, HistoryChange::End(_)));
                kept.into_iter().for_each(|change| change.publish(&catalog));
                catalog.publish(published);
                ending.into_iter().for_each(|change| change.publish(&catalog));
            });
            Decision { writes, answer: Ok(record), on_commit: Some(on_commit) }
        };
        self.store.decide(keys, decision).await.map_err(storage_failed)?
    }
}

pub fn read_record(row: &[u8]) -> Option<TableRecord> {
    serde_json::from_slice(row).ok()
}

/// Checks that a table is not being imported or restored: then it can be neither changed nor deleted.
pub fn check_created(record: &TableRecord) -> Result<(), Exception> {
    if record.is_being_created() {
        let message = format!(
            "Attempt to change a resource which is still in use: Table is being created: {}",
            record.name
        );
        return Err(Exception::new(ExceptionKind::ResourceInUseException, message));
    }
    Ok(())
}
