//! GetItem: JSON → request, response → JSON.

use crate::attribute_value::{self, Attributes};
use crate::item::expressions::Expressions;
use crate::item::legacy;
use crate::json::{Reader, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::get_item::{GetItem, GetItemOutput};
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;
use std::borrow::Cow;

struct GetItemMembers<'a> {
    table: Option<Cow<'a, str>>,
    key: Option<Attributes>,
    attributes_to_get: Option<Vec<Cow<'a, str>>>,
    expressions: Expressions<'a>,
    consistent_read: Option<bool>,
    return_consumed_capacity: Option<Cow<'a, str>>,
}

fn read(reader: Reader<'_>) -> Result<GetItemMembers<'_>, Exception> {
    let mut members = GetItemMembers {
        table: None,
        key: None,
        attributes_to_get: None,
        expressions: Expressions::new(&[ExpressionKind::Projection]),
        consistent_read: None,
        return_consumed_capacity: None,
    };
    reader.request(|reader, member| {
        match member {
            "TableName" => members.table = reader.text()?,
            "Key" => members.key = Attributes::read_member(reader)?,
            "AttributesToGet" => members.attributes_to_get = reader.text_list()?,
            "ConsistentRead" => members.consistent_read = reader.boolean()?,
            "ReturnConsumedCapacity" => members.return_consumed_capacity = reader.text()?,
            _ if members.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(members)
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members = read(reader)?;
    table_name::check("tableName", members.table.as_ref())?;
    let mut validation = Validation::new();
    let capacity = members.return_consumed_capacity.as_deref();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity);
    let names = members.attributes_to_get.as_deref();
    legacy::validate_attributes_to_get(&mut validation, "attributesToGet", names);
    validation.required("tableName", &members.table);
    validation.required("key", &members.key);
    validation.finish()?;

    members.expressions.check_use(&[("AttributesToGet", names.is_some())])?;
    let key = present(members.key)?.checked()?;
    legacy::check_attributes_to_get(names)?;
    let projection = members.expressions.parse()?.projection;
    Ok(Request::GetItem(GetItem {
        table: table_name::resolve(&present(members.table)?),
        key,
        projection: projection.or(legacy::attributes_to_get(members.attributes_to_get)),
        consistent_read: members.consistent_read.unwrap_or_default(),
        return_consumed_capacity,
    }))
}

pub(crate) fn encode(output: &GetItemOutput, json: &mut Writer) {
    json.object(|json| {
        if let Some(item) = &output.item {
            json.name("Item");
            attribute_value::encode_item(json, item.view());
        }
        reporting::encode_consumed_capacity(json, output.consumed_capacity.as_ref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::capacity::ReturnConsumedCapacity;
    use partita_value::{AttributeValue, Item};

    operation_tests!(GetItem);

    #[test]
    fn a_plain_get() {
        let request = decoded(r#"{"TableName":"Music","Key":{"pk":{"S":"a"}},"ConsistentRead":null}"#);
        assert!(request.projection.is_none() && !request.consistent_read);
        assert_eq!(request.return_consumed_capacity, ReturnConsumedCapacity::None);
    }

    #[test]
    fn a_get_of_some_attributes() {
        let item: Item =
            [("a", AttributeValue::Null), ("b", AttributeValue::Null), ("c", AttributeValue::Null)]
                .into_iter()
                .collect();
        for projection in [r#""AttributesToGet":["a","c"]"#, r#""ProjectionExpression":"a, c""#] {
            let request =
                decoded(&format!(r#"{{"TableName":"abc","Key":{{}},"ConsistentRead":true,{projection}}}"#));
            assert!(request.consistent_read);
            let projected = request.projection.unwrap().apply(item.view());
            assert!(
                projected.get("a").is_some() && projected.get("b").is_none() && projected.get("c").is_some()
            );
        }
    }

    #[test]
    fn errors_are_reported_in_order() {
        assert_eq!(
            refused(r#"{"AttributesToGet":[],"ReturnConsumedCapacity":"hi"}"#),
            errors(&[
                ("'hi'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
                ("'[]'", "attributesToGet", "have length greater than or equal to 1"),
                ("null", "tableName", NOT_NULL),
                ("null", "key", NOT_NULL),
            ])
        );
        let body = r#"{"TableName":"abc","Key":{"a":{}},"AttributesToGet":["a","b","a"]}"#;
        assert!(refused(body).starts_with("Supplied AttributeValue is empty"));
        let body = r#"{"TableName":"abc","Key":{},"AttributesToGet":["a","b","a"]}"#;
        assert_eq!(
            refused(body),
            "One or more parameter values were invalid: Duplicate value in attribute name: a"
        );
        let body = r#"{"TableName":"abc","Key":{},"ProjectionExpression":"!!! INVALID !!!"}"#;
        assert_eq!(refused(body), r#"Invalid ProjectionExpression: Syntax error; token: "!", near: "!!""#);
    }

    #[test]
    fn the_response_has_the_item_if_it_exists() {
        assert_eq!(encoded(Response::GetItem(GetItemOutput::default())), "{}");
        let item: Item = [("pk", AttributeValue::S("ä\"".into()))].into_iter().collect();
        let output = GetItemOutput { item: Some(item), consumed_capacity: None };
        assert_eq!(encoded(Response::GetItem(output)), r#"{"Item":{"pk":{"S":"ä\""}}}"#);
    }
}
