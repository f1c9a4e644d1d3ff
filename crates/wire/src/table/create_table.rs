//! CreateTable: a body → a table to create, with every rule checked that needs no stored table; and the
//! description that answers it.
//!
//! The order of checks is AWS's: each member against the model, all failures together; then billing,
//! the table's key, the keys of indexes, definitions that nothing uses, local indexes one by one,
//! global indexes one by one, and at last the settings besides.

use crate::json::{Reader, Writer};
use crate::table::table_description;
use crate::table::table_settings::key_schema::*;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use crate::tag::tag_resource::{SentTag, check_tags, read_tags};
use crate::validation::Validation;
use partita_api::key_schema::{AttributeDefinition, KeySchemaElement};
use partita_api::table::create_table::{CreateTable, CreateTableOutput};
use partita_api::table::{BillingMode, IndexDefinition, IndexProjection, OnDemandThroughput, Throughput};
use partita_api::{Exception, Request, messages};
use partita_value::limits;
use partita_value::names::TableName;
use std::collections::HashSet;

/// Largest resource policy.
const POLICY_BYTES: usize = 20_480;

/// The members as sent.
#[derive(Default)]
struct Sent<'a> {
    table_name: Text<'a>,
    attribute_definitions: Option<Vec<SentDefinition<'a>>>,
    key_schema: Option<Vec<SentElement<'a>>>,
    local_indexes: Option<Vec<SentIndex<'a>>>,
    global_indexes: Option<Vec<SentIndex<'a>>>,
    billing_mode: Text<'a>,
    provisioned: Option<SentUnits>,
    on_demand: Option<OnDemandThroughput>,
    warm: Option<SentUnits>,
    stream: Option<SentStream<'a>>,
    encryption: Option<SentEncryption<'a>>,
    table_class: Text<'a>,
    deletion_protection: Option<bool>,
    resource_policy: Text<'a>,
    tags: Option<Vec<SentTag<'a>>>,
    global_table_source: Text<'a>,
    settings_replication: Text<'a>,
}

/// What satisfies the model: the parts that rules between members look at.
struct Checked {
    name: TableName,
    definitions: Vec<AttributeDefinition>,
    key: Vec<KeySchemaElement>,
    local_indexes: Option<Vec<CheckedIndex>>,
    global_indexes: Option<Vec<CheckedIndex>>,
    billing_mode: BillingMode,
    provisioned: Option<Throughput>,
    stream: Option<Stream>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let sent = read(reader)?;
    let checked = check(&sent)?;
    check_billing(&checked, sent.on_demand)?;
    let definitions = Definitions::new(&checked.definitions)?;
    check_keys(&checked, &definitions)?;
    let mut names = HashSet::new();
    let local_indexes = local_indexes(&checked, &definitions, &mut names)?;
    let global_indexes = global_indexes(&checked, &definitions, &mut names)?;
    check_projected_attributes(local_indexes.iter().chain(&global_indexes))?;
    let encryption = sent.encryption.as_ref().map(SentEncryption::resolve).transpose()?;
    check_policy(&sent.resource_policy)?;
    Ok(Request::CreateTable(CreateTable {
        key: definitions.resolve(&checked.key)?,
        local_indexes,
        global_indexes,
        billing_mode: checked.billing_mode,
        throughput: checked.provisioned,
        on_demand: sent.on_demand,
        warm: new_warm(sent.warm, Owner::Table, checked.billing_mode, checked.provisioned)?,
        stream: checked.stream.map(Stream::of_new_table).transpose()?.flatten(),
        // An empty specification is as good as none.
        encryption: encryption.filter(|encryption| encryption.enabled),
        table_class: table_class(&sent.table_class)?,
        deletion_protection: sent.deletion_protection.unwrap_or(false),
        resource_policy: sent.resource_policy.map(|policy| policy.into_owned()),
        tags: check_tags(sent.tags.as_deref().unwrap_or_default())?,
        name: checked.name,
        attribute_definitions: checked.definitions,
    }))
}

