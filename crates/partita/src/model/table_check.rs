//! Compares a table with a model before anything is written to it: keys, their types, indexes and their projections, and the
//! attribute of the expiry time.

use crate::arguments::Endpoint;
use crate::client::Client;
use partita_design::Model;
use partita_design::exchange::table_definition::{create_table, from_description, update_time_to_live};
use partita_design::model::{Index, Projection};
use serde_json::{Value, json};
use std::time::Duration;

/// How a table differs from a model.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct TableDifferences {
    /// What cannot be changed in a table.
    pub obstacles: Vec<String>,
    /// Global indexes that can be added.
    pub missing_indexes: Vec<String>,
}

/// Compares the `Table` of a DescribeTable response with a model.
pub fn differences(model: &Model, description: &Value) -> TableDifferences {
    let (keys, indexes) = from_description(description);
    let mut differences = TableDifferences::default();
    let obstacles = &mut differences.obstacles;
    if keys != model.table.keys {
        obstacles.push(format!(
            "its keys are {}, those of the model {}",
            keys.join(", "),
            model.table.keys.join(", ")
        ));
    }
    let wanted = create_table(model);
    for key in wanted["AttributeDefinitions"].as_array().into_iter().flatten() {
        let defined = description["AttributeDefinitions"].as_array().into_iter().flatten();
        let mut same_name = defined.filter(|other| other["AttributeName"] == key["AttributeName"]);
        if let Some(other) = same_name.find(|other| other["AttributeType"] != key["AttributeType"]) {
            obstacles.push(format!(
                "key attribute {} has type {}, in the model {}",
                key["AttributeName"].as_str().unwrap_or_default(),
                other["AttributeType"].as_str().unwrap_or_default(),
                key["AttributeType"].as_str().unwrap_or_default()
            ));
        }
    }
    for index in &model.indexes {
        match indexes.iter().find(|other| other.name == index.name) {
            None if index.local => obstacles.push(format!(
                "it has no local index {}, and local indexes are created with the table only",
                index.name
            )),
            None => differences.missing_indexes.push(index.name.clone()),
            Some(found) => obstacles.extend(index_difference(index, found)),
        }
    }
    differences
}

fn index_difference(wanted: &Index, found: &Index) -> Option<String> {
    if wanted.halves() != found.halves() {
        return Some(format!(
            "index {} has the keys {}, in the model {}",
            wanted.name,
            found.keys.join(", "),
            wanted.keys.join(", ")
        ));
    }
    // An index that holds more than the model needs serves it as well.
    let missing: Vec<&str> = match (&wanted.project, &found.project) {
        (_, Projection::All) | (Projection::KeysOnly, _) => return None,
        (Projection::All, _) => vec!["all attributes"],
        (Projection::Include(names), Projection::Include(found)) => {
            names.iter().filter(|name| !found.contains(name)).map(String::as_str).collect()
        }
        (Projection::Include(names), Projection::KeysOnly) => names.iter().map(String::as_str).collect(),
    };
    (!missing.is_empty()).then(|| format!("index {} does not hold {}", wanted.name, missing.join(", ")))
}

/// Fails if a table is not as the model declares it; a table that does not exist is fine. Returns whether it exists.
pub fn require_existing(client: &mut Client, model: &Model) -> Result<bool, String> {
    match client.call("DescribeTable", &json!({ "TableName": model.table.name })) {
        Err(failure) if failure.is("ResourceNotFoundException") => Ok(false),
        outcome => {
            let description = outcome.map_err(|failure| failure.to_string())?;
            require(client, model, &description["Table"]).map(|()| true)
        }
    }
}

/// Fails if a table is not as the model declares it, and says what to do.
pub fn require(client: &mut Client, model: &Model, description: &Value) -> Result<(), String> {
    let table = &model.table.name;
    let TableDifferences { obstacles, missing_indexes } = differences(model, description);
    if !obstacles.is_empty() {
        return Err(format!(
            "table {table} is not as the model declares it: {}.\nNothing was written. Choose another table with --table, or correct the model",
            obstacles.join("; ")
        ));
    }
    if !missing_indexes.is_empty() {
        return Err(format!(
            "table {table} does not have the model's indexes {}.\nNothing was written. --add-indexes adds them",
            missing_indexes.join(", ")
        ));
    }
    warn_of_expiry(client, model);
    Ok(())
}

/// Lets the items of a new table expire as the model says.
pub fn enable_expiry(client: &mut Client, model: &Model) -> Result<(), String> {
    let Some(request) = update_time_to_live(model) else { return Ok(()) };
    client.call("UpdateTimeToLive", &request).map(|_| ()).map_err(|failure| failure.to_string())
}

/// Warns if the items of a table expire in another way than the model says.
pub fn warn_of_expiry(client: &mut Client, model: &Model) {
    if let Some(message) = ttl_difference(client, model) {
        eprintln!("partita: {message}");
    }
}

