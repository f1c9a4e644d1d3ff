//! UpdateContinuousBackups: a body → whether a table can be restored to a point in time, and how far back.

use crate::json::Reader;
use crate::table::table_settings::{Text, check_table_name, invalid_request, read_structure};
use crate::validation::{Validation, present};
use partita_api::backup::update_continuous_backups::UpdateContinuousBackups;
use partita_api::{Exception, Request};

pub(crate) use crate::backup::describe_continuous_backups::encode;

/// The longest recovery period.
const MOST_DAYS: i32 = 35;

/// `PointInTimeRecoverySpecification` as sent.
#[derive(Default)]
struct SentSpecification {
    enabled: Option<bool>,
    days: Option<i32>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let (mut table_name, mut specification): (Text<'_>, _) = (None, None);
    reader.request(|reader, name| {
        match name {
            "TableName" => table_name = reader.text()?,
            "PointInTimeRecoverySpecification" => {
                specification = read_structure(reader, "PointInTimeRecoverySpecification", read_member)?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    let table = check_table_name(&mut validation, &table_name)?;
    let path = "pointInTimeRecoverySpecification";
    if let Some(specification) = validation.required(path, &specification) {
        validation.required(format_args!("{path}.pointInTimeRecoveryEnabled"), &specification.enabled);
        validation.at_least(format_args!("{path}.recoveryPeriodInDays"), specification.days, 1);
        validation.at_most(format_args!("{path}.recoveryPeriodInDays"), specification.days, MOST_DAYS);
    }
    validation.finish()?;
    let SentSpecification { enabled, days } = present(specification)?;
    let enabled = present(enabled)?;
    if !enabled && days.is_some() {
        return Err(invalid_request(
            "Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
        ));
    }
    let period_days = days.map(i32::unsigned_abs);
    Ok(Request::UpdateContinuousBackups(UpdateContinuousBackups { table, enabled, period_days }))
}

fn read_member(
    specification: &mut SentSpecification,
    reader: &mut Reader<'_>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "PointInTimeRecoveryEnabled" => specification.enabled = reader.boolean()?,
        "RecoveryPeriodInDays" => specification.days = reader.integer()?,
        _ => reader.skip()?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Operation;

    fn body(specification: &str) -> String {
        format!(r#"{{"TableName": "abc", "PointInTimeRecoverySpecification": {specification}}}"#)
    }

    #[test]
    fn turns_recovery_on_and_off() {
        let update = |specification| match decoded(Operation::UpdateContinuousBackups, &body(specification)) {
            Request::UpdateContinuousBackups(request) => (request.enabled, request.period_days),
            other => panic!("{other:?}"),
        };
        assert_eq!(update(r#"{"PointInTimeRecoveryEnabled": true}"#), (true, None));
        assert_eq!(
            update(r#"{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35}"#),
            (true, Some(35))
        );
        assert_eq!(update(r#"{"PointInTimeRecoveryEnabled": false}"#), (false, None));
    }

    #[test]
    fn what_cannot_be_is_told() {
        let told = |body: &str| refusal(Operation::UpdateContinuousBackups, body);
        assert_eq!(told("{}"), "The parameter 'TableName' is required but was not present in the request");
        let path = "pointInTimeRecoverySpecification";
        assert_eq!(told(r#"{"TableName": "abc"}"#), errors(&[("null", path, NOT_NULL)]));
        let days = format!("{path}.recoveryPeriodInDays");
        assert_eq!(
            told(&body(r#"{"RecoveryPeriodInDays": 36}"#)),
            errors(&[
                ("null", &format!("{path}.pointInTimeRecoveryEnabled"), NOT_NULL),
                ("'36'", &days, "Member must have value less than or equal to 35"),
            ])
        );
        assert_eq!(
            told(&body(r#"{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 0}"#)),
            errors(&[("'0'", &days, "Member must have value greater than or equal to 1")])
        );
        assert_eq!(
            told(&body(r#"{"PointInTimeRecoveryEnabled": false, "RecoveryPeriodInDays": 7}"#)),
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        );
    }
}
