//! Tables of a database: named, described, made, and set up when their items are there.

use super::table_definition::{self, Steps};
use crate::client::Client;
use serde_json::{Value, json};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(200);

/// The tables that are asked for; all there are if none is.
pub fn chosen(client: &mut Client, wanted: &[String]) -> Result<Vec<String>, String> {
    if !wanted.is_empty() {
        return Ok(wanted.to_vec());
    }
    let mut names = Vec::new();
    let mut request = json!({});
    loop {
        let answer = call(client, "ListTables", &request)?;
        let page = answer["TableNames"].as_array().into_iter().flatten();
        names.extend(page.filter_map(|name| name.as_str().map(str::to_owned)));
        match &answer["LastEvaluatedTableName"] {
            Value::Null => return Ok(names),
            last => request["ExclusiveStartTableName"] = last.clone(),
        }
    }
}

/// A table's definition, as a dump keeps it.
pub fn defined(client: &mut Client, name: &str) -> Result<Value, String> {
    let request = json!({ "TableName": name });
    let table = call(client, "DescribeTable", &request)?["Table"].take();
    let time_to_live = call(client, "DescribeTimeToLive", &request)?["TimeToLiveDescription"].take();
    let mut tags = Vec::new();
    let mut request = json!({ "ResourceArn": table["TableArn"] });
    loop {
        let mut answer = call(client, "ListTagsOfResource", &request)?;
        if let Value::Array(page) = answer["Tags"].take() {
            tags.extend(page);
        }
        match answer["NextToken"].take() {
            Value::Null => return Ok(table_definition::from_description(&table, &time_to_live, tags)),
            token => request["NextToken"] = token,
        }
    }
}

/// Why a table that is there cannot be read at all, if so: its record is damaged.
pub fn unreadable(client: &mut Client, name: &str) -> Result<Option<String>, String> {
    match client.call("DescribeTable", &json!({ "TableName": name })) {
        Ok(_) => Ok(None),
        Err(failure) if failure.is("InternalServerError") => Ok(Some(failure.to_string())),
        Err(failure) => Err(failure.to_string()),
    }
}

/// A table that is there already may hold items that a load would mix with its own.
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

/// Makes the table, unless it is there. One with another key is not the table that was to be made.
pub fn create(client: &mut Client, steps: &Steps) -> Result<(), String> {
    let name = steps.create["TableName"].as_str().unwrap_or_default();
    if !exists(client, name)? {
        match client.call("CreateTable", &steps.create) {
            // The request of a load that was killed may arrive only now.
            Err(failure) if failure.is("ResourceInUseException") => {}
            outcome => drop(outcome.map_err(|failure| failure.to_string())?),
        }
    }
    let table = until_active(client, name)?;
    if table_definition::keys(&table) != table_definition::keys(&steps.create) {
        return Err(format!("table {name} exists already, and has another key"));
    }
    Ok(())
}

/// What comes after the items. Repeating it does no harm.
pub fn set_up(client: &mut Client, steps: &Steps) -> Result<(), String> {
    let name = steps.create["TableName"].as_str().unwrap_or_default();
    if let Some(request) = &steps.update_table {
        let table = until_active(client, name)?;
        if table["StreamSpecification"] != request["StreamSpecification"] {
            call(client, "UpdateTable", request)?;
            until_active(client, name)?;
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

/// The table once it and its indexes are active.
pub fn until_active(client: &mut Client, name: &str) -> Result<Value, String> {
    loop {
        let table = call(client, "DescribeTable", &json!({ "TableName": name }))?["Table"].take();
        if is_active(&table) {
            return Ok(table);
        }
        std::thread::sleep(PAUSE);
    }
}

fn is_active(table: &Value) -> bool {
    let mut indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
    table["TableStatus"] == "ACTIVE" && indexes.all(|index| index["IndexStatus"] == "ACTIVE")
}

fn call(client: &mut Client, operation: &str, request: &Value) -> Result<Value, String> {
    client.call(operation, request).map_err(|failure| failure.to_string())
}
