//! CreateTable: a record, and a space of its own for the items and for each index.

use crate::Engine;
use crate::catalog::store_record;
use crate::catalog::table::Table;
use crate::key::stored_key::Key;
use crate::storage_failed;
use crate::stream::Stream;
use crate::stream::stream_lifecycle::start_stream;
use crate::table::new_table::{already_exists, new_record};
use crate::table::table_description::describe;
use partita_api::Exception;
use partita_api::table::create_table::{CreateTable, CreateTableOutput};
use partita_api::table::{GlobalIndexState, ResourceStatus, ThroughputChanges};
use partita_store::{Counters, Decision, Rows, Store};

impl<S: Store> Engine<S> {
    pub async fn create_table(&self, request: CreateTable) -> Result<CreateTableOutput, Exception> {
        self.catalog.refuse_lost(&request.name)?;
        let keys =
            vec![Key::TableRecord { name: request.name.as_str() }.to_bytes(), Key::NextSpace.to_bytes()];
        let now = self.clock.now_millis();
        let (id, token_key) = (self.new_id(), self.new_token_key()?);
        let (catalog, options) = (self.catalog.clone(), self.stream_options);
        let decision = move |rows: &Rows<'_>| {
            if rows[0].is_some() {
                return Decision::rejection(Err(already_exists(&request)));
            }
            let mut spaces = catalog.spaces(rows[1].as_deref());
            let mut record = new_record(&request, (id.clone(), token_key), now, &mut spaces);
            let stream = request
                .stream
                .map(|view| start_stream(&mut record, view, &mut spaces, now, &options, &catalog));
            let mut writes = [store_record(&record), spaces.store()].concat();
            writes.extend(stream.iter().flat_map(Stream::store));
            let (published, catalog) = (record.clone(), catalog.clone());
            let on_commit = Box::new(move || {
                stream.into_iter().for_each(|stream| catalog.publish_stream(stream));
                catalog.publish(published);
            });
            Decision { writes, answer: Ok(record), on_commit: Some(on_commit) }
        };
        let record = self.store.decide(keys, decision).await.map_err(storage_failed)??;
        let mut table = describe(&Table::new(record), &self.region, now, |_| Ok(Counters::default()))?;
        table.status = ResourceStatus::Creating;
        for index in &mut table.global_indexes {
            index.global = Some(GlobalIndexState {
                status: ResourceStatus::Creating,
                backfilling: false,
                throughput_changes: ThroughputChanges::default(),
            });
        }
        Ok(CreateTableOutput { table })
    }
}
