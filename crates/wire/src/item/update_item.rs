//! UpdateItem: JSON → request.

pub(crate) use crate::item::item_write::encode;

use crate::attribute_value::Attributes;
use crate::item::item_write::ItemWriteMembers;
use crate::item::legacy;
use crate::json::Reader;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::update_item::UpdateItem;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut write = ItemWriteMembers::new(&[ExpressionKind::Update, ExpressionKind::Condition]);
    let mut key = None;
    let mut updates = None;
    reader.request(|reader, member| {
        match member {
            "Key" => key = Attributes::read_member(reader)?,
            "AttributeUpdates" => updates = legacy::read_updates(reader)?,
            _ => write.read(reader, member)?,
        }
        Ok(())
    })?;

    write.check_table()?;
    let mut validation = Validation::new();
    let return_consumed_capacity = write.return_consumed_capacity(&mut validation);
    validation.required("tableName", &write.table);
    let return_item_collection_metrics = write.return_item_collection_metrics(&mut validation);
    let return_values = write.return_values(&mut validation);
    validation.required("key", &key);
    let joined_by = write.validate_expected(&mut validation);
    legacy::validate_updates(&mut validation, updates.as_deref());
    let return_item_on_condition_failure = write.return_item_on_condition_failure(&mut validation);
    validation.finish()?;

    write.check_use(joined_by, updates.is_some())?;
    let key = present(key)?.checked()?;
    let attribute_updates = legacy::updates(updates)?;
    let expected = write.expected(joined_by)?;
    let parsed = write.expressions.parse()?;
    Ok(Request::UpdateItem(UpdateItem {
        table: table_name::resolve(&present(write.table)?),
        key,
        update: parsed.update.or(attribute_updates),
        condition: parsed.condition.or(expected),
        return_values,
        return_item_on_condition_failure,
        return_consumed_capacity,
        return_item_collection_metrics,
    }))
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::item::update_item::UpdateItem;
    use partita_api::reporting::ReturnValues;
    use partita_value::{Item, ValueRef};

    operation_tests!(UpdateItem);

    #[test]
    fn an_update_expression() {
        let request = decoded(
            r##"{"TableName":"Music","Key":{"pk":{"S":"a"}},"UpdateExpression":"SET #c = :c REMOVE d",
                "ConditionExpression":"attribute_not_exists(#c)","ExpressionAttributeNames":{"#c":"count"},
                "ExpressionAttributeValues":{":c":{"N":"7"}},"ReturnValues":"UPDATED_NEW"}"##,
        );
        assert_eq!(request.return_values, ReturnValues::UpdatedNew);
        assert!(request.condition.is_some());
        let item: Item = request.update.unwrap().apply(None, request.key.view()).unwrap();
        assert_eq!(item.get("count"), Some(ValueRef::N(b"7")));
    }

    #[test]
    fn attribute_updates() {
        let request = decoded(
            r#"{"TableName":"Music","Key":{"pk":{"S":"a"}},"AttributeUpdates":{
                "a":{"Value":{"S":"x"}},"b":{"Action":"DELETE"},"c":{"Action":"ADD","Value":{"N":"1"}}}}"#,
        );
        let item = request.update.unwrap().apply(None, request.key.view()).unwrap();
        assert_eq!(item.get("a"), Some(ValueRef::S(b"x")));
        assert_eq!(item.get("c"), Some(ValueRef::N(b"1")));
    }

    #[test]
    fn an_update_without_changes_is_none() {
        for more in ["", r#","AttributeUpdates":{}"#] {
            let request = decoded(&format!(r#"{{"TableName":"Music","Key":{{"pk":{{"S":"a"}}}}{more}}}"#));
            assert!(request.update.is_none());
        }
    }

    #[test]
    fn missing_and_unknown_values_are_reported_in_order() {
        let body = r#"{"ReturnConsumedCapacity":"hi","ReturnItemCollectionMetrics":"hi","ReturnValues":"hi",
            "AttributeUpdates":{"a":{"Action":"x"}},"Expected":{"e":{"ComparisonOperator":"x"}}}"#;
        let message = refused(body);
        let order = [
            "returnConsumedCapacity",
            "tableName",
            "returnItemCollectionMetrics",
            "returnValues",
            "'key'",
            "expected.e.member.comparisonOperator",
            "attributeUpdates.a.member.action",
        ];
        let positions: Vec<_> = order.iter().map(|path| message.find(path).expect(path)).collect();
        assert!(positions.is_sorted(), "{message}");
        assert!(message.starts_with("7 validation errors detected: "));
    }

    #[test]
    fn attribute_updates_need_suitable_values() {
        let body =
            |update: &str| format!(r#"{{"TableName":"abc","Key":{{}},"AttributeUpdates":{{"a":{update}}}}}"#);
        for (update, text) in [
            ("{}", "Only DELETE action is allowed when no attribute value is specified"),
            (
                r#"{"Action":"DELETE","Value":{"S":"a"}}"#,
                "DELETE action with value is not supported for the type S",
            ),
            (r#"{"Action":"ADD","Value":{"M":{}}}"#, "ADD action is not supported for the type M"),
        ] {
            assert_eq!(refused(&body(update)), format!("One or more parameter values were invalid: {text}"));
        }
        assert_eq!(
            refused(&body(r#"{"Value":{"N":"x"}}"#)),
            "The parameter cannot be converted to a numeric value: x"
        );
    }

    #[test]
    fn ambiguous_expectations_are_rejected() {
        let body =
            |expected: &str| format!(r#"{{"TableName":"abc","Key":{{}},"Expected":{{"a":{expected}}}}}"#);
        for (expected, text) in [
            ("{}", "Value must be provided when Exists is null for Attribute: a"),
            (r#"{"Exists":true}"#, "Value must be provided when Exists is true for Attribute: a"),
            (
                r#"{"Exists":false,"Value":{"S":"a"}}"#,
                "Value cannot be used when Exists is false for Attribute: a",
            ),
            (
                r#"{"AttributeValueList":[],"Value":{"S":"a"}}"#,
                "Value and AttributeValueList cannot be used together for Attribute: a",
            ),
            (
                r#"{"AttributeValueList":[]}"#,
                "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
            ),
            (
                r#"{"ComparisonOperator":"NULL","Exists":true}"#,
                "Exists and ComparisonOperator cannot be used together for Attribute: a",
            ),
            (
                r#"{"ComparisonOperator":"LT"}"#,
                "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a",
            ),
            (
                r#"{"ComparisonOperator":"NOT_NULL","Value":{"S":"a"}}"#,
                "Invalid number of argument(s) for the NOT_NULL ComparisonOperator",
            ),
        ] {
            assert_eq!(
                refused(&body(expected)),
                format!("One or more parameter values were invalid: {text}")
            );
        }
    }

    #[test]
    fn update_expressions_exclude_legacy_parameters() {
        let body = r#"{"TableName":"abc","Key":{},"UpdateExpression":"","AttributeUpdates":{},"Expected":{},"ConditionalOperator":"OR"}"#;
        assert_eq!(
            refused(body),
            "Can not use both expression and non-expression parameters in the same request: \
             Non-expression parameters: {AttributeUpdates, Expected, ConditionalOperator} Expression parameters: {UpdateExpression}"
        );
        let body = r#"{"TableName":"abc","Key":{},"ExpressionAttributeValues":{}}"#;
        assert_eq!(
            refused(body),
            "ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null"
        );
        let body = r#"{"TableName":"abc","Key":{},"UpdateExpression":"SET a = :v"}"#;
        assert_eq!(
            refused(body),
            "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :v"
        );
    }
}
