//! TransactWriteItems: JSON → request, response → JSON.

use crate::attribute_value::Attributes;
use crate::item::expressions::{Expressions, ParsedExpressions};
use crate::item::item_size::check_size;
use crate::item::transaction::{Fingerprint, check_token};
use crate::json::{Reader, Shape, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::capacity::ReturnConsumedCapacity;
use partita_api::item::client_request_token::ClientRequestToken;
use partita_api::item::delete_item::DeleteItem;
use partita_api::item::put_item::PutItem;
use partita_api::item::transact_write_items::{
    ConditionCheck, TransactWrite, TransactWriteItems, TransactWriteItemsOutput,
};
use partita_api::item::update_item::UpdateItem;
use partita_api::reporting::ReturnValues;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;
use partita_value::limits;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionKind {
    ConditionCheck,
    Put,
    Delete,
    Update,
}

impl ActionKind {
    fn from_member(member: &str) -> Option<ActionKind> {
        match member {
            "ConditionCheck" => Some(ActionKind::ConditionCheck),
            "Put" => Some(ActionKind::Put),
            "Delete" => Some(ActionKind::Delete),
            "Update" => Some(ActionKind::Update),
            _ => None,
        }
    }

    fn class(self) -> &'static str {
        match self {
            ActionKind::ConditionCheck => "ConditionCheck",
            ActionKind::Put => "Put",
            ActionKind::Delete => "Delete",
            ActionKind::Update => "Update",
        }
    }

    /// The name of the member in validation errors.
    fn path(self) -> &'static str {
        match self {
            ActionKind::ConditionCheck => "conditionCheck",
            ActionKind::Put => "put",
            ActionKind::Delete => "delete",
            ActionKind::Update => "update",
        }
    }

    /// The member with the item or its key, and its name in validation errors.
    fn attributes_member(self) -> (&'static str, &'static str) {
        match self {
            ActionKind::Put => ("Item", "item"),
            _ => ("Key", "key"),
        }
    }

    fn expressions(self) -> &'static [ExpressionKind] {
        match self {
            ActionKind::Update => &[ExpressionKind::Update, ExpressionKind::Condition],
            _ => &[ExpressionKind::Condition],
        }
    }
}

/// The members of one action.
#[derive(Debug)]
struct ActionMembers<'a> {
    kind: ActionKind,
    table: Option<Cow<'a, str>>,
    /// The item of a `Put`, the key of other actions.
    attributes: Option<Attributes>,
    expressions: Expressions<'a>,
    return_on_failure: Option<Cow<'a, str>>,
}

/// The members of the request.
#[derive(Default)]
struct TransactWriteItemsMembers<'a> {
    /// The actions of each element (there must be exactly one), and the JSON of the list.
    elements: Option<(Vec<Vec<ActionMembers<'a>>>, &'a str)>,
    token: Option<Cow<'a, str>>,
    return_consumed_capacity: Option<Cow<'a, str>>,
    return_item_collection_metrics: Option<Cow<'a, str>>,
}

