//! DeleteTable: the record goes at once, the rows in the background, the stream when its time has come.

use crate::Engine;
use crate::catalog::Catalog;
use crate::change_table::{check_created, read_record};
use crate::storage_failed;
use crate::stored_key::Key;
use crate::stream::Stream;
use crate::table::{Table, TableRecord};
use partita_api::delete_table::{DeleteTable, DeleteTableOutput};
use partita_api::table::ResourceStatus;
use partita_api::{Exception, messages};
use partita_store::{Decision, Rows, Space, Store, Write};
use partita_value::names::StreamName;

impl<S: Store> Engine<S> {
    pub async fn delete_table(&self, request: DeleteTable) -> Result<DeleteTableOutput, Exception> {
        let table = self.catalog.named_table(&request.name)?;
        let mut description = self.describe(&table)?;
        let name = request.name;
        let keys = vec![Key::TableRecord { name: name.as_str() }.to_bytes()];
        let (catalog, now) = (self.catalog.clone(), self.clock.now_millis());
        let decision = move |rows: &Rows<'_>| {
            let Some(record) = rows[0].as_deref().and_then(read_record) else {
                return Decision::rejection(Err(Exception::resource_not_found(messages::table_not_found(
                    &name,
                ))));
            };
            if let Err(exception) = check_created(&record) {
                return Decision::rejection(Err(exception));
            }
            if record.deletion_protection {
                return Decision::rejection(Err(protected(&record)));
            }
            let mut writes = vec![Write::Delete { key: Key::TableRecord { name: &record.name }.to_bytes() }];
            let stream = ended_stream(&record, now, &catalog);
            writes.extend(stream.as_ref().map(Stream::store));
            writes.extend(Table::new(record).spaces().into_iter().flat_map(drop_space));
            let (catalog, name) = (catalog.clone(), name.clone());
            let on_commit = Box::new(move || {
                catalog.forget(name.as_str());
                stream.into_iter().for_each(|stream| catalog.publish_stream(stream));
            });
            Decision { writes, answer: Ok(()), on_commit: Some(on_commit) }
        };
        self.store.decide(keys, decision).await.map_err(storage_failed)??;
        description.status = ResourceStatus::Deleting;
        Ok(DeleteTableOutput { table: description })
    }
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
