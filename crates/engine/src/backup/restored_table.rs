//! The record of a restored table: its source's, with what the request overrides, and spaces of its own.

use crate::catalog::table::{IndexRecord, TableRecord, attribute_definitions};
use crate::table::create_table::Spaces;
use crate::table::throughput_record::ThroughputRecord;
use crate::table::update_table::keep_used_definitions;
use partita_api::backup::restore::RestoreOverrides;
use partita_api::key_schema::KeySchema;
use partita_api::table::update_table::NewIndex;
use partita_api::table::*;
use partita_api::{Exception, messages};
use partita_value::names::TableName;

/// What is new about a restored table.
#[derive(Clone)]
pub struct NewTable {
    pub name: TableName,
    pub id: String,
    pub now: u64,
    pub overrides: RestoreOverrides,
}

impl NewTable {
    /// Streams, expiry, tags, policies, protection and the table's class stay with the source.
    pub fn record(
        &self,
        source: &TableRecord,
        summary: RestoreSummary,
        spaces: &mut Spaces,
    ) -> Result<TableRecord, Exception> {
        let overrides = &self.overrides;
        let mut record = TableRecord {
            name: self.name.to_string(),
            id: self.id.clone(),
            space: spaces.take(),
            created_at_millis: self.now,
            local_indexes: chosen(source, &source.local_indexes, &overrides.local_indexes, spaces)?,
            global_indexes: chosen(source, &source.global_indexes, &overrides.global_indexes, spaces)?,
            throughput_changes: ThroughputRecord::default(),
            on_demand: overrides.on_demand.or(source.on_demand),
            stream: None,
            latest_stream_label: None,
            encryption: overrides.encryption.clone().or_else(|| source.encryption.clone()),
            table_class: None,
            deletion_protection: false,
            resource_policy: None,
            tags: Default::default(),
            time_to_live: None,
            time_to_live_changed_millis: None,
            importing: false,
            restored: Some(summary),
            history: None,
            ..source.clone()
        };
        record.collections = (!record.local_indexes.is_empty()).then(|| spaces.take());
        keep_used_definitions(&mut record, &[]);
        self.bill(&mut record)?;
        Ok(record)
    }

    fn bill(&self, record: &mut TableRecord) -> Result<(), Exception> {
        let was = record.billing_mode;
        if self.overrides.on_demand.is_some() && self.overrides.billing_mode == Some(BillingMode::Provisioned)
        {
            return Err(Exception::validation(
                "Invalid Request: Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST",
            ));
        }
        record.billing_mode = self.overrides.billing_mode.unwrap_or(was);
        match (record.billing_mode, self.overrides.throughput) {
            (BillingMode::PayPerRequest, Some(_)) => Err(Exception::validation(
                "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
            )),
            (BillingMode::PayPerRequest, None) => {
                record.on_demand_since_millis = Some(self.now);
                record.throughput = Throughput::default();
                record.global_indexes.iter_mut().for_each(|index| index.definition.throughput = None);
                Ok(())
            }
            (BillingMode::Provisioned, None) if was != BillingMode::Provisioned => {
                Err(Exception::validation(messages::PROVISIONED_UNITS_MISSING))
            }
            (BillingMode::Provisioned, throughput) => {
                record.on_demand_since_millis = None;
                record.throughput = throughput.unwrap_or(record.throughput);
                let unset = |index: &&IndexRecord| index.definition.throughput.is_none();
                match record.global_indexes.iter().find(unset) {
                    Some(index) => Err(Exception::validation(format!(
                        "Invalid Request: Must specify provisioned throughput for index {}",
                        index.definition.name
                    ))),
                    None => Ok(()),
                }
            }
        }
    }
}

/// All indexes, or those that the request names, each with a space of its own.
fn chosen(
    source: &TableRecord,
    indexes: &[IndexRecord],
    overrides: &Option<Vec<NewIndex>>,
    spaces: &mut Spaces,
) -> Result<Vec<IndexRecord>, Exception> {
    let mut index = |definition| IndexRecord::new(definition, spaces.take(), false);
    match overrides {
        None => Ok(indexes.iter().map(|known| index(known.definition.clone())).collect()),
        Some(overrides) => {
            overrides.iter().map(|wanted| matching(source, indexes, wanted).map(&mut index)).collect()
        }
    }
}

/// The index of the source that an override means: its key and projection are the same, its name and throughput may differ.
fn matching(
    source: &TableRecord,
    indexes: &[IndexRecord],
    wanted: &NewIndex,
) -> Result<IndexDefinition, Exception> {
    let key = KeySchema::resolve(&wanted.key_schema, &attribute_definitions(source)).ok();
    let is_meant =
        |known: &&IndexDefinition| key.as_ref() == Some(&known.key) && wanted.projection == known.projection;
    let known = indexes.iter().map(|index| &index.definition).find(is_meant).ok_or_else(|| {
        Exception::validation(format!(
            "Invalid Request: Index {} does not match a secondary index that existed in the source table and cannot be created during the restore operation",
            wanted.name
        ))
    })?;
    Ok(IndexDefinition {
        name: wanted.name.clone(),
        throughput: wanted.throughput.or(known.throughput),
        on_demand: wanted.on_demand.or(known.on_demand),
        ..known.clone()
    })
}
