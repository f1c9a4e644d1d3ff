//! Table definitions: from the description of a table to the requests that create the same table elsewhere.

use serde_json::{Map, Value, json};

/// The prefix of AWS's own tags (CloudFormation's, for instance), which only AWS may set.
const RESERVED_TAGS: &str = "aws:";
/// How AWS describes the absence of a limit on on-demand units.
const UNBOUNDED: i64 = -1;
/// The members of an index's description that CreateTable takes.
const INDEX_MEMBERS: [&str; 3] = ["IndexName", "KeySchema", "Projection"];

/// Builds a CreateTable request from a table's description, with its time to live and tags.
pub fn from_description(table: &Value, time_to_live: &Value, tags: Vec<Value>) -> Value {
    let mut definition = copied(table, &["TableName", "AttributeDefinitions", "KeySchema"]);
    let mode = table["BillingModeSummary"]["BillingMode"].as_str().unwrap_or("PROVISIONED");
    definition.insert("BillingMode".to_owned(), json!(mode));
    definition.extend(capacity(table, mode));
    for kind in ["LocalSecondaryIndexes", "GlobalSecondaryIndexes"] {
        let Some(indexes) = table[kind].as_array() else { continue };
        let index = |described: &Value| {
            let mut index = copied(described, &INDEX_MEMBERS);
            if kind == "GlobalSecondaryIndexes" {
                index.extend(capacity(described, mode));
            }
            Value::Object(index)
        };
        definition.insert(kind.to_owned(), indexes.iter().map(index).collect());
    }
    if table["SSEDescription"]["SSEType"] == "KMS" {
        let key = copied(&table["SSEDescription"], &["KMSMasterKeyArn"]);
        let mut encryption = json!({ "Enabled": true, "SSEType": "KMS" });
        if let Some(key) = key.get("KMSMasterKeyArn") {
            encryption["KMSMasterKeyId"] = key.clone();
        }
        definition.insert("SSESpecification".to_owned(), encryption);
    }
    if let Some(class) = table["TableClassSummary"]["TableClass"].as_str() {
        definition.insert("TableClass".to_owned(), json!(class));
    }
    if table["DeletionProtectionEnabled"] == true {
        definition.insert("DeletionProtectionEnabled".to_owned(), json!(true));
    }
    if table["StreamSpecification"]["StreamEnabled"] == true {
        definition.insert("StreamSpecification".to_owned(), table["StreamSpecification"].clone());
    }
    if !tags.is_empty() {
        definition.insert("Tags".to_owned(), Value::Array(tags));
    }
    drop_reserved_tags(&mut definition);
    if let Some(attribute) = expiring_by(time_to_live) {
        let specification = json!({ "Enabled": true, "AttributeName": attribute });
        definition.insert("TimeToLiveSpecification".to_owned(), specification);
    }
    definition.insert("ItemCount".to_owned(), table["ItemCount"].clone());
    Value::Object(definition)
}

fn copied(from: &Value, names: &[&str]) -> Map<String, Value> {
    let member = |name: &&str| Some(((*name).to_owned(), from.get(*name)?.clone()));
    names.iter().filter_map(member).collect()
}

fn drop_reserved_tags(definition: &mut Map<String, Value>) {
    let Some(Value::Array(tags)) = definition.get_mut("Tags") else { return };
    tags.retain(|tag| !tag["Key"].as_str().is_some_and(|key| key.starts_with(RESERVED_TAGS)));
    if tags.is_empty() {
        definition.remove("Tags");
    }
}

/// Removes absent limits of a table or an index.
fn drop_absent_limits(definition: &mut Map<String, Value>) {
    let Some(Value::Object(limits)) = definition.get_mut("OnDemandThroughput") else { return };
    limits.retain(|_, units| *units != UNBOUNDED);
    if limits.is_empty() {
        definition.remove("OnDemandThroughput");
    }
}

/// Provisioned units, or the limits of on-demand ones.
fn capacity(described: &Value, mode: &str) -> Map<String, Value> {
    let member = if mode == "PROVISIONED" { "ProvisionedThroughput" } else { "OnDemandThroughput" };
    let mut capacity = copied(described, &[member]);
    if let Some(units) = capacity.get_mut("ProvisionedThroughput") {
        *units = Value::Object(copied(units, &["ReadCapacityUnits", "WriteCapacityUnits"]));
    }
    drop_absent_limits(&mut capacity);
    capacity
}

fn expiring_by(time_to_live: &Value) -> Option<&str> {
    let enabled = ["ENABLED", "ENABLING"].iter().any(|status| time_to_live["TimeToLiveStatus"] == *status);
    time_to_live["AttributeName"].as_str().filter(|_| enabled)
}

/// The requests for a definition: the table is created, filled, and then gets the settings that would affect loading.
pub struct SetupSteps {
    pub create: Value,
    /// Set after loading, so that the load itself neither expires items nor writes stream records.
    pub update_time_to_live: Option<Value>,
    pub update_table: Option<Value>,
}

pub fn steps(definition: &Value) -> SetupSteps {
    let mut create = creatable(definition.clone());
    let name = create["TableName"].clone();
    let mut later = |member: &str| {
        let taken = create.as_object_mut().and_then(|members| members.remove(member))?;
        Some(json!({ "TableName": name, member: taken }))
    };
    let update_time_to_live = later("TimeToLiveSpecification");
    let update_table = later("StreamSpecification");
    later("ItemCount");
    SetupSteps { create, update_time_to_live, update_table }
}

/// Removes what CreateTable does not take but early versions have dumped.
fn creatable(mut definition: Value) -> Value {
    if let Some(table) = definition.as_object_mut() {
        drop_reserved_tags(table);
        drop_absent_limits(table);
    }
    let indexes = definition.get_mut("GlobalSecondaryIndexes").and_then(Value::as_array_mut);
    indexes.into_iter().flatten().filter_map(Value::as_object_mut).for_each(drop_absent_limits);
    definition
}

