//! UpdateTable: changes of the record; a new global index starts to be filled from the existing items.

use crate::Engine;
use crate::catalog::Catalog;
use crate::catalog::change_table::{SideWrites, check_created};
use crate::catalog::table::*;
use crate::stream::Stream;
use crate::stream::stream_options::StreamOptions;
use crate::table::create_table::{Spaces, start_stream};
use crate::table::delete_table::{drop_space, ended_stream};
use crate::table::warm_throughput::{WarmUnits, warmer};
use partita_api::key_schema::{AttributeDefinition, KeyAttribute, KeySchema};
use partita_api::table::update_table::*;
use partita_api::table::*;
use partita_api::{Exception, ExceptionKind, messages};
use partita_store::{Space, Store, Write};
use partita_value::limits;

impl<S: Store> Engine<S> {
    pub async fn update_table(&self, request: UpdateTable) -> Result<UpdateTableOutput, Exception> {
        let name = request.name.clone();
        let now = self.clock.now_millis();
        let before = self.catalog.named_table(&name)?;
        let (catalog, options) = (self.catalog.clone(), self.stream_options);
        let change = move |record: &mut TableRecord, spaces: &mut Spaces| {
            let writes = change(record, spaces, &request, now)?;
            let stream = match &request.stream {
                Some(update) => change_stream(record, spaces, update, now, &options, &catalog)?,
                None => None,
            };
            Ok(SideWrites { writes, stream, history: None })
        };
        let record = self.change_table(&name, change).await?;
        self.wake_maintenance();
        let mut table = self.describe(&Table::new(record))?;
        table.status = ResourceStatus::Updating;
        // While it is UPDATING, a table is described with the units it had.
        if [table.billing_mode, before.record.billing_mode] == [BillingMode::Provisioned; 2] {
            table.throughput = before.record.throughput;
            let changes = before.record.throughput_changes.describe(now);
            table.throughput_changes.decreases_today = changes.decreases_today;
        }
        Ok(UpdateTableOutput { table })
    }
}

fn change(
    record: &mut TableRecord,
    spaces: &mut Spaces,
    request: &UpdateTable,
    now: u64,
) -> Result<Vec<Write>, Exception> {
    check_created(record)?;
    let warm = WarmUnits::of(record);
    change_billing(record, request, now)?;
    let mut writes = Vec::new();
    for update in &request.index_updates {
        match update {
            GlobalIndexUpdate::Create(index) => create_index(record, spaces, request, index)?,
            GlobalIndexUpdate::Delete { name } => writes.extend(delete_index(record, name)?),
            GlobalIndexUpdate::Update(update) => update_index(record, update, now)?,
        }
    }
    record.on_demand = request.on_demand.or(record.on_demand);
    let has = warm_units(record.warm, record.billing_mode, Some(record.throughput));
    record.warm = warmer(record.warm, request.warm, has, &"table")?;
    record.encryption = request.encryption.clone().or(record.encryption.take());
    record.table_class = request.table_class.or(record.table_class);
    record.deletion_protection = request.deletion_protection.unwrap_or(record.deletion_protection);
    warm.keep(record);
    Ok(writes)
}

fn change_billing(record: &mut TableRecord, request: &UpdateTable, now: u64) -> Result<(), Exception> {
    let mode = request.billing_mode.unwrap_or(record.billing_mode);
    match (mode, request.throughput) {
        (BillingMode::PayPerRequest, Some(_)) => {
            return Err(Exception::validation(messages::PROVISIONED_UNITS_ON_DEMAND));
        }
        (BillingMode::PayPerRequest, None) => {
            if record.billing_mode != mode {
                record.on_demand_since_millis = Some(now);
                record.throughput = Throughput::default();
                record.global_indexes.iter_mut().for_each(|index| index.definition.throughput = None);
            }
        }
        (BillingMode::Provisioned, None) if record.billing_mode != mode => {
            return Err(Exception::validation(messages::PROVISIONED_UNITS_MISSING));
        }
        (BillingMode::Provisioned, None) => {}
        (BillingMode::Provisioned, Some(throughput)) => {
            if record.billing_mode == mode && record.throughput == throughput {
                return Err(unchanged_throughput(throughput));
            }
            if record.billing_mode != mode {
                check_index_units(record, request)?;
            }
            record.throughput_changes.note(record.throughput, throughput, now)?;
            record.throughput = throughput;
        }
    }
    record.billing_mode = mode;
    Ok(())
}

