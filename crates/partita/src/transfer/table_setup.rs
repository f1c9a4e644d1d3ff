//! Lists, describes and creates tables, and configures them once their items are loaded.

use super::table_definition::{self, SetupSteps};
use crate::client::Client;
use serde_json::{Value, json};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The given tables, or all tables if none is given.
pub fn choose(client: &mut Client, wanted: &[String]) -> Result<Vec<String>, String> {
    if !wanted.is_empty() {
        return Ok(wanted.to_vec());
    }
    let mut names = Vec::new();
    let mut request = json!({});
    loop {
        let response = call(client, "ListTables", &request)?;
        let page = response["TableNames"].as_array().into_iter().flatten();
        names.extend(page.filter_map(|name| name.as_str().map(str::to_owned)));
        match &response["LastEvaluatedTableName"] {
            Value::Null => return Ok(names),
            last => request["ExclusiveStartTableName"] = last.clone(),
        }
    }
}

/// A table's definition, as in a dump.
pub fn define(client: &mut Client, name: &str) -> Result<Value, String> {
    let request = json!({ "TableName": name });
    let table = call(client, "DescribeTable", &request)?["Table"].take();
    let time_to_live = call(client, "DescribeTimeToLive", &request)?["TimeToLiveDescription"].take();
    let mut tags = Vec::new();
    let mut request = json!({ "ResourceArn": table["TableArn"] });
    loop {
        let mut response = call(client, "ListTagsOfResource", &request)?;
        if let Value::Array(page) = response["Tags"].take() {
            tags.extend(page);
        }
        match response["NextToken"].take() {
            Value::Null => return Ok(table_definition::from_description(&table, &time_to_live, tags)),
            token => request["NextToken"] = token,
        }
    }
}

/// The error of a table that exists but cannot be read at all, because its record is damaged.
pub fn damage(client: &mut Client, name: &str) -> Result<Option<String>, String> {
    match client.call("DescribeTable", &json!({ "TableName": name })) {
        Ok(_) => Ok(None),
        Err(failure) if failure.is("InternalServerError") => Ok(Some(failure.to_string())),
        Err(failure) => Err(failure.to_string()),
    }
}

/// Fails if the table exists: it may contain items that a load would mix with its own.
pub fn refuse_existing(client: &mut Client, name: &str) -> Result<(), String> {
    if exists(client, name)? {
        return Err(format!("table {name} exists already: delete it, or put the items into it with --merge"));
    }
    Ok(())
}

fn exists(client: &mut Client, name: &str) -> Result<bool, String> {
    match client.call("DescribeTable", &json!({ "TableName": name })) {
        Ok(_) => Ok(true),
        Err(failure) if failure.is("ResourceNotFoundException") => Ok(false),
        Err(failure) => Err(failure.to_string()),
    }
}

/// Creates the table, unless it exists. Fails if it exists with another key.
pub fn create(client: &mut Client, steps: &SetupSteps) -> Result<(), String> {
    let name = steps.create["TableName"].as_str().unwrap_or_default();
    if !exists(client, name)? {
        match client.call("CreateTable", &steps.create) {
            // The request of a load that was killed may take effect only now.
            Err(failure) if failure.is("ResourceInUseException") => {}
            outcome => drop(outcome.map_err(|failure| failure.to_string())?),
        }
    }
    let table = wait_until_active(client, name)?;
    if table_definition::keys(&table) != table_definition::keys(&steps.create) {
        return Err(format!("table {name} exists already, and has another key"));
    }
    Ok(())
}

/// Applies the settings that follow the items. Idempotent.
pub fn configure(client: &mut Client, steps: &SetupSteps) -> Result<(), String> {
    let name = steps.create["TableName"].as_str().unwrap_or_default();
    if let Some(request) = &steps.update_table {
        let table = wait_until_active(client, name)?;
        if table["StreamSpecification"] != request["StreamSpecification"] {
            call(client, "UpdateTable", request)?;
            wait_until_active(client, name)?;
        }
    }
    if let Some(request) = &steps.update_time_to_live {
        let now = call(client, "DescribeTimeToLive", &json!({ "TableName": name }))?;
        if now["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED" {
            call(client, "UpdateTimeToLive", request)?;
        }
    }
    Ok(())
}

/// Waits until the table and its indexes are active, and returns the table.
pub fn wait_until_active(client: &mut Client, name: &str) -> Result<Value, String> {
    loop {
        let table = call(client, "DescribeTable", &json!({ "TableName": name }))?["Table"].take();
        if is_active(&table) {
            return Ok(table);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn is_active(table: &Value) -> bool {
    let mut indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
    table["TableStatus"] == "ACTIVE" && indexes.all(|index| index["IndexStatus"] == "ACTIVE")
}

fn call(client: &mut Client, operation: &str, request: &Value) -> Result<Value, String> {
    client.call(operation, request).map_err(|failure| failure.to_string())
}
