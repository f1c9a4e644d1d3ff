//! DescribeTable: a table's record with its live counters.

use crate::Engine;
use crate::catalog::table::{Table, TableRecord, attribute_definitions};
use crate::key::stored_key::Key;
use crate::storage_failed;
use partita_api::Exception;
use partita_api::table::describe_table::{DescribeTable, DescribeTableOutput};
use partita_api::table::*;
use partita_store::{Counters, Snapshot, Space, Store};
use partita_value::names::table_arn;

impl<S: Store> Engine<S> {
    pub async fn describe_table(&self, request: DescribeTable) -> Result<DescribeTableOutput, Exception> {
        let table = self.catalog.named_table(&request.name)?;
        Ok(DescribeTableOutput { table: self.describe(&table)? })
    }

    pub(crate) fn describe(&self, table: &Table) -> Result<TableDescription, Exception> {
        let snapshot = self.store.snapshot().map_err(storage_failed)?;
        let counters = |space: Space| {
            let row = snapshot.get(&Key::Counters { of: space }.to_bytes()).map_err(storage_failed)?;
            Ok(Counters::read(row.as_deref()))
        };
        describe(table, &self.region, self.clock.now_millis(), counters)
    }
}

/// What a table looks like from outside.
pub fn describe(
    table: &Table,
    region: &str,
    now: u64,
    counters: impl Fn(Space) -> Result<Counters, Exception>,
) -> Result<TableDescription, Exception> {
    let record = &table.record;
    let arn = table_arn(region, &record.name);
    let mut local_indexes = Vec::new();
    let mut global_indexes = Vec::new();
    let definitions = record.local_indexes.iter().chain(&record.global_indexes);
    for (index, stored) in table.indexes.iter().zip(definitions) {
        let total = counters(index.space)?;
        let is_new = index.backfilling || record.is_being_made();
        let state = GlobalIndexState {
            status: status(is_new),
            backfilling: index.backfilling,
            throughput_changes: stored.throughput_changes.describe(now),
        };
        let description = IndexDescription {
            definition: stored.definition.clone(),
            global: index.is_global().then_some(state),
            item_count: total.rows.max(0) as u64,
            size_bytes: total.bytes.max(0) as u64,
            arn: format!("{arn}/index/{}", index.name),
        };
        if index.is_global() { &mut global_indexes } else { &mut local_indexes }.push(description);
    }
    let total = counters(table.space)?;
    let updating = table.indexes.iter().any(|index| index.backfilling);
    Ok(TableDescription {
        name: table.name.clone(),
        id: record.id.clone(),
        status: match (record.is_being_made(), updating) {
            (true, _) => ResourceStatus::Creating,
            (false, true) => ResourceStatus::Updating,
            (false, false) => ResourceStatus::Active,
        },
        created_at: seconds(record.created_at_millis),
        attribute_definitions: attribute_definitions(record),
        key: table.key.clone(),
        local_indexes,
        global_indexes,
        billing_mode: record.billing_mode,
        on_demand_since: record.on_demand_since_millis.map(seconds),
        throughput: record.throughput,
        throughput_changes: record.throughput_changes.describe(now),
        on_demand: record.on_demand,
        warm: record.warm,
        item_count: total.rows.max(0) as u64,
        size_bytes: total.bytes.max(0) as u64,
        stream: latest_stream(record, &arn),
        encryption: record.encryption.clone(),
        table_class: record.table_class,
        deletion_protection: record.deletion_protection,
        restore: record.restored.clone().map(Box::new),
        arn,
    })
}

fn latest_stream(record: &TableRecord, table_arn: &str) -> Option<LatestStream> {
    let enabled = record.stream.as_ref();
    let label = enabled.map(|stream| &stream.label).or(record.latest_stream_label.as_ref())?;
    Some(LatestStream {
        view: enabled.map(|stream| stream.view),
        label: label.clone(),
        arn: format!("{table_arn}/stream/{label}"),
    })
}

fn status(is_new: bool) -> ResourceStatus {
    if is_new { ResourceStatus::Creating } else { ResourceStatus::Active }
}

pub fn seconds(millis: u64) -> f64 {
    millis as f64 / 1_000.0
}
