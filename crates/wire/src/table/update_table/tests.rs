//! Valid and invalid UpdateTable requests, with AWS's error texts.

use crate::testing::*;
use partita_api::ExceptionKind;
use partita_api::table::update_table::{GlobalIndexUpdate, IndexUpdate, StreamUpdate, UpdateTable};
use partita_api::table::*;
use serde_json::{Value, json};

const INVALID: &str = "One or more parameter values were invalid: ";
const NOTHING: &str = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required";

operation_tests!(UpdateTable);

fn body(members: Value) -> String {
    both(json!({"TableName": "abc"}), members).to_string()
}

fn update(members: Value) -> UpdateTable {
    decoded(&body(members))
}

fn refused_update(members: Value) -> String {
    refused(&body(members))
}

fn units() -> Value {
    json!({"ReadCapacityUnits": 2, "WriteCapacityUnits": 3})
}

fn stream() -> Value {
    json!({"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"})
}

/// The members that add one index.
fn create(members: Value) -> Value {
    let index = json!({
        "IndexName": "new",
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    });
    json!({"Create": both(index, members)})
}

fn indexes(updates: &[Value]) -> Value {
    json!({
        "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": updates,
    })
}

/// An object with the members of both.
fn both(mut one: Value, other: Value) -> Value {
    if let (Some(one), Value::Object(other)) = (one.as_object_mut(), other) {
        one.extend(other);
    }
    one
}

#[test]
fn each_setting_changes_by_itself() {
    let request = update(json!({"ProvisionedThroughput": units(), "BillingMode": "PROVISIONED"}));
    assert_eq!(request.throughput, Some(Throughput { read: 2, write: 3 }));
    assert_eq!(request.billing_mode, Some(BillingMode::Provisioned));
    assert_eq!(
        update(json!({"StreamSpecification": stream()})).stream,
        Some(StreamUpdate::Enable(StreamViewType::KeysOnly))
    );
    let disabled = update(json!({"StreamSpecification": {"StreamEnabled": false}}));
    assert_eq!(disabled.stream, Some(StreamUpdate::Disable));
    let encrypted = update(json!({"SSESpecification": {"Enabled": true}})).encryption;
    assert_eq!(encrypted, Some(Encryption { enabled: true, kms_key: None }));
    assert_eq!(update(json!({"TableClass": "STANDARD"})).table_class, Some(TableClass::Standard));
    assert_eq!(update(json!({"DeletionProtectionEnabled": false})).deletion_protection, Some(false));
    let warm = update(json!({"WarmThroughput": {"ReadUnitsPerSecond": 13000}})).warm;
    assert_eq!(warm, Some(WarmThroughput { read: Some(13000), write: None }));
    let bounded =
        update(json!({"OnDemandThroughput": {"MaxReadRequestUnits": -1}, "BillingMode": "PAY_PER_REQUEST"}));
    assert_eq!(bounded.on_demand, Some(OnDemandThroughput { max_read: Some(-1), max_write: None }));
}

