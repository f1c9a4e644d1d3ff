//! The members of descriptions, by the kind of table.

use partita_api::Response;
use partita_api::key_schema::{AttributeDefinition, KeyAttribute, KeySchema};
use partita_api::table::create_table::CreateTableOutput;
use partita_api::table::describe_table::DescribeTableOutput;
use partita_api::table::*;
use partita_value::{ScalarType, names::TableName};
use serde_json::{Value, json};

const ARN: &str = "arn:aws:dynamodb:eu-west-1:000000000000:table/Music";

fn attribute(name: &str, kind: ScalarType) -> KeyAttribute {
    KeyAttribute { name: name.into(), kind }
}

/// A provisioned table with nothing special about it.
pub(crate) fn plain() -> TableDescription {
    TableDescription {
        name: TableName::new("Music"),
        id: "6c1b9e0e-0000-4000-8000-000000000000".into(),
        arn: ARN.into(),
        status: ResourceStatus::Active,
        created_at: 1_791_525_400.213,
        attribute_definitions: vec![AttributeDefinition { name: "a".into(), kind: ScalarType::N }],
        key: KeySchema { partition: vec![attribute("a", ScalarType::N)], sort: vec![] },
        local_indexes: vec![],
        global_indexes: vec![],
        billing_mode: BillingMode::Provisioned,
        on_demand_since: None,
        throughput: Throughput { read: 5, write: 6 },
        throughput_changes: ThroughputChanges::default(),
        on_demand: None,
        warm: None,
        item_count: 7,
        size_bytes: 8,
        stream: None,
        encryption: None,
        table_class: None,
        deletion_protection: false,
        restore: None,
    }
}

pub(crate) fn index(name: &str, global: Option<GlobalIndexState>) -> IndexDescription {
    IndexDescription {
        definition: IndexDefinition {
            name: name.into(),
            key: KeySchema {
                partition: vec![attribute("h1", ScalarType::S), attribute("h2", ScalarType::S)],
                sort: vec![attribute("r", ScalarType::B)],
            },
            projection: IndexProjection::Include(vec!["x".into()]),
            throughput: Some(Throughput { read: 1, write: 2 }),
            on_demand: None,
            warm: None,
        },
        global,
        item_count: 3,
        size_bytes: 4,
        arn: format!("{ARN}/index/{name}"),
    }
}

fn described(table: TableDescription) -> Value {
    let response = Response::DescribeTable(DescribeTableOutput { table });
    let body: Value = serde_json::from_slice(&crate::encode(&response)).unwrap();
    assert_eq!(body.as_object().unwrap().len(), 1);
    body["Table"].clone()
}

