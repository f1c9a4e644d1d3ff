//! TableDescription → JSON, with exactly the members that AWS returns for such a table.
//!
//! Members that do not apply are omitted rather than null: the billing mode of tables that were always provisioned, the indexes of
//! tables without any, the encryption of tables with the default.

use crate::json::{Seconds, Writer};
use partita_api::key_schema::{AttributeDefinition, KeySchema};
use partita_api::table::*;

/// Encodes a response with a table as its only member.
pub(crate) fn encode_member(name: &str, table: &TableDescription, json: &mut Writer) {
    json.object(|json| encode(table, json.name(name)));
}

/// Encodes the description as an object.
pub(crate) fn encode(table: &TableDescription, json: &mut Writer) {
    // The description of a table that is being deleted does not have its schema.
    let has_schema = table.status != ResourceStatus::Deleting;
    json.object(|json| {
        if has_schema {
            encode_definitions(&table.attribute_definitions, json);
        }
        json.member("TableName", &table.name);
        if has_schema {
            encode_key(&table.key, json);
        }
        json.member("TableStatus", table.status.name());
        if has_schema {
            json.member("CreationDateTime", &table.created_at);
        }
        encode_throughput(table, json);
        json.member("TableSizeBytes", &table.size_bytes)
            .member("ItemCount", &table.item_count)
            .member("TableArn", &table.arn)
            .member("TableId", &table.id);
        encode_billing(table, json);
        if has_schema {
            encode_indexes("LocalSecondaryIndexes", &table.local_indexes, table.billing_mode, json);
            encode_indexes("GlobalSecondaryIndexes", &table.global_indexes, table.billing_mode, json);
        }
        encode_stream(table.stream.as_ref(), json);
        encode_restore(table.restore.as_deref(), json);
        encode_encryption(table, json);
        if let Some(class) = table.table_class {
            json.name("TableClassSummary").object(|json| json.name("TableClass").string(class.name()));
        }
        json.member("DeletionProtectionEnabled", &table.deletion_protection);
        encode_on_demand(table.on_demand, json);
        if has_schema {
            encode_warm(table, json);
        }
    });
}

pub(crate) fn encode_definitions(definitions: &[AttributeDefinition], json: &mut Writer) {
    json.objects("AttributeDefinitions", definitions, |definition, json| {
        json.member("AttributeName", &definition.name).member("AttributeType", definition.kind.name());
    });
}

pub(crate) fn encode_key(key: &KeySchema, json: &mut Writer) {
    let partition = key.partition.iter().map(|attribute| (attribute, "HASH"));
    let sort = key.sort.iter().map(|attribute| (attribute, "RANGE"));
    json.objects("KeySchema", partition.chain(sort), |(attribute, key_type), json| {
        json.member("AttributeName", &attribute.name).member("KeyType", key_type);
    });
}

/// Encodes the units per second, which are zero for on-demand tables.
fn encode_throughput(table: &TableDescription, json: &mut Writer) {
    let units = described_units(table.billing_mode, Some(table.throughput));
    encode_provisioned(table.throughput_changes, units, json);
}

fn encode_provisioned(changes: ThroughputChanges, units: Throughput, json: &mut Writer) {
    json.name("ProvisionedThroughput").object(|json| {
        json.member("LastIncreaseDateTime", &changes.increased_at)
            .member("LastDecreaseDateTime", &changes.decreased_at)
            .member("NumberOfDecreasesToday", &changes.decreases_today);
        encode_units(units, json);
    });
}

pub(crate) fn described_units(billing_mode: BillingMode, throughput: Option<Throughput>) -> Throughput {
    match billing_mode {
        BillingMode::Provisioned => throughput.unwrap_or_default(),
        BillingMode::PayPerRequest => Throughput::default(),
    }
}

pub(crate) fn encode_units(throughput: Throughput, json: &mut Writer) {
    json.member("ReadCapacityUnits", &throughput.read).member("WriteCapacityUnits", &throughput.write);
}

/// Encodes the billing mode of tables that are on-demand or once were; for a new one, without the time of the switch.
fn encode_billing(table: &TableDescription, json: &mut Writer) {
    if table.billing_mode == BillingMode::Provisioned && table.on_demand_since.is_none() {
        return;
    }
    json.name("BillingModeSummary").object(|json| {
        let since = table.on_demand_since.filter(|_| table.status != ResourceStatus::Creating);
        json.member("BillingMode", table.billing_mode.name())
            .member("LastUpdateToPayPerRequestDateTime", &since);
    });
}

fn encode_indexes(list: &str, indexes: &[IndexDescription], billing_mode: BillingMode, json: &mut Writer) {
    if !indexes.is_empty() {
        json.objects(list, indexes, |index, json| encode_index(index, billing_mode, json));
    }
}

