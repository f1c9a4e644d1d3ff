//! Valid and invalid CreateTable requests, with AWS's error texts.

use crate::testing::*;
use partita_api::key_schema::KeySchema;
use partita_api::table::create_table::CreateTable;
use partita_api::table::*;
use serde_json::{Value, json};

const INVALID: &str = "One or more parameter values were invalid: ";

operation_tests!(CreateTable);

fn create(body: &Value) -> Result<CreateTable, String> {
    outcome(&body.to_string()).map_err(|exception| exception.message)
}

/// The error for `base` with some members replaced.
fn refused_with(base: Value, members: Value) -> String {
    create(&with(base, members)).unwrap_err()
}

fn with(mut base: Value, members: Value) -> Value {
    if let (Some(base), Value::Object(members)) = (base.as_object_mut(), members) {
        base.extend(members);
    }
    base
}

fn key(attributes: &[(&str, &str)]) -> Value {
    let element = |(name, key_type): &(&str, &str)| json!({"AttributeName": name, "KeyType": key_type});
    attributes.iter().map(element).collect()
}

fn definitions(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"AttributeName": name, "AttributeType": "S"})).collect()
}

fn units() -> Value {
    json!({"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
}

/// A table with partition key `a` and sort key `b`, provisioned.
fn provisioned() -> Value {
    json!({
        "TableName": "abc",
        "AttributeDefinitions": definitions(&["a", "b"]),
        "KeySchema": key(&[("a", "HASH"), ("b", "RANGE")]),
        "ProvisionedThroughput": units(),
    })
}

/// The same on demand.
fn on_demand() -> Value {
    with(provisioned(), json!({"ProvisionedThroughput": null, "BillingMode": "PAY_PER_REQUEST"}))
}

fn index(name: &str, attributes: &[(&str, &str)], projection: Value) -> Value {
    json!({"IndexName": name, "KeySchema": key(attributes), "Projection": projection})
}

fn all() -> Value {
    json!({"ProjectionType": "ALL"})
}

#[test]
fn a_provisioned_table() {
    let request = create(&provisioned()).unwrap();
    assert_eq!(request.name.as_str(), "abc");
    assert_eq!(request.billing_mode, BillingMode::Provisioned);
    assert_eq!(request.throughput, Some(Throughput { read: 1, write: 1 }));
    let names =
        |key: &KeySchema| key.attributes().map(|attribute| attribute.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&request.key), ["a", "b"]);
    assert_eq!((request.key.partition.len(), request.key.sort.len()), (1, 1));
    assert!(request.local_indexes.is_empty() && request.global_indexes.is_empty() && request.tags.is_empty());
    assert!(!request.deletion_protection);
}

#[test]
fn every_setting_is_read() {
    let request = create(&with(
        on_demand(),
        json!({
            "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Music",
            "AttributeDefinitions": definitions(&["a", "b", "c"]),
            "LocalSecondaryIndexes": [index("local", &[("a", "HASH"), ("c", "RANGE")], json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]}))],
            "GlobalSecondaryIndexes": [with(
                index("global", &[("b", "HASH")], json!({"ProjectionType": "KEYS_ONLY"})),
                json!({"OnDemandThroughput": {"MaxReadRequestUnits": 5}, "WarmThroughput": {"WriteUnitsPerSecond": 4000}}),
            )],
            "OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20},
            "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 5000},
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            "SSESpecification": {"Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
            "Tags": [{"Key": "env", "Value": "test"}],
            "TableClass": "STANDARD_INFREQUENT_ACCESS",
            "DeletionProtectionEnabled": true,
            "ResourcePolicy": "{\"Version\": \"2012-10-17\"}",
            "GlobalTableSettingsReplicationMode": "DISABLED",
            "SomethingNewer": {"a": [1]},
        }),
    ))
    .unwrap();
    assert_eq!(request.name.as_str(), "Music");
    assert_eq!(request.local_indexes[0].projection, IndexProjection::Include(vec!["x".into(), "y".into()]));
    let global = &request.global_indexes[0];
    assert_eq!((global.name.as_str(), &global.projection), ("global", &IndexProjection::KeysOnly));
    assert_eq!(global.on_demand, Some(OnDemandThroughput { max_read: Some(5), max_write: None }));
    assert_eq!(global.warm, Some(WarmThroughput { read: None, write: Some(4000) }));
    assert_eq!(request.on_demand, Some(OnDemandThroughput { max_read: Some(10), max_write: Some(20) }));
    assert_eq!(request.warm, Some(WarmThroughput { read: Some(12000), write: Some(5000) }));
    assert_eq!(request.stream, Some(StreamViewType::NewAndOldImages));
    assert_eq!(request.encryption, Some(Encryption { enabled: true, kms_key: Some("alias/mine".into()) }));
    assert_eq!(request.tags, [Tag { key: "env".into(), value: "test".into() }]);
    assert_eq!(request.table_class, Some(TableClass::StandardInfrequentAccess));
    assert!(request.deletion_protection);
    assert_eq!(request.resource_policy.as_deref(), Some("{\"Version\": \"2012-10-17\"}"));
}

