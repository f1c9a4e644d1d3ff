//! BatchGetItem: JSON → request, response → JSON.

use crate::attribute_value::{self, Attributes};
use crate::item::expressions::Expressions;
use crate::item::legacy;
use crate::item::request_items::{self, TableEntry};
use crate::json::{Reader, Shape, Writer};
use crate::reporting;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::batch_get_item::{
    BatchGetItem, BatchGetItemOutput, ProjectionWording, TableKeys, UnprocessedKeys,
};
use partita_api::messages::DUPLICATE_KEYS;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;
use partita_value::{Item, limits};
use std::borrow::Cow;
use std::collections::HashSet;

const CLASS: &str = "KeysAndAttributes";

/// The members of the entry of one table.
#[derive(Debug)]
struct KeysAndAttributesMembers<'a> {
    keys: Option<Vec<Attributes>>,
    attributes_to_get: Option<Vec<Cow<'a, str>>>,
    consistent_read: Option<bool>,
    expressions: Expressions<'a>,
}

fn read_tables<'a>(
    reader: &mut Reader<'a>,
) -> Result<Option<Vec<TableEntry<'a, KeysAndAttributesMembers<'a>>>>, Exception> {
    let mut tables = Vec::new();
    let present = reader.map(Shape::Map(CLASS), |reader, table| {
        let start = reader.offset();
        let value = read_table(reader)?;
        tables.push(TableEntry { table, json: reader.since(start), value });
        Ok(())
    })?;
    Ok(present.then_some(tables))
}

