//! `FilterSpecification` of an export: a filter of items and a projection, in the expressions of a Query.
//!
//! It is stored with the export as text, which descriptions repeat and an export that resumes after a restart parses again. The
//! text is re-encoded before it is stored, so that it has no unknown members.

use crate::item::expressions::Expressions;
use crate::item::legacy;
use crate::item::page_read::QUERY_EXPRESSIONS;
use crate::json::{Reader, Shape, Writer};
use crate::members::Member;
use crate::table::table_settings::invalid_request;
use partita_api::Exception;
use partita_expression::{Condition, KeyCondition, Projection};

/// A parsed filter.
#[derive(Debug)]
pub struct ExportFilter {
    pub key_condition: Option<KeyCondition>,
    pub filter: Option<Condition>,
    pub projection: Option<Projection>,
}

/// Decodes the stored filter of an export.
pub fn decode_export_filter(json: &str) -> Result<ExportFilter, Exception> {
    let mut reader = Reader::new(json.as_bytes())?;
    let members = FilterMembers::read(&mut reader)?;
    reader.end()?;
    members.ok_or_else(empty)?.parse()
}

fn empty() -> Exception {
    invalid_request("Invalid FilterSpecification: The specification can not be empty")
}

/// The members of a filter.
pub(crate) struct FilterMembers<'a> {
    expressions: Expressions<'a>,
}

impl<'a> Member<'a> for FilterMembers<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Option<FilterMembers<'a>>, Exception> {
        let mut expressions = Expressions::new(QUERY_EXPRESSIONS);
        let present = reader.structure(Shape::Structure("FilterSpecification"), |reader, name| {
            match expressions.read(reader, name)? {
                true => Ok(()),
                false => reader.skip(),
            }
        })?;
        Ok(present.then_some(FilterMembers { expressions }))
    }
}

impl FilterMembers<'_> {
    /// The text to store.
    pub(crate) fn text(&self) -> String {
        let mut json = Writer::default();
        self.expressions.encode(&mut json);
        json.finish_text()
    }

    pub(crate) fn parse(&self) -> Result<ExportFilter, Exception> {
        self.expressions.check_use(&[])?;
        if QUERY_EXPRESSIONS.iter().all(|kind| !self.expressions.has(*kind)) {
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
    fn only_the_filter_is_stored() {
        let stored = |json: &str| {
            FilterMembers::read(&mut Reader::new(json.as_bytes()).unwrap()).unwrap().unwrap().text()
        };
        let body = r##"{ "FilterExpression":"old", "Unknown":["x"], "FilterExpression":"#s > :n AND b = :l",
            "ExpressionAttributeNames":{"#s":"a \"b\""},
            "ExpressionAttributeValues":{":n":{"N":"1.0", "Unknown":"x"}, ":l":{"L":[{"B":"AQ=="}]}} }"##;
        let text = r##"{"FilterExpression":"#s > :n AND b = :l","ExpressionAttributeNames":{"#s":"a \"b\""},"ExpressionAttributeValues":{":n":{"N":"1"},":l":{"L":[{"B":"AQ=="}]}}}"##;
        assert_eq!(stored(body), text);
        assert_eq!(stored(text), text);
        let [body, text] = [body, text].map(|json| format!("{:?}", decode_export_filter(json).unwrap()));
        assert_eq!(body, text);
    }

    #[test]
    fn invalid_filters_are_refused() {
        let refused = |json: &str| decode_export_filter(json).unwrap_err().message;
        for json in ["{}", "null", r#"{"FilterExpression":null}"#] {
            assert_eq!(
                refused(json),
                "Invalid Request: Invalid FilterSpecification: The specification can not be empty"
            );
        }
        assert_eq!(
            refused(r##"{"ExpressionAttributeNames":{"#a":"a"}}"##),
            "ExpressionAttributeNames can only be specified when using expressions"
        );
        assert_eq!(
            refused(r##"{"FilterExpression":"a = b","ExpressionAttributeNames":{"#a":"a"}}"##),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}"
        );
        assert_eq!(
            refused(r#"{"FilterExpression":"a ="}"#),
            "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"=\""
        );
        assert_eq!(
            refused(
                r#"{"KeyConditionExpression":"a = :v AND b = :v AND c = :v","ExpressionAttributeValues":{":v":{"S":"v"}}}"#
            ),
            "Conditions can be of length 1 or 2 only"
        );
        for json in ["", "[]", "{} x", r#"{"FilterExpression":1}"#] {
            assert!(decode_export_filter(json).is_err(), "{json}");
        }
    }
}