fn read(reader: Reader<'_>) -> Result<Sent<'_>, Exception> {
    let mut sent = Sent::default();
    reader.request(|reader, name| {
        match name {
            "TableName" => sent.table_name = reader.text()?,
            "AttributeDefinitions" => sent.attribute_definitions = read_definitions(reader)?,
            "KeySchema" => sent.key_schema = read_key_schema(reader)?,
            "LocalSecondaryIndexes" => {
                sent.local_indexes = read_list(reader, "LocalSecondaryIndex", read_local_member)?;
            }
            "GlobalSecondaryIndexes" => {
                sent.global_indexes = read_list(reader, "GlobalSecondaryIndex", read_global_member)?;
            }
            "BillingMode" => sent.billing_mode = reader.text()?,
            "ProvisionedThroughput" => sent.provisioned = read_provisioned(reader)?,
            "OnDemandThroughput" => sent.on_demand = read_on_demand(reader)?,
            "WarmThroughput" => sent.warm = read_warm(reader)?,
            "StreamSpecification" => sent.stream = read_stream(reader)?,
            "SSESpecification" => sent.encryption = read_encryption(reader)?,
            "TableClass" => sent.table_class = reader.text()?,
            "DeletionProtectionEnabled" => sent.deletion_protection = reader.boolean()?,
            "ResourcePolicy" => sent.resource_policy = reader.text()?,
            "Tags" => sent.tags = read_tags(reader)?,
            "GlobalTableSourceArn" => sent.global_table_source = reader.text()?,
            "GlobalTableSettingsReplicationMode" => sent.settings_replication = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(sent)
}

/// Every member against the model; what fails is told together.
fn check(sent: &Sent<'_>) -> Result<Checked, Exception> {
    let mut validation = Validation::new();
    let name = check_table_name(&mut validation, &sent.table_name)?;
    refuse_global_tables("GlobalTableSourceArn", sent.global_table_source.is_some())?;
    validation.required("attributeDefinitions", &sent.attribute_definitions);
    let definitions = check_definitions(&mut validation, &sent.attribute_definitions);
    let billing_mode = check_billing_mode(&mut validation, "billingMode", &sent.billing_mode);
    let provisioned = check_provisioned(&mut validation, "provisionedThroughput", sent.provisioned);
    let key = check_key_schema(&mut validation, "keySchema", &sent.key_schema, LOCAL_KEY);
    let local_indexes =
        check_indexes(&mut validation, "localSecondaryIndexes", &sent.local_indexes, LOCAL_KEY);
    let global_indexes =
        check_indexes(&mut validation, "globalSecondaryIndexes", &sent.global_indexes, GLOBAL_KEY);
    let stream = check_stream(&mut validation, &sent.stream);
    check_encryption(&mut validation, "sSESpecification", &sent.encryption);
    check_settings_replication(&mut validation, &sent.settings_replication);
    validation.finish()?;
    table_class(&sent.table_class)?;
    let billing_mode = billing_mode.unwrap_or_default();
    Ok(Checked { name, definitions, key, local_indexes, global_indexes, billing_mode, provisioned, stream })
}

fn check_billing(checked: &Checked, on_demand: Option<OnDemandThroughput>) -> Result<(), Exception> {
    match checked.billing_mode {
        BillingMode::PayPerRequest if checked.provisioned.is_some() => {
            Err(Exception::validation(messages::PROVISIONED_UNITS_ON_DEMAND))
        }
        BillingMode::PayPerRequest => check_on_demand(on_demand, Owner::Table, false),
        BillingMode::Provisioned if checked.provisioned.is_none() => Err(invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        )),
        BillingMode::Provisioned => {
            check_bounds(checked.provisioned)?;
            refuse_on_demand(on_demand, Owner::Table)
        }
    }
}

/// The keys of the table and of all indexes; and that they use all definitions.
fn check_keys(checked: &Checked, definitions: &Definitions<'_>) -> Result<(), Exception> {
    let Checked { key, local_indexes, global_indexes, .. } = checked;
    check_table_key(key, definitions)?;
    if local_indexes.is_none() && global_indexes.is_none() && key.len() != definitions.count() {
        return Err(invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
        ));
    }
    for (list, indexes) in
        [("LocalSecondaryIndexes", local_indexes), ("GlobalSecondaryIndexes", global_indexes)]
    {
        if indexes.as_ref().is_some_and(Vec::is_empty) {
            return Err(invalid(format_args!("List of {list} is empty")));
        }
    }
    if local_indexes.is_some() && key.len() < LOCAL_KEY {
        return Err(invalid(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
        ));
    }
    for index in local_indexes.iter().flatten() {
        check_single_key(&index.key, definitions)?;
    }
    for index in global_indexes.iter().flatten() {
        definitions.check_key(&index.key)?;
        check_global_key(&index.key)?;
    }
    let indexes = local_indexes.iter().flatten().chain(global_indexes.iter().flatten());
    definitions.refuse_unused(key.iter().chain(indexes.flat_map(|index| &index.key)))
}

fn local_indexes<'c>(
    checked: &'c Checked,
    definitions: &Definitions<'_>,
    names: &mut HashSet<&'c str>,
) -> Result<Vec<IndexDefinition>, Exception> {
    let indexes = checked.local_indexes.as_deref().unwrap_or_default();
    for index in indexes {
        check_local_key(&index.name, &index.key, &checked.key)?;
        index.projection()?;
        refuse_duplicate_name(names, &index.name)?;
    }
    if indexes.len() > limits::LOCAL_INDEXES {
        return Err(invalid(format_args!(
            "Number of LocalSecondaryIndexes exceeds per-table limit of {}",
            limits::LOCAL_INDEXES
        )));
    }
    let definition = |index: &CheckedIndex| {
        Ok(IndexDefinition {
            name: index.name.clone(),
            key: definitions.resolve(&index.key)?,
            projection: index.projection()?,
            throughput: None,
            on_demand: None,
            warm: None,
        })
    };
    indexes.iter().map(definition).collect()
}

/// A local index has the table's partition key and a sort key of its own.
fn check_local_key(
    name: &str,
    key: &[KeySchemaElement],
    table_key: &[KeySchemaElement],
) -> Result<(), Exception> {
    if key.len() < LOCAL_KEY {
        return Err(invalid(format_args!("Index KeySchema does not have a range key for index: {name}")));
    }
    match (key.first(), table_key.first()) {
        (Some(hash), Some(table_hash)) if hash.name != table_hash.name => Err(invalid(format_args!(
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. index hash key: {}, table hash key: {}",
            hash.name, table_hash.name
        ))),
        _ => Ok(()),
    }
}

fn global_indexes<'c>(
    checked: &'c Checked,
    definitions: &Definitions<'_>,
    names: &mut HashSet<&'c str>,
) -> Result<Vec<IndexDefinition>, Exception> {
    let indexes = checked.global_indexes.as_deref().unwrap_or_default();
    let warm = |index: &CheckedIndex| {
        new_warm(index.warm, Owner::Index(&index.name), checked.billing_mode, index.provisioned)
    };
    for index in indexes {
        index.projection()?;
        check_index_billing(index, checked.billing_mode)?;
        warm(index)?;
        refuse_duplicate_name(names, &index.name)?;
    }
    if indexes.len() > limits::GLOBAL_INDEXES {
        return Err(invalid(format_args!(
            "GlobalSecondaryIndex count exceeds the per-table limit of {}",
            limits::GLOBAL_INDEXES
        )));
    }
    let definition = |index: &CheckedIndex| {
        Ok(IndexDefinition {
            name: index.name.clone(),
            key: definitions.resolve(&index.key)?,
            projection: index.projection()?,
            throughput: index.provisioned,
            on_demand: index.on_demand,
            warm: warm(index)?,
        })
    };
    indexes.iter().map(definition).collect()
}

