//! UpdateTimeToLive: a body → the attribute by which items expire, and whether they do.

use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, check_length, check_table_name, read_structure};
use crate::validation::{Validation, present};
use partita_api::time_to_live::update_time_to_live::{UpdateTimeToLive, UpdateTimeToLiveOutput};
use partita_api::{Exception, Request};
use partita_value::limits;

/// `TimeToLiveSpecification` as sent.
#[derive(Default)]
struct SentSpecification<'a> {
    enabled: Option<bool>,
    attribute: Text<'a>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let (mut table_name, mut specification): (Text<'_>, Option<SentSpecification<'_>>) = (None, None);
    reader.request(|reader, name| {
        match name {
            "TableName" => table_name = reader.text()?,
            "TimeToLiveSpecification" => {
                specification = read_structure(reader, "TimeToLiveSpecification", read_member)?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut validation = Validation::new();
    let table = check_table_name(&mut validation, &table_name)?;
    if let Some(specification) = validation.required("timeToLiveSpecification", &specification) {
        let path = "timeToLiveSpecification.attributeName";
        validation.required(path, &specification.attribute);
        check_length(&mut validation, path, &specification.attribute, 1, limits::KEY_NAME_BYTES);
        validation.required("timeToLiveSpecification.enabled", &specification.enabled);
    }
    validation.finish()?;
    let SentSpecification { enabled, attribute } = present(specification)?;
    Ok(Request::UpdateTimeToLive(UpdateTimeToLive {
        table,
        attribute: present(attribute)?.into_owned(),
        enabled: present(enabled)?,
    }))
}

fn read_member<'a>(
    specification: &mut SentSpecification<'a>,
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(), Exception> {
    match name {
        "Enabled" => specification.enabled = reader.boolean()?,
        "AttributeName" => specification.attribute = reader.text()?,
        _ => reader.skip()?,
    }
    Ok(())
}

pub(crate) fn encode(output: &UpdateTimeToLiveOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("TimeToLiveSpecification").object(|json| {
            json.name("Enabled").boolean(output.enabled);
            json.name("AttributeName").string(&output.attribute);
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
