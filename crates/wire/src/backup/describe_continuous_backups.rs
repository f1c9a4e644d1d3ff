//! DescribeContinuousBackups: a body → a table; and to which moments it can be restored.

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
    use partita_api::backup::continuous_backups::{ContinuousBackups, Recovery};
    use partita_api::{Operation, Response};

    #[test]
    fn names_a_table() {
        for table in ["Music", "arn:aws:dynamodb:eu-west-1:000000000000:table/Music"] {
            let body = format!(r#"{{"TableName": "{table}"}}"#);
            let request = decoded(Operation::DescribeContinuousBackups, &body);
            assert!(
                matches!(request, Request::DescribeContinuousBackups(request) if request.table.as_str() == "Music")
            );
        }
        assert_eq!(
            refusal(Operation::DescribeContinuousBackups, "{}"),
            "The parameter 'TableName' is required but was not present in the request"
        );
    }

    #[test]
    fn moments_are_shown_where_there_are_some() {
        let shown = |recovery| {
            let output = DescribeContinuousBackupsOutput { backups: ContinuousBackups { recovery } };
            let text = encoded(Response::DescribeContinuousBackups(output.clone()));
            assert_eq!(encoded(Response::UpdateContinuousBackups(output)), text);
            text
        };
        assert_eq!(
            shown(None),
            r#"{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}"#
        );
        assert_eq!(
            shown(Some(Recovery { period_days: 7, earliest_millis: 1_000, latest_millis: 2_500 })),
            r#"{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":7,"EarliestRestorableDateTime":1.0,"LatestRestorableDateTime":2.5}}}"#
        );
    }
}