#[test]
fn a_plain_table_has_these_members_and_no_others() {
    assert_eq!(
        described(plain()),
        json!({
            "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "N"}],
            "TableName": "Music",
            "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
            "TableStatus": "ACTIVE",
            "CreationDateTime": 1791525400.213,
            "ProvisionedThroughput": {"NumberOfDecreasesToday": 0, "ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
            "TableSizeBytes": 8,
            "ItemCount": 7,
            "TableArn": ARN,
            "TableId": "6c1b9e0e-0000-4000-8000-000000000000",
            "DeletionProtectionEnabled": false,
            "WarmThroughput": {"ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 6, "Status": "ACTIVE"},
        })
    );
}

#[test]
fn other_operations_name_the_member_differently() {
    let output = CreateTableOutput { table: plain() };
    let responses = [
        Response::CreateTable(output.clone()),
        Response::UpdateTable(output.clone()),
        Response::DeleteTable(output),
    ];
    for response in responses {
        let body: Value = serde_json::from_slice(&crate::encode(&response)).unwrap();
        assert_eq!(body["TableDescription"], described(plain()));
    }
}

#[test]
fn on_demand_tables_report_zero_units_and_the_time_of_the_switch() {
    let table = TableDescription {
        billing_mode: BillingMode::PayPerRequest,
        on_demand_since: Some(1.5),
        throughput_changes: ThroughputChanges {
            increased_at: Some(0.25),
            decreased_at: Some(0.5),
            decreases_today: 1,
        },
        ..plain()
    };
    let description = described(table.clone());
    assert_eq!(
        description["BillingModeSummary"],
        json!({"BillingMode": "PAY_PER_REQUEST", "LastUpdateToPayPerRequestDateTime": 1.5})
    );
    assert_eq!(
        description["ProvisionedThroughput"],
        json!({
            "LastIncreaseDateTime": 0.25, "LastDecreaseDateTime": 0.5, "NumberOfDecreasesToday": 1,
            "ReadCapacityUnits": 0, "WriteCapacityUnits": 0,
        })
    );
    assert_eq!(
        description["WarmThroughput"],
        json!({"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"})
    );
    let provisioned_again = described(TableDescription { billing_mode: BillingMode::Provisioned, ..table });
    assert_eq!(
        provisioned_again["BillingModeSummary"],
        json!({"BillingMode": "PROVISIONED", "LastUpdateToPayPerRequestDateTime": 1.5})
    );
}

#[test]
fn a_table_being_created_has_fewer_members() {
    let table = TableDescription {
        status: ResourceStatus::Creating,
        billing_mode: BillingMode::PayPerRequest,
        on_demand_since: Some(1.5),
        ..plain()
    };
    let description = described(table.clone());
    assert_eq!(description["BillingModeSummary"], json!({"BillingMode": "PAY_PER_REQUEST"}));
    assert_eq!(description.get("WarmThroughput"), None);
    let warm = Some(WarmThroughput { read: Some(13000), write: None });
    assert_eq!(
        described(TableDescription { warm, ..table })["WarmThroughput"],
        json!({"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 4000, "Status": "UPDATING"})
    );
}

#[test]
fn local_indexes_have_neither_status_nor_units() {
    let description = described(TableDescription { local_indexes: vec![index("local", None)], ..plain() });
    assert_eq!(
        description["LocalSecondaryIndexes"],
        json!([{
            "IndexName": "local",
            "KeySchema": [
                {"AttributeName": "h1", "KeyType": "HASH"},
                {"AttributeName": "h2", "KeyType": "HASH"},
                {"AttributeName": "r", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
            "IndexSizeBytes": 4,
            "ItemCount": 3,
            "IndexArn": format!("{ARN}/index/local"),
        }])
    );
    assert_eq!(description.get("GlobalSecondaryIndexes"), None);
}

#[test]
fn global_indexes_report_their_status() {
    let throughput_changes = ThroughputChanges { decreases_today: 2, ..ThroughputChanges::default() };
    let state = |status| Some(GlobalIndexState { status, backfilling: true, throughput_changes });
    let description = |status, table_status| {
        let global_indexes = vec![index("global", state(status))];
        described(TableDescription { global_indexes, status: table_status, ..plain() })
    };
    let active = &description(ResourceStatus::Active, ResourceStatus::Active)["GlobalSecondaryIndexes"][0];
    assert_eq!((active["IndexStatus"].as_str(), active.get("Backfilling")), (Some("ACTIVE"), None));
    assert_eq!(
        active["ProvisionedThroughput"],
        json!({"NumberOfDecreasesToday": 2, "ReadCapacityUnits": 1, "WriteCapacityUnits": 2})
    );
    assert_eq!(
        active["WarmThroughput"],
        json!({"ReadUnitsPerSecond": 1, "WriteUnitsPerSecond": 2, "Status": "ACTIVE"})
    );
    let creating =
        &description(ResourceStatus::Creating, ResourceStatus::Updating)["GlobalSecondaryIndexes"][0];
    assert_eq!((&creating["IndexStatus"], &creating["Backfilling"]), (&json!("CREATING"), &json!(true)));
    let deleting = description(ResourceStatus::Active, ResourceStatus::Deleting);
    for member in ["GlobalSecondaryIndexes", "KeySchema", "AttributeDefinitions", "CreationDateTime"] {
        assert_eq!(deleting.get(member), None);
    }
}

#[test]
fn streams_encryption_class_and_bounds_are_reported_if_set() {
    let description = described(TableDescription {
        stream: Some(LatestStream {
            view: Some(StreamViewType::NewImage),
            label: "2026-11-15T19:00:00.000".into(),
            arn: format!("{ARN}/stream/2026-11-15T19:00:00.000"),
        }),
        encryption: Some(Encryption { enabled: true, kms_key: None }),
        table_class: Some(TableClass::Standard),
        deletion_protection: true,
        on_demand: Some(OnDemandThroughput { max_read: Some(-1), max_write: Some(9) }),
        ..plain()
    });
    assert_eq!(
        description["StreamSpecification"],
        json!({"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"})
    );
    assert_eq!(description["LatestStreamLabel"], "2026-11-15T19:00:00.000");
    assert_eq!(description["LatestStreamArn"], format!("{ARN}/stream/2026-11-15T19:00:00.000"));
    assert_eq!(
        description["SSEDescription"],
        json!({
            "Status": "ENABLED", "SSEType": "KMS",
            "KMSMasterKeyArn": "arn:aws:kms:eu-west-1:000000000000:key/d1b0d1b0-0000-4000-8000-123456789012",
        })
    );
    assert_eq!(description["TableClassSummary"], json!({"TableClass": "STANDARD"}));
    assert_eq!(description["DeletionProtectionEnabled"], true);
    assert_eq!(description["OnDemandThroughput"], json!({"MaxWriteRequestUnits": 9}));
}

#[test]
fn kms_keys_are_reported_by_arn_and_disabled_encryption_is_omitted() {
    let key = |kms_key: &str| {
        let encryption = Some(Encryption { enabled: true, kms_key: Some(kms_key.into()) });
        described(TableDescription { encryption, ..plain() })["SSEDescription"]["KMSMasterKeyArn"].clone()
    };
    assert_eq!(key("alias/mine"), "arn:aws:kms:eu-west-1:000000000000:alias/mine");
    assert_eq!(key("1234"), "arn:aws:kms:eu-west-1:000000000000:key/1234");
    assert_eq!(key("arn:aws:kms:x:1:key/2"), "arn:aws:kms:x:1:key/2");
    let encryption = Some(Encryption { enabled: false, kms_key: None });
    let description = described(TableDescription {
        encryption,
        on_demand: Some(OnDemandThroughput { max_read: Some(-1), max_write: None }),
        ..plain()
    });
    assert_eq!((description.get("SSEDescription"), description.get("OnDemandThroughput")), (None, None));
}

#[test]
fn restored_tables_report_their_source() {
    let restore = RestoreSummary {
        backup_arn: Some(format!("{ARN}/backup/1")),
        table_arn: Some(ARN.into()),
        at_millis: 1_500,
        in_progress: true,
    };
    let description = described(TableDescription { restore: Some(Box::new(restore.clone())), ..plain() });
    assert_eq!(
        description["RestoreSummary"],
        json!({"SourceBackupArn": format!("{ARN}/backup/1"), "SourceTableArn": ARN, "RestoreDateTime": 1.5, "RestoreInProgress": true})
    );
    let of_a_moment = RestoreSummary { backup_arn: None, in_progress: false, ..restore };
    let description = described(TableDescription { restore: Some(Box::new(of_a_moment)), ..plain() });
    assert_eq!(
        description["RestoreSummary"],
        json!({"SourceTableArn": ARN, "RestoreDateTime": 1.5, "RestoreInProgress": false})
    );
}
