//! Expressions: the first line is the kind, the rest is the text. Valid ones are evaluated with and without an item.

use crate::inputs::{assert_canonical, expression_names, expression_values, item, split_first_line};
use partita_expression::{Condition, ExpressionKind, KeyCondition, Projection, Update, Usage};
use partita_value::Item;

pub fn run(input: &[u8]) {
    let (kind, text) = split_first_line(input);
    let Ok(text) = std::str::from_utf8(text) else { return };
    match kind {
        b"filter" => condition(ExpressionKind::Filter, text),
        b"key_condition" => key_condition(text),
        b"projection" => projection(text),
        b"update" => update(text),
        _ => condition(ExpressionKind::Condition, text),
    }
}

fn condition(kind: ExpressionKind, text: &str) {
    let parsed = Condition::parse(kind, text, &expression_names(), &expression_values(), &mut Usage::new());
    let Ok(condition) = parsed else { return };
    let _ = condition.matches(Some(item().view()));
    let _ = condition.matches(None);
    let same = Condition::from_node(condition.node().clone());
    assert!(same.attribute_roots().eq(condition.attribute_roots()));
}

fn key_condition(text: &str) {
    if let Ok(condition) =
        KeyCondition::parse(text, &expression_names(), &expression_values(), &mut Usage::new())
    {
        assert!(!condition.terms.is_empty());
    }
}

fn projection(text: &str) {
    let Ok(projection) = Projection::parse(text, &expression_names(), &mut Usage::new()) else { return };
    let all = item();
    let selected = projection.apply(all.view());
    assert_canonical(&selected);
    assert!(selected.size() <= all.size());
    assert!(
        selected
            .view()
            .attributes()
            .into_iter()
            .all(|(name, _)| { projection.attribute_roots().any(|root| root.as_bytes() == name) })
    );
}

fn update(text: &str) {
    let parsed = Update::parse(text, &expression_names(), &expression_values(), &mut Usage::new());
    let Ok(update) = parsed else { return };
    let key: Item = item().view().attributes().into_iter().filter_map(key_attribute).collect();
    for old in [Some(item()), None] {
        if let Ok(updated) = update.apply(old.as_ref().map(Item::view), key.view()) {
            assert_canonical(&updated);
            assert_canonical(&update.targets().apply(updated.view()));
        }
    }
}

fn key_attribute<'a>(
    (name, value): (&'a [u8], partita_value::ValueRef<'a>),
) -> Option<(&'a str, partita_value::AttributeValue)> {
    let name = std::str::from_utf8(name).ok().filter(|name| ["pk", "sk"].contains(name))?;
    Some((name, value.into()))
}
