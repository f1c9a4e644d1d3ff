//! TagResource: a body → tags to add to a table. Also what the operations with tags share: the rules of
//! tags and the ARN of what has them.
//!
//! AWS checks tags with texts of their own, one at a time, and takes all of them or none.

use crate::json::{Reader, Writer};
use crate::table::table_settings::{Text, invalid, read_list};
use crate::validation::Validation;
use partita_api::tag::tag_resource::{TagResource, TagResourceOutput};
use partita_api::{Exception, Request, messages, table::Tag};
use partita_value::limits;
use partita_value::names::{is_resource_name, table_of_arn};

/// Longest key and longest value of a tag, in characters.
const KEY_CHARACTERS: usize = 128;
const VALUE_CHARACTERS: usize = 256;

/// `Tag` as sent.
#[derive(Default)]
pub(crate) struct SentTag<'a> {
    key: Text<'a>,
    value: Text<'a>,
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let (mut arn, mut tags): (Text<'_>, Option<Vec<SentTag<'_>>>) = (None, None);
    reader.request(|reader, name| {
        match name {
            "ResourceArn" => arn = reader.text()?,
            "Tags" => tags = read_tags(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let arn = required_arn(arn.as_deref())?;
    let mut validation = Validation::new();
    validation.required("tags", &tags);
    validation.finish()?;
    check_arn(arn)?;
    let tags = check_tags(&tags.unwrap_or_default())?;
    if tags.is_empty() {
        return Err(Exception::validation("Atleast one Tag needs to be provided as Input."));
    }
    Ok(Request::TagResource(TagResource { arn: arn.to_owned(), tags }))
}

pub(crate) fn read_tags<'a>(reader: &mut Reader<'a>) -> Result<Option<Vec<SentTag<'a>>>, Exception> {
    read_list(reader, "Tag", |tag: &mut SentTag<'a>, reader, name| {
        match name {
            "Key" => tag.key = reader.text()?,
            "Value" => tag.value = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

/// The tags, if all of them are valid and no key is there twice.
pub(crate) fn check_tags(sent: &[SentTag<'_>]) -> Result<Vec<Tag>, Exception> {
    check_number(sent.len())?;
    let mut tags: Vec<Tag> = Vec::new();
    for tag in sent {
        let key = check_key(tag.key.as_deref())?;
        if key.starts_with("aws:") {
            return Err(Exception::validation(format!("Tag Key cannot be prefixed with aws:, Key: {key}")));
        }
        let value = check_value(tag.value.as_deref())?;
        if tags.iter().any(|earlier| earlier.key == key) {
            return Err(Exception::validation(format!(
                "Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}"
            )));
        }
        tags.push(Tag { key: key.to_owned(), value: value.to_owned() });
    }
    Ok(tags)
}

pub(crate) fn check_number(tags: usize) -> Result<(), Exception> {
    if tags > limits::TAGS {
        return Err(Exception::validation(messages::TOO_MANY_TAGS));
    }
    Ok(())
}

pub(crate) fn check_key(key: Option<&str>) -> Result<&str, Exception> {
    key.filter(|key| !key.is_empty() && is_tag_text(key, KEY_CHARACTERS)).ok_or_else(|| {
        Exception::validation(format!("The Tag Key provided is invalid, Key: {}", key.unwrap_or("null")))
    })
}

fn check_value(value: Option<&str>) -> Result<&str, Exception> {
    value.filter(|value| is_tag_text(value, VALUE_CHARACTERS)).ok_or_else(|| {
        Exception::validation(format!(
            "The Tag Value provided is invalid, Value: {}",
            value.unwrap_or("null")
        ))
    })
}

/// Letters and digits of any script, spaces and a few signs.
fn is_tag_text(text: &str, most: usize) -> bool {
    let may_stand = |character: char| {
        character.is_alphanumeric()
            || (character.is_whitespace() && !character.is_control())
            || "+-=._:/@".contains(character)
    };
    text.chars().count() <= most && text.chars().all(may_stand)
}

pub(crate) fn required_arn(arn: Option<&str>) -> Result<&str, Exception> {
    arn.ok_or_else(|| Exception::validation("Invalid TableArn"))
}

/// Only tables have tags.
pub(crate) fn check_arn(arn: &str) -> Result<(), Exception> {
    if !arn.starts_with("arn:") {
        return Err(invalid(format_args!("ARNs must start with 'arn:': {arn}")));
    }
    if arn.split(':').nth(2) != Some("dynamodb") {
        return Err(invalid(format_args!("Provided Arn is not a DynamoDB resource arn: {arn}")));
    }
    if arn.contains("/index/") {
        return Err(invalid(format_args!(
            "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )));
    }
    if !table_of_arn(arn).is_some_and(is_resource_name) {
        return Err(Exception::validation(format!(
            "Invalid TableArn: Invalid ResourceArn provided as input {arn}"
        )));
    }
    Ok(())
}

/// Writes nothing: the response has no body.
pub(crate) fn encode(_: &TagResourceOutput, _: &mut Writer) {}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode};
    use partita_api::{Operation, Request};

    const ARN: &str = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";

    fn tag(arn: &str, tags: &str) -> Result<Vec<(String, String)>, String> {
        let body = format!(r#"{{"ResourceArn": "{arn}", "Tags": {tags}}}"#);
        match decode(Operation::TagResource, body.as_bytes()) {
            Ok(Request::TagResource(request)) => {
                assert_eq!(request.arn, arn);
                Ok(request.tags.into_iter().map(|tag| (tag.key, tag.value)).collect())
            }
            Err(Rejection::Invalid(exception)) => Err(exception.message),
            other => panic!("{other:?}"),
        }
    }

    fn tags(count: usize) -> String {
        let tags: Vec<String> = (0..count).map(|i| format!(r#"{{"Key": "k{i}", "Value": ""}}"#)).collect();
        format!("[{}]", tags.join(","))
    }

    #[test]
    fn letters_of_any_script_and_a_few_signs_make_a_tag() {
        let accepted =
            tag(ARN, r#"[{"Key": "ключ 表", "Value": "a+b-c=d.e_f:g/h@i"}, {"Key": "b", "Value": ""}]"#);
        assert_eq!(
            accepted.unwrap(),
            [("ключ 表".to_owned(), "a+b-c=d.e_f:g/h@i".to_owned()), ("b".to_owned(), String::new())]
        );
        for sign in ["#", "🔑", "100%", "a,b", "(x)", "a&b", "~a", "a\\tb"] {
            let told = tag(ARN, &format!(r#"[{{"Key": "{sign}", "Value": "v"}}]"#)).unwrap_err();
            assert!(told.starts_with("The Tag Key provided is invalid, Key: "), "{told}");
            let told = tag(ARN, &format!(r#"[{{"Key": "k", "Value": "{sign}"}}]"#)).unwrap_err();
            assert!(told.starts_with("The Tag Value provided is invalid, Value: "), "{told}");
        }
    }

    #[test]
    fn one_bad_tag_spoils_all() {
        for (tags, told) in [
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
            assert_eq!(tag(ARN, tags).unwrap_err(), told);
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
    fn only_the_arn_of_a_table_will_do() {
        for (arn, told) in [
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
            assert_eq!(tag(arn, "[]").unwrap_err(), told);
        }
    }

    #[test]
    fn the_arn_and_the_tags_are_required() {
        let told = |body: &str| match decode(Operation::TagResource, body.as_bytes()) {
            Err(Rejection::Invalid(exception)) => exception.message,
            other => panic!("{other:?}"),
        };
        assert_eq!(told("{}"), "Invalid TableArn");
        assert_eq!(
            told(r#"{"ResourceArn": "a:b:c:d:e:f/g"}"#),
            "1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null"
        );
        assert_eq!(told(r#"{"ResourceArn": 1}"#), "NUMBER_VALUE cannot be converted to String");
        assert_eq!(told(r#"{"Tags": ["a"]}"#), "Unexpected value type in payload");
    }
}
