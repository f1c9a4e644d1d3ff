//! UpdateTimeToLive: a body → the attribute by which items expire, and whether they do.

use crate::json::{Reader, Writer};
use crate::members::{length, read_request, required, structure, validate};
use crate::table::table_name::TableReference;
use crate::validation::present;
use partita_api::time_to_live::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};
use partita_api::{Exception, Request};
use partita_value::limits;
use std::borrow::Cow;

structure! {
    struct UpdateTimeToLiveMembers<'a> {
        table: TableReference<'a> = "TableName";
        specification: TimeToLiveSpecification<'a> = "TimeToLiveSpecification", required;
    }
}

structure! {
    struct TimeToLiveSpecification<'a> as "TimeToLiveSpecification" {
        attribute: Cow<'a, str> = "AttributeName", required, length(1, limits::KEY_NAME_BYTES);
        enabled: bool = "Enabled", required;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: UpdateTimeToLiveMembers = read_request(reader)?;
    let table = TableReference::resolve(&members.table)?;
    validate(&members)?;
    let TimeToLiveSpecification { enabled, attribute } = present(members.specification)?;
    Ok(Request::UpdateTimeToLive(UpdateTimeToLive {
        table,
        attribute: present(attribute)?.into_owned(),
        enabled: present(enabled)?,
    }))
}

pub(crate) fn encode(output: &UpdateTimeToLiveOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("TimeToLiveSpecification").object(|json| {
            json.member("Enabled", &output.enabled).member("AttributeName", &output.attribute);
        });
    });
}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode, encode};
    use partita_api::time_to_live::describe_time_to_live::{DescribeTimeToLiveOutput, TimeToLiveStatus};
    use partita_api::time_to_live::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};
    use partita_api::{Operation, Request, Response};

    fn update(body: &str) -> Result<UpdateTimeToLive, String> {
        match decode(Operation::UpdateTimeToLive, body.as_bytes()) {
            Ok(Request::UpdateTimeToLive(request)) => Ok(request),
            Err(Rejection::Invalid(exception)) => Err(exception.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_the_attribute() {
        let request = update(
            r#"{"TableName": "abc", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "expires"}}"#,
        );
        let request = request.unwrap();
        assert_eq!(
            (request.table.as_str(), request.attribute.as_str(), request.enabled),
            ("abc", "expires", true)
        );
    }

    #[test]
    fn members_that_are_missing_or_too_long_are_told() {
        assert_eq!(
            update(r#"{"TableName": "abc"}"#).unwrap_err(),
            "1 validation error detected: Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must not be null"
        );
        assert_eq!(
            update(r#"{"TableName": "abc", "TimeToLiveSpecification": {}}"#).unwrap_err(),
            "2 validation errors detected: \
             Value null at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must not be null; \
             Value null at 'timeToLiveSpecification.enabled' failed to satisfy constraint: Member must not be null"
        );
        assert_eq!(
            update(
                r#"{"TableName": "abc", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": ""}}"#
            )
            .unwrap_err(),
            "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1"
        );
        let long = "a".repeat(256);
        let body = format!(
            r#"{{"TableName": "abc", "TimeToLiveSpecification": {{"Enabled": true, "AttributeName": "{long}"}}}}"#
        );
        assert!(update(&body).unwrap_err().ends_with("Member must have length less than or equal to 255"));
    }

    #[test]
    fn answers_repeat_the_specification_and_tell_the_status() {
        let text = |response: Response| String::from_utf8(encode(&response)).unwrap();
        let output = UpdateTimeToLiveOutput { attribute: "expires".into(), enabled: true };
        assert_eq!(
            text(Response::UpdateTimeToLive(output)),
            r#"{"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"expires"}}"#
        );
        let described = |status, attribute: Option<&str>| {
            let attribute = attribute.map(str::to_owned);
            text(Response::DescribeTimeToLive(DescribeTimeToLiveOutput { status, attribute }))
        };
        assert_eq!(
            described(TimeToLiveStatus::Enabled, Some("expires")),
            r#"{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"expires"}}"#
        );
        assert_eq!(
            described(TimeToLiveStatus::Disabled, None),
            r#"{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}"#
        );
    }
}