/// A table that gets units has some for each of its indexes.
fn check_index_units(record: &TableRecord, request: &UpdateTable) -> Result<(), Exception> {
    let has_units = |name: &str| {
        let mut updates = request.index_updates.iter();
        updates.any(|update| {
            matches!(update, GlobalIndexUpdate::Update(change) if change.name == name && change.throughput.is_some())
        })
    };
    let names = record.global_indexes.iter().map(|index| index.definition.name.as_str());
    let missing: Vec<&str> = names.filter(|name| !has_units(name)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Exception::validation(format!(
            "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: {}",
            missing.join(",")
        ))),
    }
}

fn update_index(record: &mut TableRecord, update: &IndexUpdate, now: u64) -> Result<(), Exception> {
    let on_demand = record.billing_mode == BillingMode::PayPerRequest;
    let name = &update.name;
    refuse_local_index(record, name, "update")?;
    let position = record.global_indexes.iter().position(|index| index.definition.name == *name);
    let Some(index) = position.and_then(|position| record.global_indexes.get_mut(position)) else {
        let table = &record.name;
        return Err(Exception::resource_not_found(format!(
            "{}: Index {name} for table {table}",
            messages::TABLE_NOT_FOUND
        )));
    };
    let only_units = update.on_demand.is_none() && update.warm.is_none();
    if on_demand && (update.throughput.is_some() || only_units) {
        return Err(Exception::validation(format!(
            "One or more parameter values were invalid: The only Updates for index: {name} when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
        )));
    }
    let definition = &mut index.definition;
    if let Some(throughput) = update.throughput {
        if definition.throughput == Some(throughput) {
            return Err(unchanged_index_throughput(definition));
        }
        index.throughput_changes.note(definition.throughput.unwrap_or_default(), throughput, now)?;
        definition.throughput = Some(throughput);
    }
    definition.on_demand = update.on_demand.or(definition.on_demand);
    let has = warm_units(definition.warm, record.billing_mode, definition.throughput);
    definition.warm = warmer(definition.warm, update.warm, has, &format_args!("index {name}"))?;
    Ok(())
}

/// Local indexes stay as they were created.
fn refuse_local_index(record: &TableRecord, name: &str, action: &str) -> Result<(), Exception> {
    match record.local_indexes.iter().any(|index| index.definition.name == name) {
        true => Err(Exception::validation(format!(
            "Cannot {action} an index that is not a GlobalSecondaryIndex: {name}"
        ))),
        false => Ok(()),
    }
}

