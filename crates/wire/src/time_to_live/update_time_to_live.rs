//! UpdateTimeToLive: decodes the attribute by which items expire, and whether they do; encodes the same.

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
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::time_to_live::describe_time_to_live::{DescribeTimeToLiveOutput, TimeToLiveStatus};
    use partita_api::time_to_live::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};

    operation_tests!(UpdateTimeToLive);

    #[test]
    fn an_attribute_is_enabled() {
        let request = decoded(
            r#"{"TableName": "abc", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "expires"}}"#,
        );
        assert_eq!(
            (request.table.as_str(), request.attribute.as_str(), request.enabled),
            ("abc", "expires", true)
        );
    }

    #[test]
    fn missing_and_overlong_members_are_refused() {
        assert_eq!(
            refused(r#"{"TableName": "abc"}"#),
            errors(&[("null", "timeToLiveSpecification", NOT_NULL)])
        );
        assert_eq!(
            refused(r#"{"TableName": "abc", "TimeToLiveSpecification": {}}"#),
            errors(&[
                ("null", "timeToLiveSpecification.attributeName", NOT_NULL),
                ("null", "timeToLiveSpecification.enabled", NOT_NULL)
            ])
        );
        assert_eq!(
            refused(
                r#"{"TableName": "abc", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": ""}}"#
            ),
            errors(&[(
                "''",
                "timeToLiveSpecification.attributeName",
                "have length greater than or equal to 1"
            )])
        );
        let long = "a".repeat(256);
        let body = format!(
            r#"{{"TableName": "abc", "TimeToLiveSpecification": {{"Enabled": true, "AttributeName": "{long}"}}}}"#
        );
        assert!(refused(&body).ends_with("Member must have length less than or equal to 255"));
    }

    #[test]
    fn responses_have_the_specification_or_the_status() {
        let output = UpdateTimeToLiveOutput { attribute: "expires".into(), enabled: true };
        assert_eq!(
            encoded(Response::UpdateTimeToLive(output)),
            r#"{"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"expires"}}"#
        );
        let described = |status, attribute: Option<&str>| {
            let attribute = attribute.map(str::to_owned);
            encoded(Response::DescribeTimeToLive(DescribeTimeToLiveOutput { status, attribute }))
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
