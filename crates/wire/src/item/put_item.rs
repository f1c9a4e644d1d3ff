//! PutItem: JSON → request.

pub(crate) use crate::item::item_write::encode;

use crate::attribute_value::Attributes;
use crate::item::item_size::check_size;
use crate::item::item_write::{self, ItemWriteMembers};
use crate::json::Reader;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::put_item::PutItem;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut write = ItemWriteMembers::new(&[ExpressionKind::Condition]);
    let mut item = None;
    reader.request(|reader, member| match member {
        "Item" => {
            item = Attributes::read_member(reader)?;
            Ok(())
        }
        _ => write.read(reader, member),
    })?;

    write.check_table()?;
    let mut validation = Validation::new();
    let return_consumed_capacity = write.return_consumed_capacity(&mut validation);
    validation.required("tableName", &write.table);
    validation.required("item", &item);
    let joined_by = write.validate_expected(&mut validation);
    let return_values = write.return_values(&mut validation);
    let return_item_collection_metrics = write.return_item_collection_metrics(&mut validation);
    let return_item_on_condition_failure = write.return_item_on_condition_failure(&mut validation);
    validation.finish()?;

    write.check_use(joined_by, false)?;
    let item = present(item)?.checked()?;
    item_write::check_old_values_only(return_values)?;
    check_size(&item)?;
    let expected = write.expected(joined_by)?;
    let condition = write.expressions.parse()?.condition.or(expected);
    Ok(Request::PutItem(PutItem {
        table: table_name::resolve(&present(write.table)?),
        item,
        condition,
        return_values,
        return_item_on_condition_failure,
        return_consumed_capacity,
        return_item_collection_metrics,
    }))
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::capacity::{ConsumedCapacity, ReturnConsumedCapacity, Units};
    use partita_api::item::put_item::{PutItem, PutItemOutput};
    use partita_api::reporting::ReturnValues;
    use partita_value::{AttributeValue, Item, ValueRef, names::TableName};

    operation_tests!(PutItem);

    #[test]
    fn a_plain_put() {
        let request = decoded(r#" { "TableName" : "Music", "Item": {"pk": {"S": "a"}}, "Unknown": [1] } "#);
        assert_eq!(request.table.as_str(), "Music");
        assert_eq!(request.item.get("pk"), Some(ValueRef::S(b"a")));
        assert!(request.condition.is_none());
        assert_eq!(request.return_values, ReturnValues::None);
        assert!(!request.return_item_on_condition_failure && !request.return_item_collection_metrics);
    }

    #[test]
    fn a_put_with_everything() {
        let request = decoded(
            r##"{"TableName":"arn:aws:dynamodb:eu-west-1:000000000000:table/Music","Item":{"pk":{"S":"a"}},
                "ConditionExpression":"attribute_not_exists(#p) OR v < :v","ExpressionAttributeNames":{"#p":"pk"},
                "ExpressionAttributeValues":{":v":{"N":"1"}},"ReturnValues":"ALL_OLD",
                "ReturnConsumedCapacity":"INDEXES","ReturnItemCollectionMetrics":"SIZE",
                "ReturnValuesOnConditionCheckFailure":"ALL_OLD"}"##,
        );
        assert_eq!(request.table.as_str(), "Music");
        assert!(request.condition.unwrap().matches(None).unwrap());
        assert_eq!(request.return_values, ReturnValues::AllOld);
        assert_eq!(request.return_consumed_capacity, ReturnConsumedCapacity::Indexes);
        assert!(request.return_item_on_condition_failure && request.return_item_collection_metrics);
    }

    #[test]
    fn missing_and_unknown_values_are_reported_together() {
        assert_eq!(refused("{}"), errors(&[("null", "tableName", NOT_NULL), ("null", "item", NOT_NULL)]));
        let body = r#"{"TableName":"abc","ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi","ReturnValues":"hi"}"#;
        assert_eq!(
            refused(body),
            errors(&[
                ("'hi'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
                ("null", "item", NOT_NULL),
                (
                    "'hi'",
                    "returnValues",
                    "satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
                ),
                ("'hi'", "returnItemCollectionMetrics", "satisfy enum value set: [SIZE, NONE]"),
            ])
        );
    }

    #[test]
    fn a_bad_table_name_is_reported_alone() {
        let constraint = "have length greater than or equal to 1";
        assert_eq!(
            refused(r#"{"TableName":"","ReturnValues":"hi","Item":{}}"#),
            errors(&[("''", "tableName", constraint)])
        );
    }

    #[test]
    fn rules_between_members_are_checked_in_order() {
        let mixed = "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}";
        let body = r#"{"TableName":"abc","Item":{"a":{}},"Expected":{"pk":{}},"ConditionExpression":""}"#;
        assert_eq!(refused(body), mixed);
        let values = "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null";
        assert_eq!(refused(r#"{"TableName":"abc","Item":{"a":{}},"ExpressionAttributeValues":{}}"#), values);
        let body = r#"{"TableName":"abc","Item":{"a":{"SS":[]}},"ReturnValues":"ALL_NEW"}"#;
        assert_eq!(
            refused(body),
            "One or more parameter values were invalid: An string set  may not be empty"
        );
        let body = r#"{"TableName":"abc","Item":{},"ReturnValues":"ALL_NEW","ConditionExpression":""}"#;
        assert_eq!(refused(body), "ReturnValues can only be ALL_OLD or NONE");
        let body = r#"{"TableName":"abc","Item":{},"ConditionExpression":""}"#;
        assert_eq!(refused(body), "Invalid ConditionExpression: The expression can not be empty;");
    }

    #[test]
    fn placeholders_must_be_used() {
        let body = r##"{"TableName":"abc","Item":{},"ConditionExpression":"attribute_exists(a)",
            "ExpressionAttributeNames":{"#u":"u"},"ExpressionAttributeValues":{":u":{"S":"u"}}}"##;
        assert_eq!(
            refused(body),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}"
        );
    }

    #[test]
    fn items_are_at_most_400_kilobytes() {
        let body =
            |bytes: usize| format!(r#"{{"TableName":"abc","Item":{{"a":{{"S":"{}"}}}}}}"#, "x".repeat(bytes));
        assert_eq!(decoded(&body(409_599)).item.size(), 409_600);
        assert_eq!(refused(&body(409_600)), "Item size has exceeded the maximum allowed size");
    }

    #[test]
    fn wrong_json_types_are_serialization_exceptions() {
        assert_eq!(mismatch(r#"{"TableName":23}"#), "NUMBER_VALUE cannot be converted to String");
        assert_eq!(mismatch(r#"{"Item":"x"}"#), "Unexpected field type");
        assert_eq!(
            mismatch(r#"{"Item":[]}"#),
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"
        );
        assert_eq!(
            mismatch(r#"{"Expected":{"a":[]}}"#),
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue"
        );
        assert_eq!(
            mismatch(r#"{"Item":{"a":{"S":"x"}},"Expected":{"a":{"Value":"x"}}}"#),
            "Unexpected field type"
        );
        assert_eq!(
            mismatch(r#"{"ExpressionAttributeNames":{"a":1}}"#),
            "NUMBER_VALUE cannot be converted to String"
        );
    }

    #[test]
    fn responses_have_what_was_requested() {
        assert_eq!(encoded(Response::PutItem(PutItemOutput::default())), "{}");
        let capacity = ConsumedCapacity {
            table_name: TableName::new("Music"),
            table: Units::whole(1),
            local_indexes: vec![],
            global_indexes: vec![],
            with_indexes: false,
            transaction: None,
        };
        let attributes: Item = [("a", AttributeValue::Bool(true))].into_iter().collect();
        let output = PutItemOutput {
            attributes: Some(attributes),
            consumed_capacity: Some(capacity),
            item_collection_metrics: None,
        };
        assert_eq!(
            encoded(Response::UpdateItem(output)),
            r#"{"Attributes":{"a":{"BOOL":true}},"ConsumedCapacity":{"TableName":"Music","CapacityUnits":1.0}}"#
        );
    }
}
