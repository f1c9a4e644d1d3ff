//! CreateTable: a record, and a space of its own for the items and for each index.

use crate::Engine;
use crate::catalog::catalog_rows;
use crate::catalog::table::*;
use crate::catalog::{Catalog, store_record};
use crate::key::stored_key::{FIRST_FREE_SPACE, Key};
use crate::storage_failed;
use crate::stream::Stream;
use crate::stream::stream_options::StreamOptions;
use crate::table::describe_table::describe;
use crate::table::throughput_record::ThroughputRecord;
use partita_api::key_schema::KeyAttribute;
use partita_api::table::create_table::{CreateTable, CreateTableOutput};
use partita_api::table::*;
use partita_api::{Exception, ExceptionKind};
use partita_store::{Counters, Decision, Store, Write};
use partita_value::calendar::DateTime;
use partita_value::names::StreamName;

impl<S: Store> Engine<S> {
    pub async fn create_table(&self, request: CreateTable) -> Result<CreateTableOutput, Exception> {
        self.catalog.refuse_lost(&request.name)?;
        let keys =
            vec![Key::TableRecord { name: request.name.as_str() }.to_bytes(), Key::NextSpace.to_bytes()];
        let now = self.clock.now_millis();
        let (id, token_key) = (self.new_id(), self.new_token_key()?);
        let (catalog, options) = (self.catalog.clone(), self.stream_options);
        let decision = move |rows: &partita_store::Rows<'_>| {
            if rows[0].is_some() {
                return Decision::rejection(Err(already_exists(&request)));
            }
            let mut spaces = catalog.spaces(rows[1].as_deref());
            let mut record = new_record(&request, (id.clone(), token_key), now, &mut spaces);
            let stream = request
                .stream
                .map(|view| start_stream(&mut record, view, &mut spaces, now, &options, &catalog));
            let mut writes = [store_record(&record), spaces.remember()].concat();
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

pub fn already_exists(request: &CreateTable) -> Exception {
    Exception::new(ExceptionKind::ResourceInUseException, format!("Table already exists: {}", request.name))
}

/// Hands out spaces that were never used before.
pub struct Spaces(u32);

impl Spaces {
    pub fn after(row: Option<&[u8]>) -> Spaces {
        let next = row.and_then(|row| row.first_chunk::<4>()).map(|next| u32::from_be_bytes(*next));
        Spaces(next.unwrap_or(FIRST_FREE_SPACE))
    }

    /// The same, none of them below this one.
    pub fn at_least(self, first: u32) -> Spaces {
        Spaces(self.0.max(first))
    }

    pub fn take(&mut self) -> u32 {
        self.0 += 1;
        self.0 - 1
    }

    pub fn remember(&self) -> [Write; 2] {
        catalog_rows::put(Key::NextSpace.to_bytes(), self.0.to_be_bytes().to_vec())
    }
}

/// A table that did not exist: its id and what its tokens are made with are new.
pub fn new_record(
    request: &CreateTable,
    (id, token_key): (String, Option<[u64; 2]>),
    now: u64,
    spaces: &mut Spaces,
) -> TableRecord {
    let space = spaces.take();
    let mut index = |definition: &IndexDefinition| IndexRecord::new(definition.clone(), spaces.take(), false);
    let local_indexes: Vec<_> = request.local_indexes.iter().map(&mut index).collect();
    let global_indexes: Vec<_> = request.global_indexes.iter().map(&mut index).collect();
    let definitions = request.attribute_definitions.iter();
    let on_demand = request.billing_mode == BillingMode::PayPerRequest;
    TableRecord {
        name: request.name.to_string(),
        id,
        space,
        created_at_millis: now,
        key: request.key.clone(),
        attribute_definitions: definitions
            .map(|definition| KeyAttribute { name: definition.name.clone(), kind: definition.kind })
            .collect(),
        collections: (!local_indexes.is_empty()).then(|| spaces.take()),
        local_indexes,
        global_indexes,
        billing_mode: request.billing_mode,
        on_demand_since_millis: on_demand.then_some(now),
        throughput: request.throughput.unwrap_or_default(),
        throughput_changes: ThroughputRecord::default(),
        on_demand: request.on_demand,
        warm: request.warm,
        stream: None,
        latest_stream_label: None,
        encryption: request.encryption.clone(),
        table_class: request.table_class,
        deletion_protection: request.deletion_protection,
        resource_policy: request.resource_policy.clone(),
        tags: request.tags.iter().map(|tag| (tag.key.clone(), tag.value.clone())).collect(),
        time_to_live: None,
        time_to_live_changed_millis: None,
        token_key,
        importing: false,
        restored: None,
        history: None,
    }
}

/// Gives a table a stream.
pub fn start_stream(
    record: &mut TableRecord,
    view: StreamViewType,
    spaces: &mut Spaces,
    now: u64,
    options: &StreamOptions,
    catalog: &Catalog,
) -> Stream {
    let is_taken = |name: &StreamName| catalog.stream(name).is_some();
    let stream = Stream::new(record, view, spaces.take(), now, options, is_taken);
    record.stream = Some(StreamRecord { view, label: stream.label.clone() });
    record.latest_stream_label = Some(stream.label.clone());
    stream
}

/// A stream is named by the moment it was enabled: `2026-11-15T18:44:54.123`.
pub fn stream_label(millis: u64) -> String {
    DateTime::from_unix_millis(millis).to_rfc3339_without_zone()
}

#[cfg(test)]
mod tests {
    use super::stream_label;

    #[test]
    fn stream_labels_are_dates() {
        assert_eq!(stream_label(0), "1970-01-01T00:00:00.000");
        assert_eq!(stream_label(951_782_400_000), "2000-02-29T00:00:00.000");
        assert_eq!(stream_label(1_794_768_294_123), "2026-11-15T18:44:54.123");
    }
}
