//! The requests of the examples as calls of the SDK. An unknown parameter is a failure, never ignored.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, ConditionCheck, Delete, GlobalSecondaryIndex, KeySchemaElement,
    KeysAndAttributes, LocalSecondaryIndex, Projection, Put, TransactWriteItem, Update,
};
use serde_json::Value;

use crate::answer::Answer;
use crate::value::{Item, from_dynamodb_item, list, map, text, texts};

/// Sends a request to the table of this name instead of the example's.
pub async fn send(client: &Client, request: &Value, table: &str) -> Result<Answer, String> {
    let parameters = Parameters::of(request);
    match text(&request["operation"]) {
        "GetItem" => get_item(client, parameters, table).await,
        "Query" => query(client, parameters, table).await,
        "BatchGetItem" => batch_get_item(client, parameters, table).await,
        "PutItem" => put_item(client, parameters, table).await,
        "UpdateItem" => update_item(client, parameters, table).await,
        "TransactWriteItems" => transact_write_items(client, parameters, table).await,
        other => Err(format!("an unknown operation: {other}")),
    }
}

/// The parameters of a request; each is removed when it is used, so that unused ones are detected.
struct Parameters(serde_json::Map<String, Value>);

impl Parameters {
    fn of(request: &Value) -> Self {
        let mut parameters = map(request).clone();
        parameters.remove("operation");
        parameters.remove("TableName");
        Self(parameters)
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name).map(|value| text(&value).to_owned())
    }

    fn boolean(&mut self, name: &str) -> Option<bool> {
        self.0.remove(name).map(|value| value.as_bool().expect("a boolean value"))
    }

    fn number(&mut self, name: &str) -> Option<i32> {
        self.0.remove(name).map(|value| value.as_i64().and_then(|n| n.try_into().ok()).expect("a number"))
    }

    fn item(&mut self, name: &str) -> Option<Item> {
        self.0.remove(name).map(|value| from_dynamodb_item(&value))
    }

    fn names(&mut self) -> Option<std::collections::HashMap<String, String>> {
        self.0.remove("ExpressionAttributeNames").map(|value| texts(&value))
    }

    fn values(&mut self) -> Option<Item> {
        self.item("ExpressionAttributeValues")
    }

    fn finish(self) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(format!("unknown parameters: {:?}", self.0.keys().collect::<Vec<_>>()))
    }
}

async fn get_item(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let call = client
        .get_item()
        .table_name(table)
        .set_key(given.item("Key"))
        .set_consistent_read(given.boolean("ConsistentRead"))
        .set_projection_expression(given.text("ProjectionExpression"))
        .set_expression_attribute_names(given.names());
    given.finish()?;
    Answer::of(call.send().await)
}

async fn query(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let call = client
        .query()
        .table_name(table)
        .set_index_name(given.text("IndexName"))
        .set_key_condition_expression(given.text("KeyConditionExpression"))
        .set_filter_expression(given.text("FilterExpression"))
        .set_projection_expression(given.text("ProjectionExpression"))
        .set_expression_attribute_names(given.names())
        .set_expression_attribute_values(given.values())
        .set_consistent_read(given.boolean("ConsistentRead"))
        .set_scan_index_forward(given.boolean("ScanIndexForward"))
        .set_limit(given.number("Limit"))
        .set_select(given.text("Select").map(|select| select.as_str().into()))
        .set_exclusive_start_key(given.item("ExclusiveStartKey"));
    given.finish()?;
    Answer::of(call.send().await)
}

async fn batch_get_item(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let tables = given.0.remove("RequestItems").expect("a batch names its tables");
    given.finish()?;
    let [keys_and_attributes] = map(&tables).values().collect::<Vec<_>>()[..] else {
        return Err("the examples read one table at a time".to_owned());
    };
    let mut keys_and_attributes = Parameters::of(keys_and_attributes);
    let keys = keys_and_attributes.0.remove("Keys").expect("a batch has keys");
    let keys = KeysAndAttributes::builder()
        .set_keys(Some(list(&keys).iter().map(from_dynamodb_item).collect()))
        .set_projection_expression(keys_and_attributes.text("ProjectionExpression"))
        .set_expression_attribute_names(keys_and_attributes.names())
        .build()
        .expect("complete keys");
    keys_and_attributes.finish()?;
    Answer::of(client.batch_get_item().request_items(table, keys).send().await)
}

async fn put_item(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let call = client
        .put_item()
        .table_name(table)
        .set_item(given.item("Item"))
        .set_condition_expression(given.text("ConditionExpression"))
        .set_expression_attribute_names(given.names())
        .set_expression_attribute_values(given.values());
    given.finish()?;
    Answer::of(call.send().await)
}

