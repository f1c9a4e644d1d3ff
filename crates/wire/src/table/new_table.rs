//! A table to create: the members of CreateTable, which an import has as well, and every check that needs no stored table.
//!
//! The order of the checks is AWS's: each member against the service model, with all failures together; then billing, the key of the
//! table, the keys of indexes, unused definitions, local indexes one by one, global indexes one by one, and the other settings.

use crate::json::Reader;
use crate::members::{Choice, chosen, read_request, required, structure, validate};
use crate::table::table_name::TableReference;
use crate::table::table_settings::key_schema::*;
use crate::table::table_settings::secondary_index::*;
use crate::table::table_settings::throughput::*;
use crate::table::table_settings::*;
use crate::tag::tags::{TagMembers, check_tags};
use partita_api::key_schema::{AttributeDefinition, KeySchemaElement};
use partita_api::table::create_table::CreateTable;
use partita_api::table::*;
use partita_api::{Exception, messages};
use partita_value::limits;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum size of a resource policy.
const POLICY_BYTES: usize = 20_480;

structure! {
    struct NewTableMembers<'a> {
        name: TableReference<'a> = "TableName";
        attribute_definitions: Vec<AttributeDefinitionMembers<'a>> = "AttributeDefinitions", required;
        billing_mode: Choice<'a, BillingMode> = "BillingMode";
        provisioned: ProvisionedThroughputMembers = "ProvisionedThroughput";
        key_schema: Vec<KeySchemaElementMembers<'a>> = "KeySchema", required, key_length(LOCAL_KEY);
        local_indexes: Vec<LocalIndexMembers<'a>> = "LocalSecondaryIndexes";
        global_indexes: Vec<GlobalIndexMembers<'a>> = "GlobalSecondaryIndexes";
        resource_policy: Cow<'a, str> = "ResourcePolicy";
        tags: Vec<TagMembers<'a>> = "Tags";
        global_table_source: Cow<'a, str> = "GlobalTableSourceArn";
        ..settings: TableSettingsMembers<'a>;
    }
}

/// The members that rules between members need, valid individually.
struct ValidTable {
    definitions: Vec<AttributeDefinition>,
    key: Vec<KeySchemaElement>,
    local_indexes: Option<Vec<ValidIndex>>,
    global_indexes: Option<Vec<ValidIndex>>,
    billing_mode: BillingMode,
    provisioned: Option<Throughput>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<CreateTable, Exception> {
    let members: NewTableMembers = read_request(reader)?;
    let settings = &members.settings;
    let name = TableReference::resolve(&members.name)?;
    refuse_global_tables("GlobalTableSourceArn", members.global_table_source.is_some())?;
    validate(&members)?;
    table_class(&settings.table_class)?;
    let table = members.valid();
    let on_demand = on_demand(settings.on_demand);
    check_billing(&table, on_demand)?;
    let definitions = Definitions::new(&table.definitions)?;
    check_keys(&table, &definitions)?;
    let mut names = HashSet::new();
    let local_indexes = local_indexes(&table, &definitions, &mut names)?;
    let global_indexes = global_indexes(&table, &definitions, &mut names)?;
    check_projected_attributes(local_indexes.iter().chain(&global_indexes))?;
    let encryption = settings.encryption.as_ref().map(EncryptionSpecification::resolve).transpose()?;
    check_policy(&members.resource_policy)?;
    Ok(CreateTable {
        key: definitions.resolve(&table.key)?,
        local_indexes,
        global_indexes,
        billing_mode: table.billing_mode,
        throughput: table.provisioned,
        on_demand,
        warm: new_warm(settings.warm, Owner::Table, table.billing_mode, table.provisioned)?,
        stream: settings.stream.as_ref().map(StreamSpecification::of_new_table).transpose()?.flatten(),
        // An empty specification counts as none.
        encryption: encryption.filter(|encryption| encryption.enabled),
        table_class: table_class(&settings.table_class)?,
        deletion_protection: settings.deletion_protection.unwrap_or(false),
        resource_policy: members.resource_policy.map(Cow::into_owned),
        tags: check_tags(members.tags.as_deref().unwrap_or_default())?,
        name,
        attribute_definitions: table.definitions,
    })
}

impl NewTableMembers<'_> {
    fn valid(&self) -> ValidTable {
        let local = |indexes: &Vec<_>| indexes.iter().filter_map(LocalIndexMembers::valid).collect();
        let global = |indexes: &Vec<_>| indexes.iter().filter_map(GlobalIndexMembers::valid).collect();
        ValidTable {
            definitions: definitions(&self.attribute_definitions),
            key: key_elements(&self.key_schema),
            local_indexes: self.local_indexes.as_ref().map(local),
            global_indexes: self.global_indexes.as_ref().map(global),
            billing_mode: chosen(&self.billing_mode).unwrap_or_default(),
            provisioned: provisioned(self.provisioned),
        }
    }
}

