//! Odd items: a few of many that differ from all others. They do not decide what a model is made of; the rest decides, and the draft
//! names them.

use super::group::{Group, GroupKey};
use super::pieces::pieces;
use super::style::MIN_VALUES;
use crate::formatting::thousands;
use crate::item::{Item, Value};
use std::collections::BTreeMap;

/// Among fewer items, none is an exception.
const MANY: usize = 20;

/// Whether the rest of many items are exceptions.
pub(super) fn is_nearly_all(count: usize, all: usize) -> bool {
    all >= MANY && count * 20 >= all * 19
}

/// Whether the rest of many items are so few that they are rather damaged than of another kind.
pub(super) fn is_all_but_few(count: usize, all: usize) -> bool {
    all - count <= few(all)
}

/// The number of odd items that many have at most.
pub(super) fn few(all: usize) -> usize {
    if all < MANY { 0 } else { (all / 100).max(1) }
}

/// The items whose keys, also those of indexes, have the form that nearly all have.
pub(super) fn regular<'g>(sample: &'g [Item], keys: &[&String]) -> Vec<&'g Item> {
    let mut items: Vec<&Item> = sample.iter().collect();
    for key in keys {
        let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        items
            .iter()
            .filter_map(|item| form(item, key))
            .for_each(|form| *counts.entry(form).or_default() += 1);
        let all = counts.values().sum();
        let usual = counts.into_iter().find(|(_, count)| is_nearly_all(*count, all)).map(|(form, _)| form);
        let is_regular =
            |item: &Item| usual.is_none() || form(item, key).is_none_or(|own| Some(own) == usual);
        let kept = items.iter().filter(|item| is_regular(item)).count();
        if is_nearly_all(kept, sample.len()) {
            items.retain(|item| is_regular(item));
        }
    }
    items
}

/// What is the same in the values of a key, if an item has it: whether it is a number, and the first separator.
fn form<'g>(item: &'g Item, key: &str) -> Option<(bool, &'g str)> {
    let value = item.get(key)?;
    let pieces = pieces(value.as_text().unwrap_or_default());
    Some((matches!(value, Value::Number(_)), pieces.get(1).map_or("", |second| second.mark)))
}

/// Says that items with one number as their sort key have other attributes than the rest: numbers do not tell entities apart.
pub(super) fn numbered_apart(sample: &[Item], keys: &[String]) -> Option<String> {
    let sort = keys.get(1)?;
    let mut numbers: BTreeMap<&str, Vec<Vec<&String>>> = BTreeMap::new();
    for item in sample {
        if let Some(Value::Number(number)) = item.get(sort) {
            numbers.entry(number).or_default().push(item.keys().collect());
        }
    }
    let is_apart = |(number, names): &(&&str, &Vec<Vec<&String>>)| {
        let mut others = numbers.iter().filter(|(other, _)| other != number).flat_map(|(_, names)| names);
        names.len() >= MIN_VALUES
            && names.iter().all(|own| *own == names[0])
            && others.all(|own| *own != names[0])
    };
    let (number, _) = numbers.iter().filter(|_| numbers.len() >= MIN_VALUES).find(is_apart)?;
    Some(format!(
        "Those whose {sort} is {number} have other attributes than the rest: numbers do not tell entities apart."
    ))
}

/// Items that are left out of the model, because most others are of another kind.
pub(super) struct LeftOut {
    /// The group that the rest of their type is, unless they have no type.
    pub beside: Option<GroupKey>,
    /// How many they are, what is odd about them, and an example.
    pub remark: String,
}

/// Takes out the groups without a type, and those that are few beside another of the same type.
pub(super) fn leave_out(
    groups: &mut BTreeMap<GroupKey, Group>,
    type_attribute: &str,
    keys: &[String],
) -> Vec<LeftOut> {
    let typed = |key: &GroupKey| (key.label.clone(), key.type_value.clone());
    let mut kinds: BTreeMap<_, (u64, u64, GroupKey)> = BTreeMap::new();
    for (key, group) in &*groups {
        let kind = kinds.entry(typed(key)).or_insert((0, 0, key.clone()));
        kind.0 += group.count;
        if group.count > kind.1 {
            (kind.1, kind.2) = (group.count, key.clone());
        }
    }
    let is_odd = |key: &GroupKey| {
        let (all, largest, usual) = &kinds[&typed(key)];
        key.type_value.is_none() || (key != usual && is_all_but_few(*largest as usize, *all as usize))
    };
    let mut odd: BTreeMap<_, Vec<Group>> = BTreeMap::new();
    let taken = groups.extract_if(.., |key, _| is_odd(key));
    taken.for_each(|(key, group)| odd.entry(typed(&key)).or_default().push(group));
    let left_out = odd.into_iter().map(|(kind, groups)| {
        let count = groups.iter().map(|group| group.count).sum();
        let example = groups.iter().flat_map(|group| &group.sample).next().map(|item| key_of(item, keys));
        let example = example.unwrap_or_default();
        let (all, _, usual) = &kinds[&kind];
        match kind.1 {
            None => {
                let remark = format!(
                    "{} without {type_attribute} {} left out, such as {example}: no entity has them.",
                    counted(count),
                    if count == 1 { "is" } else { "are" }
                );
                LeftOut { beside: None, remark }
            }
            Some(kind) => {
                let remark = format!(
                    "Left out: {} of {} of the type {kind}, whose keys have another form, such as {example}.",
                    thousands(count),
                    counted(*all),
                );
                LeftOut { beside: Some(usual.clone()), remark }
            }
        }
    });
    left_out.collect()
}

/// The key of an item, for its reader.
pub(super) fn key_of(item: &Item, keys: &[String]) -> String {
    let values = keys.iter().filter_map(|key| item.get(key).and_then(Value::as_text));
    values.collect::<Vec<_>>().join(" / ")
}

/// A number of items.
pub(super) fn counted(items: u64) -> String {
    format!("{} item{}", thousands(items), if items == 1 { "" } else { "s" })
}
