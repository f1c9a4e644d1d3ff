//! DescribeContinuousBackups: decodes a table; encodes the times to which it can be restored.

use crate::backup::continuous_backups;
use crate::json::{Reader, Writer};
use crate::table::table_name::read_only_table_name;
use partita_api::backup::describe_continuous_backups::*;
use partita_api::{Exception, Request};

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let table = read_only_table_name(reader)?;
    Ok(Request::DescribeContinuousBackups(DescribeContinuousBackups { table }))
}

pub(crate) fn encode(output: &DescribeContinuousBackupsOutput, json: &mut Writer) {
    continuous_backups::encode(&output.backups, json);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::backup::continuous_backups::{ContinuousBackups, Recovery};

    operation_tests!(DescribeContinuousBackups);

    #[test]
    fn a_table_is_named_by_name_or_arn() {
        for table in ["Music", "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"] {
            let body = format!(r#"{{"TableName": "{table}"}}"#);
            assert_eq!(decoded(&body).table.as_str(), "Music");
        }
        assert_eq!(refused("{}"), "The parameter 'TableName' is required but was not present in the request");
    }

    #[test]
    fn times_are_reported_if_recovery_is_enabled() {
        let described = |recovery| {
            let output = DescribeContinuousBackupsOutput { backups: ContinuousBackups { recovery } };
            let text = encoded(Response::DescribeContinuousBackups(output.clone()));
            assert_eq!(encoded(Response::UpdateContinuousBackups(output)), text);
            text
        };
        assert_eq!(
            described(None),
            r#"{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}"#
        );
        assert_eq!(
            described(Some(Recovery { period_days: 7, earliest_millis: 1_000, latest_millis: 2_500 })),
            r#"{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":7,"EarliestRestorableDateTime":1.0,"LatestRestorableDateTime":2.5}}}"#
        );
    }
}