fn unchanged_throughput(Throughput { read, write }: Throughput) -> Exception {
    Exception::validation(format!(
        "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: {read}. Requested ReadCapacityUnits: {read}. Current WriteCapacityUnits provisioned for the table: {write}. Requested WriteCapacityUnits: {write}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    ))
}

fn unchanged_index_throughput(definition: &IndexDefinition) -> Exception {
    let Throughput { read, write } = definition.throughput.unwrap_or_default();
    Exception::validation(format!(
        "The provisioned throughput for the index {} will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the index: {read}. Requested ReadCapacityUnits: {read}. Current WriteCapacityUnits provisioned for the index: {write}. Requested WriteCapacityUnits: {write}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.",
        definition.name
    ))
}

fn create_index(
    record: &mut TableRecord,
    spaces: &mut Spaces,
    request: &UpdateTable,
    index: &NewIndex,
) -> Result<(), Exception> {
    let mut indexes = record.local_indexes.iter().chain(&record.global_indexes);
    if indexes.any(|existing| existing.definition.name == index.name) {
        return Err(Exception::validation("Attempting to create an index which already exists"));
    }
    if record.global_indexes.iter().any(|existing| existing.backfilling) {
        return Err(limit(messages::ONE_INDEX_AT_A_TIME));
    }
    if record.global_indexes.len() >= limits::GLOBAL_INDEXES {
        return Err(limit(format!(
            "Subscriber limit exceeded: Number of GlobalSecondaryIndexes exceeds the limit of {}",
            limits::GLOBAL_INDEXES
        )));
    }
    let provisioned = record.billing_mode == BillingMode::Provisioned;
    if provisioned && index.throughput.is_none() {
        return Err(Exception::validation(messages::index_units_missing(&index.name)));
    }
    if !provisioned && index.throughput.is_some() {
        return Err(Exception::validation(messages::index_units_on_demand(&index.name)));
    }
    let sent = &request.attribute_definitions;
    let definitions = [sent.as_slice(), &attribute_definitions(record)].concat();
    let key = KeySchema::resolve(&index.key_schema, &definitions).map_err(|_| undefined(index, request))?;
    refuse_redefinitions(record, sent, &key)?;
    let definition = IndexDefinition {
        name: index.name.clone(),
        key,
        projection: index.projection.clone(),
        throughput: index.throughput,
        on_demand: index.on_demand,
        warm: index.warm,
    };
    record.global_indexes.push(IndexRecord::new(definition, spaces.take(), true));
    keep_used_definitions(record, sent);
    Ok(())
}

fn limit(message: impl Into<String>) -> Exception {
    Exception::new(ExceptionKind::LimitExceededException, message)
}

/// An attribute has one type in all keys.
fn refuse_redefinitions(
    record: &TableRecord,
    sent: &[AttributeDefinition],
    new: &KeySchema,
) -> Result<(), Exception> {
    let redefined = |known: &KeyAttribute| {
        sent.iter().any(|definition| definition.name == known.name && definition.kind != known.kind)
    };
    match keys(record).find(|key| key.attributes().any(redefined)) {
        None => Ok(()),
        Some(key) => Err(Exception::validation(format!(
            "One or more parameter values were invalid: Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: {} New schema: {}",
            printed_schema(key),
            printed_schema(new)
        ))),
    }
}

/// The keys of the table and of its indexes.
fn keys(record: &TableRecord) -> impl Iterator<Item = &KeySchema> {
    let indexes = record.local_indexes.iter().chain(&record.global_indexes);
    std::iter::once(&record.key).chain(indexes.map(|index| &index.definition.key))
}

fn printed_schema(key: &KeySchema) -> String {
    let part = |attributes: &[KeyAttribute], role: &str| -> Vec<String> {
        let element = |attribute: &KeyAttribute| {
            format!("SchemaElement: key{{{}:{}:{role}}}", attribute.name, attribute.kind.name())
        };
        attributes.iter().map(element).collect()
    };
    format!("Schema:[{}]", [part(&key.partition, "HASH"), part(&key.sort, "RANGE")].concat().join(", "))
}

fn undefined(index: &NewIndex, request: &UpdateTable) -> Exception {
    let keys: Vec<_> = index.key_schema.iter().map(|element| element.name.as_str()).collect();
    let defined: Vec<_> = request.attribute_definitions.iter().map(|known| known.name.as_str()).collect();
    Exception::validation(format!(
        "One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], AttributeDefinitions: [{}]",
        keys.join(", "),
        defined.join(", ")
    ))
}

/// Definitions are those of attributes that some key uses: the table's own, then those added.
pub fn keep_used_definitions(record: &mut TableRecord, added: &[AttributeDefinition]) {
    let mut definitions = attribute_definitions(record);
    let is_new =
        |definition: &&AttributeDefinition| !definitions.iter().any(|known| known.name == definition.name);
    let new: Vec<_> = added.iter().filter(is_new).cloned().collect();
    definitions.extend(new);
    record.attribute_definitions = definitions
        .into_iter()
        .filter(|definition| keys(record).any(|key| key.contains(&definition.name)))
        .map(|definition| KeyAttribute { name: definition.name, kind: definition.kind })
        .collect();
}

fn delete_index(record: &mut TableRecord, name: &str) -> Result<Vec<Write>, Exception> {
    refuse_local_index(record, name, "delete")?;
    let position = record.global_indexes.iter().position(|index| index.definition.name == name);
    let position = position.ok_or_else(|| Exception::resource_not_found(messages::TABLE_NOT_FOUND))?;
    let removed = record.global_indexes.remove(position);
    keep_used_definitions(record, &[]);
    Ok(drop_space(Space(removed.space)).into())
}

/// Starts or ends the table's stream, and tells which one that is.
fn change_stream(
    record: &mut TableRecord,
    spaces: &mut Spaces,
    update: &StreamUpdate,
    now: u64,
    options: &StreamOptions,
    catalog: &Catalog,
) -> Result<Option<Stream>, Exception> {
    match (update, &record.stream) {
        (StreamUpdate::Enable(_), Some(_)) => Err(Exception::validation(format!(
            "Table already has an enabled stream: TableName: {}",
            record.name
        ))),
        (StreamUpdate::Enable(view), None) => {
            Ok(Some(start_stream(record, *view, spaces, now, options, catalog)))
        }
        (StreamUpdate::Disable, None) => {
            Err(Exception::validation(format!("Table has no stream to disable: TableName: {}", record.name)))
        }
        (StreamUpdate::Disable, Some(_)) => {
            let ended = ended_stream(record, now, catalog);
            record.stream = None;
            Ok(ended)
        }
    }
}
