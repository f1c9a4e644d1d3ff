//! TagResource: decodes the tags to add to a table.

use crate::json::{Reader, Writer};
use crate::members::{read_request, required, structure, validate};
use crate::tag::tags::{TagMembers, check_arn, check_tags, required_arn};
use partita_api::tag::tag_resource::{TagResource, TagResourceOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

structure! {
    struct TagResourceMembers<'a> {
        arn: Cow<'a, str> = "ResourceArn";
        tags: Vec<TagMembers<'a>> = "Tags", required;
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: TagResourceMembers = read_request(reader)?;
    let arn = required_arn(members.arn.as_deref())?;
    validate(&members)?;
    check_arn(arn)?;
    let tags = check_tags(members.tags.as_deref().unwrap_or_default())?;
    if tags.is_empty() {
        return Err(Exception::validation("Atleast one Tag needs to be provided as Input."));
    }
    Ok(Request::TagResource(TagResource { arn: arn.to_owned(), tags }))
}

/// Writes nothing: the response has no body.
pub(crate) fn encode(_: &TagResourceOutput, _: &mut Writer) {}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::tag::tag_resource::TagResource;

    operation_tests!(TagResource);

    const ARN: &str = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";

    fn tag(arn: &str, tags: &str) -> Result<Vec<(String, String)>, String> {
        let body = format!(r#"{{"ResourceArn": "{arn}", "Tags": {tags}}}"#);
        let request = outcome(&body).map_err(|exception| exception.message)?;
        assert_eq!(request.arn, arn);
        Ok(request.tags.into_iter().map(|tag| (tag.key, tag.value)).collect())
    }

    fn tags(count: usize) -> String {
        let tags: Vec<String> = (0..count).map(|i| format!(r#"{{"Key": "k{i}", "Value": ""}}"#)).collect();
        format!("[{}]", tags.join(","))
    }

    #[test]
    fn tags_are_letters_of_any_script_and_some_punctuation() {
        let accepted =
            tag(ARN, r#"[{"Key": "ключ 表", "Value": "a+b-c=d.e_f:g/h@i"}, {"Key": "b", "Value": ""}]"#);
        assert_eq!(
            accepted.unwrap(),
            [("ключ 表".to_owned(), "a+b-c=d.e_f:g/h@i".to_owned()), ("b".to_owned(), String::new())]
        );
        for sign in ["#", "🔑", "100%", "a,b", "(x)", "a&b", "~a", "a\\tb"] {
            let message = tag(ARN, &format!(r#"[{{"Key": "{sign}", "Value": "v"}}]"#)).unwrap_err();
            assert!(message.starts_with("The Tag Key provided is invalid, Key: "), "{message}");
            let message = tag(ARN, &format!(r#"[{{"Key": "k", "Value": "{sign}"}}]"#)).unwrap_err();
            assert!(message.starts_with("The Tag Value provided is invalid, Value: "), "{message}");
        }
    }

    #[test]
    fn one_invalid_tag_fails_the_request() {
        for (tags, message) in [
            (r#"[{}]"#, "The Tag Key provided is invalid, Key: null"),
            (r#"[{"Value": "a"}]"#, "The Tag Key provided is invalid, Key: null"),
            (r#"[{"Key": "", "Value": "a"}]"#, "The Tag Key provided is invalid, Key: "),
            (r#"[{"Key": "a"}]"#, "The Tag Value provided is invalid, Value: null"),
            (
                r#"[{"Key": "good", "Value": ""}, {"Key": "aws:a", "Value": ""}]"#,
                "Tag Key cannot be prefixed with aws:, Key: aws:a",
            ),
            (
                r#"[{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "1"}]"#,
                "Duplicate Tag Keys provided as input: Duplicate Tag Key found a",
            ),
            ("[]", "Atleast one Tag needs to be provided as Input."),
        ] {
            assert_eq!(tag(ARN, tags).unwrap_err(), message);
        }
    }

    #[test]
    fn keys_values_and_their_number_are_bounded() {
        let one = |key: usize, value: usize| {
            let (key, value) = ("k".repeat(key), "v".repeat(value));
            tag(ARN, &format!(r#"[{{"Key": "{key}", "Value": "{value}"}}]"#))
        };
        assert!(one(128, 256).is_ok());
        assert_eq!(
            one(129, 0).unwrap_err(),
            format!("The Tag Key provided is invalid, Key: {}", "k".repeat(129))
        );
        assert_eq!(
            one(1, 257).unwrap_err(),
            format!("The Tag Value provided is invalid, Value: {}", "v".repeat(257))
        );
        assert_eq!(tag(ARN, &tags(50)).unwrap().len(), 50);
        assert_eq!(
            tag(ARN, &tags(51)).unwrap_err(),
            "Number of Tags exceed the current limit for the provided ResourceArn"
        );
    }

    #[test]
    fn only_arns_of_tables_are_accepted() {
        for (arn, message) in [
            ("", "One or more parameter values were invalid: ARNs must start with 'arn:': "),
            ("abc", "One or more parameter values were invalid: ARNs must start with 'arn:': abc"),
            (
                "arn:aws:s3:::bucket",
                "One or more parameter values were invalid: Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket",
            ),
            (
                "arn:aws:dynamodb:us-east-1:000000000000:table/abc/index/def",
                "One or more parameter values were invalid: Invalid resource arn provided, only table or stream is accepted. Provided resource arn: arn:aws:dynamodb:us-east-1:000000000000:table/abc/index/def",
            ),
            (
                "arn:aws:dynamodb:us-east-1:000000000000:table/ab",
                "Invalid TableArn: Invalid ResourceArn provided as input arn:aws:dynamodb:us-east-1:000000000000:table/ab",
            ),
            (
                "arn:aws:dynamodb:us-east-1:000000000000:table/abc/abc",
                "Invalid TableArn: Invalid ResourceArn provided as input arn:aws:dynamodb:us-east-1:000000000000:table/abc/abc",
            ),
            (
                "arn:aws:dynamodb:",
                "Invalid TableArn: Invalid ResourceArn provided as input arn:aws:dynamodb:",
            ),
        ] {
            assert_eq!(tag(arn, "[]").unwrap_err(), message);
        }
    }

    #[test]
    fn the_arn_and_the_tags_are_required() {
        assert_eq!(refused("{}"), "Invalid TableArn");
        assert_eq!(refused(r#"{"ResourceArn": "a:b:c:d:e:f/g"}"#), errors(&[("null", "tags", NOT_NULL)]));
        assert_eq!(mismatch(r#"{"ResourceArn": 1}"#), "NUMBER_VALUE cannot be converted to String");
        assert_eq!(mismatch(r#"{"Tags": ["a"]}"#), "Unexpected value type in payload");
    }
}