fn check_billing(table: &ValidTable, on_demand: Option<OnDemandThroughput>) -> Result<(), Exception> {
    match table.billing_mode {
        BillingMode::PayPerRequest if table.provisioned.is_some() => {
            Err(Exception::validation(messages::PROVISIONED_UNITS_ON_DEMAND))
        }
        BillingMode::PayPerRequest => check_on_demand(on_demand, Owner::Table, false),
        BillingMode::Provisioned if table.provisioned.is_none() => Err(invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
        )),
        BillingMode::Provisioned => {
            check_bounds(table.provisioned)?;
            refuse_on_demand(on_demand, Owner::Table)
        }
    }
}

/// Checks the keys of the table and of all indexes, and that they use all definitions.
fn check_keys(table: &ValidTable, definitions: &Definitions<'_>) -> Result<(), Exception> {
    let ValidTable { key, local_indexes, global_indexes, .. } = table;
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
    table: &'c ValidTable,
    definitions: &Definitions<'_>,
    names: &mut HashSet<&'c str>,
) -> Result<Vec<IndexDefinition>, Exception> {
    let indexes = table.local_indexes.as_deref().unwrap_or_default();
    for index in indexes {
        check_local_key(&index.name, &index.key, &table.key)?;
        index.projection()?;
        refuse_duplicate_name(names, &index.name)?;
    }
    if indexes.len() > limits::LOCAL_INDEXES {
        return Err(invalid(format_args!(
            "Number of LocalSecondaryIndexes exceeds per-table limit of {}",
            limits::LOCAL_INDEXES
        )));
    }
    indexes.iter().map(|index| index_definition(index, definitions, None)).collect()
}

/// Checks that a local index has the partition key of the table and a sort key.
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
    table: &'c ValidTable,
    definitions: &Definitions<'_>,
    names: &mut HashSet<&'c str>,
) -> Result<Vec<IndexDefinition>, Exception> {
    let indexes = table.global_indexes.as_deref().unwrap_or_default();
    let warm = |index: &ValidIndex| {
        new_warm(index.warm, Owner::Index(&index.name), table.billing_mode, index.provisioned)
    };
    for index in indexes {
        index.projection()?;
        check_index_billing(index, table.billing_mode)?;
        warm(index)?;
        refuse_duplicate_name(names, &index.name)?;
    }
    if indexes.len() > limits::GLOBAL_INDEXES {
        return Err(invalid(format_args!(
            "GlobalSecondaryIndex count exceeds the per-table limit of {}",
            limits::GLOBAL_INDEXES
        )));
    }
    indexes.iter().map(|index| index_definition(index, definitions, warm(index)?)).collect()
}

fn index_definition(
    index: &ValidIndex,
    definitions: &Definitions<'_>,
    warm: Option<WarmThroughput>,
) -> Result<IndexDefinition, Exception> {
    Ok(IndexDefinition {
        name: index.name.clone(),
        key: definitions.resolve(&index.key)?,
        projection: index.projection()?,
        throughput: index.provisioned,
        on_demand: index.on_demand,
        warm,
    })
}

/// Checks that the throughput of a global index suits the billing mode of the table.
fn check_index_billing(index: &ValidIndex, billing_mode: BillingMode) -> Result<(), Exception> {
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

/// Checks the number of attributes that all indexes together project by name.
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

fn check_policy(policy: &Option<Cow<'_, str>>) -> Result<(), Exception> {
    let Some(policy) = policy else { return Ok(()) };
    if policy.len() > POLICY_BYTES {
        return Err(invalid(format_args!("Maximum policy size of {POLICY_BYTES} bytes exceeded")));
    }
    if !policy.trim_start().starts_with('{') || !crate::is_json(policy.as_bytes()) {
        return Err(invalid("Invalid policy document: This policy contains invalid Json"));
    }
    Ok(())
}