#[test]
fn the_table_name_is_checked_first() {
    assert_eq!(refused("{}"), "The parameter 'TableName' is required but was not present in the request");
    assert_eq!(
        create(&json!({"TableName": "ab", "KeySchema": []})).unwrap_err(),
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3"
    );
    assert_eq!(
        create(&json!({"TableName": "x!", "KeySchema": []})).unwrap_err(),
        "2 validation errors detected: \
         Value 'x!' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3; \
         Value 'x!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    );
    assert_eq!(
        create(&json!({"TableName": "abc;"})).unwrap_err(),
        "3 validation errors detected: \
         Value 'abc;' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
         Value null at 'attributeDefinitions' failed to satisfy constraint: Member must not be null; \
         Value null at 'keySchema' failed to satisfy constraint: Member must not be null"
    );
}

#[test]
fn model_violations_are_reported_together() {
    assert_eq!(
        create(&json!({
            "TableName": "abc", "AttributeDefinitions": [], "KeySchema": [], "BillingMode": "A",
            "ProvisionedThroughput": {"ReadCapacityUnits": -1, "WriteCapacityUnits": -1},
        }))
        .unwrap_err(),
        "4 validation errors detected: \
         Value 'A' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]; \
         Value '-1' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1; \
         Value '-1' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1; \
         Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1"
    );
    assert_eq!(
        create(&json!({"TableName": "abc", "AttributeDefinitions": [{}, {"AttributeName": "", "AttributeType": "SS"}], "KeySchema": [{}]})).unwrap_err(),
        "6 validation errors detected: \
         Value null at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must not be null; \
         Value null at 'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must not be null; \
         Value 'SS' at 'attributeDefinitions.2.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]; \
         Value '' at 'attributeDefinitions.2.member.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1; \
         Value null at 'keySchema.1.member.attributeName' failed to satisfy constraint: Member must not be null; \
         Value null at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must not be null"
    );
}

#[test]
fn an_overlong_key_is_repeated_in_the_error() {
    assert_eq!(
        refused_with(
            provisioned(),
            json!({"KeySchema": key(&[("pk", "HASH"), ("sk", "RANGE"), ("extra", "RANGE")])})
        ),
        "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=extra, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2"
    );
    assert_eq!(
        refused_with(provisioned(), json!({"KeySchema": key(&[("a", "INVALID")])})),
        "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]"
    );
}

#[test]
fn wrong_types_have_the_texts_of_the_deserializer() {
    for (members, message) in [
        (json!({"TableName": 1}), "NUMBER_VALUE cannot be converted to String"),
        (json!({"AttributeDefinitions": "a"}), "Unexpected field type"),
        (json!({"AttributeDefinitions": ["a"]}), "Unexpected value type in payload"),
        (
            json!({"KeySchema": [[]]}),
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement",
        ),
        (json!({"ProvisionedThroughput": "a"}), "Unexpected field type"),
        (
            json!({"ProvisionedThroughput": {"ReadCapacityUnits": "1"}}),
            "STRING_VALUE cannot be converted to Long",
        ),
        (json!({"Tags": {}}), "Start of structure or map found where not expected"),
        (json!({"DeletionProtectionEnabled": 1}), "NUMBER_VALUE cannot be converted to Boolean"),
    ] {
        assert_eq!(refused_with(provisioned(), members), message);
    }
}

#[test]
fn units_must_suit_the_billing_mode() {
    let neither = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
    let both =
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED";
    let high = json!({"ReadCapacityUnits": 1, "WriteCapacityUnits": 1000000000001u64});
    assert_eq!(
        refused_with(provisioned(), json!({"BillingMode": "PAY_PER_REQUEST"})),
        format!("{INVALID}{neither}")
    );
    assert_eq!(
        refused_with(provisioned(), json!({"ProvisionedThroughput": null})),
        format!("{INVALID}{both}")
    );
    assert_eq!(
        refused_with(provisioned(), json!({"ProvisionedThroughput": high})),
        "Given value 1000000000001 for WriteCapacityUnits is out of bounds"
    );
    assert_eq!(
        refused_with(provisioned(), json!({"OnDemandThroughput": {"MaxReadRequestUnits": 1}})),
        format!(
            "{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."
        )
    );
    for units in [0, -1, -2] {
        assert_eq!(
            refused_with(on_demand(), json!({"OnDemandThroughput": {"MaxWriteRequestUnits": units}})),
            format!(
                "{INVALID}Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range"
            )
        );
    }
    assert!(create(&with(on_demand(), json!({"OnDemandThroughput": {}, "WarmThroughput": {}}))).is_ok());
}

#[test]
fn warm_throughput_is_at_least_the_initial_throughput() {
    assert_eq!(
        refused_with(on_demand(), json!({"WarmThroughput": {"ReadUnitsPerSecond": 1}})),
        format!(
            "{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
        )
    );
    let ten = json!({"ReadCapacityUnits": 10, "WriteCapacityUnits": 10});
    let warm = json!({"ReadUnitsPerSecond": 10, "WriteUnitsPerSecond": 5});
    assert_eq!(
        refused_with(provisioned(), json!({"ProvisionedThroughput": ten, "WarmThroughput": warm})),
        format!(
            "{INVALID}Requested WriteUnitsPerSecond for WarmThroughput for table is lower than WriteCapacityUnits of ProvisionedThroughput"
        )
    );
}

#[test]
fn key_attributes_are_defined_and_in_order() {
    let case = |names: &[&str], attributes: &[(&str, &str)]| {
        refused_with(
            provisioned(),
            json!({"AttributeDefinitions": definitions(names), "KeySchema": key(attributes)}),
        )
    };
    let undefined = "Invalid KeySchema: Some index key attribute have no definition";
    assert_eq!(case(&[], &[("a", "HASH")]), undefined);
    assert_eq!(case(&["pk"], &[("pk", "HASH"), ("pk", "RANGE")]), undefined);
    assert_eq!(
        case(&["b"], &[("a", "HASH")]),
        format!(
            "{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [a], AttributeDefinitions: [b]"
        )
    );
    assert_eq!(
        case(&["a", "b"], &[("a", "HASH"), ("a", "HASH")]),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name"
    );
    assert_eq!(
        case(&["a", "b"], &[("a", "RANGE"), ("b", "HASH")]),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
    );
    assert_eq!(
        case(&["a", "b"], &[("a", "HASH"), ("b", "HASH")]),
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
    );
    assert_eq!(
        case(&["a", "b"], &[("a", "HASH")]),
        format!(
            "{INVALID}Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
        )
    );
    assert_eq!(case(&["a", "a"], &[("a", "HASH")]), "Attribute Name is duplicated: a");
}

#[test]
fn unused_definitions_are_refused() {
    assert_eq!(
        refused_with(
            on_demand(),
            json!({
                "AttributeDefinitions": definitions(&["a", "b", "c"]),
                "GlobalSecondaryIndexes": [index("abc", &[("b", "HASH")], json!({}))],
            })
        ),
        format!(
            "{INVALID}Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], keys used: [a, b]"
        )
    );
}

#[test]
fn empty_lists_of_indexes_are_refused() {
    for list in ["LocalSecondaryIndexes", "GlobalSecondaryIndexes"] {
        assert_eq!(
            refused_with(provisioned(), json!({list: []})),
            format!("{INVALID}List of {list} is empty")
        );
    }
}

#[test]
fn model_violations_of_indexes_are_reported_together() {
    assert_eq!(
        refused_with(
            provisioned(),
            json!({"LocalSecondaryIndexes": [{"IndexName": "h;", "KeySchema": [], "Projection": {"NonKeyAttributes": [], "ProjectionType": "abc"}}]})
        ),
        "5 validation errors detected: \
         Value 'h;' at 'localSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
         Value 'h;' at 'localSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3; \
         Value '[]' at 'localSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1; \
         Value 'abc' at 'localSecondaryIndexes.1.member.projection.projectionType' failed to satisfy constraint: Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]; \
         Value '[]' at 'localSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must have length greater than or equal to 1"
    );
    let many: Vec<String> = (0..21).map(|i| format!("n{i}")).collect();
    let include = json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": many});
    let message = refused_with(
        on_demand(),
        json!({"GlobalSecondaryIndexes": [index("abc", &[("b", "HASH")], include), {}]}),
    );
    assert!(message.starts_with("4 validation errors detected: Value '[n0, n1, "), "{message}");
    assert!(message.contains("' at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy constraint: Member must have length less than or equal to 20; Value null at 'globalSecondaryIndexes.2.member.indexName'"), "{message}");
}

