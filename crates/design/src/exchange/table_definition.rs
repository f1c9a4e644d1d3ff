//! Table definitions in DynamoDB JSON: the CreateTable request of a model, and the keys and indexes of a table description.

use super::Exported;
use crate::keys::key_mapping::TableOrIndex;
use crate::model::{Index, Model, Projection};
use serde_json::{Map, Value, json};

/// Returns the CreateTable request of a model, and what has to be asked for by other requests.
pub fn export(model: &Model) -> Exported {
    let expiry = update_time_to_live(model)
        .map(|request| format!("The expiry is a request of its own, UpdateTimeToLive: {request}"));
    Exported { document: create_table(model), remarks: expiry.into_iter().collect() }
}

/// Returns the UpdateTimeToLive request that lets the items of a table expire as the model says.
pub fn update_time_to_live(model: &Model) -> Option<Value> {
    let expiry = json!({ "Enabled": true, "AttributeName": model.expiry_attribute()? });
    Some(json!({ "TableName": model.table.name, "TimeToLiveSpecification": expiry }))
}

/// Returns the CreateTable request of a model.
pub fn create_table(model: &Model) -> Value {
    let mut attributes: Map<String, Value> = Map::new();
    for location in TableOrIndex::all(model) {
        for (position, name) in location.key_names(model).iter().enumerate() {
            let kind = if location.key_is_number(model, position) { "N" } else { "S" };
            attributes.entry(name.clone()).or_insert(json!(kind));
        }
    }
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
        .collect();
    let mut request = json!({
        "TableName": model.table.name,
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema((TableOrIndex { index: None }).halves(model)),
        "BillingMode": "PAY_PER_REQUEST",
    });
    for (field, local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
        let indexes: Vec<Value> =
            model.indexes.iter().filter(|index| index.local == local).map(index_json).collect();
        if !indexes.is_empty() {
            request[field] = json!(indexes);
        }
    }
    request
}

fn key_schema((partition, sort): (&[String], &[String])) -> Vec<Value> {
    let part = |names: &[String], kind: &str| -> Vec<Value> {
        names.iter().map(|name| json!({ "AttributeName": name, "KeyType": kind })).collect()
    };
    [part(partition, "HASH"), part(sort, "RANGE")].concat()
}

fn index_json(index: &Index) -> Value {
    let projection = match &index.project {
        Projection::All => json!({ "ProjectionType": "ALL" }),
        Projection::KeysOnly => json!({ "ProjectionType": "KEYS_ONLY" }),
        Projection::Include(names) => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names }),
    };
    json!({ "IndexName": index.name, "KeySchema": key_schema(index.halves()), "Projection": projection })
}

/// Returns the keys and the indexes of a table, from the `Table` of a DescribeTable response.
pub fn from_description(table: &Value) -> (Vec<String>, Vec<Index>) {
    let half = |schema: &Value, kind: &str| -> Vec<String> {
        let keys = schema.as_array().into_iter().flatten().filter(|key| key["KeyType"] == kind);
        keys.filter_map(|key| key["AttributeName"].as_str()).map(str::to_owned).collect()
    };
    let names = |schema: &Value| [half(schema, "HASH"), half(schema, "RANGE")].concat();
    let mut indexes = Vec::new();
    for (field, local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
        for index in table[field].as_array().into_iter().flatten() {
            let included = index["Projection"]["NonKeyAttributes"].as_array().into_iter().flatten();
            let project = match index["Projection"]["ProjectionType"].as_str() {
                Some("KEYS_ONLY") => Projection::KeysOnly,
                Some("INCLUDE") => {
                    Projection::Include(included.filter_map(Value::as_str).map(str::to_owned).collect())
                }
                _ => Projection::All,
            };
            indexes.push(Index {
                name: index["IndexName"].as_str().unwrap_or_default().to_owned(),
                local,
                keys: names(&index["KeySchema"]),
                partition_keys: half(&index["KeySchema"], "HASH").len(),
                project,
                span: 0..0,
            });
        }
    }
    (names(&table["KeySchema"]), indexes)
}
