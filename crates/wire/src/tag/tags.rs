//! The rules of tags and of the ARN of the tagged table, which all operations on tags share.
//!
//! AWS checks tags one at a time, with error texts of their own, and accepts all of them or none.

use crate::members::structure;
use crate::table::table_settings::invalid;
use partita_api::{Exception, messages, table::Tag};
use partita_value::limits;
use partita_value::names::{is_resource_name, table_of_arn};
use std::borrow::Cow;

/// The maximum lengths of the key and the value of a tag, in characters.
const KEY_CHARACTERS: usize = 128;
const VALUE_CHARACTERS: usize = 256;

structure! {
    pub(crate) struct TagMembers<'a> as "Tag" {
        key: Cow<'a, str> = "Key";
        value: Cow<'a, str> = "Value";
    }
}

/// Returns the tags if all of them are valid and no key is duplicated.
pub(crate) fn check_tags(members: &[TagMembers<'_>]) -> Result<Vec<Tag>, Exception> {
    check_number(members.len())?;
    let mut tags: Vec<Tag> = Vec::new();
    for tag in members {
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

/// Letters and digits of any script, spaces and some punctuation.
fn is_tag_text(text: &str, max: usize) -> bool {
    let is_allowed = |character: char| {
        character.is_alphanumeric()
            || (character.is_whitespace() && !character.is_control())
            || "+-=._:/@".contains(character)
    };
    text.chars().count() <= max && text.chars().all(is_allowed)
}

pub(crate) fn required_arn(arn: Option<&str>) -> Result<&str, Exception> {
    arn.ok_or_else(|| Exception::validation("Invalid TableArn"))
}

/// Refuses any ARN but that of a table.
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
