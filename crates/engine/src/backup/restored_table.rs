//! The record of a restored table: that of its source, with the overrides of the request and new spaces.

use crate::catalog::spaces::Spaces;
use crate::catalog::table::{IndexRecord, TableRecord};
use crate::table::attribute_definitions::{attribute_definitions, keep_used_definitions};
use crate::table::throughput_record::ThroughputRecord;
use partita_api::backup::restore::RestoreOverrides;
use partita_api::key_schema::KeySchema;
use partita_api::table::new_index::NewIndex;
use partita_api::table::*;
use partita_api::{Exception, messages};
use partita_value::names::TableName;

/// What distinguishes a restored table from its source.
#[derive(Clone)]
pub struct NewTable {
    pub name: TableName,
    pub id: String,
    pub now: u64,
    pub overrides: RestoreOverrides,
}

impl NewTable {
    /// Streams, expiry, tags, policies, deletion protection and the table class are not restored.
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
            local_indexes: restored_indexes(source, &source.local_indexes, &overrides.local_indexes, spaces)?,
            global_indexes: restored_indexes(
                source,
                &source.global_indexes,
                &overrides.global_indexes,
                spaces,
            )?,
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

/// The source's indexes, or those that the request names, each with a new space.
fn restored_indexes(
    source: &TableRecord,
    indexes: &[IndexRecord],
    overrides: &Option<Vec<NewIndex>>,
    spaces: &mut Spaces,
) -> Result<Vec<IndexRecord>, Exception> {
    let mut index = |definition| IndexRecord::new(definition, spaces.take(), false);
    match overrides {
        None => Ok(indexes.iter().map(|known| index(known.definition.clone())).collect()),
        Some(overrides) => {
            overrides.iter().map(|wanted| overridden(source, indexes, wanted).map(&mut index)).collect()
        }
    }
}

/// The index of the source with the key and projection of an override; name and throughput may differ.
fn overridden(
    source: &TableRecord,
    indexes: &[IndexRecord],
    wanted: &NewIndex,
) -> Result<IndexDefinition, Exception> {
    let key = KeySchema::resolve(&wanted.key_schema, &attribute_definitions(source)).ok();
    let is_same =
        |known: &&IndexDefinition| key.as_ref() == Some(&known.key) && wanted.projection == known.projection;
    let known = indexes.iter().map(|index| &index.definition).find(is_same).ok_or_else(|| {
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
