//! Which items of an entity are in a sparse index: the condition that those inside meet and the others do not.

use super::key_template::is_field_name;
use crate::item::{Item, Value};
use crate::model::condition::Condition;
use crate::model::{Attribute, Entity, Index};
use crate::name_hints;
use std::collections::BTreeSet;

/// More values than this are not listed in a condition.
const MAX_VALUES: usize = 4;

/// The best condition; if no attribute tells the items apart, that the key itself exists.
pub(super) fn condition(all: &[Item], entity: &Entity, index: &Index) -> Condition {
    let found = candidates(all, entity, &index.keys).into_iter().next();
    let mut exists = index.keys.iter().filter(|key| is_field_name(key)).map(|key| format!("exists({key})"));
    found.or_else(|| exists.find_map(|text| Condition::parse(&text).ok())).unwrap_or_default()
}

/// All conditions that tell the items that have the keys from the others.
pub(super) fn candidates(all: &[Item], entity: &Entity, keys: &[String]) -> Vec<Condition> {
    let (inside, outside): (Vec<&Item>, Vec<&Item>) =
        all.iter().partition(|item| keys.iter().all(|key| item.contains_key(key)));
    conditions(&inside, &outside, entity, keys)
}

/// First what the key consists of, then attributes with few values, then whether other attributes exist.
fn conditions(inside: &[&Item], outside: &[&Item], entity: &Entity, keys: &[String]) -> Vec<Condition> {
    let own = |attribute: &&Attribute| is_field_name(&attribute.name) && attribute.kind.is_scalar();
    let attributes: Vec<&Attribute> = entity.attributes.iter().filter(own).collect();
    let is_key = |attribute: &&&Attribute| keys.contains(&attribute.name);
    let exists = |attribute: &&Attribute| {
        let is_told = inside.iter().all(|item| item.contains_key(&attribute.name))
            && outside.iter().all(|item| !item.contains_key(&attribute.name));
        is_told.then(|| format!("exists({})", attribute.name))
    };
    let is_open = |attribute: &&&Attribute| {
        !is_key(attribute) && !attribute.kind.is_time() && !attribute.kind.is_globally_unique()
    };
    let by_key = attributes.iter().filter(is_key).filter_map(exists);
    let by_value =
        attributes.iter().filter(is_open).filter_map(|attribute| by_value(inside, outside, &attribute.name));
    let others = attributes.iter().filter(|attribute| !is_key(attribute)).filter_map(exists);
    by_key.chain(by_value).chain(others).filter_map(|text| Condition::parse(&text).ok()).collect()
}

/// The values that an attribute has inside and not outside, or the other way round.
fn by_value(inside: &[&Item], outside: &[&Item], name: &str) -> Option<String> {
    let values = |items: &[&Item]| -> BTreeSet<Option<String>> {
        items.iter().map(|item| item.get(name).and_then(Value::to_text)).take(1 << 16).collect()
    };
    let (within, without) = (values(inside), values(outside));
    if !within.is_disjoint(&without) || within.contains(&None) {
        return None;
    }
    let quotable = |values: &BTreeSet<Option<String>>| -> Option<Vec<String>> {
        let texts: Option<Vec<String>> = values.iter().cloned().collect();
        texts.filter(|texts| texts.iter().all(|text| !text.contains(['\'', '"'])))
    };
    // One value of one item says nothing, unless the name says that it is a state.
    let recurs = inside.len() > within.len() || name_hints::changes(name);
    let is_text = inside.iter().all(|item| matches!(item.get(name), Some(Value::String(_))));
    let written = |value: &String| if is_text { format!("'{value}'") } else { value.clone() };
    match (quotable(&within)?.as_slice(), quotable(&without).as_deref()) {
        ([value], _) if recurs => Some(format!("{name} == {}", written(value))),
        (_, Some([value])) if outside.len() > 1 => Some(format!("{name} != {}", written(value))),
        (values, _) if recurs && values.len() <= MAX_VALUES => {
            let values: Vec<String> = values.iter().map(written).collect();
            Some(format!("{name} in ({})", values.join(", ")))
        }
        _ => None,
    }
}
