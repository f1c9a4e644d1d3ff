//! Backups: their ARNs in requests, and their descriptions with the source table.

use crate::exchange::read_arn;
use crate::json::{Reader, Seconds, Writer};
use crate::table::table_description::*;
use partita_api::Exception;
use partita_api::backup::{BackupDescription, BackupDetails};
use partita_api::table::{IndexDescription, TableDescription};
use partita_value::names::is_resource_name;

/// Reads a request whose only member is the ARN of a backup.
pub(crate) fn read_backup_arn(reader: Reader<'_>) -> Result<String, Exception> {
    let arn = read_arn(reader, "BackupArn")?;
    check_backup_arn(&arn)?;
    Ok(arn)
}

/// Refuses what cannot be the ARN of a backup, whether or not the backup exists.
pub(crate) fn check_backup_arn(arn: &str) -> Result<(), Exception> {
    let parts = arn.strip_prefix("arn:").and_then(|arn| arn.split_once(":table/"));
    let (table, id) = parts.and_then(|(_, backup)| backup.split_once("/backup/")).unwrap_or_default();
    if is_resource_name(table) && !id.is_empty() {
        return Ok(());
    }
    Err(Exception::validation("Invalid Backup ARN"))
}

pub(crate) fn encode_description(backup: &BackupDescription, json: &mut Writer) {
    json.object(|json| {
        json.name("BackupDescription").object(|json| {
            json.name("BackupDetails").object(|json| encode_details(&backup.details, json));
            json.name("SourceTableDetails").object(|json| encode_source(&backup.table, json));
            json.name("SourceTableFeatureDetails").object(|json| encode_features(backup, json));
        });
    });
}

/// Encodes the members of `BackupDetails`, which a summary has as well.
pub(crate) fn encode_details(details: &BackupDetails, json: &mut Writer) {
    json.member("BackupArn", &details.arn)
        .member("BackupName", &details.name)
        .member("BackupSizeBytes", &details.size_bytes)
        .member("BackupStatus", details.status.name())
        .member("BackupType", details.kind.name())
        .member("BackupCreationDateTime", &Seconds(details.created_millis))
        .member("BackupExpiryDateTime", &details.expires_millis.map(Seconds));
}

fn encode_source(table: &TableDescription, json: &mut Writer) {
    json.member("TableName", &table.name)
        .member("TableId", &table.id)
        .member("TableArn", &table.arn)
        .member("TableSizeBytes", &table.size_bytes);
    encode_key(&table.key, json);
    json.member("TableCreationDateTime", &table.created_at);
    json.name("ProvisionedThroughput").object(|json| {
        encode_units(described_units(table.billing_mode, Some(table.throughput)), json);
    });
    encode_on_demand(table.on_demand, json);
    json.member("ItemCount", &table.item_count).member("BillingMode", table.billing_mode.name());
}

/// Encodes the settings that not every table has.
fn encode_features(backup: &BackupDescription, json: &mut Writer) {
    let table = &backup.table;
    encode_indexes("LocalSecondaryIndexes", &table.local_indexes, table, json);
    encode_indexes("GlobalSecondaryIndexes", &table.global_indexes, table, json);
    encode_stream_view("StreamDescription", table.stream.as_ref().and_then(|stream| stream.view), json);
    if let Some(attribute) = &backup.time_to_live {
        json.name("TimeToLiveDescription").object(|json| {
            json.member("TimeToLiveStatus", "ENABLED").member("AttributeName", attribute);
        });
    }
    encode_encryption(table, json);
}