/// The attributes of the primary key.
pub fn key_names(table: &Value) -> Vec<String> {
    let elements = table["KeySchema"].as_array().into_iter().flatten();
    elements.filter_map(|element| element["AttributeName"].as_str().map(str::to_owned)).collect()
}

/// The attributes of the primary key, with their types.
pub fn keys(table: &Value) -> Vec<(String, Value)> {
    let kind = |name: &str| {
        let mut definitions = table["AttributeDefinitions"].as_array().into_iter().flatten();
        let definition = definitions.find(|definition| definition["AttributeName"] == name);
        definition.map_or(Value::Null, |definition| definition["AttributeType"].clone())
    };
    key_names(table).into_iter().map(|name| (name.clone(), kind(&name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> Value {
        json!({
            "TableName": "Shop", "TableStatus": "ACTIVE", "ItemCount": 7, "TableArn": "arn",
            "AttributeDefinitions": [{ "AttributeName": "PK", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "PK", "KeyType": "HASH" }, { "AttributeName": "SK", "KeyType": "RANGE" }],
            "ProvisionedThroughput": { "NumberOfDecreasesToday": 0, "ReadCapacityUnits": 5, "WriteCapacityUnits": 6 },
            "GlobalSecondaryIndexes": [{
                "IndexName": "GSI1", "IndexStatus": "ACTIVE", "KeySchema": [], "Projection": { "ProjectionType": "ALL" },
                "ProvisionedThroughput": { "NumberOfDecreasesToday": 0, "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 },
            }],
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" },
            "SSEDescription": { "Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "key" },
        })
    }

    #[test]
    fn members_that_describe_state_are_left_out() {
        let ttl = json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": "expires" });
        let definition = from_description(&described(), &ttl, vec![json!({ "Key": "a", "Value": "b" })]);
        assert_eq!(definition["BillingMode"], "PROVISIONED");
        assert_eq!(
            definition["ProvisionedThroughput"],
            json!({ "ReadCapacityUnits": 5, "WriteCapacityUnits": 6 })
        );
        assert_eq!(
            definition["GlobalSecondaryIndexes"],
            json!([{
                "IndexName": "GSI1", "KeySchema": [], "Projection": { "ProjectionType": "ALL" },
                "ProvisionedThroughput": { "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 },
            }])
        );
        assert_eq!(
            definition["SSESpecification"],
            json!({ "Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "key" })
        );
        assert_eq!(definition["Tags"], json!([{ "Key": "a", "Value": "b" }]));
        assert!(definition.get("TableStatus").is_none() && definition.get("TableArn").is_none());
    }

    #[test]
    fn time_to_live_and_stream_are_set_after_the_items() {
        let ttl = json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": "expires" });
        let steps = steps(&from_description(&described(), &ttl, Vec::new()));
        for later in ["TimeToLiveSpecification", "StreamSpecification", "ItemCount", "Tags"] {
            assert!(steps.create.get(later).is_none(), "{later}");
        }
        assert_eq!(
            steps.update_time_to_live,
            Some(json!({
                "TableName": "Shop", "TimeToLiveSpecification": { "Enabled": true, "AttributeName": "expires" },
            }))
        );
        assert_eq!(
            steps.update_table,
            Some(json!({
                "TableName": "Shop", "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "KEYS_ONLY" },
            }))
        );
    }

    #[test]
    fn members_that_only_aws_may_set_are_left_out() {
        let tag = |key: &str| json!({ "Key": key, "Value": "v" });
        let tags = vec![tag("aws:cloudformation:stack-name"), tag("team"), tag("my:aws:tag")];
        let mut table = described();
        table["BillingModeSummary"] = json!({ "BillingMode": "PAY_PER_REQUEST" });
        table["OnDemandThroughput"] = json!({ "MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 5 });
        table["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] =
            json!({ "MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1 });
        let definition = from_description(&table, &Value::Null, tags.clone());
        assert_eq!(definition["Tags"], json!([tag("team"), tag("my:aws:tag")]));
        assert_eq!(definition["OnDemandThroughput"], json!({ "MaxWriteRequestUnits": 5 }));
        assert!(definition["GlobalSecondaryIndexes"][0].get("OnDemandThroughput").is_none());
        assert!(from_description(&table, &Value::Null, vec![tags[0].clone()]).get("Tags").is_none());
        let mut dumped_before = definition.clone();
        dumped_before["Tags"] = json!(tags);
        dumped_before["OnDemandThroughput"] = table["OnDemandThroughput"].clone();
        dumped_before["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] =
            table["GlobalSecondaryIndexes"][0]["OnDemandThroughput"].clone();
        assert_eq!(steps(&dumped_before).create, steps(&definition).create);
    }

    #[test]
    fn a_definition_without_indexes_gets_none() {
        let definition = json!({ "TableName": "Shop" });
        assert_eq!(steps(&definition).create, definition);
    }

    #[test]
    fn on_demand_tables_have_no_units() {
        let mut table = described();
        table["BillingModeSummary"] = json!({ "BillingMode": "PAY_PER_REQUEST" });
        let definition = from_description(&table, &json!({ "TimeToLiveStatus": "DISABLED" }), Vec::new());
        assert!(
            definition.get("ProvisionedThroughput").is_none()
                && definition.get("TimeToLiveSpecification").is_none()
        );
        assert_eq!(key_names(&definition), ["PK", "SK"]);
        assert_eq!(keys(&definition), [("PK".to_owned(), json!("S")), ("SK".to_owned(), Value::Null)]);
    }
}