async fn update_item(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let on_failure = given.text("ReturnValuesOnConditionCheckFailure");
    let call = client
        .update_item()
        .table_name(table)
        .set_key(given.item("Key"))
        .set_update_expression(given.text("UpdateExpression"))
        .set_condition_expression(given.text("ConditionExpression"))
        .set_expression_attribute_names(given.names())
        .set_expression_attribute_values(given.values())
        .set_return_values(given.text("ReturnValues").map(|values| values.as_str().into()))
        .set_return_values_on_condition_check_failure(on_failure.map(|values| values.as_str().into()));
    given.finish()?;
    Answer::of(call.send().await)
}

async fn transact_write_items(client: &Client, mut given: Parameters, table: &str) -> Result<Answer, String> {
    let actions = given.0.remove("TransactItems").expect("a transaction has actions");
    given.finish()?;
    let actions: Result<Vec<_>, _> =
        list(&actions).iter().map(|action| transact_write_item(action, table)).collect();
    Answer::of(client.transact_write_items().set_transact_items(Some(actions?)).send().await)
}

fn transact_write_item(action: &Value, table: &str) -> Result<TransactWriteItem, String> {
    let (kind, action) = map(action).iter().next().expect("an action has a kind");
    let mut given = Parameters::of(action);
    let condition = given.text("ConditionExpression");
    let (names, values) = (given.names(), given.values());
    let item = TransactWriteItem::builder();
    let item = match kind.as_str() {
        "Put" => item.put(
            Put::builder()
                .table_name(table)
                .set_item(given.item("Item"))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .expect("a complete put"),
        ),
        "Update" => item.update(
            Update::builder()
                .table_name(table)
                .set_key(given.item("Key"))
                .set_update_expression(given.text("UpdateExpression"))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .expect("a complete update"),
        ),
        "Delete" => item.delete(
            Delete::builder()
                .table_name(table)
                .set_key(given.item("Key"))
                .set_condition_expression(condition)
                .build()
                .expect("a complete delete"),
        ),
        "ConditionCheck" => item.condition_check(
            ConditionCheck::builder()
                .table_name(table)
                .set_key(given.item("Key"))
                .set_condition_expression(condition)
                .build()
                .expect("a complete check"),
        ),
        other => return Err(format!("an unknown action: {other}")),
    };
    given.finish()?;
    Ok(item.build())
}

/// Creates the example's table under another name.
pub async fn create_table(client: &Client, table: &Value, name: &str) {
    let definition = |part: &Value| {
        AttributeDefinition::builder()
            .attribute_name(text(&part["AttributeName"]))
            .attribute_type(text(&part["AttributeType"]).into())
            .build()
            .expect("a complete definition")
    };
    let indexes = |member: &str| table.get(member).map(list).unwrap_or_default();
    let globals: Vec<_> = indexes("GlobalSecondaryIndexes").iter().map(global_index).collect();
    let locals: Vec<_> = indexes("LocalSecondaryIndexes").iter().map(local_index).collect();
    client
        .create_table()
        .table_name(name)
        .set_attribute_definitions(Some(
            list(&table["AttributeDefinitions"]).iter().map(definition).collect(),
        ))
        .set_key_schema(Some(key_schema(&table["KeySchema"])))
        .billing_mode(BillingMode::PayPerRequest)
        .set_global_secondary_indexes((!globals.is_empty()).then_some(globals))
        .set_local_secondary_indexes((!locals.is_empty()).then_some(locals))
        .send()
        .await
        .expect("the table is created");
}

fn key_schema(schema: &Value) -> Vec<KeySchemaElement> {
    let element = |part: &Value| {
        KeySchemaElement::builder()
            .attribute_name(text(&part["AttributeName"]))
            .key_type(text(&part["KeyType"]).into())
            .build()
            .expect("a complete key")
    };
    list(schema).iter().map(element).collect()
}

fn projection(projection: &Value) -> Projection {
    let names = projection
        .get("NonKeyAttributes")
        .map(|names| list(names).iter().map(|name| text(name).to_owned()).collect());
    let kind = text(&projection["ProjectionType"]).into();
    Projection::builder().projection_type(kind).set_non_key_attributes(names).build()
}

fn global_index(index: &Value) -> GlobalSecondaryIndex {
    GlobalSecondaryIndex::builder()
        .index_name(text(&index["IndexName"]))
        .set_key_schema(Some(key_schema(&index["KeySchema"])))
        .projection(projection(&index["Projection"]))
        .build()
        .expect("a complete index")
}

fn local_index(index: &Value) -> LocalSecondaryIndex {
    LocalSecondaryIndex::builder()
        .index_name(text(&index["IndexName"]))
        .set_key_schema(Some(key_schema(&index["KeySchema"])))
        .projection(projection(&index["Projection"]))
        .build()
        .expect("a complete index")
}
