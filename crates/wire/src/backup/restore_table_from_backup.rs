//! RestoreTableFromBackup: decodes a backup and the table to create from it; encodes the table's description.

use crate::backup::backup_description::check_backup_arn;
use crate::backup::restore_overrides::RestoreOverrideMembers;
use crate::json::Reader;
use crate::members::{length, read_valid_request, required, structure};
use crate::table::table_name::resource_name;
use crate::validation::present;
use partita_api::backup::restore_table_from_backup::RestoreTableFromBackup;
use partita_api::{Exception, Request};
use partita_value::names::TableName;
use std::borrow::Cow;

pub(crate) use crate::backup::restore_overrides::encode;

structure! {
    struct RestoreTableFromBackupMembers<'a> {
        target: Cow<'a, str> = "TargetTableName", required, resource_name;
        arn: Cow<'a, str> = "BackupArn", required, length(37, 1024);
        ..overrides: RestoreOverrideMembers<'a>;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: RestoreTableFromBackupMembers = read_valid_request(reader)?;
    let arn = present(members.arn)?;
    check_backup_arn(&arn)?;
    Ok(Request::RestoreTableFromBackup(RestoreTableFromBackup {
        target: TableName::new(&present(members.target)?),
        backup_arn: arn.into_owned(),
        overrides: members.overrides.valid().resolve()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::backup_description::tests::ARN;
    use crate::table::table_description::tests::plain;
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::backup::restore_table_from_backup::RestoreTableFromBackupOutput;
    use partita_api::table::{BillingMode, IndexProjection, TableDescription, Throughput};

    operation_tests!(RestoreTableFromBackup);

    fn body(more: &str) -> String {
        format!(r#"{{"TargetTableName": "Copy", "BackupArn": "{ARN}", {more}"Unknown": 1}}"#)
    }

    const INDEX: &str = r#""IndexName": "byG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"}"#;

    #[test]
    fn a_backup_and_a_target_table_are_read() {
        let request = decoded(&body(""));
        assert_eq!((request.target.as_str(), request.backup_arn.as_str()), ("Copy", ARN));
        let overrides = request.overrides;
        assert!(overrides.local_indexes.is_none() && overrides.global_indexes.is_none());
        assert!(overrides.billing_mode.is_none() && overrides.encryption.is_none());
    }

    #[test]
    fn settings_can_be_overridden() {
        let overrides = decoded(&body(&format!(
            r#""BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": {{"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}},
               "GlobalSecondaryIndexOverride": [{{{INDEX}, "ProvisionedThroughput": {{"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}},
                   "WarmThroughput": {{"ReadUnitsPerSecond": 5}}}}],
               "LocalSecondaryIndexOverride": [], "SSESpecificationOverride": {{"Enabled": true, "SSEType": "KMS"}},
               "VectorIndexOverride": [{{}}], "#
        )))
        .overrides;
        assert_eq!(overrides.billing_mode, Some(BillingMode::Provisioned));
        assert_eq!(overrides.throughput, Some(Throughput { read: 1, write: 2 }));
        assert!(overrides.encryption.unwrap().enabled);
        assert!(overrides.local_indexes.unwrap().is_empty());
        let indexes = overrides.global_indexes.unwrap();
        assert_eq!((indexes[0].name.as_str(), &indexes[0].projection), ("byG", &IndexProjection::KeysOnly));
        assert_eq!(indexes[0].throughput, Some(Throughput { read: 3, write: 4 }));
        assert_eq!(indexes[0].warm.unwrap().read, Some(5));
        let overrides = decoded(&body(
            r#""OnDemandThroughputOverride": {"MaxReadRequestUnits": 9}, "SSESpecificationOverride": {}, "#,
        ))
        .overrides;
        assert_eq!(overrides.on_demand.unwrap().max_read, Some(9));
        assert!(!overrides.encryption.unwrap().enabled);
    }

    #[test]
    fn members_are_checked_together() {
        let body = r#"{"TargetTableName": "a!", "BillingModeOverride": "x", "GlobalSecondaryIndexOverride": [{}],
            "ProvisionedThroughputOverride": {"ReadCapacityUnits": 0}, "SSESpecificationOverride": {"SSEType": "x"}}"#;
        let index = "globalSecondaryIndexOverride.1.member";
        assert_eq!(
            refused(body),
            errors(&[
                ("'a!'", "targetTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
                ("'a!'", "targetTableName", "have length greater than or equal to 3"),
                ("null", "backupArn", NOT_NULL),
                ("'x'", "billingModeOverride", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"),
                ("null", &format!("{index}.indexName"), NOT_NULL),
                ("null", &format!("{index}.keySchema"), NOT_NULL),
                ("null", &format!("{index}.projection"), NOT_NULL),
                ("null", "provisionedThroughputOverride.writeCapacityUnits", NOT_NULL),
                (
                    "'0'",
                    "provisionedThroughputOverride.readCapacityUnits",
                    "have value greater than or equal to 1"
                ),
                ("'x'", "sSESpecificationOverride.sSEType", "satisfy enum value set: [AES256, KMS]"),
            ])
        );
    }

    #[test]
    fn rules_between_members() {
        let units = r#"{"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}"#;
        for (more, text) in [
            (
                format!(
                    r#""BillingModeOverride": "PAY_PER_REQUEST", "ProvisionedThroughputOverride": {units}, "#
                ),
                "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST",
            ),
            (
                r#""BillingModeOverride": "PROVISIONED", "#.to_owned(),
                "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
            ),
            (
                format!(
                    r#""BillingModeOverride": "PAY_PER_REQUEST", "GlobalSecondaryIndexOverride": [{{{INDEX}, "ProvisionedThroughput": {units}}}], "#
                ),
                "Invalid Request: Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for index byG",
            ),
            (
                format!(
                    r#""GlobalSecondaryIndexOverride": [{{{INDEX}}}], "LocalSecondaryIndexOverride": [{{{INDEX}}}], "#
                ),
                "One or more parameter values were invalid: Duplicate index name: byG",
            ),
            (
                r#""OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}, "#.to_owned(),
                "One or more parameter values were invalid: Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
            ),
            (
                r#""SSESpecificationOverride": {"SSEType": "AES256"}, "#.to_owned(),
                "One or more parameter values were invalid: SSEType AES256 is not supported",
            ),
            (
                r#""BackupArn": "arn:aws:dynamodb:eu-west-1:000000000000:table/Music", "#.to_owned(),
                "Invalid Backup ARN",
            ),
        ] {
            assert_eq!(refused(&body(&more)), text);
        }
    }

    #[test]
    fn the_response_describes_the_new_table() {
        let output = RestoreTableFromBackupOutput { table: TableDescription { ..plain() } };
        let text = encoded(Response::RestoreTableFromBackup(output.clone()));
        assert!(text.starts_with(r#"{"TableDescription":{"AttributeDefinitions":"#));
        assert_eq!(encoded(Response::RestoreTableToPointInTime(output)), text);
    }
}
