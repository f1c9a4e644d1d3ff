//! UpdateTable: a body → the changes to a table; and the description that answers it.
//!
//! Here it is checked what one request may change together; whether a change suits the table, the
//! engine knows. AWS changes one thing per call: only `BillingMode` goes together with others.

use crate::json::{Reader, Shape, Writer};
use crate::table::table_settings::key_schema::*;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use crate::validation::Validation;
use partita_api::table::update_table::{GlobalIndexUpdate, IndexUpdate, UpdateTable, UpdateTableOutput};
use partita_api::table::{BillingMode, OnDemandThroughput, Throughput};
use partita_api::{Exception, ExceptionKind, Request, messages};
use std::collections::HashSet;

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    table_name: Text<'a>,
    attribute_definitions: Option<Vec<SentDefinition<'a>>>,
    billing_mode: Text<'a>,
    provisioned: Option<SentUnits>,
    on_demand: Option<OnDemandThroughput>,
    warm: Option<SentUnits>,
    index_updates: Option<Vec<SentIndexUpdate<'a>>>,
    stream: Option<SentStream<'a>>,
    encryption: Option<SentEncryption<'a>>,
    table_class: Text<'a>,
    deletion_protection: Option<bool>,
    settings_replication: Text<'a>,
    has_replica_updates: bool,
    has_witness_updates: bool,
    multi_region_consistency: Text<'a>,
}

/// `GlobalSecondaryIndexUpdate` as sent.
#[derive(Default)]
struct SentIndexUpdate<'a> {
    update: Option<SentIndex<'a>>,
    create: Option<SentIndex<'a>>,
    delete: Option<SentIndex<'a>>,
}

/// `GlobalSecondaryIndexUpdate` that satisfies the model.
#[derive(Default)]
struct CheckedIndexUpdate {
    update: Option<IndexChange>,
    create: Option<CheckedIndex>,
    delete: Option<String>,
}

struct IndexChange {
    name: String,
    provisioned: Option<Throughput>,
    on_demand: Option<OnDemandThroughput>,
    warm: Option<SentUnits>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let mut validation = Validation::new();
    let name = check_table_name(&mut validation, &sent.table_name)?;
    let attribute_definitions = check_definitions(&mut validation, &sent.attribute_definitions);
    let billing_mode = check_billing_mode(&mut validation, "billingMode", &sent.billing_mode);
    let throughput = check_provisioned(&mut validation, "provisionedThroughput", sent.provisioned);
    let index_updates = check_index_updates(&mut validation, &sent.index_updates);
    let stream = check_stream(&mut validation, &sent.stream);
    check_encryption(&mut validation, "sSESpecification", &sent.encryption);
    check_settings_replication(&mut validation, &sent.settings_replication);
    validation.finish()?;
    let request = UpdateTable {
        name,
        attribute_definitions,
        billing_mode,
        throughput,
        on_demand: sent.on_demand,
        warm: changed_warm(sent.warm, Owner::Table)?,
        index_updates: Vec::new(),
        stream: stream.map(Stream::of_existing_table).transpose()?,
        encryption: sent.encryption.as_ref().map(SentEncryption::resolve).transpose()?,
        table_class: table_class(&sent.table_class)?,
        deletion_protection: sent.deletion_protection,
    };
    refuse_global_tables("ReplicaUpdates", sent.has_replica_updates)?;
    refuse_global_tables("GlobalTableWitnessUpdates", sent.has_witness_updates)?;
    refuse_global_tables("MultiRegionConsistency", sent.multi_region_consistency.is_some())?;
    check_changes(&request, &index_updates)?;
    check_billing(&request)?;
    let has_no_definitions = sent.attribute_definitions.is_none_or(|definitions| definitions.is_empty());
    let updates = resolve_index_updates(index_updates.unwrap_or_default(), billing_mode, has_no_definitions)?;
    let request = UpdateTable { index_updates: updates, ..request };
    check_combination(&request)?;
    Ok(Request::UpdateTable(request))
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "TableName" => sent.table_name = reader.text()?,
            "AttributeDefinitions" => sent.attribute_definitions = read_definitions(reader)?,
            "BillingMode" => sent.billing_mode = reader.text()?,
            "ProvisionedThroughput" => sent.provisioned = read_provisioned(reader)?,
            "OnDemandThroughput" => sent.on_demand = read_on_demand(reader)?,
            "WarmThroughput" => sent.warm = read_warm(reader)?,
            "GlobalSecondaryIndexUpdates" => {
                sent.index_updates = read_list(reader, "GlobalSecondaryIndexUpdate", read_index_update)?;
            }
            "StreamSpecification" => sent.stream = read_stream(reader)?,
            "SSESpecification" => sent.encryption = read_encryption(reader)?,
            "TableClass" => sent.table_class = reader.text()?,
            "DeletionProtectionEnabled" => sent.deletion_protection = reader.boolean()?,
            "GlobalTableSettingsReplicationMode" => sent.settings_replication = reader.text()?,
            "ReplicaUpdates" => sent.has_replica_updates = reader.list(Shape::List, Reader::skip)?,
            "GlobalTableWitnessUpdates" => {
                sent.has_witness_updates = reader.list(Shape::List, Reader::skip)?
            }
            "MultiRegionConsistency" => sent.multi_region_consistency = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

fn read_index_update<'a>(
    update: &mut SentIndexUpdate<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "Update" => {
            update.update = read_structure(reader, "UpdateGlobalSecondaryIndexAction", read_global_member)?;
        }
        "Create" => {
            update.create = read_structure(reader, "CreateGlobalSecondaryIndexAction", read_global_member)?;
        }
        "Delete" => {
            update.delete = read_structure(reader, "DeleteGlobalSecondaryIndexAction", read_local_member)?;
        }
        _ => reader.skip()?,
    }
    Ok(())
}

