//! Key conditions: their terms and errors.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{ExpressionError, KeyComparison, KeyCondition, Usage};
use partita_value::{AttributeValue, Value};

fn key(text: &str, value_entries: &[(&str, AttributeValue)]) -> Result<KeyCondition, ExpressionError> {
    KeyCondition::parse(text, &names(&[("#k", "key")]), &values(value_entries), &mut Usage::new())
}

fn error(text: &str) -> String {
    let value_entries = [(":a", s("1")), (":b", s("1")), (":n", n("1"))];
    key(text, &value_entries).expect_err(text).to_string()
}

#[test]
fn every_comparison_becomes_a_term() {
    let one = || Value::from(&n("1"));
    let two = || Value::from(&n("2"));
    for (text, expected) in [
        ("a = :1", KeyComparison::Equal(one())),
        ("a < :1", KeyComparison::Less(one())),
        ("a <= :1", KeyComparison::LessOrEqual(one())),
        ("a > :1", KeyComparison::Greater(one())),
        ("a >= :1", KeyComparison::GreaterOrEqual(one())),
        (":1 = a", KeyComparison::Equal(one())),
        (":1 < a", KeyComparison::Greater(one())),
        (":1 <= a", KeyComparison::GreaterOrEqual(one())),
        (":1 > a", KeyComparison::Less(one())),
        (":1 >= a", KeyComparison::LessOrEqual(one())),
        ("a BETWEEN :1 AND :2", KeyComparison::Between(one(), two())),
    ] {
        let condition = key(text, &[(":1", n("1")), (":2", n("2"))]).unwrap();
        assert_eq!(condition.terms.len(), 1);
        assert_eq!(
            (condition.terms[0].attribute.as_str(), &condition.terms[0].comparison),
            ("a", &expected),
            "{text}"
        );
    }
    let condition =
        key("(#k = :a AND (begins_with(b, :a))) AND (c = :a AND d > :a)", &[(":a", s("x"))]).unwrap();
    let attributes: Vec<_> = condition.terms.iter().map(|term| term.attribute.as_str()).collect();
    assert_eq!(attributes, ["key", "b", "c", "d"]);
    assert_eq!(condition.terms[1].comparison, KeyComparison::BeginsWith(Value::string("x")));
}

#[test]
fn operators_that_need_a_filter_are_rejected() {
    for (text, operator) in [
        ("x = m OR m = :a", "OR"),
        ("m = :a AND (size(x) = y OR x < y)", "OR"),
        ("x IN (:a, y)", "IN"),
        ("attribute_exists(x)", "attribute_exists"),
        ("attribute_not_exists(x)", "attribute_not_exists"),
        ("contains(x.y, :a)", "contains"),
        ("NOT x = :a", "NOT"),
        ("x <> :a", "<>"),
        ("m = :b AND attribute_exists(x)", "attribute_exists"),
    ] {
        assert_eq!(
            error(text),
            format!("Invalid operator used in KeyConditionExpression: {operator}"),
            "{text}"
        );
    }
    assert_eq!(
        key("attribute_type(m, :t)", &[(":t", s("B"))]).unwrap_err().to_string(),
        "Invalid operator used in KeyConditionExpression: attribute_type"
    );
}

#[test]
fn each_term_is_about_one_top_level_attribute() {
    let operation = "KeyConditionExpressions cannot contain nested operations";
    let nested = "KeyConditionExpressions cannot have conditions on nested attributes";
    let twice = "KeyConditionExpressions must only contain one condition per key";
    let two = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition";
    let none = "Invalid condition in KeyConditionExpression: No key attribute specified";
    let first = |operator: &str| {
        let rule = "operator must have the key attribute as its first operand";
        format!("Invalid condition in KeyConditionExpression: {operator} {rule}")
    };
    for (text, expected) in [
        (":a BETWEEN x AND size(m)", first("BETWEEN")),
        ("m = :b AND begins_with(:a, x)", first("begins_with")),
        ("size(m) = :n", operation.into()),
        ("x = :a AND m < size(y[0])", operation.into()),
        ("m BETWEEN size(x) AND :n", operation.into()),
        ("m = x", two.into()),
        ("m < x.y", two.into()),
        ("m BETWEEN x AND :a", two.into()),
        ("m BETWEEN :a AND x[2]", two.into()),
        ("begins_with(m, x)", two.into()),
        ("m.x = :a", nested.into()),
        (":a <= m[3]", nested.into()),
        (":a = :b", none.into()),
        ("m = :a AND :a >= :b", none.into()),
        ("m > :a AND m < :b", twice.into()),
        ("(x = :a AND m = :a) AND (y = :a AND begins_with(x, :a))", twice.into()),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn errors_of_any_condition_come_first() {
    assert_eq!(error(""), "Invalid KeyConditionExpression: The expression can not be empty;");
    assert!(
        error("a = :x").starts_with("Invalid KeyConditionExpression: An expression attribute value used")
    );
    assert!(error("m = m OR x = :a").contains("must be distinct"));
    assert!(error("begins_with(a, :n)").ends_with("operator or function: begins_with, operand type: N"));
    assert_eq!(
        key("m BETWEEN :x AND :y", &[(":x", s("z")), (":y", s("k"))]).unwrap_err().to_string(),
        "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to \
         lower bound; lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:k}"
    );
}
