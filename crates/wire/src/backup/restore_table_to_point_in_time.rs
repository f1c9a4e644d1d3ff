//! RestoreTableToPointInTime: decodes a table, a time and the table to create; encodes the new table's description.

use crate::backup::restore_overrides::RestoreOverrideMembers;
use crate::json::Reader;
use crate::members::{Millis, length, read_valid_request, required, structure};
use crate::table::table_name::{missing_table_name, resource_name};
use crate::table::table_settings::{invalid, invalid_request};
use crate::validation::present;
use partita_api::backup::restore_table_to_point_in_time::RestoreTableToPointInTime;
use partita_api::{Exception, Request};
use partita_value::names::{TableName, table_of_arn};
use std::borrow::Cow;

pub(crate) use crate::backup::restore_overrides::encode;

structure! {
    struct RestoreTableToPointInTimeMembers<'a> {
        source_arn: Cow<'a, str> = "SourceTableArn", length(1, 1024);
        source_name: Cow<'a, str> = "SourceTableName", resource_name;
        target: Cow<'a, str> = "TargetTableName", required, resource_name;
        latest: bool = "UseLatestRestorableTime";
        time: Millis = "RestoreDateTime";
        ..overrides: RestoreOverrideMembers<'a>;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: RestoreTableToPointInTimeMembers = read_valid_request(reader)?;
    let source = source(members.source_arn.as_deref(), members.source_name.as_deref())?;
    let at_millis = restore_time(members.latest.unwrap_or(false), members.time.map(|time| time.0))?;
    let overrides = members.overrides.valid();
    overrides.refuse_warm()?;
    let overrides = overrides.resolve()?;
    let target = TableName::new(&present(members.target)?);
    Ok(Request::RestoreTableToPointInTime(RestoreTableToPointInTime { source, target, at_millis, overrides }))
}

/// The table to restore, by its ARN or by its name.
fn source(arn: Option<&str>, name: Option<&str>) -> Result<TableName, Exception> {
    match (arn, name) {
        (Some(_), Some(_)) => Err(invalid("Must provide exactly one of: sourceTableArn, sourceTableName")),
        (None, None) => Err(missing_table_name()),
        (None, Some(name)) => Ok(TableName::new(name)),
        (Some(arn), None) => match table_of_arn(arn) {
            Some(name) => Ok(TableName::new(name)),
            None => Err(invalid("sourceTableArn is not a valid ARN")),
        },
    }
}

/// The time to restore to; `None` is the latest restorable time.
fn restore_time(latest: bool, time: Option<i64>) -> Result<Option<i64>, Exception> {
    match (latest, time) {
        (true, Some(_)) => Err(invalid_request(
            "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime",
        )),
        (false, None) => Err(invalid_request(
            "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
        )),
        (_, time) => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    operation_tests!(RestoreTableToPointInTime);

    const ARN: &str = "arn:aws:dynamodb:eu-west-1:000000000000:table/Music";

    #[test]
    fn a_table_and_a_time_are_read() {
        let latest = decoded(
            r#"{"SourceTableName": "Music", "TargetTableName": "Copy", "UseLatestRestorableTime": true}"#,
        );
        assert_eq!(
            (latest.source.as_str(), latest.target.as_str(), latest.at_millis),
            ("Music", "Copy", None)
        );
        let earlier = decoded(&format!(
            r#"{{"SourceTableArn": "{ARN}", "TargetTableName": "Copy", "UseLatestRestorableTime": false,
                "RestoreDateTime": 1700000000.5, "BillingModeOverride": "PAY_PER_REQUEST", "VectorIndexOverride": []}}"#
        ));
        assert_eq!((earlier.source.as_str(), earlier.at_millis), ("Music", Some(1_700_000_000_500)));
        assert!(earlier.overrides.billing_mode.is_some());
    }

    #[test]
    fn members_are_checked_together() {
        assert_eq!(
            refused(r#"{"SourceTableArn": "", "SourceTableName": "ab"}"#),
            errors(&[
                ("''", "sourceTableArn", "have length greater than or equal to 1"),
                ("'ab'", "sourceTableName", "have length greater than or equal to 3"),
                ("null", "targetTableName", NOT_NULL),
            ])
        );
    }

    #[test]
    fn exactly_one_table_and_one_time_are_required() {
        let target = r#""TargetTableName": "Copy", "UseLatestRestorableTime": true"#;
        assert_eq!(
            refused(&format!(r#"{{{target}, "SourceTableArn": "{ARN}", "SourceTableName": "Music"}}"#)),
            "One or more parameter values were invalid: Must provide exactly one of: sourceTableArn, sourceTableName"
        );
        assert_eq!(
            refused(&format!("{{{target}}}")),
            "The parameter 'TableName' is required but was not present in the request"
        );
        assert_eq!(
            refused(&format!(r#"{{{target}, "SourceTableArn": "Music"}}"#)),
            "One or more parameter values were invalid: sourceTableArn is not a valid ARN"
        );
        assert_eq!(
            refused(&format!(r#"{{{target}, "SourceTableName": "Music", "RestoreDateTime": 1}}"#)),
            "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime"
        );
        for time in ["", r#", "UseLatestRestorableTime": false"#] {
            assert_eq!(
                refused(&format!(r#"{{"SourceTableName": "Music", "TargetTableName": "Copy"{time}}}"#)),
                "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
            );
        }
    }

    #[test]
    fn index_overrides_cannot_have_warm_throughput() {
        let body = r#"{"SourceTableName": "Music", "TargetTableName": "Copy", "UseLatestRestorableTime": true,
            "GlobalSecondaryIndexOverride": [{"IndexName": "byG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"}, "WarmThroughput": {"ReadUnitsPerSecond": 1}}]}"#;
        assert_eq!(
            refused(body),
            "Invalid Request: WarmThroughput is not supported for index byG when restoring a table to a point in time"
        );
    }

    #[test]
    fn times_are_numbers() {
        assert_eq!(
            mismatch(r#"{"RestoreDateTime": "2026-11-16T00:00:00Z"}"#),
            "STRING_VALUE cannot be converted to Date"
        );
    }
}