fn check_index_updates(
    validation: &mut Validation,
    sent: &Option<Vec<SentIndexUpdate<'_>>>,
) -> Option<Vec<CheckedIndexUpdate>> {
    let mut updates = Vec::new();
    for (index, sent) in sent.as_ref()?.iter().enumerate() {
        let path = format!("globalSecondaryIndexUpdates.{}.member", index + 1);
        let mut checked = CheckedIndexUpdate::default();
        if let Some(update) = &sent.update {
            let path = format!("{path}.update");
            let name = check_index_name(validation, &path, &update.name);
            let units_path = format!("{path}.provisionedThroughput");
            let provisioned = check_provisioned(validation, &units_path, update.provisioned);
            let (on_demand, warm) = (update.on_demand, update.warm);
            checked.update = name.map(|name| IndexChange { name, provisioned, on_demand, warm });
        }
        if let Some(create) = &sent.create {
            checked.create = check_index(validation, &format!("{path}.create"), create, GLOBAL_KEY);
        }
        if let Some(delete) = &sent.delete {
            checked.delete = check_index_name(validation, &format!("{path}.delete"), &delete.name);
        }
        updates.push(checked);
    }
    Some(updates)
}

/// A request changes something, and a list of index updates has some.
fn check_changes(request: &UpdateTable, updates: &Option<Vec<CheckedIndexUpdate>>) -> Result<(), Exception> {
    let indexes_change = updates.as_ref().is_some_and(|updates| !updates.is_empty());
    let settings_change = request.throughput.is_some()
        || request.billing_mode.is_some()
        || request.stream.is_some()
        || request.encryption.is_some()
        || request.table_class.is_some()
        || request.deletion_protection.is_some()
        || request.on_demand.is_some()
        || request.warm.is_some();
    if !indexes_change && !settings_change {
        return Err(Exception::validation(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
        ));
    }
    if updates.is_some() && !indexes_change {
        return Err(invalid("List of GlobalSecondaryIndexUpdates is empty"));
    }
    Ok(())
}

