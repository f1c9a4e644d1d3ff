//! Which items of an entity are in a sparse index: the condition that those inside meet and the others do not.

use crate::item::{Item, Value};
use crate::model::condition::Condition;
use crate::model::{Attribute, Entity, Index};
use crate::name_hints;
use crate::template::{Template, is_field_name};
use std::collections::BTreeSet;

/// More values than this are not listed in a condition.
const MAX_VALUES: usize = 4;

/// All conditions that tell the items that are in an index from the others, the best first: what the key consists of, then attributes with few
/// values, then whether other attributes exist.
pub(super) fn candidates(all: &[&Item], entity: &Entity, index: &Index, key: &[Template]) -> Vec<Condition> {
    let (inside, outside): (Vec<&Item>, Vec<&Item>) =
        all.iter().copied().partition(|item| index.keys.iter().all(|name| item.contains_key(name)));
    // A key that is made of other attributes is no attribute.
    let is_made = |name: &String| {
        let mut own = index.keys.iter().zip(key).filter(|(key, _)| *key == name);
        own.any(|(_, template)| template.bare_field() != Some(name))
    };
    let own = |attribute: &&Attribute| {
        is_field_name(&attribute.name) && attribute.kind.is_scalar() && !is_made(&attribute.name)
    };
    let attributes: Vec<&Attribute> = entity.attributes.iter().filter(own).collect();
    let is_key = |attribute: &&&Attribute| index.keys.contains(&attribute.name);
    let exists = |attribute: &&Attribute| {
        let is_told = inside.iter().all(|item| item.contains_key(&attribute.name))
            && outside.iter().all(|item| !item.contains_key(&attribute.name));
        is_told.then(|| format!("exists({})", attribute.name))
    };
    let is_open = |attribute: &&&Attribute| {
        !is_key(attribute) && !attribute.kind.is_time() && !attribute.kind.is_globally_unique()
    };
    let by_key = attributes.iter().filter(is_key).filter_map(exists);
    let by_value = attributes
        .iter()
        .filter(is_open)
        .filter_map(|attribute| by_value(&inside, &outside, &attribute.name));
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
