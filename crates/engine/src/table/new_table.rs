//! The record of a table that CreateTable or ImportTable makes.

use crate::catalog::spaces::Spaces;
use crate::catalog::table::{IndexRecord, TableRecord};
use crate::table::throughput_record::ThroughputRecord;
use partita_api::key_schema::KeyAttribute;
use partita_api::table::create_table::CreateTable;
use partita_api::table::{BillingMode, IndexDefinition};
use partita_api::{Exception, ExceptionKind};

pub fn already_exists(request: &CreateTable) -> Exception {
    Exception::new(ExceptionKind::ResourceInUseException, format!("Table already exists: {}", request.name))
}

/// The record of a new table, given its id and the key that its tokens are hashed with.
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