fn check_billing(request: &UpdateTable) -> Result<(), Exception> {
    match (request.billing_mode, request.throughput) {
        (Some(BillingMode::Provisioned), None) => {
            return Err(invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED"));
        }
        (Some(BillingMode::PayPerRequest), Some(_)) => {
            return Err(Exception::validation(messages::PROVISIONED_UNITS_ON_DEMAND));
        }
        _ => {}
    }
    check_bounds(request.throughput)?;
    check_on_demand(request.on_demand, Owner::Table, true)
}

fn resolve_index_updates(
    updates: Vec<CheckedIndexUpdate>,
    billing_mode: Option<BillingMode>,
    has_no_definitions: bool,
) -> Result<Vec<GlobalIndexUpdate>, Exception> {
    let mut names = HashSet::new();
    let mut resolved = Vec::new();
    for update in updates {
        let update = match (update.update, update.create, update.delete) {
            (Some(change), None, None) => change_index(change)?,
            (None, Some(index), None) => create_index(index, billing_mode, has_no_definitions)?,
            (None, None, Some(name)) => GlobalIndexUpdate::Delete { name },
            (None, None, None) => {
                return Err(invalid(
                    "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
                ));
            }
            _ => {
                return Err(invalid(
                    "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
                ));
            }
        };
        let name = index_name(&update);
        if !names.insert(name.to_owned()) {
            return Err(invalid(format_args!(
                "Only one global secondary index update per index is allowed simultaneously. Index: {name}"
            )));
        }
        resolved.push(update);
    }
    Ok(resolved)
}

fn index_name(update: &GlobalIndexUpdate) -> &str {
    match update {
        GlobalIndexUpdate::Create(index) => &index.name,
        GlobalIndexUpdate::Update(IndexUpdate { name, .. }) | GlobalIndexUpdate::Delete { name } => name,
    }
}

fn change_index(change: IndexChange) -> Result<GlobalIndexUpdate, Exception> {
    let owner = Owner::Index(&change.name);
    let warm = changed_warm(change.warm, owner)?;
    check_on_demand(change.on_demand, owner, true)?;
    let IndexChange { name, provisioned: throughput, on_demand, .. } = change;
    Ok(GlobalIndexUpdate::Update(IndexUpdate { name, throughput, on_demand, warm }))
}

fn create_index(
    index: CheckedIndex,
    billing_mode: Option<BillingMode>,
    has_no_definitions: bool,
) -> Result<GlobalIndexUpdate, Exception> {
    let name = &index.name;
    if has_no_definitions {
        return Err(invalid(format_args!("AttributeDefinitions is not specified for index: {name}")));
    }
    check_global_key(&index.key)?;
    index.projection()?;
    match (billing_mode, index.provisioned) {
        (Some(BillingMode::PayPerRequest), Some(_)) => {
            return Err(Exception::validation(messages::index_units_on_demand(name)));
        }
        (Some(BillingMode::Provisioned), None) => {
            return Err(Exception::validation(messages::index_units_missing(name)));
        }
        _ => check_bounds(index.provisioned)?,
    }
    check_on_demand(index.on_demand, Owner::Index(name), false)?;
    Ok(GlobalIndexUpdate::Create(index.into_new()?))
}

/// Encryption, table class, deletion protection and warm throughput change alone; throughput, streams
/// and the set of indexes not together.
fn check_combination(request: &UpdateTable) -> Result<(), Exception> {
    let units = request.throughput.is_some();
    let stream = request.stream.is_some();
    let warm = request.warm.is_some();
    let updates = &request.index_updates;
    let creates = updates.iter().filter(|update| matches!(update, GlobalIndexUpdate::Create(_))).count();
    let deletes = updates.iter().filter(|update| matches!(update, GlobalIndexUpdate::Delete { .. })).count();
    check_exclusive(request)?;
    if request.on_demand.is_some() && (stream || warm || units) {
        return Err(invalid(
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ));
    }
    if warm && creates > 0 {
        return Err(invalid(
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ));
    }
    if warm && (units || stream || deletes > 0 || request.billing_mode.is_some()) {
        return Err(invalid("WarmThroughput must be the only operation in the request"));
    }
    if stream && units {
        return Err(invalid("You cannot modify stream status while updating table IOPS"));
    }
    if creates + deletes > 0 && units {
        return Err(invalid("You cannot create or delete index while updating table IOPS"));
    }
    if creates + deletes > 0 && stream {
        return Err(invalid("You cannot create or delete index while changing stream status"));
    }
    if creates + deletes > 1 {
        return Err(Exception::new(ExceptionKind::LimitExceededException, messages::ONE_INDEX_AT_A_TIME));
    }
    Ok(())
}

/// What must be the only change of a request, the first that is in it named.
fn check_exclusive(request: &UpdateTable) -> Result<(), Exception> {
    let exclusive = [
        (request.encryption.is_some(), "Server-Side Encryption"),
        (request.table_class.is_some(), "TableClass"),
        (request.deletion_protection.is_some(), "DeletionProtection"),
    ];
    let others = [
        request.throughput.is_some(),
        request.billing_mode.is_some(),
        request.stream.is_some(),
        request.on_demand.is_some(),
        request.warm.is_some(),
        !request.index_updates.is_empty(),
    ];
    let changes = exclusive.iter().map(|(is_set, _)| is_set).chain(&others).filter(|is_set| **is_set).count();
    match exclusive.iter().find(|(is_set, _)| *is_set) {
        Some((_, what)) if changes > 1 => {
            Err(invalid(format_args!("{what} modification must be the only operation in the request")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn encode(output: &UpdateTableOutput, json: &mut Writer) {
    crate::table::create_table::encode(output, json);
}

#[cfg(test)]
mod tests;