#[test]
fn local_indexes_share_the_tables_partition_key() {
    let case = |attributes: &[(&str, &str)]| {
        refused_with(provisioned(), json!({"LocalSecondaryIndexes": [index("abc", attributes, all())]}))
    };
    assert_eq!(
        case(&[("c", "RANGE"), ("d", "RANGE")]),
        format!(
            "{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [c, d], AttributeDefinitions: [a, b]"
        )
    );
    assert_eq!(
        case(&[("a", "RANGE")]),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
    );
    assert_eq!(
        case(&[("b", "HASH")]),
        format!("{INVALID}Index KeySchema does not have a range key for index: abc")
    );
    assert_eq!(
        case(&[("b", "HASH"), ("a", "RANGE")]),
        format!(
            "{INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for index: abc. index hash key: b, table hash key: a"
        )
    );
    let hash_only = json!({
        "KeySchema": key(&[("a", "HASH")]),
        "LocalSecondaryIndexes": [index("abc", &[("c", "RANGE")], json!({}))],
    });
    assert_eq!(
        refused_with(provisioned(), hash_only),
        format!(
            "{INVALID}Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )
    );
}

#[test]
fn global_indexes_have_up_to_four_attributes_per_key_part() {
    let names: Vec<String> = (0..5).flat_map(|i| [format!("h{i}"), format!("r{i}")]).collect();
    let case = |attributes: &[(&str, &str)]| {
        let mut used: Vec<&str> = vec!["a", "b"];
        used.extend(
            names.iter().map(String::as_str).filter(|name| attributes.iter().any(|(used, _)| used == name)),
        );
        create(&with(
            on_demand(),
            json!({
                "AttributeDefinitions": definitions(&used),
                "GlobalSecondaryIndexes": [index("abc", attributes, all())],
            }),
        ))
    };
    let four: Vec<(&str, &str)> = [("h", "HASH"), ("r", "RANGE")]
        .into_iter()
        .flat_map(|(prefix, part)| {
            names.iter().filter(move |n| n.starts_with(prefix)).take(4).map(move |n| (n.as_str(), part))
        })
        .collect();
    let created = case(&four).unwrap();
    assert_eq!(
        (created.global_indexes[0].key.partition.len(), created.global_indexes[0].key.sort.len()),
        (4, 4)
    );
    let five = |part| {
        names.iter().take(10).filter(|n| n.starts_with('h')).map(|n| (n.as_str(), part)).collect::<Vec<_>>()
    };
    assert_eq!(
        case(&five("HASH")).unwrap_err(),
        format!("{INVALID}The KeySchema exceeds the maximum allowed number of HASH key attributes")
    );
    let ranges: Vec<_> = [("a", "HASH")].into_iter().chain(five("RANGE")).collect();
    assert_eq!(
        case(&ranges).unwrap_err(),
        format!("{INVALID}The KeySchema exceeds the maximum allowed number of RANGE key attributes")
    );
    assert_eq!(
        case(&[("h0", "HASH"), ("r0", "RANGE"), ("h1", "HASH")]).unwrap_err(),
        format!("{INVALID}All HASH key attributes must precede RANGE key attributes in the KeySchema")
    );
    assert_eq!(
        case(&[("h0", "HASH"), ("r0", "RANGE"), ("r0", "RANGE")]).unwrap_err(),
        "The KeySchema contains multiple key attributes with the same name"
    );
    assert_eq!(
        case(&[("h0", "HASH"), ("h0", "RANGE")]).unwrap_err(),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name"
    );
    assert_eq!(
        case(&[("r0", "RANGE")]).unwrap_err(),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
    );
}

#[test]
fn only_include_projections_name_attributes() {
    let case = |projection: Value| {
        refused_with(
            on_demand(),
            json!({"GlobalSecondaryIndexes": [index("abc", &[("b", "HASH")], projection)]}),
        )
    };
    for (projection, message) in [
        (json!({}), "Unknown ProjectionType: null"),
        (json!({"NonKeyAttributes": ["a"]}), "Unknown ProjectionType: null"),
        (
            json!({"ProjectionType": "ALL", "NonKeyAttributes": ["a"]}),
            "ProjectionType is ALL, but NonKeyAttributes is specified",
        ),
        (
            json!({"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["a"]}),
            "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        ),
        (
            json!({"ProjectionType": "INCLUDE"}),
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y", "x"]}),
            "Duplicate element in NonKeyAttributes: x",
        ),
    ] {
        assert_eq!(case(projection), format!("{INVALID}{message}"));
    }
}

#[test]
fn index_counts_are_limited_and_names_unique() {
    let local = |i: usize| index(&format!("local{i}"), &[("a", "HASH"), ("b", "RANGE")], all());
    let global = |i: usize| index(&format!("global{i}"), &[("b", "HASH")], all());
    let locals = |count: usize| json!({"LocalSecondaryIndexes": (0..count).map(local).collect::<Value>()});
    let globals = |count: usize| json!({"GlobalSecondaryIndexes": (0..count).map(global).collect::<Value>()});
    assert_eq!(create(&with(on_demand(), locals(5))).unwrap().local_indexes.len(), 5);
    assert_eq!(
        refused_with(on_demand(), locals(6)),
        format!("{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5")
    );
    assert_eq!(create(&with(on_demand(), globals(20))).unwrap().global_indexes.len(), 20);
    assert_eq!(
        refused_with(on_demand(), globals(21)),
        format!("{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20")
    );
    let same = json!({
        "LocalSecondaryIndexes": [index("abc", &[("a", "HASH"), ("b", "RANGE")], all())],
        "GlobalSecondaryIndexes": [index("abc", &[("b", "HASH")], all())],
    });
    assert_eq!(refused_with(on_demand(), same), format!("{INVALID}Duplicate index name: abc"));
}

#[test]
fn indexes_include_at_most_a_hundred_attributes_in_total() {
    let include = |i: usize| {
        let names: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
        let projection = json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": names});
        index(&format!("global{i}"), &[("b", "HASH")], projection)
    };
    let globals =
        |count: usize| json!({"GlobalSecondaryIndexes": (0..count).map(include).collect::<Value>()});
    assert!(create(&with(on_demand(), globals(5))).is_ok());
    assert_eq!(
        refused_with(on_demand(), globals(6)),
        format!("{INVALID}Number of NonKeyAttributes over all indexes exceeds per-table limit of 100")
    );
}

#[test]
fn global_indexes_are_billed_as_their_table_is() {
    let global = |members: Value| json!({"GlobalSecondaryIndexes": [with(index("abc", &[("b", "HASH")], all()), members)]});
    let on_demand_units = json!({"OnDemandThroughput": {"MaxReadRequestUnits": 0}});
    assert_eq!(
        refused_with(on_demand(), global(json!({"ProvisionedThroughput": units()}))),
        format!(
            "{INVALID}ProvisionedThroughput should not be specified for index: abc when BillingMode is PAY_PER_REQUEST"
        )
    );
    assert_eq!(
        refused_with(provisioned(), global(json!({}))),
        format!("{INVALID}ProvisionedThroughput is not specified for index: abc")
    );
    assert_eq!(
        refused_with(on_demand(), global(on_demand_units.clone())),
        format!(
            "{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for index : abc is outside of valid range"
        )
    );
    assert_eq!(
        refused_with(provisioned(), global(with(on_demand_units, json!({"ProvisionedThroughput": units()})))),
        format!(
            "{INVALID}MaxReadRequestUnits for OnDemandThroughput for index: abc cannot be specified when table BillingMode is PROVISIONED."
        )
    );
}

#[test]
fn streams_are_enabled_with_a_view_type() {
    let case = |stream: Value| refused_with(on_demand(), json!({"StreamSpecification": stream}));
    assert_eq!(
        case(json!({"StreamEnabled": false, "StreamViewType": "NEW_IMAGE"})),
        format!(
            "{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified"
        )
    );
    assert_eq!(
        case(json!({"StreamEnabled": true})),
        format!("{INVALID}Table is being created with a stream enabled, UpdateViewType is required")
    );
    assert_eq!(
        case(json!({"StreamViewType": "new_image"})),
        "2 validation errors detected: \
         Value null at 'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null; \
         Value 'new_image' at 'streamSpecification.streamViewType' failed to satisfy constraint: Member must satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
    );
    let disabled = with(on_demand(), json!({"StreamSpecification": {"StreamEnabled": false}}));
    assert_eq!(create(&disabled).unwrap().stream, None);
}

#[test]
fn encryption_is_by_kms_only() {
    for (encryption, message) in [
        (json!({"Enabled": false, "SSEType": "KMS"}), "SSEType can not be specified if Enabled is false"),
        (
            json!({"Enabled": false, "KMSMasterKeyId": "k"}),
            "KMSMasterKeyId can not be specified if Enabled is false",
        ),
        (json!({"Enabled": true, "SSEType": "AES256"}), "SSEType AES256 is not supported"),
        (
            json!({"Enabled": true, "KMSMasterKeyId": "k"}),
            "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
    ] {
        assert_eq!(
            refused_with(on_demand(), json!({"SSESpecification": encryption})),
            format!("{INVALID}{message}")
        );
    }
    assert_eq!(
        refused_with(on_demand(), json!({"SSESpecification": {"SSEType": "kms", "KMSMasterKeyId": ""}})),
        "2 validation errors detected: \
         Value 'kms' at 'sSESpecification.sSEType' failed to satisfy constraint: Member must satisfy enum value set: [AES256, KMS]; \
         Value '' at 'sSESpecification.kMSMasterKeyId' failed to satisfy constraint: Member must have length greater than or equal to 1"
    );
    let enabled = |encryption: Value| {
        create(&with(on_demand(), json!({"SSESpecification": encryption}))).unwrap().encryption
    };
    assert_eq!(enabled(json!({})), None);
    assert_eq!(enabled(json!({"Enabled": false})), None);
    assert_eq!(enabled(json!({"SSEType": "KMS"})), Some(Encryption { enabled: true, kms_key: None }));
}

#[test]
fn other_settings_are_checked() {
    for (members, message) in [
        (
            json!({"TableClass": "GLACIER"}),
            "Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].".to_owned(),
        ),
        (json!({"Tags": [{"Key": "aws:a", "Value": ""}]}), "Tag Key cannot be prefixed with aws:, Key: aws:a".to_owned()),
        (
            json!({"ResourcePolicy": "[]"}),
            format!("{INVALID}Invalid policy document: This policy contains invalid Json"),
        ),
        (
            json!({"ResourcePolicy": format!("{{{}}}", " ".repeat(20_480))}),
            format!("{INVALID}Maximum policy size of 20480 bytes exceeded"),
        ),
        (
            json!({"GlobalTableSourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/abc"}),
            format!("{INVALID}GlobalTableSourceArn cannot be specified, global tables are not supported"),
        ),
    ] {
        assert_eq!(refused_with(on_demand(), members), message);
    }
    assert!(create(&with(on_demand(), json!({"Tags": []}))).is_ok());
}