fn read_table<'a>(reader: &mut Reader<'a>) -> Result<KeysAndAttributesMembers<'a>, Exception> {
    let mut members = KeysAndAttributesMembers {
        keys: None,
        attributes_to_get: None,
        consistent_read: None,
        expressions: Expressions::new(&[ExpressionKind::Projection]),
    };
    reader.structure(Shape::Element(CLASS), |reader, member| {
        match member {
            "Keys" => members.keys = read_keys(reader)?,
            "AttributesToGet" => members.attributes_to_get = reader.text_list()?,
            "ConsistentRead" => members.consistent_read = reader.boolean()?,
            _ if members.expressions.read(reader, member)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(members)
}

fn read_keys(reader: &mut Reader<'_>) -> Result<Option<Vec<Attributes>>, Exception> {
    let read = |reader: &mut Reader<'_>| Attributes::read(reader, Shape::MapInList("AttributeValue"));
    let keys = reader.structures(Shape::List, read)?;
    Ok(keys.map(|keys| keys.into_iter().flatten().collect()))
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut tables = None;
    let mut capacity = None;
    reader.request(|reader, member| {
        match member {
            "RequestItems" => tables = read_tables(reader)?,
            "ReturnConsumedCapacity" => capacity = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;

    let mut validation = Validation::new();
    let return_consumed_capacity = reporting::return_consumed_capacity(&mut validation, capacity.as_deref());
    request_items::validate(&mut validation, &tables);
    tables.iter().flatten().for_each(|entry| validate_table(&mut validation, entry));
    validation.finish()?;

    let tables = present(tables)?;
    request_items::check_tables(&tables, "BatchGetItem")?;
    let mut count = 0;
    let tables = tables.into_iter().map(|entry| table_keys(entry, &mut count)).collect::<Result<_, _>>()?;
    Ok(Request::BatchGetItem(BatchGetItem { tables, return_consumed_capacity }))
}

fn validate_table(validation: &mut Validation, entry: &TableEntry<'_, KeysAndAttributesMembers<'_>>) {
    let path = format_args!("requestItems.{}.member", entry.table);
    if let Some(keys) = validation.required(format_args!("{path}.keys"), &entry.value.keys) {
        if keys.len() > limits::BATCH_GET_KEYS {
            // AWS has another text here: member names in the spelling of the API, and no value.
            validation.record(format_args!(
                "Value at 'RequestItems.{}.member.Keys' failed to satisfy constraint: \
                 Member must have length less than or equal to {}",
                entry.table,
                limits::BATCH_GET_KEYS
            ));
        }
        validation.length(format_args!("{path}.keys"), "[]", keys.len(), 1, usize::MAX);
    }
    let names = entry.value.attributes_to_get.as_deref();
    legacy::validate_attributes_to_get(validation, format_args!("{path}.attributesToGet"), names);
}

/// The keys of one table; `count` is the number of keys of all tables so far.
fn table_keys(
    entry: TableEntry<'_, KeysAndAttributesMembers<'_>>,
    count: &mut usize,
) -> Result<TableKeys, Exception> {
    let KeysAndAttributesMembers { keys, attributes_to_get, consistent_read, expressions } = entry.value;
    expressions.check_use(&[("AttributesToGet", attributes_to_get.is_some())])?;
    legacy::check_attributes_to_get(attributes_to_get.as_deref())?;
    let projection = expressions.parse()?.projection;
    let keys = checked_keys(present(keys)?, count)?;
    let wording = ProjectionWording {
        projection_expression: expressions.text(ExpressionKind::Projection).map(str::to_owned),
        expression_attribute_names: expressions
            .names()
            .iter()
            .map(|(placeholder, name)| (placeholder.to_string(), name.to_string()))
            .collect(),
        attributes_to_get: attributes_to_get.as_ref().map(|names| names.iter().map(Cow::to_string).collect()),
    };
    Ok(TableKeys {
        table: table_name::resolve(&entry.table),
        keys,
        projection: projection.or(legacy::attributes_to_get(attributes_to_get)),
        consistent_read: consistent_read.unwrap_or_default(),
        wording,
    })
}

fn checked_keys(unchecked: Vec<Attributes>, count: &mut usize) -> Result<Vec<Item>, Exception> {
    let mut keys = Vec::with_capacity(unchecked.len());
    let mut seen = HashSet::with_capacity(unchecked.len());
    for key in unchecked {
        let key = key.checked()?;
        if !seen.insert(key.clone()) {
            return Err(Exception::validation(DUPLICATE_KEYS));
        }
        keys.push(key);
        *count += 1;
        if *count > limits::BATCH_GET_KEYS {
            return Err(Exception::validation("Too many items requested for the BatchGetItem call"));
        }
    }
    Ok(keys)
}

pub(crate) fn encode(output: &BatchGetItemOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Responses").object(|json| {
            for table in &output.responses {
                attribute_value::encode_items(json.name(table.table.as_requested()), &table.items);
            }
        });
        json.name("UnprocessedKeys").object(|json| {
            output.unprocessed.iter().for_each(|table| encode_unprocessed(json, table));
        });
        reporting::encode_consumed_capacities(json, output.consumed_capacity.as_ref());
    });
}

/// Encodes keys that were not read in the form of a request, so that the client can send them again.
fn encode_unprocessed(json: &mut Writer, table: &UnprocessedKeys) {
    json.name(table.table.as_requested()).object(|json| {
        json.name("Keys").array(|json| {
            table.keys.iter().for_each(|key| attribute_value::encode_item(json, key.view()));
        });
        let wording = &table.wording;
        if let Some(names) = &wording.attributes_to_get {
            json.name("AttributesToGet").array(|json| names.iter().for_each(|name| json.string(name)));
        }
        if let Some(expression) = &wording.projection_expression {
            json.name("ProjectionExpression").string(expression);
        }
        if !wording.expression_attribute_names.is_empty() {
            json.name("ExpressionAttributeNames").object(|json| {
                for (placeholder, name) in &wording.expression_attribute_names {
                    json.name(placeholder).string(name);
                }
            });
        }
        if table.consistent_read {
            json.name("ConsistentRead").boolean(true);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::item::batch_get_item::TableItems;
    use partita_value::{AttributeValue, names::TableName};

    operation_tests!(BatchGetItem);

    fn keys(range: std::ops::Range<usize>) -> String {
        range.map(|i| format!(r#"{{"pk":{{"N":"{i}"}}}}"#)).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn keys_of_several_tables_are_read() {
        let body = r##"{"RequestItems":{
            "Music":{"Keys":[{"pk":{"S":"a"}},{"pk":{"S":"b"}}],"ConsistentRead":true,
                "ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"name"}},
            "Films":{"Keys":[{"pk":{"S":"a"}}],"AttributesToGet":["x"]}},"ReturnConsumedCapacity":"TOTAL"}"##;
        let request = decoded(body);
        let [music, films] = request.tables.as_slice() else { panic!("expected two tables") };
        assert_eq!((music.table.as_str(), music.keys.len(), music.consistent_read), ("Music", 2, true));
        assert!(music.projection.is_some() && films.projection.is_some());
        assert_eq!(music.wording.projection_expression.as_deref(), Some("#n"));
        assert_eq!(music.wording.expression_attribute_names, [("#n".to_owned(), "name".to_owned())]);
        assert_eq!(films.wording.attributes_to_get, Some(vec!["x".to_owned()]));
    }

    #[test]
    fn tables_and_keys_are_required() {
        assert_eq!(refused("{}"), errors(&[("null", "requestItems", NOT_NULL)]));
        assert_eq!(
            refused(r#"{"RequestItems":{}}"#),
            "The requestItems parameter is required for BatchGetItem"
        );
        assert_eq!(
            refused(r#"{"RequestItems":{"abc":{}}}"#),
            errors(&[("null", "requestItems.abc.member.keys", NOT_NULL)])
        );
        assert_eq!(
            refused(r#"{"RequestItems":{"abc":{"Keys":[]}}}"#),
            errors(&[("'[]'", "requestItems.abc.member.keys", "have length greater than or equal to 1")])
        );
    }

    #[test]
    fn a_hundred_keys_are_the_limit() {
        let body = |keys: &str| format!(r#"{{"RequestItems":{{"abc":{{"Keys":[{keys}]}}}}}}"#);
        decoded(&body(&keys(0..100)));
        assert_eq!(
            refused(&body(&keys(0..101))),
            "1 validation error detected: Value at 'RequestItems.abc.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100"
        );
        let two = format!(
            r#"{{"RequestItems":{{"abc":{{"Keys":[{}]}},"def":{{"Keys":[{}]}}}}}}"#,
            keys(0..60),
            keys(0..41)
        );
        assert_eq!(refused(&two), "Too many items requested for the BatchGetItem call");
    }

    #[test]
    fn duplicate_keys_are_refused() {
        let body = r#"{"RequestItems":{"abc":{"Keys":[{"pk":{"N":"1"}},{"pk":{"N":"1.0"}}]}}}"#;
        assert_eq!(refused(body), "Provided list of item keys contains duplicates");
    }

    #[test]
    fn table_names_are_checked_with_the_map() {
        let message = refused(r#"{"RequestItems":{"a;":{"Keys":[{"pk":{"N":"1"}}]}}}"#);
        assert_eq!(
            message,
            r#"1 validation error detected: Value '{a;={"Keys":[{"pk":{"N":"1"}}]}}' at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"#
        );
    }

    #[test]
    fn wrong_json_types_are_serialization_exceptions() {
        let cast = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')";
        assert_eq!(mismatch(r#"{"RequestItems":{"abc":{"Keys":["a"]}}}"#), cast);
        assert_eq!(
            mismatch(r#"{"RequestItems":{"abc":{"Keys":[[]]}}}"#),
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"
        );
        assert_eq!(mismatch(r#"{"RequestItems":"a"}"#), "Unexpected field type");
    }

    #[test]
    fn unprocessed_keys_can_be_sent_again() {
        let key: Item = [("pk", AttributeValue::S("a".into()))].into_iter().collect();
        let output = BatchGetItemOutput {
            responses: vec![TableItems {
                table: TableName::from_request("arn:aws:dynamodb:eu-west-1:000000000000:table/Music"),
                items: vec![key.clone()],
            }],
            unprocessed: vec![UnprocessedKeys {
                table: TableName::new("Films"),
                keys: vec![key],
                consistent_read: true,
                wording: ProjectionWording {
                    projection_expression: Some("#n".into()),
                    expression_attribute_names: vec![("#n".into(), "name".into())],
                    attributes_to_get: None,
                },
            }],
            consumed_capacity: None,
        };
        assert_eq!(
            encoded(Response::BatchGetItem(output)),
            r##"{"Responses":{"arn:aws:dynamodb:eu-west-1:000000000000:table/Music":[{"pk":{"S":"a"}}]},"UnprocessedKeys":{"Films":{"Keys":[{"pk":{"S":"a"}}],"ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"name"},"ConsistentRead":true}}}"##
        );
    }
}