fn encode_indexes(list: &str, indexes: &[IndexDescription], table: &TableDescription, json: &mut Writer) {
    if indexes.is_empty() {
        return;
    }
    json.objects(list, indexes, |IndexDescription { definition, global, .. }, json| {
        json.member("IndexName", &definition.name);
        encode_key(&definition.key, json);
        encode_projection(&definition.projection, json);
        if global.is_some() {
            json.name("ProvisionedThroughput").object(|json| {
                encode_units(described_units(table.billing_mode, definition.throughput), json);
            });
            encode_on_demand(definition.on_demand, json);
        }
    });
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::table_description::tests::{index, plain};
    use crate::testing::encoded;
    use partita_api::Response;
    use partita_api::backup::describe_backup::DescribeBackupOutput;
    use partita_api::backup::{BackupKind, BackupStatus};
    use partita_api::table::*;
    use serde_json::{Value, json};

    pub(crate) const ARN: &str =
        "arn:aws:dynamodb:eu-west-1:000000000000:table/Music/backup/01791525400213-a1b2c3d4";

    pub(crate) fn details() -> BackupDetails {
        BackupDetails {
            arn: ARN.into(),
            name: "nightly".into(),
            kind: BackupKind::User,
            status: BackupStatus::Available,
            size_bytes: 9,
            created_millis: 1_500,
            expires_millis: None,
        }
    }

    fn described(backup: BackupDescription) -> Value {
        let body = encoded(Response::DescribeBackup(DescribeBackupOutput { backup }));
        serde_json::from_str::<Value>(&body).unwrap()["BackupDescription"].clone()
    }

    #[test]
    fn a_backup_of_a_plain_table_has_no_features() {
        let backup = BackupDescription { details: details(), table: Box::new(plain()), time_to_live: None };
        assert_eq!(
            described(backup),
            json!({
                "BackupDetails": {"BackupArn": ARN, "BackupName": "nightly", "BackupSizeBytes": 9, "BackupStatus": "AVAILABLE",
                    "BackupType": "USER", "BackupCreationDateTime": 1.5},
                "SourceTableDetails": {"TableName": "Music", "TableId": plain().id, "TableArn": plain().arn, "TableSizeBytes": 8,
                    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "TableCreationDateTime": 1791525400.213,
                    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}, "ItemCount": 7, "BillingMode": "PROVISIONED"},
                "SourceTableFeatureDetails": {},
            })
        );
    }

    #[test]
    fn features_are_reported_as_of_the_backup() {
        let state = GlobalIndexState {
            status: ResourceStatus::Active,
            backfilling: false,
            throughput_changes: ThroughputChanges::default(),
        };
        let table = TableDescription {
            billing_mode: BillingMode::PayPerRequest,
            on_demand: Some(OnDemandThroughput { max_read: Some(3), max_write: None }),
            local_indexes: vec![index("local", None)],
            global_indexes: vec![index("global", Some(state))],
            stream: Some(LatestStream {
                view: Some(StreamViewType::KeysOnly),
                label: "l".into(),
                arn: "s".into(),
            }),
            encryption: Some(Encryption { enabled: true, kms_key: None }),
            ..plain()
        };
        let details = BackupDetails { kind: BackupKind::System, expires_millis: Some(2_000), ..details() };
        let description = described(BackupDescription {
            details,
            table: Box::new(table),
            time_to_live: Some("expires".into()),
        });
        assert_eq!(
            (
                &description["BackupDetails"]["BackupType"],
                &description["BackupDetails"]["BackupExpiryDateTime"]
            ),
            (&json!("SYSTEM"), &json!(2.0))
        );
        let source = &description["SourceTableDetails"];
        assert_eq!(source["OnDemandThroughput"], json!({"MaxReadRequestUnits": 3}));
        assert_eq!(source["ProvisionedThroughput"], json!({"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}));
        let features = &description["SourceTableFeatureDetails"];
        let key = json!([{"AttributeName": "h1", "KeyType": "HASH"}, {"AttributeName": "h2", "KeyType": "HASH"},
            {"AttributeName": "r", "KeyType": "RANGE"}]);
        let projection = json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]});
        assert_eq!(
            features["LocalSecondaryIndexes"],
            json!([{"IndexName": "local", "KeySchema": key, "Projection": projection}])
        );
        assert_eq!(
            features["GlobalSecondaryIndexes"],
            json!([{"IndexName": "global", "KeySchema": key, "Projection": projection,
                "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}}])
        );
        assert_eq!(
            features["StreamDescription"],
            json!({"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"})
        );
        assert_eq!(
            features["TimeToLiveDescription"],
            json!({"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"})
        );
        assert_eq!(features["SSEDescription"]["SSEType"], json!("KMS"));
    }
}
