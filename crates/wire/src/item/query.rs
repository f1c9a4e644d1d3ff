//! Query: JSON → request, response → JSON.

use crate::item::legacy;
use crate::item::page_read::{PageReadMembers, QUERY_EXPRESSIONS};
use crate::json::Reader;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::query::Query;
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;

pub(crate) use crate::item::page_read::encode;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut page = PageReadMembers::new("QueryFilter", QUERY_EXPRESSIONS);
    let mut key_conditions = None;
    let mut scan_index_forward = None;
    reader.request(|reader, member| {
        match member {
            "KeyConditions" => key_conditions = legacy::read_conditions(reader)?,
            "ScanIndexForward" => scan_index_forward = reader.boolean()?,
            _ => page.read(reader, member)?,
        }
        Ok(())
    })?;

    page.check_table()?;
    let mut validation = Validation::new();
    let select = page.select(&mut validation);
    page.validate_index(&mut validation);
    let return_consumed_capacity = page.return_consumed_capacity(&mut validation);
    legacy::validate_conditions(&mut validation, "queryFilter", page.filter.as_deref());
    validation.required("tableName", &page.table);
    let joined_by = page.conditional_operator(&mut validation);
    page.validate_attributes_to_get(&mut validation);
    if page.limit.is_some_and(|limit| limit < 1) {
        // Unlike the text of Scan, that of Query has the API's spelling of the member and does not repeat the value.
        validation.record(
            "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        );
    }
    legacy::validate_conditions(&mut validation, "keyConditions", key_conditions.as_deref());
    validation.finish()?;

    // Legacy key conditions are allowed alongside expressions, except alongside a key condition expression.
    let conflict = key_conditions.is_some() && page.expressions.has(ExpressionKind::KeyCondition);
    page.check_use(joined_by, conflict)?;
    let legacy_filter = page.filter(joined_by)?;
    legacy::check_attributes_to_get(page.attributes_to_get.as_deref())?;
    let exclusive_start_key =
        page.exclusive_start_key.take().map(|key| key.checked_start_key()).transpose()?;
    if key_conditions.is_none() && !page.expressions.has(ExpressionKind::KeyCondition) {
        return Err(Exception::validation(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
        ));
    }
    let parsed = page.expressions.parse()?;
    let on_index = page.index.is_some();
    if let Some(condition) = &parsed.key_condition {
        legacy::check_key_conditions(condition, on_index)?;
    }
    let legacy = key_conditions.is_some();
    let legacy_key_condition =
        key_conditions.map(|conditions| legacy::key_conditions(conditions, on_index)).transpose()?;
    page.check_select(select)?;
    Ok(Request::Query(Query {
        key_condition: present(parsed.key_condition.or(legacy_key_condition))?,
        filter: parsed.filter.or(legacy_filter),
        projection: page.projection(parsed.projection),
        table: table_name::resolve(&present(page.table)?),
        index: page.index.map(Into::into),
        select,
        limit: page.limit.map(i32::unsigned_abs),
        consistent_read: page.consistent_read.unwrap_or_default(),
        scan_index_forward: scan_index_forward.unwrap_or(true),
        exclusive_start_key,
        return_consumed_capacity,
        legacy,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::item::page::ItemPage;
    use partita_api::item::query::QueryOutput;
    use partita_api::reporting::Select;
    use partita_value::{AttributeValue, Item};

    operation_tests!(Query);

    const KEY: &str = r#""KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"a"}}"#;

    #[test]
    fn a_query_by_expression() {
        let request = decoded(
            r##"{"TableName":"Music","IndexName":"by.Year","KeyConditionExpression":"pk = :p AND sk > :s",
                "FilterExpression":"#f <> :s","ProjectionExpression":"pk, #f","Limit":5,"ScanIndexForward":false,
                "ConsistentRead":true,"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"N":"1"}},"Select":"SPECIFIC_ATTRIBUTES",
                "ExpressionAttributeNames":{"#f":"size"},"ExpressionAttributeValues":{":p":{"S":"a"},":s":{"N":"0"}}}"##,
        );
        assert_eq!(request.index.as_deref(), Some("by.Year"));
        assert_eq!(request.key_condition.terms.len(), 2);
        assert!(
            request.filter.is_some() && request.projection.is_some() && request.exclusive_start_key.is_some()
        );
        assert_eq!((request.limit, request.select), (Some(5), Some(Select::SpecificAttributes)));
        assert!(request.consistent_read && !request.scan_index_forward && !request.legacy);
    }

    #[test]
    fn a_query_by_legacy_conditions() {
        let request = decoded(
            r#"{"TableName":"Music","KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},
                "FilterExpression":"a > b","Select":"COUNT"}"#,
        );
        assert!(request.legacy && request.filter.is_some() && request.scan_index_forward);
        assert_eq!(request.key_condition.terms.len(), 1);
    }

    #[test]
    fn members_are_checked_in_order_and_ten_errors_reported() {
        let body = r#"{"ReturnConsumedCapacity":"hi","AttributesToGet":[],"IndexName":"abc;","Select":"hi","Limit":-1,
            "KeyConditions":{"a":{},"b":{"ComparisonOperator":""}},"ConditionalOperator":"AN",
            "QueryFilter":{"a":{},"b":{"ComparisonOperator":""}}}"#;
        let operators = "satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]";
        let expected = errors(&[
            (
                "'hi'",
                "select",
                "satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
            ),
            ("'abc;'", "indexName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
            ("'hi'", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]"),
            ("null", "queryFilter.a.member.comparisonOperator", NOT_NULL),
            ("''", "queryFilter.b.member.comparisonOperator", operators),
            ("null", "tableName", NOT_NULL),
            ("'AN'", "conditionalOperator", "satisfy enum value set: [OR, AND]"),
            ("'[]'", "attributesToGet", "have length greater than or equal to 1"),
            ("LIMIT", "limit", "have value greater than or equal to 1"),
            ("null", "keyConditions.a.member.comparisonOperator", NOT_NULL),
        ]);
        assert_eq!(refused(body), expected.replace("Value LIMIT at 'limit'", "Value at 'Limit'"));
    }

    #[test]
    fn rules_between_members_are_checked_in_order() {
        let body = r#"{"TableName":"abc","QueryFilter":{},"AttributesToGet":["a"],"KeyConditions":{},
            "FilterExpression":"","ProjectionExpression":""}"#;
        assert_eq!(
            refused(body),
            "Can not use both expression and non-expression parameters in the same request: \
             Non-expression parameters: {AttributesToGet, QueryFilter} Expression parameters: {ProjectionExpression, FilterExpression}"
        );
        let body = r#"{"TableName":"abc","AttributesToGet":["a","a"],"ExclusiveStartKey":{"a":{}},
            "QueryFilter":{"a":{"ComparisonOperator":"EQ"}}}"#;
        assert_eq!(
            refused(body),
            "One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
        );
        let body = r#"{"TableName":"abc","AttributesToGet":["a","a"],"ExclusiveStartKey":{"a":{}}}"#;
        assert_eq!(
            refused(body),
            "One or more parameter values were invalid: Duplicate value in attribute name: a"
        );
        let body = r#"{"TableName":"abc","ExclusiveStartKey":{"a":{}}}"#;
        assert_eq!(
            refused(body),
            "The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        );
        let body = r#"{"TableName":"abc","ExclusiveStartKey":{"a":{"N":"x"}}}"#;
        assert_eq!(refused(body), "The parameter cannot be converted to a numeric value: x");
        assert_eq!(
            refused(r#"{"TableName":"abc"}"#),
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        );
        assert_eq!(
            refused(r#"{"TableName":"abc","KeyConditions":{}}"#),
            "Conditions can be of length 1 or 2 only"
        );
        let body =
            r#"{"TableName":"abc","KeyConditionExpression":"","ExpressionAttributeValues":{":v":{"S":"v"}}}"#;
        assert_eq!(refused(body), "Invalid KeyConditionExpression: The expression can not be empty;");
    }

    #[test]
    fn a_table_query_has_at_most_two_key_conditions() {
        let three = r#""KeyConditionExpression":"a = :v AND b = :v AND c > :v","ExpressionAttributeValues":{":v":{"S":"v"}}"#;
        assert_eq!(
            refused(&format!(r#"{{"TableName":"abc",{three}}}"#)),
            "Conditions can be of length 1 or 2 only"
        );
        let request = decoded(&format!(r#"{{"TableName":"abc","IndexName":"ghi",{three}}}"#));
        assert_eq!(request.key_condition.terms.len(), 3);
    }

    #[test]
    fn other_expressions_are_parsed_before_the_key_condition_is_interpreted() {
        let key = r#""KeyConditionExpression":"attribute_exists(pk)""#;
        assert_eq!(
            refused(&format!(r#"{{"TableName":"abc",{key},"FilterExpression":""}}"#)),
            "Invalid FilterExpression: The expression can not be empty;"
        );
        assert_eq!(
            refused(&format!(r#"{{"TableName":"abc",{key}}}"#)),
            "Invalid operator used in KeyConditionExpression: attribute_exists"
        );
        let request = decoded(r#"{"TableName":"abc","KeyConditions":{"pk":{"ComparisonOperator":"NULL"}}}"#);
        assert_eq!(
            request.key_condition.terms[0].comparison,
            partita_expression::KeyComparison::NotIndexable
        );
    }

    #[test]
    fn select_agrees_with_the_projection_and_the_index() {
        let body = |more: &str| format!(r#"{{"TableName":"abc",{KEY},{more}}}"#);
        for (more, text) in [
            (
                r#""Select":"SPECIFIC_ATTRIBUTES""#,
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
            ),
            (
                r#""Select":"ALL_ATTRIBUTES","ProjectionExpression":"a""#,
                "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
            ),
            (
                r#""Select":"COUNT","ProjectionExpression":"a""#,
                "Cannot specify the ProjectionExpression when choosing to get only the Count",
            ),
            (
                r#""Select":"ALL_PROJECTED_ATTRIBUTES""#,
                "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
            ),
        ] {
            assert_eq!(refused(&body(more)), text);
        }
        decoded(&body(r#""Select":"ALL_PROJECTED_ATTRIBUTES","IndexName":"index""#));
    }

    #[test]
    fn wrong_json_types_are_serialization_exceptions() {
        assert_eq!(mismatch(r#"{"Limit":"1"}"#), "STRING_VALUE cannot be converted to Integer");
        assert_eq!(mismatch(r#"{"ConsistentRead":"maybe"}"#), "Unexpected token received from parser");
        assert_eq!(mismatch(r#"{"AttributesToGet":"a"}"#), "Unexpected field type");
        assert_eq!(mismatch(r#"{"KeyConditions":{"a":"b"}}"#), "Unexpected value type in payload");
        assert_eq!(
            mismatch(r#"{"KeyConditions":[]}"#),
            "Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.Condition>"
        );
        assert_eq!(
            mismatch(r#"{"ExpressionAttributeNames":[]}"#),
            "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"
        );
    }

    #[test]
    fn a_page_is_encoded_with_or_without_items() {
        let item: Item = [("a", AttributeValue::Null)].into_iter().collect();
        let page = ItemPage {
            damaged: Vec::new(),
            items: Some(vec![item.clone(), Item::default()]),
            count: 2,
            scanned_count: 3,
            last_evaluated_key: Some(item),
        };
        assert_eq!(
            encoded(Response::Query(QueryOutput { page, consumed_capacity: None })),
            r#"{"Items":[{"a":{"NULL":true}},{}],"Count":2,"ScannedCount":3,"LastEvaluatedKey":{"a":{"NULL":true}}}"#
        );
        assert_eq!(encoded(Response::Scan(QueryOutput::default())), r#"{"Count":0,"ScannedCount":0}"#);
    }
}
