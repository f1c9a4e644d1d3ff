//! DeleteItem: JSON → request.

pub(crate) use crate::item::item_write::encode;

use crate::attribute_value::Attributes;
use crate::item::item_write::{self, ItemWriteMembers};
use crate::json::Reader;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::delete_item::DeleteItem;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut write = ItemWriteMembers::new(&[ExpressionKind::Condition]);
    let mut key = None;
    reader.request(|reader, member| match member {
        "Key" => {
            key = Attributes::read_member(reader)?;
            Ok(())
        }
        _ => write.read(reader, member),
    })?;

    write.check_table()?;
    let mut validation = Validation::new();
    let return_consumed_capacity = write.return_consumed_capacity(&mut validation);
    validation.required("tableName", &write.table);
    let return_values = write.return_values(&mut validation);
    let return_item_collection_metrics = write.return_item_collection_metrics(&mut validation);
    validation.required("key", &key);
    let joined_by = write.validate_expected(&mut validation);
    let return_item_on_condition_failure = write.return_item_on_condition_failure(&mut validation);
    validation.finish()?;

    write.check_use(joined_by, false)?;
    item_write::check_old_values_only(return_values)?;
    let key = present(key)?.checked()?;
    let expected = write.expected(joined_by)?;
    let condition = write.expressions.parse()?.condition.or(expected);
    Ok(Request::DeleteItem(DeleteItem {
        table: table_name::resolve(&present(write.table)?),
        key,
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
    use partita_api::item::delete_item::DeleteItem;
    use partita_api::reporting::ReturnValues;
    use partita_value::ValueRef;

    operation_tests!(DeleteItem);

    #[test]
    fn a_delete_with_a_condition() {
        let body = r#"{"TableName":"Music","Key":{"pk":{"N":"1.0"}},"ReturnValues":"ALL_OLD",
            "ConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"x"}}}"#;
        let request = decoded(body);
        assert_eq!(request.key.get("pk"), Some(ValueRef::N(b"1")));
        assert!(request.condition.is_some());
        assert_eq!(request.return_values, ReturnValues::AllOld);
    }

    #[test]
    fn missing_members_are_reported_together() {
        assert_eq!(refused("{}"), errors(&[("null", "tableName", NOT_NULL), ("null", "key", NOT_NULL)]));
    }

    #[test]
    fn only_old_values_are_returned() {
        let body = r#"{"TableName":"abc","Key":{"a":{}},"ReturnValues":"UPDATED_NEW"}"#;
        assert_eq!(refused(body), "ReturnValues can only be ALL_OLD or NONE");
    }

    #[test]
    fn a_conditional_operator_joins_two_expectations() {
        let body = |expected: &str| {
            format!(
                r#"{{"TableName":"abc","Key":{{"a":{{"S":"a"}}}},"ConditionalOperator":"OR","Expected":{{{expected}}}}}"#
            )
        };
        assert_eq!(refused(&body("")), "ConditionalOperator cannot be used without Filter or Expected");
        let one = r#""b":{"Exists":false}"#;
        assert_eq!(
            refused(&body(one)),
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        );
        let two = format!(r#"{one},"c":{{"Value":{{"S":"c"}}}}"#);
        let request = decoded(&body(&two));
        assert!(request.condition.unwrap().matches(None).unwrap());
        let body = r#"{"TableName":"abc","Key":{},"ConditionalOperator":"XOR"}"#;
        assert_eq!(
            refused(body),
            errors(&[("'XOR'", "conditionalOperator", "satisfy enum value set: [OR, AND]")])
        );
    }
}