fn encode_index(index: &IndexDescription, billing_mode: BillingMode, json: &mut Writer) {
    let definition = &index.definition;
    json.member("IndexName", &definition.name);
    encode_key(&definition.key, json);
    encode_projection(&definition.projection, json);
    if let Some(state) = index.global {
        json.member("IndexStatus", state.status.name());
        // An index that was created with its table is not backfilled.
        let is_backfilling = state.status == ResourceStatus::Creating && state.backfilling;
        json.member("Backfilling", &is_backfilling.then_some(true));
        let units = described_units(billing_mode, definition.throughput);
        encode_provisioned(state.throughput_changes, units, json);
    }
    json.member("IndexSizeBytes", &index.size_bytes)
        .member("ItemCount", &index.item_count)
        .member("IndexArn", &index.arn);
    if let Some(state) = index.global {
        encode_on_demand(definition.on_demand, json);
        if state.status != ResourceStatus::Creating || definition.warm.is_some() {
            encode_warm_units(definition.warm, billing_mode, definition.throughput, state.status, json);
        }
    }
}

pub(crate) fn encode_projection(projection: &IndexProjection, json: &mut Writer) {
    json.name("Projection").object(|json| match projection {
        IndexProjection::All => json.name("ProjectionType").string("ALL"),
        IndexProjection::KeysOnly => json.name("ProjectionType").string("KEYS_ONLY"),
        IndexProjection::Include(names) => {
            json.member("ProjectionType", "INCLUDE")
                .strings("NonKeyAttributes", names.iter().map(String::as_str));
        }
    });
}

/// Encodes the latest stream, which a table reports even after the stream is disabled.
fn encode_stream(stream: Option<&LatestStream>, json: &mut Writer) {
    if let Some(stream) = stream {
        encode_stream_view("StreamSpecification", stream.view, json);
        json.member("LatestStreamLabel", &stream.label).member("LatestStreamArn", &stream.arn);
    }
}

/// Encodes the view type of a stream, if it is enabled.
pub(crate) fn encode_stream_view(member: &str, view: Option<StreamViewType>, json: &mut Writer) {
    if let Some(view) = view {
        json.name(member).object(|json| {
            json.member("StreamEnabled", &true).member("StreamViewType", view.name());
        });
    }
}

fn encode_restore(restore: Option<&RestoreSummary>, json: &mut Writer) {
    let Some(restore) = restore else { return };
    json.name("RestoreSummary").object(|json| {
        json.member("SourceBackupArn", &restore.backup_arn)
            .member("SourceTableArn", &restore.table_arn)
            .member("RestoreDateTime", &Seconds(restore.at_millis))
            .member("RestoreInProgress", &restore.in_progress);
    });
}

pub(crate) fn encode_encryption(table: &TableDescription, json: &mut Writer) {
    let Some(encryption) = table.encryption.as_ref().filter(|encryption| encryption.enabled) else { return };
    json.name("SSEDescription").object(|json| {
        json.member("Status", "ENABLED")
            .member("SSEType", "KMS")
            .member("KMSMasterKeyArn", &key_arn(encryption.kms_key.as_deref(), &table.arn));
    });
}

/// The id of the account's default key for tables, `alias/aws/dynamodb`, which in AWS differs between accounts.
const DEFAULT_KEY: &str = "d1b0d1b0-0000-4000-8000-123456789012";

/// The ARN of a key that is given by its ARN, its id or an alias, in the region and account of the table.
fn key_arn(key: Option<&str>, table_arn: &str) -> String {
    let mut parts = table_arn.split(':').skip(3);
    let (region, account) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match key {
        Some(arn) if arn.starts_with("arn:") => arn.to_owned(),
        Some(alias) if alias.starts_with("alias/") => format!("arn:aws:kms:{region}:{account}:{alias}"),
        Some(id) => format!("arn:aws:kms:{region}:{account}:key/{id}"),
        None => format!("arn:aws:kms:{region}:{account}:key/{DEFAULT_KEY}"),
    }
}

/// Encodes the bounds that are set; a bound of -1 is none.
pub(crate) fn encode_on_demand(on_demand: Option<OnDemandThroughput>, json: &mut Writer) {
    let Some(on_demand) = on_demand else { return };
    let bounds = [("MaxReadRequestUnits", on_demand.max_read), ("MaxWriteRequestUnits", on_demand.max_write)];
    let bounds = bounds.map(|(name, bound)| (name, bound.filter(|bound| *bound >= 0)));
    if bounds.iter().all(|(_, bound)| bound.is_none()) {
        return;
    }
    json.name("OnDemandThroughput").object(|json| {
        for (name, bound) in bounds {
            json.member(name, &bound);
        }
    });
}

/// Encodes the warm throughput; while a table or an index is being created, only if the request specified it.
fn encode_warm(table: &TableDescription, json: &mut Writer) {
    let is_new = table.status == ResourceStatus::Creating;
    if is_new && table.warm.is_none() {
        return;
    }
    let status = if is_new { ResourceStatus::Updating } else { ResourceStatus::Active };
    encode_warm_units(table.warm, table.billing_mode, Some(table.throughput), status, json);
}

fn encode_warm_units(
    warm: Option<WarmThroughput>,
    billing_mode: BillingMode,
    throughput: Option<Throughput>,
    status: ResourceStatus,
    json: &mut Writer,
) {
    let units = warm_units(warm, billing_mode, throughput);
    json.name("WarmThroughput").object(|json| {
        json.member("ReadUnitsPerSecond", &units.read)
            .member("WriteUnitsPerSecond", &units.write)
            .member("Status", status.name());
    });
}

#[cfg(test)]
pub(crate) mod tests;
