//! Tables of Terraform, from its JSON or from HCL, in the form of DescribeTable.

use super::hcl;
use serde_json::{Value, json};

/// How deep modules may be nested.
const MAX_DEPTH: usize = 32;

/// The resources `aws_dynamodb_table` with their names.
pub(super) fn resources(text: &str) -> Result<Vec<(String, Value)>, String> {
    if !text.trim_start().starts_with('{') {
        return hcl::resources(text, "aws_dynamodb_table");
    }
    let root: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let mut found = Vec::new();
    for state in [&root["values"], &root["planned_values"]] {
        collect(&state["root_module"], &mut found, 0);
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

fn collect(module: &Value, found: &mut Vec<(String, Value)>, depth: usize) {
    for resource in module["resources"].as_array().into_iter().flatten() {
        if resource["type"] == "aws_dynamodb_table" {
            let name = resource["name"].as_str().unwrap_or("table").to_owned();
            found.push((name, resource["values"].clone()));
        }
    }
    for child in module["child_modules"].as_array().into_iter().flatten().filter(|_| depth < MAX_DEPTH) {
        collect(child, found, depth + 1);
    }
}

/// The arguments of a resource in the form of DescribeTable.
pub(super) fn description(values: &Value) -> Value {
    let list = |name: &str| values[name].as_array().cloned().unwrap_or_default();
    let attributes: Vec<Value> = list("attribute")
        .iter()
        .map(|attribute| json!({ "AttributeName": attribute["name"], "AttributeType": attribute["type"] }))
        .collect();
    let index = |index: &Value, local: bool| {
        let partition = if local { &values["hash_key"] } else { &index["hash_key"] };
        let listed = index["key_schema"].as_array().filter(|keys| !keys.is_empty());
        json!({
            "IndexName": index["name"],
            "KeySchema": listed.map_or_else(|| key_schema(partition, &index["range_key"]), |keys| listed_schema(keys)),
            "Projection": { "ProjectionType": index["projection_type"], "NonKeyAttributes": index["non_key_attributes"] },
        })
    };
    let indexes =
        |name: &str, local: bool| list(name).iter().map(|own| index(own, local)).collect::<Vec<Value>>();
    let ttl = list("ttl").into_iter().next().unwrap_or_default();
    json!({
        "TableName": values["name"],
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema(&values["hash_key"], &values["range_key"]),
        "GlobalSecondaryIndexes": indexes("global_secondary_index", false),
        "LocalSecondaryIndexes": indexes("local_secondary_index", true),
        "TimeToLiveSpecification": { "AttributeName": ttl["attribute_name"], "Enabled": ttl["enabled"] },
    })
}

/// The keys of an index in the form in which each has a block of its own.
fn listed_schema(keys: &[Value]) -> Vec<Value> {
    keys.iter()
        .map(|key| json!({ "AttributeName": key["attribute_name"], "KeyType": key["key_type"] }))
        .collect()
}

fn key_schema(partition: &Value, sort: &Value) -> Vec<Value> {
    let part = |name: &Value, kind: &str| {
        let absent = name.is_null() || name == "";
        (!absent).then(|| json!({ "AttributeName": name, "KeyType": kind }))
    };
    part(partition, "HASH").into_iter().chain(part(sort, "RANGE")).collect()
}
