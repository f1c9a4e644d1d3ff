//! Scan: JSON → request.

pub(crate) use crate::item::page_read::encode;

use crate::item::legacy;
use crate::item::page_read::PageReadMembers;
use crate::json::Reader;
use crate::table::table_name;
use crate::validation::{Validation, present};
use partita_api::item::scan::{Scan, Segment};
use partita_api::{Exception, Request};
use partita_expression::ExpressionKind;

/// The maximum number of segments of a scan.
const MAX_SEGMENTS: i32 = 1_000_000;

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let mut page = PageReadMembers::new("ScanFilter", &[ExpressionKind::Projection, ExpressionKind::Filter]);
    let mut segment = None;
    let mut total_segments = None;
    let mut past_damage = None;
    reader.request(|reader, member| {
        match member {
            "Segment" => segment = reader.integer()?,
            "TotalSegments" => total_segments = reader.integer()?,
            "PartitaPastDamage" => past_damage = reader.boolean()?,
            _ => page.read(reader, member)?,
        }
        Ok(())
    })?;

    page.check_table()?;
    let mut validation = Validation::new();
    let select = page.select(&mut validation);
    page.validate_index(&mut validation);
    validation.at_least("totalSegments", total_segments, 1);
    validation.at_most("totalSegments", total_segments, MAX_SEGMENTS);
    let return_consumed_capacity = page.return_consumed_capacity(&mut validation);
    validation.required("tableName", &page.table);
    let joined_by = page.conditional_operator(&mut validation);
    legacy::validate_conditions(&mut validation, "scanFilter", page.filter.as_deref());
    validation.at_least("segment", segment, 0);
    validation.at_most("segment", segment, MAX_SEGMENTS - 1);
    validation.at_least("limit", page.limit, 1);
    page.validate_attributes_to_get(&mut validation);
    validation.finish()?;

    page.check_use(joined_by, false)?;
    legacy::check_attributes_to_get(page.attributes_to_get.as_deref())?;
    let legacy = page.filter.is_some();
    let legacy_filter = page.filter(joined_by)?;
    let exclusive_start_key =
        page.exclusive_start_key.take().map(|key| key.checked_start_key()).transpose()?;
    let segment = checked_segment(segment, total_segments)?;
    let parsed = page.expressions.parse()?;
    page.check_select(select)?;
    Ok(Request::Scan(Scan {
        filter: parsed.filter.or(legacy_filter),
        projection: page.projection(parsed.projection),
        table: table_name::resolve(&present(page.table)?),
        index: page.index.map(Into::into),
        select,
        limit: page.limit.map(i32::unsigned_abs),
        consistent_read: page.consistent_read.unwrap_or_default(),
        segment,
        exclusive_start_key,
        return_consumed_capacity,
        legacy,
        past_damage: past_damage.unwrap_or_default(),
    }))
}

/// Checks `Segment`, which counts from zero, and `TotalSegments`, which are required together.
fn checked_segment(segment: Option<i32>, total: Option<i32>) -> Result<Option<Segment>, Exception> {
    match (segment, total) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(Exception::validation(
            "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
        )),
        (None, Some(_)) => Err(Exception::validation(
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
        )),
        (Some(number), Some(total)) if number >= total => Err(Exception::validation(format!(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: \
             Segment: {number} is not less than TotalSegments: {total}"
        ))),
        (Some(number), Some(total)) => {
            Ok(Some(Segment { number: number.unsigned_abs(), total: total.unsigned_abs() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    operation_tests!(Scan);

    #[test]
    fn a_plain_scan() {
        let request = decoded(r#"{"TableName":"Music"}"#);
        assert!(
            request.filter.is_none()
                && request.segment.is_none()
                && request.limit.is_none()
                && !request.legacy
        );
    }

    #[test]
    fn a_segment_with_a_filter() {
        let request = decoded(
            r#"{"TableName":"Music","Segment":3,"TotalSegments":4,"Limit":10,"FilterExpression":"a = :a",
                "ExpressionAttributeValues":{":a":{"BOOL":true}}}"#,
        );
        assert_eq!(request.segment, Some(Segment { number: 3, total: 4 }));
        assert_eq!(request.limit, Some(10));
        assert!(request.filter.is_some());
    }

    #[test]
    fn a_legacy_filter() {
        let request = decoded(
            r#"{"TableName":"Music","AttributesToGet":["a"],"ConditionalOperator":"OR","ScanFilter":{
                "a":{"ComparisonOperator":"NULL"},
                "b":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"2"}]}}}"#,
        );
        assert!(request.legacy && request.projection.is_some());
        assert!(request.filter.unwrap().matches(None).unwrap());
    }

    #[test]
    fn numbers_have_ranges() {
        assert_eq!(
            refused(r#"{"TotalSegments":0,"Segment":-1,"Limit":0}"#),
            errors(&[
                ("'0'", "totalSegments", "have value greater than or equal to 1"),
                ("null", "tableName", NOT_NULL),
                ("'-1'", "segment", "have value greater than or equal to 0"),
                ("'0'", "limit", "have value greater than or equal to 1"),
            ])
        );
    }

    #[test]
    fn segment_and_total_segments_are_required_together() {
        let body = |more: &str| format!(r#"{{"TableName":"abc","FilterExpression":"",{more}}}"#);
        assert_eq!(
            refused(&body(r#""Segment":0"#)),
            "The TotalSegments parameter is required but was not present in the request when Segment parameter is present"
        );
        assert_eq!(
            refused(&body(r#""TotalSegments":4"#)),
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is present"
        );
        assert_eq!(
            refused(&body(r#""Segment":5,"TotalSegments":5"#)),
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5"
        );
    }

    #[test]
    fn filters_need_comparable_operands() {
        let body = |operator: &str, operands: &str| {
            format!(
                r#"{{"TableName":"abc","ScanFilter":{{"a":{{"ComparisonOperator":"{operator}","AttributeValueList":[{operands}]}}}}}}"#
            )
        };
        let invalid = "One or more parameter values were invalid: ";
        for (operator, operands, text) in [
            ("LT", r#"{"BOOL":true}"#, "ComparisonOperator LT is not valid for BOOL AttributeValue type"),
            (
                "BEGINS_WITH",
                r#"{"N":"1"}"#,
                "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
            ),
            ("CONTAINS", r#"{"L":[]}"#, "ComparisonOperator CONTAINS is not valid for L AttributeValue type"),
            (
                "IN",
                r#"{"S":"a"},{"N":"1"}"#,
                "AttributeValues inside AttributeValueList must be of same type",
            ),
        ] {
            assert_eq!(refused(&body(operator, operands)), format!("{invalid}{text}"));
        }
        assert_eq!(
            refused(&body("BETWEEN", r#"{"N":"2"},{"N":"1"}"#)),
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        );
    }
}