/// A global index is billed as its table is.
fn check_index_billing(index: &CheckedIndex, billing_mode: BillingMode) -> Result<(), Exception> {
    let (name, owner) = (&index.name, Owner::Index(&index.name));
    match billing_mode {
        BillingMode::PayPerRequest if index.provisioned.is_some() => Err(invalid(format_args!(
            "ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
        ))),
        BillingMode::PayPerRequest => check_on_demand(index.on_demand, owner, false),
        BillingMode::Provisioned if index.provisioned.is_none() => {
            Err(invalid(format_args!("ProvisionedThroughput is not specified for index: {name}")))
        }
        BillingMode::Provisioned => {
            check_bounds(index.provisioned)?;
            refuse_on_demand(index.on_demand, owner)
        }
    }
}

/// All indexes together project so many attributes by name.
fn check_projected_attributes<'i>(
    indexes: impl Iterator<Item = &'i IndexDefinition>,
) -> Result<(), Exception> {
    let projected = indexes.map(|index| match &index.projection {
        IndexProjection::Include(names) => names.len(),
        IndexProjection::All | IndexProjection::KeysOnly => 0,
    });
    if projected.sum::<usize>() > limits::PROJECTED_ATTRIBUTES {
        return Err(invalid(format_args!(
            "Number of NonKeyAttributes over all indexes exceeds per-table limit of {}",
            limits::PROJECTED_ATTRIBUTES
        )));
    }
    Ok(())
}

fn check_policy(policy: &Text<'_>) -> Result<(), Exception> {
    let Some(policy) = policy else { return Ok(()) };
    if policy.len() > POLICY_BYTES {
        return Err(invalid(format_args!("Maximum policy size of {POLICY_BYTES} bytes exceeded")));
    }
    if !policy.trim_start().starts_with('{') || !crate::is_json(policy.as_bytes()) {
        return Err(invalid("Invalid policy document: This policy contains invalid Json"));
    }
    Ok(())
}

pub(crate) fn encode(output: &CreateTableOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("TableDescription");
        table_description::encode(&output.table, json);
    });
}

#[cfg(test)]
mod tests;
