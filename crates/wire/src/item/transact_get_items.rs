//! TransactGetItems: JSON → request, response → JSON.

use crate::attribute_value::Attributes;
use crate::item::expressions::Expressions;
use crate::item::transaction::encode_responses;
use crate::json::{Reader, Shape, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::transact_get_items::{TransactGet, TransactGetItems, TransactGetItemsOutput};
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;
use partita_value::limits;
use std::borrow::Cow;

/// The members of one `Get`.
#[derive(Debug)]
struct GetMembers<'a> {
    table: Option<Cow<'a, str>>,
    key: Option<Attributes>,
    expressions: Expressions<'a>,
}

/// Reads `{"Get": …}`, which may be missing.
fn read_element<'a>(reader: &mut Reader<'a>) -> Result<Option<GetMembers<'a>>, Exception> {
    let mut get = None;
    reader.structure(Shape::Element("TransactGetItem"), |reader, member| {
        match member {
            "Get" => get = read_get(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(get)
}

fn read_get<'a>(reader: &mut Reader<'a>) -> Result<Option<GetMembers<'a>>, Exception> {
    let mut members =
        GetMembers { table: None, key: None, expressions: Expressions::new(&[ExpressionKind::Projection]) };
    let present = reader.structure(Shape::Structure("Get"), |reader, member| {
        match member {
            "TableName" => members.table = reader.text()?,
            "Key" => members.key = Attributes::read_member(reader)?,
            _ if members.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(members))
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut gets = None;
    let mut capacity = None;
    reader.request(|reader, member| {
        match member {
            "TransactItems" => gets = reader.structures_with_json(read_element)?,
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    if let Some((gets, json)) = validation.required("transactItems", &gets) {
        validation.length("transactItems", json, gets.len(), 1, limits::TRANSACTION_ITEMS);
        for (index, get) in gets.iter().enumerate() {
            let path = format!("transactItems.{}.member.get", index + 1);
            let Some(get) = validation.required(&path, get) else { continue };
            table_name::check(format_args!("{path}.tableName"), get.table.as_ref())?;
            validation.required(format_args!("{path}.key"), &get.key);
            validation.required(format_args!("{path}.tableName"), &get.table);
        }
    }
    validation.finish()?;

    let (gets, _) = present(gets)?;
    let gets = gets.into_iter().map(|get| checked_get(present(get)?)).collect::<Result<_, _>>()?;
    Ok(Request::TransactGetItems(TransactGetItems { gets, return_consumed_capacity }))
}

fn checked_get(members: GetMembers<'_>) -> Result<TransactGet, Exception> {
    members.expressions.check_use(&[])?;
    let projection = members.expressions.parse()?.projection;
    let key = present(members.key)?.checked()?;
    Ok(TransactGet { table: table_name::resolve(&present(members.table)?), key, projection })
}

pub(crate) fn encode(output: &TransactGetItemsOutput, json: &mut Writer) {
    encode_responses(&output.responses, output.consumed_capacity.as_ref(), json);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_value::{AttributeValue, Item};

    operation_tests!(TransactGetItems);

    #[test]
    fn gets_of_several_tables_are_read() {
        let body = r##"{"TransactItems":[{"Get":{"TableName":"Music","Key":{"pk":{"S":"a"}}}},
            {"Get":{"TableName":"Films","Key":{},"ProjectionExpression":"#a","ExpressionAttributeNames":{"#a":"a"}}}]}"##;
        let request = decoded(body);
        let [first, second] = request.gets.as_slice() else { panic!("expected two gets") };
        assert_eq!((first.table.as_str(), second.table.as_str()), ("Music", "Films"));
        assert!(first.projection.is_none() && second.projection.is_some());
    }

    #[test]
    fn a_transaction_has_one_to_a_hundred_actions() {
        let get = r#"{"Get":{"TableName":"abc","Key":{}}}"#;
        let body = |count: usize| format!(r#"{{"TransactItems":[{}]}}"#, vec![get; count].join(","));
        assert_eq!(
            refused(&body(0)),
            errors(&[("'[]'", "transactItems", "have length greater than or equal to 1")])
        );
        let message = refused(&body(101));
        assert!(message.starts_with("1 validation error detected: Value '[{"));
        assert!(message.ends_with(
            "}]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
        ));
        decoded(&body(100));
    }

    #[test]
    fn errors_have_the_path_of_the_member() {
        assert_eq!(refused("{}"), errors(&[("null", "transactItems", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"TransactItems":[{},{"Get":{}}]}"#),
            errors(&[
                ("null", "transactItems.1.member.get", NOT_NULL),
                ("null", "transactItems.2.member.get.key", NOT_NULL),
                ("null", "transactItems.2.member.get.tableName", NOT_NULL),
            ])
        );
        let body = r#"{"TransactItems":[{"Get":{"TableName":"abc","Key":{},"ProjectionExpression":"!!!"}}]}"#;
        assert_eq!(refused(body), r#"Invalid ProjectionExpression: Syntax error; token: "!", near: "!!""#);
    }

    #[test]
    fn the_response_has_an_entry_for_every_get() {
        let item: Item = [("a", AttributeValue::Null)].into_iter().collect();
        let output = TransactGetItemsOutput { responses: vec![None, Some(item)], consumed_capacity: None };
        assert_eq!(
            encoded(Response::TransactGetItems(output)),
            r#"{"Responses":[{},{"Item":{"a":{"NULL":true}}}]}"#
        );
    }
}
