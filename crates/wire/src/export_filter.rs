//! `FilterSpecification` of an export: which items it takes and which of their attributes, in the expressions of a Query.
//!
//! Its text is kept with the export, which shows it again and may go on after a restart, so it is read from text anew.

use crate::expressions::Expressions;
use crate::json::{Reader, Shape};
use crate::legacy;
use crate::query::KINDS;
use crate::table_settings::invalid_request;
use partita_api::Exception;
use partita_expression::{Condition, KeyCondition, Projection};

/// A filter, ready to be applied to items.
#[derive(Debug)]
pub struct ExportFilter {
    pub key_condition: Option<KeyCondition>,
    pub filter: Option<Condition>,
    pub projection: Option<Projection>,
}

/// The filter that an export was started with, from the text that was kept of it.
pub fn decode_export_filter(json: &str) -> Result<ExportFilter, Exception> {
    let mut reader = Reader::new(json.as_bytes())?;
    let sent = SentFilter::read(&mut reader)?;
    reader.end()?;
    sent.ok_or_else(empty)?.parse()
}

fn empty() -> Exception {
    invalid_request("Invalid FilterSpecification: The specification can not be empty")
}

/// A filter as sent, and its text.
pub(crate) struct SentFilter<'a> {
    pub(crate) text: &'a str,
    expressions: Expressions<'a>,
}

impl<'a> SentFilter<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Option<SentFilter<'a>>, Exception> {
        let start = reader.offset();
        let mut expressions = Expressions::new(KINDS);
        let present = reader.structure(Shape::Structure("FilterSpecification"), |reader, name| {
            match expressions.read(reader, name)? {
                true => Ok(()),
                false => reader.skip(),
            }
        })?;
        Ok(present.then(|| SentFilter { text: reader.since(start), expressions }))
    }

    pub(crate) fn parse(&self) -> Result<ExportFilter, Exception> {
        self.expressions.check_use(&[])?;
        if KINDS.iter().all(|kind| !self.expressions.has(*kind)) {
            return Err(empty());
        }
        let parsed = self.expressions.parse()?;
        if let Some(condition) = &parsed.key_condition {
            legacy::check_key_conditions(condition, false)?;
        }
        Ok(ExportFilter {
            key_condition: parsed.key_condition,
            filter: parsed.filter,
            projection: parsed.projection,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_the_expressions_of_a_query() {
        let filter = decode_export_filter(
            r##"{"KeyConditionExpression":"pk = :p","FilterExpression":"#s > :n","ProjectionExpression":"pk, #s",
                "ExpressionAttributeNames":{"#s":"size"},"ExpressionAttributeValues":{":p":{"S":"a"},":n":{"N":"1"}}}"##,
        )
        .unwrap();
        assert_eq!(filter.key_condition.unwrap().terms.len(), 1);
        assert!(filter.filter.is_some() && filter.projection.is_some());
        let filter = decode_export_filter(r#"{"FilterExpression":"attribute_exists(pk)"}"#).unwrap();
        assert!(filter.key_condition.is_none() && filter.filter.is_some() && filter.projection.is_none());
    }

    #[test]
    fn what_is_no_filter_is_told() {
        let told = |json: &str| decode_export_filter(json).unwrap_err().message;
        for json in ["{}", "null", r#"{"FilterExpression":null}"#] {
            assert_eq!(
                told(json),
                "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
            );
        }
        assert_eq!(
            told(r##"{"ExpressionAttributeNames":{"#a":"a"}}"##),
            "ExpressionAttributeNames can only be specified when using expressions"
        );
        assert_eq!(
            told(r##"{"FilterExpression":"a = b","ExpressionAttributeNames":{"#a":"a"}}"##),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}"
        );
        assert_eq!(
            told(r#"{"FilterExpression":"a ="}"#),
            "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"=\""
        );
        assert_eq!(
            told(
                r#"{"KeyConditionExpression":"a = :v AND b = :v AND c = :v","ExpressionAttributeValues":{":v":{"S":"v"}}}"#
            ),
            "Conditions can be of length 1 or 2 only"
        );
        for json in ["", "[]", "{} x", r#"{"FilterExpression":1}"#] {
            assert!(decode_export_filter(json).is_err(), "{json}");
        }
    }
}
