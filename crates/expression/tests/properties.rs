//! Properties of all texts, conditions and items.
#![allow(clippy::unwrap_used)]

mod support;
use support::*;

use partita_expression::{
    Condition, ExpressionKind, KeyCondition, ParsedCondition, Projection, Update, Usage,
};
use partita_value::AttributeValue;
use proptest::prelude::*;

/// Random tokens, which resemble expressions often enough to be parsed far.
fn tokens_in_random_order() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a",
        "b",
        "#n",
        ":v",
        ":w",
        "(",
        ")",
        "(",
        ")",
        "[",
        "]",
        "0",
        "1",
        ".",
        ",",
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "AND",
        "or",
        "NOT",
        "BETWEEN",
        "IN",
        "SET",
        "REMOVE",
        "ADD",
        "DELETE",
        "size",
        "contains",
        "begins_with",
        "attribute_exists",
        "attribute_type",
        "if_not_exists",
        "list_append",
        "status",
        "ü",
        "_",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.join(" "))
}

fn parse_everything(text: &str) {
    let names = names(&[("#n", "n")]);
    let values = values(&[(":v", n("1")), (":w", ss(&["a"]))]);
    let mut usage = Usage::new();
    let there =
        item(&[("a", n("1")), ("b", l(&[n("1"), m(&[("a", s("x"))])])), ("n", m(&[("b", ss(&["a", "b"]))]))]);
    for kind in [ExpressionKind::Condition, ExpressionKind::Filter] {
        if let Ok(condition) = Condition::parse(kind, text, &names, &values, &mut usage) {
            let _ = (condition.matches(Some(there.view())), condition.matches(None));
        }
    }
    let _ = KeyCondition::parse(text, &names, &values, &mut usage);
    if let Ok(projection) = Projection::parse(text, &names, &mut usage) {
        projection.apply(there.view());
    }
    if let Ok(update) = Update::parse(text, &names, &values, &mut usage) {
        let _ = (update.apply(Some(there.view()), there.view()), update.apply(None, there.view()));
    }
    let _ = (usage.unused_names(&names), usage.unused_values(&values));
}

/// The texts of valid conditions.
fn condition_text() -> impl Strategy<Value = String> {
    let operand =
        prop::sample::select(vec!["a", "b.c[1]", "#n.d", ":v", "size(a)", "(a)", "x[0][1]", "size((#n))"]);
    let leaf =
        (operand.clone(), operand.clone(), operand, 0..9usize).prop_map(|(a, b, c, form)| match form {
            0 => format!("{a} = {b}"),
            1 => format!("{a} <> {b}"),
            2 => format!("{a}<={b}"),
            3 => format!("{a} > {b}"),
            4 => format!("{a} BETWEEN {b} AND {c}"),
            5 => format!("{a} in ({b},{c})"),
            6 => format!("contains({a}, {b})"),
            7 => format!("begins_with({a},{b})"),
            _ => format!("attribute_exists({a})"),
        });
    leaf.prop_recursive(5, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|terms| format!("({})", terms.join(" AND "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|terms| terms.join(" OR ")),
            inner.clone().prop_map(|term| format!("NOT {term}")),
            (inner.clone(), inner).prop_map(|(one, two)| format!("{one} and {two}")),
        ]
    })
}

fn any_value() -> impl Strategy<Value = AttributeValue> {
    let leaf = prop_oneof![
        Just(null()),
        any::<bool>().prop_map(AttributeValue::Bool),
        "[a-c]{0,3}".prop_map(AttributeValue::S),
        (-9i32..9).prop_map(|number| n(&number.to_string())),
        prop::collection::btree_set("[a-c]", 1..3).prop_map(AttributeValue::Ss),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(AttributeValue::M),
        ]
    })
}

fn any_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        prop::sample::select(vec![".a", ".b", ".c"]).prop_map(str::to_owned),
        (0..4usize).prop_map(|index| format!("[{index}]")),
    ];
    (prop::sample::select(vec!["a", "b", "c"]), prop::collection::vec(step, 0..3))
        .prop_map(|(root, steps)| format!("{root}{}", steps.concat()))
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in ".{0,80}") {
        parse_everything(&text);
    }

    #[test]
    fn arbitrary_tokens_never_panic(text in tokens_in_random_order()) {
        parse_everything(&text);
        parse_everything(&format!("SET {text}"));
    }

    #[test]
    fn a_printed_condition_parses_to_the_same_tree(text in condition_text()) {
        if let Ok(parsed) = ParsedCondition::parse(ExpressionKind::Filter, &text) {
            let printed = parsed.to_string();
            prop_assert_eq!(ParsedCondition::parse(ExpressionKind::Filter, &printed), Ok(parsed), "{}", printed);
        }
    }

    #[test]
    fn a_set_value_is_found_at_its_path(
        attributes in prop::collection::btree_map("[a-c]", any_value(), 0..4), path in any_path(), value in any_value(),
    ) {
        let old = attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<partita_value::Item>();
        let update = update(&format!("SET {path} = :v"), &[], &[(":v", value.clone())]).unwrap();
        let Ok(new) = update.apply(Some(old.view()), old.view()) else { return Ok(()) };
        let known = filter(&format!("{path} = :v"), &[], &[(":v", value)]).unwrap();
        // Past the end of a list the value is appended, so it has another index.
        if update.targets().apply(new.view()) != update.targets().apply(old.view()) || !path.contains('[') {
            prop_assert!(known.matches(Some(new.view())).unwrap(), "{:?} {:?}", old, new);
        }
        prop_assert_eq!(new.clone(), partita_value::Item::from_bytes(new.clone().into_bytes()).unwrap());
    }

    #[test]
    fn a_removed_value_is_gone_from_maps(
        attributes in prop::collection::btree_map("[a-c]", any_value(), 0..4), path in any_path(),
    ) {
        let old = attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<partita_value::Item>();
        let update = update(&format!("REMOVE {path}"), &[], &[]).unwrap();
        if let Ok(new) = update.apply(Some(old.view()), old.view()) && !path.ends_with(']') {
            prop_assert!(update.targets().apply(new.view()).is_empty());
        }
    }

    #[test]
    fn a_projection_is_empty_exactly_if_nothing_is_at_its_path(
        attributes in prop::collection::btree_map("[a-c]", any_value(), 0..4), path in any_path(),
    ) {
        let there = attributes.iter().map(|(name, value)| (name.as_str(), value.clone())).collect::<partita_value::Item>();
        let projection = Projection::parse(&path, &names(&[]), &mut Usage::new()).unwrap();
        let exists = filter(&format!("attribute_exists({path})"), &[], &[]).unwrap();
        let projected = projection.apply(there.view());
        prop_assert_eq!(!projected.is_empty(), exists.matches(Some(there.view())).unwrap());
        prop_assert!(projected.size() <= there.size());
    }
}
