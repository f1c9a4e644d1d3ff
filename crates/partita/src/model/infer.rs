//! `partita model infer`: a model proposed from items.

use super::arguments::Infer;
use super::client::Client;
use super::{FINE, Outcome, file};
use partita_design::definition::from_description;
use partita_design::emission;
use partita_design::inference::{Known, infer};
use serde_json::{Map, Value, json};

pub fn run(arguments: &Infer) -> Outcome {
    let mut known =
        Known { table: arguments.table.clone(), keys: arguments.keys.clone(), indexes: Vec::new() };
    let items = match &arguments.items {
        Some(path) => parse(&file::text(path)?, arguments.limit)?,
        None => scan(arguments, &mut known)?,
    };
    let model = infer(&items, &known)?;
    let comment = format!(
        "Proposed from {} items. Correct the names and types, add the patterns and writes that are missing,\nthen: partita model check",
        items.len()
    );
    print!("{}", emission::toml(&model, &comment));
    Ok(FINE)
}

fn parse(text: &str, limit: usize) -> Result<Vec<Map<String, Value>>, String> {
    let whole: Result<Value, _> = serde_json::from_str(text);
    let values: Vec<Value> = match whole {
        Ok(Value::Array(values)) => values,
        Ok(Value::Object(mut object)) => match object.remove("Items") {
            Some(Value::Array(values)) => values,
            _ => vec![Value::Object(object)],
        },
        _ => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let parsed: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            parsed.map_err(|error| format!("the items are not JSON: {error}"))?
        }
    };
    let items: Option<Vec<_>> =
        values.into_iter().take(limit).map(|value| value.as_object().cloned()).collect();
    let items = items.ok_or("the items are not JSON objects")?;
    let typed = |value: &Value| value.as_object().is_some_and(|object| object.len() == 1);
    if items.iter().any(|item| !item.values().all(typed)) {
        return Err("the items are not in DynamoDB JSON: each value names its type, as in {\"PK\": {\"S\": \"USER#1\"}}".to_owned());
    }
    Ok(items)
}

fn scan(arguments: &Infer, known: &mut Known) -> Result<Vec<Map<String, Value>>, String> {
    let mut client = Client::new(&arguments.endpoint)?;
    let name = json!({ "TableName": arguments.table });
    let answer = client.call("DescribeTable", &name).map_err(|failure| failure.to_string())?;
    (known.keys, known.indexes) = from_description(&answer["Table"]);
    let mut items = Vec::new();
    let mut start = Value::Null;
    while items.len() < arguments.limit {
        let mut request = name.clone();
        if !start.is_null() {
            request["ExclusiveStartKey"] = start;
        }
        let page = client.call("Scan", &request).map_err(|failure| failure.to_string())?;
        items.extend(
            page["Items"].as_array().into_iter().flatten().filter_map(|item| item.as_object().cloned()),
        );
        start = page["LastEvaluatedKey"].clone();
        if start.is_null() {
            break;
        }
    }
    items.truncate(arguments.limit);
    Ok(items)
}