#[test]
fn an_index_is_created_changed_or_deleted() {
    let request = update(indexes(&[create(json!({"ProvisionedThroughput": units()}))]));
    assert_eq!(request.attribute_definitions.len(), 1);
    match &request.index_updates[..] {
        [GlobalIndexUpdate::Create(index)] => {
            assert_eq!((index.name.as_str(), index.key_schema.len()), ("new", 1));
            assert_eq!(index.projection, IndexProjection::All);
            assert_eq!(index.throughput, Some(Throughput { read: 2, write: 3 }));
        }
        other => panic!("{other:?}"),
    }
    let request = update(json!({"GlobalSecondaryIndexUpdates": [
        {"Update": {"IndexName": "one", "ProvisionedThroughput": units()}},
        {"Update": {"IndexName": "two", "OnDemandThroughput": {"MaxReadRequestUnits": -1}, "WarmThroughput": {"ReadUnitsPerSecond": 13000}}},
        {"Delete": {"IndexName": "three"}},
    ]}));
    match &request.index_updates[..] {
        [
            GlobalIndexUpdate::Update(IndexUpdate { name: one, throughput: Some(_), .. }),
            GlobalIndexUpdate::Update(IndexUpdate {
                name: two,
                throughput: None,
                on_demand: Some(_),
                warm: Some(_),
            }),
            GlobalIndexUpdate::Delete { name: three },
        ] => assert_eq!([one, two, three], ["one", "two", "three"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn at_least_one_change_is_required() {
    for members in [
        json!({}),
        json!({"GlobalSecondaryIndexUpdates": []}),
        json!({"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}),
        json!({"WarmThroughput": {}, "OnDemandThroughput": {}}),
        json!({"ReplicaUpdates": null}),
    ] {
        assert_eq!(refused_update(members), NOTHING);
    }
    assert_eq!(
        refused_update(json!({"GlobalSecondaryIndexUpdates": [], "DeletionProtectionEnabled": true})),
        format!("{INVALID}List of GlobalSecondaryIndexUpdates is empty")
    );
}

#[test]
fn global_tables_are_not_supported() {
    for (member, value) in [
        ("ReplicaUpdates", json!([{"Create": {"RegionName": "eu-west-1"}}])),
        ("GlobalTableWitnessUpdates", json!([{"Create": {"RegionName": "eu-west-1"}}])),
        ("MultiRegionConsistency", json!("STRONG")),
    ] {
        assert_eq!(
            refused_update(json!({member: value})),
            format!("{INVALID}{member} cannot be specified, global tables are not supported")
        );
    }
}

#[test]
fn model_violations_are_reported_together() {
    assert_eq!(
        refused_update(json!({"ProvisionedThroughput": {}})),
        "2 validation errors detected: \
         Value null at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must not be null; \
         Value null at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must not be null"
    );
    assert_eq!(
        refused_update(json!({"GlobalSecondaryIndexUpdates": [
            {"Update": {"IndexName": "a", "ProvisionedThroughput": {}}},
            {"Update": {"IndexName": "abc;", "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 0}}},
            {"Create": {}},
            {"Delete": {}},
        ]})),
        "9 validation errors detected: \
         Value 'a' at 'globalSecondaryIndexUpdates.1.member.update.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3; \
         Value null at 'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must not be null; \
         Value null at 'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must not be null; \
         Value 'abc;' at 'globalSecondaryIndexUpdates.2.member.update.indexName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; \
         Value '0' at 'globalSecondaryIndexUpdates.2.member.update.provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1; \
         Value null at 'globalSecondaryIndexUpdates.3.member.create.indexName' failed to satisfy constraint: Member must not be null; \
         Value null at 'globalSecondaryIndexUpdates.3.member.create.keySchema' failed to satisfy constraint: Member must not be null; \
         Value null at 'globalSecondaryIndexUpdates.3.member.create.projection' failed to satisfy constraint: Member must not be null; \
         Value null at 'globalSecondaryIndexUpdates.4.member.delete.indexName' failed to satisfy constraint: Member must not be null"
    );
}

#[test]
fn units_must_suit_the_billing_mode() {
    assert_eq!(
        refused_update(json!({"BillingMode": "PROVISIONED"})),
        format!("{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    );
    assert_eq!(
        refused_update(json!({"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units()})),
        format!(
            "{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        )
    );
    let high = json!({"ReadCapacityUnits": 1000000000001u64, "WriteCapacityUnits": 1000000000001u64});
    assert_eq!(
        refused_update(json!({"ProvisionedThroughput": high})),
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds"
    );
    for units in [0, -2] {
        assert_eq!(
            refused_update(json!({"OnDemandThroughput": {"MaxReadRequestUnits": units}})),
            format!(
                "{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
            )
        );
    }
    assert_eq!(
        refused_update(json!({"WarmThroughput": {"WriteUnitsPerSecond": -1}})),
        format!(
            "{INVALID}Requested WriteUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported"
        )
    );
}

#[test]
fn each_index_update_is_one_action_on_one_index() {
    let delete = |name: &str| json!({"Delete": {"IndexName": name}});
    assert_eq!(
        refused_update(json!({"GlobalSecondaryIndexUpdates": [{}]})),
        format!(
            "{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null"
        )
    );
    assert_eq!(
        refused_update(
            json!({"GlobalSecondaryIndexUpdates": [both(json!({"Update": {"IndexName": "abc"}}), delete("abc"))]})
        ),
        format!(
            "{INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
        )
    );
    assert_eq!(
        refused_update(json!({"GlobalSecondaryIndexUpdates": [delete("abc"), delete("abc")]})),
        format!(
            "{INVALID}Only one global secondary index update per index is allowed simultaneously. Index: abc"
        )
    );
    let two =
        outcome(&body(json!({"GlobalSecondaryIndexUpdates": [delete("abc"), delete("abd")]}))).unwrap_err();
    assert_eq!(
        (two.kind, two.message.as_str()),
        (
            ExceptionKind::LimitExceededException,
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    );
}

#[test]
fn a_new_index_follows_the_rules_of_indexes() {
    assert_eq!(
        refused_update(json!({"GlobalSecondaryIndexUpdates": [create(json!({}))]})),
        format!("{INVALID}AttributeDefinitions is not specified for index: new")
    );
    let case = |members: Value| refused_update(indexes(&[create(members)]));
    assert_eq!(
        case(json!({"KeySchema": [{"AttributeName": "a", "KeyType": "RANGE"}]})),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
    );
    assert_eq!(case(json!({"Projection": {}})), format!("{INVALID}Unknown ProjectionType: null"));
    assert_eq!(
        case(json!({"WarmThroughput": {}})),
        format!(
            "{INVALID}WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified for index: new"
        )
    );
    assert_eq!(
        refused_update(both(
            indexes(&[create(json!({"ProvisionedThroughput": units()}))]),
            json!({"BillingMode": "PAY_PER_REQUEST"})
        )),
        format!(
            "{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when BillingMode is PAY_PER_REQUEST"
        )
    );
    assert_eq!(
        refused_update(both(
            indexes(&[create(json!({}))]),
            json!({"BillingMode": "PROVISIONED", "ProvisionedThroughput": units()})
        )),
        format!("{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new")
    );
}

#[test]
fn streams_are_enabled_with_a_view_type_and_disabled_without() {
    assert_eq!(
        refused_update(json!({"StreamSpecification": {"StreamEnabled": true}})),
        format!("{INVALID}If stream is being enabled then UpdateViewType is required")
    );
    assert_eq!(
        refused_update(
            json!({"StreamSpecification": {"StreamEnabled": false, "StreamViewType": "KEYS_ONLY"}})
        ),
        format!("{INVALID}If stream is being disabled, then UpdateViewType must not be specified")
    );
}

#[test]
fn some_changes_are_exclusive() {
    let class = || json!({"TableClass": "STANDARD"});
    let protection = || json!({"DeletionProtectionEnabled": true});
    let encryption = || json!({"SSESpecification": {"Enabled": true}});
    let warm = || json!({"WarmThroughput": {"ReadUnitsPerSecond": 13000}});
    let bounds = || json!({"OnDemandThroughput": {"MaxReadRequestUnits": 1}});
    let provisioned = || json!({"ProvisionedThroughput": units()});
    let streams = || json!({"StreamSpecification": stream()});
    let new_index = || indexes(&[create(json!({}))]);
    for (one, other, message) in [
        (
            encryption(),
            protection(),
            "Server-Side Encryption modification must be the only operation in the request",
        ),
        (class(), protection(), "TableClass modification must be the only operation in the request"),
        (
            protection(),
            provisioned(),
            "DeletionProtection modification must be the only operation in the request",
        ),
        (warm(), protection(), "DeletionProtection modification must be the only operation in the request"),
        (
            warm(),
            bounds(),
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        (
            streams(),
            bounds(),
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        (
            warm(),
            new_index(),
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ),
        (warm(), streams(), "WarmThroughput must be the only operation in the request"),
        (provisioned(), streams(), "You cannot modify stream status while updating table IOPS"),
        (provisioned(), new_index(), "You cannot create or delete index while updating table IOPS"),
        (streams(), new_index(), "You cannot create or delete index while changing stream status"),
    ] {
        assert_eq!(refused_update(both(one, other)), format!("{INVALID}{message}"));
    }
}

#[test]
fn the_billing_mode_can_change_together_with_others() {
    let on_demand = || json!({"BillingMode": "PAY_PER_REQUEST"});
    update(both(on_demand(), json!({"OnDemandThroughput": {"MaxReadRequestUnits": 1}})));
    update(both(on_demand(), json!({"StreamSpecification": stream()})));
    update(both(on_demand(), indexes(&[create(json!({}))])));
    update(both(indexes(&[create(json!({}))]), json!({"GlobalTableSettingsReplicationMode": "ENABLED"})));
}
