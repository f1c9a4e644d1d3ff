//! UntagResource: decodes the keys of the tags to remove from a table.

use crate::json::{Reader, Writer};
use crate::members::{read_request, required, structure, validate};
use crate::tag::tags::{check_arn, check_key, check_number, required_arn};
use partita_api::tag::untag_resource::{UntagResource, UntagResourceOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

structure! {
    struct UntagResourceMembers<'a> {
        arn: Cow<'a, str> = "ResourceArn";
        keys: Vec<Cow<'a, str>> = "TagKeys", required;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: UntagResourceMembers = read_request(reader)?;
    let arn = required_arn(members.arn.as_deref())?;
    validate(&members)?;
    check_arn(arn)?;
    let keys = members.keys.as_deref().unwrap_or_default();
    if keys.is_empty() {
        return Err(Exception::validation("Atleast one Tag Key needs to be provided as Input."));
    }
    check_number(keys.len())?;
    let check = |key: &Cow<'_, str>| check_key(Some(key)).map(str::to_owned);
    let keys = keys.iter().map(check).collect::<Result<Vec<_>, _>>()?;
    Ok(Request::UntagResource(UntagResource { arn: arn.to_owned(), keys }))
}

/// Writes nothing: the response has no body.
pub(crate) fn encode(_: &UntagResourceOutput, _: &mut Writer) {}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::tag::untag_resource::UntagResource;

    operation_tests!(UntagResource);

    const ARN: &str = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";

    fn untag(keys: &str) -> Result<Vec<String>, String> {
        let body = format!(r#"{{"ResourceArn": "{ARN}", "TagKeys": {keys}}}"#);
        outcome(&body).map(|request| request.keys).map_err(|exception| exception.message)
    }

    #[test]
    fn keys_are_read() {
        assert_eq!(untag(r#"["a", "b"]"#).unwrap(), ["a", "b"]);
    }

    #[test]
    fn keys_follow_the_rules_of_tags() {
        for (keys, message) in [
            ("[]", "Atleast one Tag Key needs to be provided as Input."),
            (r#"[""]"#, "The Tag Key provided is invalid, Key: "),
            ("null", &errors(&[("null", "tagKeys", NOT_NULL)])),
            ("[1]", "NUMBER_VALUE cannot be converted to String"),
            ("{}", "Start of structure or map found where not expected"),
        ] {
            assert_eq!(untag(keys).unwrap_err(), message);
        }
        let keys: Vec<String> = (0..51).map(|i| format!("\"k{i}\"")).collect();
        assert_eq!(
            untag(&format!("[{}]", keys.join(","))).unwrap_err(),
            "Number of Tags exceed the current limit for the provided ResourceArn"
        );
    }
}
