//! UpdateTable: decodes the changes to a table; encodes its description.
//!
//! Decoding checks which changes a request may combine; the engine checks whether a change suits the table. AWS changes one
//! setting per request: only `BillingMode` can be combined with others.

use crate::json::{Reader, Shape, Writer};
use crate::members::{Choice, Member, chosen, read_request, required, structure, validate};
use crate::table::table_description;
use crate::table::table_name::{TableReference, resource_name};
use crate::table::table_settings::key_schema::*;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use partita_api::table::update_table::{GlobalIndexUpdate, IndexUpdate, UpdateTable, UpdateTableOutput};
use partita_api::table::{BillingMode, OnDemandThroughput, Throughput};
use partita_api::{Exception, ExceptionKind, Request, messages};
use std::borrow::Cow;
use std::collections::HashSet;

structure! {
    struct UpdateTableMembers<'a> {
        name: TableReference<'a> = "TableName";
        attribute_definitions: Vec<AttributeDefinitionMembers<'a>> = "AttributeDefinitions";
        billing_mode: Choice<'a, BillingMode> = "BillingMode";
        provisioned: ProvisionedThroughputMembers = "ProvisionedThroughput";
        index_updates: Vec<IndexUpdateMembers<'a>> = "GlobalSecondaryIndexUpdates";
        replica_updates: IgnoredList = "ReplicaUpdates";
        witness_updates: IgnoredList = "GlobalTableWitnessUpdates";
        multi_region_consistency: Cow<'a, str> = "MultiRegionConsistency";
        ..settings: TableSettingsMembers<'a>;
    }

    /// An update of one index, which has exactly one of these members.
    struct IndexUpdateMembers<'a> as "GlobalSecondaryIndexUpdate" {
        update: UpdateIndexMembers<'a> = "Update";
        create: CreateIndexMembers<'a> = "Create";
        delete: DeleteIndexMembers<'a> = "Delete";
    }

    struct UpdateIndexMembers<'a> as "UpdateGlobalSecondaryIndexAction" {
        name: Cow<'a, str> = "IndexName", required, resource_name;
        provisioned: ProvisionedThroughputMembers = "ProvisionedThroughput";
        on_demand: OnDemandThroughputMembers = "OnDemandThroughput";
        warm: WarmThroughputMembers = "WarmThroughput";
    }

    struct CreateIndexMembers<'a> as "CreateGlobalSecondaryIndexAction" {
        ..index: GlobalIndexMembers<'a>;
    }

    struct DeleteIndexMembers<'a> as "DeleteGlobalSecondaryIndexAction" {
        name: Cow<'a, str> = "IndexName", required, resource_name;
    }
}

/// A list whose elements are ignored, as any list is refused.
struct IgnoredList;

impl<'a> Member<'a> for IgnoredList {
    fn read(reader: &mut Reader<'a>) -> Result<Option<Self>, Exception> {
        Ok(reader.list(Shape::List, Reader::skip)?.then_some(IgnoredList))
    }
}

/// The parts of an index update, valid individually.
struct ValidIndexUpdate {
    update: Option<IndexChange>,
    create: Option<ValidIndex>,
    delete: Option<String>,
}

struct IndexChange {
    name: String,
    provisioned: Option<Throughput>,
    on_demand: Option<OnDemandThroughput>,
    warm: Option<WarmThroughputMembers>,
}

impl IndexUpdateMembers<'_> {
    fn valid(&self) -> ValidIndexUpdate {
        let name = |name: &Option<Cow<'_, str>>| name.as_deref().map(str::to_owned);
        let change = |update: &UpdateIndexMembers<'_>| {
            Some(IndexChange {
                name: name(&update.name)?,
                provisioned: provisioned(update.provisioned),
                on_demand: on_demand(update.on_demand),
                warm: update.warm,
            })
        };
        ValidIndexUpdate {
            update: self.update.as_ref().and_then(change),
            create: self.create.as_ref().and_then(|create| create.index.valid()),
            delete: self.delete.as_ref().and_then(|delete| name(&delete.name)),
        }
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: UpdateTableMembers = read_request(reader)?;
    let settings = &members.settings;
    let name = TableReference::resolve(&members.name)?;
    validate(&members)?;
    let updates =
        |updates: &Vec<IndexUpdateMembers<'_>>| updates.iter().map(IndexUpdateMembers::valid).collect();
    let index_updates = members.index_updates.as_ref().map(updates);
    let billing_mode = chosen(&members.billing_mode);
    let request = UpdateTable {
        name,
        attribute_definitions: definitions(&members.attribute_definitions),
        billing_mode,
        throughput: provisioned(members.provisioned),
        on_demand: on_demand(settings.on_demand),
        warm: changed_warm(settings.warm, Owner::Table)?,
        index_updates: Vec::new(),
        stream: settings.stream.as_ref().map(StreamSpecification::of_existing_table).transpose()?,
        encryption: settings.encryption.as_ref().map(EncryptionSpecification::resolve).transpose()?,
        table_class: table_class(&settings.table_class)?,
        deletion_protection: settings.deletion_protection,
    };
    refuse_global_tables("ReplicaUpdates", members.replica_updates.is_some())?;
    refuse_global_tables("GlobalTableWitnessUpdates", members.witness_updates.is_some())?;
    refuse_global_tables("MultiRegionConsistency", members.multi_region_consistency.is_some())?;
    check_changes(&request, &index_updates)?;
    check_billing(&request)?;
    let has_no_definitions = members.attribute_definitions.is_none_or(|definitions| definitions.is_empty());
    let updates = resolve_index_updates(index_updates.unwrap_or_default(), billing_mode, has_no_definitions)?;
    let request = UpdateTable { index_updates: updates, ..request };
    check_combination(&request)?;
    Ok(Request::UpdateTable(request))
}

/// Checks that the request has a change, and that a list of index updates is not empty.
fn check_changes(request: &UpdateTable, updates: &Option<Vec<ValidIndexUpdate>>) -> Result<(), Exception> {
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
    updates: Vec<ValidIndexUpdate>,
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
    index: ValidIndex,
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

/// Checks the combination of changes: encryption, table class, deletion protection and warm throughput are exclusive; throughput,
/// streams and the set of indexes cannot change together.
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

/// Refuses further changes alongside an exclusive one; the error names the first exclusive change.
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
    table_description::encode_member("TableDescription", &output.table, json);
}

#[cfg(test)]
mod tests;