fn read(reader: Reader<'_>) -> Result<TransactWriteItemsMembers<'_>, Exception> {
    let mut members = TransactWriteItemsMembers::default();
    reader.request(|reader, member| {
        match member {
            "TransactItems" => members.elements = reader.structures_with_json(read_element)?,
            "ClientRequestToken" => members.token = reader.text()?,
            "ReturnConsumedCapacity" => members.return_consumed_capacity = reader.text()?,
            "ReturnItemCollectionMetrics" => members.return_item_collection_metrics = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(members)
}

fn read_element<'a>(reader: &mut Reader<'a>) -> Result<Vec<ActionMembers<'a>>, Exception> {
    let mut actions = Vec::new();
    reader.structure(Shape::Element("TransactWriteItem"), |reader, member| {
        match ActionKind::from_member(member) {
            Some(kind) => actions.extend(read_action(reader, kind)?),
            None => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(actions)
}

fn read_action<'a>(
    reader: &mut Reader<'a>,
    kind: ActionKind,
) -> Result<Option<ActionMembers<'a>>, Exception> {
    let mut members = ActionMembers {
        kind,
        table: None,
        attributes: None,
        expressions: Expressions::new(kind.expressions()),
        return_on_failure: None,
    };
    let present = reader.structure(Shape::Structure(kind.class()), |reader, member| {
        match member {
            "TableName" => members.table = reader.text()?,
            "ReturnValuesOnConditionCheckFailure" => members.return_on_failure = reader.text()?,
            _ if member == kind.attributes_member().0 => {
                members.attributes = Attributes::read_member(reader)?
            }
            _ if members.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(members))
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members = read(reader)?;
    let mut validation = Validation::new();
    let return_consumed_capacity =
        reporting::return_consumed_capacity(&mut validation, members.return_consumed_capacity.as_deref());
    let return_item_collection_metrics = reporting::return_item_collection_metrics(
        &mut validation,
        members.return_item_collection_metrics.as_deref(),
    );
    if let Some((elements, json)) = validation.required("transactItems", &members.elements) {
        validation.length("transactItems", json, elements.len(), 1, limits::TRANSACTION_ITEMS);
        for (index, action) in
            elements.iter().enumerate().flat_map(|(i, actions)| actions.iter().map(move |a| (i, a)))
        {
            validate_action(&mut validation, index + 1, action)?;
        }
    }
    check_token(&mut validation, &members.token);
    validation.finish()?;

    let (elements, _) = present(members.elements)?;
    let fingerprint = fingerprint(&elements);
    let actions = elements.into_iter().map(checked_element).collect::<Result<_, _>>()?;
    Ok(Request::TransactWriteItems(TransactWriteItems {
        actions,
        client_request_token: members
            .token
            .map(|token| ClientRequestToken { token: token.into_owned(), fingerprint }),
        return_consumed_capacity,
        return_item_collection_metrics,
    }))
}

fn validate_action(
    validation: &mut Validation,
    position: usize,
    members: &ActionMembers<'_>,
) -> Result<(), Exception> {
    let path = format!("transactItems.{position}.member.{}", members.kind.path());
    table_name::check(format_args!("{path}.tableName"), members.table.as_ref())?;
    let (_, attributes) = members.kind.attributes_member();
    validation.required(format_args!("{path}.{attributes}"), &members.attributes);
    validation.required(format_args!("{path}.tableName"), &members.table);
    for (kind, required_by, member) in [
        (ExpressionKind::Condition, ActionKind::ConditionCheck, "conditionExpression"),
        (ExpressionKind::Update, ActionKind::Update, "updateExpression"),
    ] {
        if members.kind == required_by {
            validation.required(format_args!("{path}.{member}"), &members.expressions.text(kind));
        }
    }
    let value = members.return_on_failure.as_deref();
    let member = format_args!("{path}.returnValuesOnConditionCheckFailure");
    reporting::return_item_on_condition_failure(validation, member, value);
    Ok(())
}

/// Checks the one action of an element. Elements are checked in order; the first error is reported.
fn checked_element(actions: Vec<ActionMembers<'_>>) -> Result<TransactWrite, Exception> {
    let mut actions = actions.into_iter();
    let (Some(members), None) = (actions.next(), actions.next()) else {
        return Err(Exception::validation(
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ));
    };
    members.expressions.check_use(&[])?;
    let ParsedExpressions { condition, update, .. } = members.expressions.parse()?;
    let attributes = present(members.attributes)?.checked()?;
    let table = table_name::resolve(&present(members.table)?);
    let return_item_on_condition_failure = members.return_on_failure.as_deref() == Some("ALL_OLD");
    let (return_values, return_consumed_capacity) = (ReturnValues::None, ReturnConsumedCapacity::None);
    let return_item_collection_metrics = false;
    Ok(match members.kind {
        ActionKind::ConditionCheck => TransactWrite::ConditionCheck(ConditionCheck {
            table,
            key: attributes,
            condition: present(condition)?,
            return_item_on_condition_failure,
        }),
        ActionKind::Put => {
            check_size(&attributes)?;
            TransactWrite::Put(PutItem {
                table,
                item: attributes,
                condition,
                return_values,
                return_item_on_condition_failure,
                return_consumed_capacity,
                return_item_collection_metrics,
            })
        }
        ActionKind::Delete => TransactWrite::Delete(DeleteItem {
            table,
            key: attributes,
            condition,
            return_values,
            return_item_on_condition_failure,
            return_consumed_capacity,
            return_item_collection_metrics,
        }),
        ActionKind::Update => TransactWrite::Update(UpdateItem {
            table,
            key: attributes,
            update,
            condition,
            return_values,
            return_item_on_condition_failure,
            return_consumed_capacity,
            return_item_collection_metrics,
        }),
    })
}

/// A hash of the actions. It does not depend on white space or the order of members: items are hashed in their canonical encoding,
/// placeholders in sorted order.
fn fingerprint(elements: &[Vec<ActionMembers<'_>>]) -> [u8; 16] {
    let mut fingerprint = Fingerprint::default();
    for action in elements.iter().flatten() {
        let table = action.table.as_deref().map(table_name::resolve);
        fingerprint.add(action.kind.class().as_bytes());
        fingerprint.add(table.as_ref().map_or("", |table| table.as_str()).as_bytes());
        fingerprint.add(action.attributes.as_ref().map_or(&[], |attributes| attributes.bytes()));
        for kind in action.kind.expressions() {
            fingerprint.add(action.expressions.text(*kind).unwrap_or_default().as_bytes());
        }
        fingerprint.add(action.return_on_failure.as_deref().unwrap_or_default().as_bytes());
        let mut names: Vec<_> = action.expressions.names().iter().collect();
        names.sort_unstable();
        for (placeholder, name) in names {
            fingerprint.add(placeholder.as_bytes());
            fingerprint.add(name.as_bytes());
        }
        let mut values: Vec<_> = action.expressions.values().iter().collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        for (placeholder, value) in values {
            fingerprint.add(placeholder.as_bytes());
            fingerprint.add_value(value.view());
        }
    }
    fingerprint.finish()
}

pub(crate) fn encode(output: &TransactWriteItemsOutput, json: &mut Writer) {
    json.object(|json| {
        reporting::encode_consumed_capacities(json, output.consumed_capacity.as_ref());
        reporting::encode_item_collections(json, output.item_collection_metrics.as_ref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;

    operation_tests!(TransactWriteItems);

    fn fingerprint(items: &str) -> [u8; 16] {
        let body = format!(r#"{{"ClientRequestToken":"t","TransactItems":[{items}]}}"#);
        decoded(&body).client_request_token.expect("the request has a token").fingerprint
    }

    #[test]
    fn one_of_every_action() {
        let request = decoded(
            r#"{"TransactItems":[
                {"Put":{"TableName":"Music","Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)",
                    "ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},
                {"Update":{"TableName":"Music","Key":{"pk":{"S":"b"}},"UpdateExpression":"SET a = :a",
                    "ExpressionAttributeValues":{":a":{"N":"1"}}}},
                {"Delete":{"TableName":"Music","Key":{"pk":{"S":"c"}}}},
                {"ConditionCheck":{"TableName":"Music","Key":{"pk":{"S":"d"}},"ConditionExpression":"attribute_exists(pk)"}}],
                "ReturnItemCollectionMetrics":"SIZE"}"#,
        );
        let [
            TransactWrite::Put(put),
            TransactWrite::Update(update),
            TransactWrite::Delete(delete),
            TransactWrite::ConditionCheck(_),
        ] = request.actions.as_slice()
        else {
            panic!("{request:?}")
        };
        assert!(put.condition.is_some() && put.return_item_on_condition_failure);
        assert!(update.update.is_some() && update.condition.is_none());
        assert!(delete.condition.is_none() && !delete.return_item_on_condition_failure);
        assert!(request.client_request_token.is_none() && request.return_item_collection_metrics);
    }

    #[test]
    fn a_transaction_has_one_to_a_hundred_actions() {
        let put = r#"{"Put":{"TableName":"abc","Item":{}}}"#;
        let body = |count: usize| format!(r#"{{"TransactItems":[{}]}}"#, vec![put; count].join(","));
        assert_eq!(
            refused(&body(0)),
            errors(&[("'[]'", "transactItems", "have length greater than or equal to 1")])
        );
        assert!(refused(&body(101)).ends_with("Member must have length less than or equal to 100"));
        assert_eq!(decoded(&body(100)).actions.len(), 100);
    }

    #[test]
    fn an_element_is_one_action() {
        let one_only = "TransactItems can only contain one of Check, Put, Update or Delete";
        assert_eq!(refused(r#"{"TransactItems":[{}]}"#), one_only);
        let body = r#"{"TransactItems":[{"Put":{"TableName":"abc","Item":{}},"Delete":{"TableName":"abc","Key":{}}}]}"#;
        assert_eq!(refused(body), one_only);
    }

    #[test]
    fn errors_have_the_path_of_the_member() {
        let token = "x".repeat(37);
        let body = format!(
            r#"{{"TransactItems":[{{"Put":{{}}}},{{"Update":{{"TableName":"abc","Key":{{}}}}}},
                {{"ConditionCheck":{{"TableName":"abc","Key":{{}},"ReturnValuesOnConditionCheckFailure":"x"}}}}],
                "ClientRequestToken":"{token}"}}"#
        );
        assert_eq!(
            refused(&body),
            errors(&[
                ("null", "transactItems.1.member.put.item", NOT_NULL),
                ("null", "transactItems.1.member.put.tableName", NOT_NULL),
                ("null", "transactItems.2.member.update.updateExpression", NOT_NULL),
                ("null", "transactItems.3.member.conditionCheck.conditionExpression", NOT_NULL),
                (
                    "'x'",
                    "transactItems.3.member.conditionCheck.returnValuesOnConditionCheckFailure",
                    "satisfy enum value set: [ALL_OLD, NONE]"
                ),
                (&format!("'{token}'"), "clientRequestToken", "have length less than or equal to 36"),
            ])
        );
    }

    #[test]
    fn the_first_invalid_action_is_reported() {
        let bad_item = r#"{"Put":{"TableName":"abc","Item":{"":{"S":"x"}}}}"#;
        let bad_condition =
            r#"{"Delete":{"TableName":"abc","Key":{"a":{}},"ConditionExpression":"a = = b"}}"#;
        let body = |first: &str, second: &str| format!(r#"{{"TransactItems":[{first},{second}]}}"#);
        assert_eq!(refused(&body(bad_item, bad_condition)), "Empty attribute name");
        assert!(
            refused(&body(bad_condition, bad_item)).starts_with("Invalid ConditionExpression: Syntax error")
        );
    }

    #[test]
    fn the_fingerprint_depends_only_on_the_actions() {
        let update = r##"{"Update":{"TableName":"abc","Key":{"a":{"N":"1"},"b":{"S":"x"}},"UpdateExpression":"SET #c = :c, d = :d",
            "ExpressionAttributeNames":{"#c":"c"},"ExpressionAttributeValues":{":c":{"N":"1"},":d":{"N":"2"}}}}"##;
        let reordered = r##"{"Update": {"ExpressionAttributeValues":{":d":{"N":"2.0"},":c":{"N":"1"}},"UpdateExpression":"SET #c = :c, d = :d",
            "ExpressionAttributeNames":{"#c":"c"}, "Key":{"b":{"S":"x"},"a":{"N":"1"}}, "TableName":"abc"}}"##;
        assert_eq!(fingerprint(update), fingerprint(reordered));
        for (from, to) in [("abc", "abd"), (r#":{"N":"2"}"#, r#":{"N":"3"}"#), (r##"#c":"c"##, r##"#c":"e"##)]
        {
            assert_ne!(fingerprint(update), fingerprint(&update.replace(from, to)), "{to}");
        }
        assert_ne!(fingerprint(update), fingerprint(&format!("{update},{update}")));
    }

    #[test]
    fn the_response_is_empty_by_default() {
        assert_eq!(encoded(Response::TransactWriteItems(TransactWriteItemsOutput::default())), "{}");
    }
}
