//! Expected, QueryFilter, ScanFilter and KeyConditions.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{
    Condition, KeyComparison, KeyCondition, LegacyCondition, LegacyOperator, LogicalOperator,
};
use partita_value::{AttributeValue, Item, Value};

fn condition(attribute: &str, operator: &str, operands: &[AttributeValue]) -> LegacyCondition {
    LegacyCondition {
        attribute: attribute.into(),
        operator: LegacyOperator::from_name(operator).unwrap(),
        operands: operands.iter().map(Value::from).collect(),
    }
}

fn thing() -> Item {
    item(&[("a", n("5")), ("t", s("hello")), ("set", ss(&["x", "y"])), ("lst", l(&[n("1"), yes()]))])
}

fn holds(attribute: &str, operator: &str, operands: &[AttributeValue]) -> bool {
    let conditions = vec![condition(attribute, operator, operands)];
    Condition::from_legacy(conditions, LogicalOperator::And).unwrap().matches(Some(thing().view())).unwrap()
}

#[test]
fn operators_match_like_expressions() {
    for (attribute, operator, operands, expected) in [
        ("a", "EQ", vec![n("5")], true),
        ("a", "EQ", vec![s("5")], false),
        ("set", "EQ", vec![ss(&["y", "x"])], true),
        ("lst", "EQ", vec![l(&[n("1"), yes()])], true),
        ("a", "NE", vec![n("5")], false),
        ("x", "NE", vec![n("5")], true),
        ("a", "LE", vec![n("5")], true),
        ("a", "LT", vec![n("5")], false),
        ("a", "GE", vec![n("5")], true),
        ("a", "GT", vec![n("4")], true),
        ("x", "GT", vec![n("4")], false),
        ("a", "NOT_NULL", vec![], true),
        ("x", "NOT_NULL", vec![], false),
        ("a", "NULL", vec![], false),
        ("x", "NULL", vec![], true),
        ("t", "CONTAINS", vec![s("ell")], true),
        ("set", "CONTAINS", vec![s("x")], true),
        ("lst", "CONTAINS", vec![n("1")], true),
        ("t", "NOT_CONTAINS", vec![s("ell")], false),
        ("set", "NOT_CONTAINS", vec![s("z")], true),
        ("x", "NOT_CONTAINS", vec![s("z")], false),
        ("t", "BEGINS_WITH", vec![s("he")], true),
        ("a", "IN", vec![n("1"), n("5")], true),
        ("a", "IN", vec![n("1")], false),
        ("a", "BETWEEN", vec![n("5"), n("6")], true),
        ("a", "BETWEEN", vec![n("6"), n("7")], false),
    ] {
        assert_eq!(holds(attribute, operator, &operands), expected, "{attribute} {operator} {operands:?}");
    }
}

#[test]
fn conditions_are_joined() {
    let conditions = || vec![condition("a", "EQ", &[n("5")]), condition("t", "EQ", &[s("no")])];
    let matches = |conditions, operator| {
        let condition: Condition = Condition::from_legacy(conditions, operator).unwrap();
        condition.matches(Some(thing().view())).unwrap()
    };
    assert!(!matches(conditions(), LogicalOperator::And));
    assert!(matches(conditions(), LogicalOperator::Or));
    assert!(matches(vec![], LogicalOperator::Or) && matches(vec![], LogicalOperator::And));
    let joined = Condition::from_legacy(conditions(), LogicalOperator::Or).unwrap();
    assert_eq!(joined.attribute_roots().collect::<Vec<_>>(), ["a", "t"]);
}

#[test]
fn operands_are_checked() {
    let invalid = "One or more parameter values were invalid: ";
    for (operator, operands, expected) in [
        ("EQ", vec![], format!("{invalid}Invalid number of argument(s) for the EQ ComparisonOperator")),
        ("EQ", vec![n("1"), n("2")], format!("{invalid}Invalid number of argument(s) for the EQ ComparisonOperator")),
        ("NULL", vec![n("1")], format!("{invalid}Invalid number of argument(s) for the NULL ComparisonOperator")),
        ("IN", vec![], format!("{invalid}Invalid number of argument(s) for the IN ComparisonOperator")),
        ("BETWEEN", vec![n("1")], format!("{invalid}Invalid number of argument(s) for the BETWEEN ComparisonOperator")),
        (
            "IN",
            vec![n("1"), s("a")],
            format!("{invalid}AttributeValues inside AttributeValueList must be of same type"),
        ),
        ("CONTAINS", vec![ss(&["a"])], format!("{invalid}ComparisonOperator CONTAINS is not valid for SS AttributeValue type")),
        ("LT", vec![yes()], format!("{invalid}ComparisonOperator LT is not valid for BOOL AttributeValue type")),
        ("BEGINS_WITH", vec![n("1")], format!("{invalid}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")),
        ("IN", vec![ns(&["1"])], format!("{invalid}ComparisonOperator IN is not valid for NS AttributeValue type")),
        (
            "BETWEEN",
            vec![n("2"), n("1")],
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound".into(),
        ),
    ] {
        let conditions = || vec![condition("a", operator, &operands)];
        let error = Condition::from_legacy(conditions(), LogicalOperator::And).unwrap_err();
        assert_eq!(error.to_string(), expected, "{operator}");
        assert_eq!(KeyCondition::from_legacy(conditions()).unwrap_err().to_string(), expected, "{operator}");
    }
}

#[test]
fn key_conditions_that_are_not_indexable_are_marked() {
    let conditions = vec![condition("p", "EQ", &[s("a")]), condition("k", "BETWEEN", &[n("1"), n("2")])];
    let terms = KeyCondition::from_legacy(conditions).unwrap().terms;
    assert_eq!(terms[0].comparison, KeyComparison::Equal(Value::string("a")));
    assert_eq!(terms[1].comparison, KeyComparison::Between(Value::from(&n("1")), Value::from(&n("2"))));
    for (operator, operands) in [
        ("NE", vec![n("1")]),
        ("CONTAINS", vec![s("a")]),
        ("NOT_CONTAINS", vec![s("a")]),
        ("IN", vec![n("1")]),
        ("NULL", vec![]),
        ("NOT_NULL", vec![]),
    ] {
        let terms = KeyCondition::from_legacy(vec![condition("a", operator, &operands)]).unwrap().terms;
        assert_eq!(terms[0].comparison, KeyComparison::NotIndexable, "{operator}");
    }
}

#[test]
fn every_operator_is_found_by_its_name() {
    for name in [
        "EQ",
        "NE",
        "LE",
        "LT",
        "GE",
        "GT",
        "NOT_NULL",
        "NULL",
        "CONTAINS",
        "NOT_CONTAINS",
        "BEGINS_WITH",
        "IN",
        "BETWEEN",
    ] {
        assert_eq!(LegacyOperator::from_name(name).map(LegacyOperator::name), Some(name));
    }
    assert_eq!(LegacyOperator::from_name("eq"), None);
}
