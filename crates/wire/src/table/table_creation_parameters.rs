//! `TableCreationParameters` of an import as its description repeats them, encoded from the table to create.
//!
//! They are stored with the import for months, so they are re-encoded without unknown members.

use crate::json::Writer;
use crate::table::table_description::{
    encode_definitions, encode_key, encode_on_demand, encode_projection, encode_units,
};
use partita_api::table::create_table::CreateTable;
use partita_api::table::{Encryption, IndexDefinition, Throughput, WarmThroughput};

pub(crate) fn encoded(table: &CreateTable) -> String {
    let mut json = Writer::default();
    json.object(|json| {
        json.member("TableName", &table.name);
        encode_definitions(&table.attribute_definitions, json);
        encode_key(&table.key, json);
        json.member("BillingMode", table.billing_mode.name());
        encode_provisioned(table.throughput, json);
        encode_on_demand(table.on_demand, json);
        encode_encryption(table.encryption.as_ref(), json);
        if !table.global_indexes.is_empty() {
            json.objects("GlobalSecondaryIndexes", &table.global_indexes, encode_index);
        }
    });
    json.finish_text()
}

fn encode_index(index: &IndexDefinition, json: &mut Writer) {
    json.member("IndexName", &index.name);
    encode_key(&index.key, json);
    encode_projection(&index.projection, json);
    encode_provisioned(index.throughput, json);
    encode_on_demand(index.on_demand, json);
    encode_warm(index.warm, json);
}

fn encode_provisioned(throughput: Option<Throughput>, json: &mut Writer) {
    if let Some(throughput) = throughput {
        json.name("ProvisionedThroughput").object(|json| encode_units(throughput, json));
    }
}

fn encode_warm(warm: Option<WarmThroughput>, json: &mut Writer) {
    let Some(warm) = warm else { return };
    json.name("WarmThroughput").object(|json| {
        json.member("ReadUnitsPerSecond", &warm.read).member("WriteUnitsPerSecond", &warm.write);
    });
}

fn encode_encryption(encryption: Option<&Encryption>, json: &mut Writer) {
    let Some(encryption) = encryption else { return };
    json.name("SSESpecification").object(|json| {
        json.member("Enabled", &encryption.enabled)
            .member("SSEType", "KMS")
            .member("KMSMasterKeyId", &encryption.kms_key);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Reader;
    use crate::table::new_table;
    use serde_json::{Value, json};

    fn stored(parameters: &Value) -> Value {
        let table = new_table::decode(Reader::new(parameters.to_string().as_bytes()).unwrap()).unwrap();
        serde_json::from_str(&encoded(&table)).unwrap()
    }

    fn parameters() -> Value {
        json!({
            "TableName": "Target",
            "AttributeDefinitions": [
                { "AttributeName": "pk", "AttributeType": "S" }, { "AttributeName": "sk", "AttributeType": "N" },
            ],
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": { "ReadCapacityUnits": 5, "WriteCapacityUnits": 6 },
            "SSESpecification": { "Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine" },
            "GlobalSecondaryIndexes": [{
                "IndexName": "ByNumber",
                "KeySchema": [{ "AttributeName": "sk", "KeyType": "HASH" }],
                "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["a \"b\""] },
                "ProvisionedThroughput": { "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 },
                "WarmThroughput": { "ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000 },
            }],
        })
    }

    #[test]
    fn known_parameters_round_trip() {
        let provisioned = parameters();
        assert_eq!(stored(&provisioned), provisioned);
        let mut on_demand = provisioned;
        on_demand["BillingMode"] = json!("PAY_PER_REQUEST");
        on_demand["OnDemandThroughput"] = json!({ "MaxReadRequestUnits": 7 });
        on_demand["GlobalSecondaryIndexes"][0]["OnDemandThroughput"] = json!({ "MaxWriteRequestUnits": 8 });
        for owner in ["", "/GlobalSecondaryIndexes/0"] {
            let owner = on_demand.pointer_mut(owner).and_then(Value::as_object_mut).unwrap();
            owner.remove("ProvisionedThroughput");
        }
        assert_eq!(stored(&on_demand), on_demand);
    }

    #[test]
    fn unknown_parameters_are_dropped() {
        let known = parameters();
        let mut parameters = known.clone();
        let unknown = json!("x".repeat(1_000));
        for holder in ["", "/ProvisionedThroughput", "/KeySchema/0", "/GlobalSecondaryIndexes/0/Projection"] {
            parameters.pointer_mut(holder).unwrap()["Unknown"] = unknown.clone();
        }
        assert_eq!(stored(&parameters), known);
    }
}
