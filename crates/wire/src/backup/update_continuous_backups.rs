//! UpdateContinuousBackups: decodes whether point-in-time recovery is enabled and its period; encodes the new state.

use crate::backup::continuous_backups;
use crate::json::{Reader, Writer};
use crate::members::{range, read_request, required, structure, validate};
use crate::table::table_name::TableReference;
use crate::table::table_settings::invalid_request;
use crate::validation::present;
use partita_api::backup::update_continuous_backups::*;
use partita_api::{Exception, Request};

/// The longest recovery period.
const MAX_DAYS: i32 = 35;

structure! {
    struct UpdateContinuousBackupsMembers<'a> {
        table: TableReference<'a> = "TableName";
        specification: RecoverySpecification = "PointInTimeRecoverySpecification", required;
    }

    struct RecoverySpecification as "PointInTimeRecoverySpecification" {
        enabled: bool = "PointInTimeRecoveryEnabled", required;
        days: i32 = "RecoveryPeriodInDays", range(1, MAX_DAYS);
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: UpdateContinuousBackupsMembers = read_request(reader)?;
    let table = TableReference::resolve(&members.table)?;
    validate(&members)?;
    let RecoverySpecification { enabled, days } = present(members.specification)?;
    let enabled = present(enabled)?;
    if !enabled && days.is_some() {
        return Err(invalid_request(
            "Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
        ));
    }
    let period_days = days.map(i32::unsigned_abs);
    Ok(Request::UpdateContinuousBackups(UpdateContinuousBackups { table, enabled, period_days }))
}

pub(crate) fn encode(output: &UpdateContinuousBackupsOutput, json: &mut Writer) {
    continuous_backups::encode(&output.backups, json);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    operation_tests!(UpdateContinuousBackups);

    fn body(specification: &str) -> String {
        format!(r#"{{"TableName": "abc", "PointInTimeRecoverySpecification": {specification}}}"#)
    }

    #[test]
    fn recovery_is_enabled_and_disabled() {
        let update = |specification| {
            let request = decoded(&body(specification));
            (request.enabled, request.period_days)
        };
        assert_eq!(update(r#"{"PointInTimeRecoveryEnabled": true}"#), (true, None));
        assert_eq!(
            update(r#"{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35}"#),
            (true, Some(35))
        );
        assert_eq!(update(r#"{"PointInTimeRecoveryEnabled": false}"#), (false, None));
    }

    #[test]
    fn invalid_members_are_refused() {
        assert_eq!(refused("{}"), "The parameter 'TableName' is required but was not present in the request");
        let path = "pointInTimeRecoverySpecification";
        assert_eq!(refused(r#"{"TableName": "abc"}"#), errors(&[("null", path, NOT_NULL)]));
        let days = format!("{path}.recoveryPeriodInDays");
        assert_eq!(
            refused(&body(r#"{"RecoveryPeriodInDays": 36}"#)),
            errors(&[
                ("null", &format!("{path}.pointInTimeRecoveryEnabled"), NOT_NULL),
                ("'36'", &days, "have value less than or equal to 35"),
            ])
        );
        assert_eq!(
            refused(&body(r#"{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 0}"#)),
            errors(&[("'0'", &days, "have value greater than or equal to 1")])
        );
        assert_eq!(
            refused(&body(r#"{"PointInTimeRecoveryEnabled": false, "RecoveryPeriodInDays": 7}"#)),
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        );
    }
}