/// What is wrong with the expiry of the table's items: it deletes others than the model says, or none.
fn ttl_difference(client: &mut Client, model: &Model) -> Option<String> {
    let wanted = model.expiry_attribute();
    let table = &model.table.name;
    let response = client.call("DescribeTimeToLive", &json!({ "TableName": table })).ok()?;
    let found = &response["TimeToLiveDescription"];
    let found = found["AttributeName"].as_str().filter(|_| found["TimeToLiveStatus"] != "DISABLED");
    match (found, wanted) {
        (None, None) => None,
        (Some(name), Some(wanted)) if name == wanted => None,
        (Some(name), Some(wanted)) => {
            Some(format!("items of table {table} expire by {name}, in the model by {wanted}"))
        }
        (Some(name), None) => Some(format!(
            "items of table {table} expire by {name}, which leaves behind what belongs to them: the model has no ttl; disable it with UpdateTimeToLive, or declare ttl = \"{name}\""
        )),
        (None, Some(wanted)) => Some(format!(
            "items of table {table} do not expire, though the model has ttl = \"{wanted}\": enable it with UpdateTimeToLive"
        )),
    }
}

/// Adds the model's missing global indexes to its table, if that exists and is otherwise as declared.
pub fn add_missing_indexes(endpoint: &Endpoint, model: &Model) -> Result<(), String> {
    let (mut client, table) = (Client::new(endpoint)?, &model.table.name);
    match client.call("DescribeTable", &json!({ "TableName": table })) {
        Err(failure) if failure.is("ResourceNotFoundException") => Ok(()),
        outcome => {
            let description = outcome.map_err(|failure| failure.to_string())?["Table"].clone();
            if differences(model, &description).obstacles.is_empty() {
                add_indexes(&mut client, model, table)?;
            }
            Ok(())
        }
    }
}

/// Adds the model's missing global indexes, one after another.
pub fn add_indexes(client: &mut Client, model: &Model, table: &str) -> Result<(), String> {
    let wanted = create_table(model);
    for index in wanted["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default() {
        let description = wait_until_active(client, table)?;
        let has = |other: &Value| other["IndexName"] == index["IndexName"];
        if description["GlobalSecondaryIndexes"].as_array().is_some_and(|indexes| indexes.iter().any(has)) {
            continue;
        }
        println!("adding index {}", index["IndexName"].as_str().unwrap_or_default());
        let request = json!({
            "TableName": table,
            "AttributeDefinitions": wanted["AttributeDefinitions"],
            "GlobalSecondaryIndexUpdates": [{ "Create": index }],
        });
        client.call("UpdateTable", &request).map_err(|failure| failure.to_string())?;
    }
    wait_until_active(client, table).map(|_| ())
}

/// Waits until the table and its indexes are active.
pub fn wait_until_active(client: &mut Client, table: &str) -> Result<Value, String> {
    loop {
        let description = super::items::describe(client, table)?;
        let indexes = description["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
        if description["TableStatus"] == "ACTIVE"
            && indexes.iter().all(|index| index["IndexStatus"] == "ACTIVE")
        {
            return Ok(description);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_design::{Source, read};

    fn model(text: &str) -> Model {
        let text = format!(
            "format = 1\n[table]\nname = \"T\"\nkeys = [\"PK\", \"SK\"]\n{text}\n[entity.E]\nattributes = {{ a = \"id\", b = \"int\" }}\n\
             key = [\"E#{{a}}\", \"E\"]\n"
        );
        read(&Source::new("model", text)).unwrap()
    }

    #[test]
    fn a_table_made_from_the_model_does_not_differ() {
        let own = model("[index.G]\nkeys = [\"b\"]\n[index.L]\nlocal = true\nkeys = [\"PK\", \"b\"]");
        assert_eq!(differences(&own, &create_table(&own)), TableDifferences::default());
    }

    #[test]
    fn keys_types_indexes_and_projections_are_compared() {
        let cases = [
            (
                "[index.G]\nkeys = [\"a\"]",
                "[index.G]\nkeys = [\"b\"]",
                "index G has the keys b, in the model a",
            ),
            (
                "[index.G]\nkeys = [\"b\"]",
                "[index.G]\nkeys = [\"b\"]\nproject = [\"x\"]",
                "index G does not hold all attributes",
            ),
            (
                "[index.G]\nkeys = [\"b\"]\nproject = [\"x\", \"y\"]",
                "[index.G]\nkeys = [\"b\"]\nproject = [\"x\"]",
                "index G does not hold y",
            ),
            ("[index.L]\nlocal = true\nkeys = [\"PK\", \"b\"]", "", "it has no local index L"),
        ];
        for (wanted, found, message) in cases {
            let obstacles = differences(&model(wanted), &create_table(&model(found))).obstacles;
            assert!(obstacles.iter().any(|obstacle| obstacle.contains(message)), "{obstacles:?}");
        }
        let mut other = create_table(&model(""));
        other["AttributeDefinitions"][0]["AttributeType"] = json!("N");
        let obstacles = differences(&model(""), &other).obstacles;
        assert_eq!(obstacles, ["key attribute PK has type N, in the model S"]);
        other["KeySchema"][1]["AttributeName"] = json!("sk");
        assert!(
            differences(&model(""), &other).obstacles[0]
                .contains("its keys are PK, sk, those of the model PK, SK")
        );
        let fewer = differences(&model("[index.G]\nkeys = [\"b\"]"), &create_table(&model("")));
        assert_eq!((fewer.obstacles.len(), fewer.missing_indexes), (0, vec!["G".to_owned()]));
        let more = differences(
            &model("[index.G]\nkeys = [\"b\"]\nproject = \"KEYS_ONLY\""),
            &create_table(&model("[index.G]\nkeys = [\"b\"]")),
        );
        assert_eq!(more, TableDifferences::default(), "an index that holds more serves as well");
    }
}
