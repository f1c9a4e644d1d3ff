//! How the rules about the items of an entity differ that change no item by themselves.

use crate::model::{Entity, Table};
use std::collections::BTreeMap;

/// The rules of a table and what they are, empty where there is none.
pub(super) fn table_rules(table: &Table) -> [(&'static str, String); 3] {
    let reads = table.reads.map(|rule| rule.name().to_owned());
    [
        ("tenant", table.tenant.clone().unwrap_or_default()),
        ("ttl", table.ttl.clone().unwrap_or_default()),
        ("reads", reads.unwrap_or_default()),
    ]
}

/// The declared rules of an entity and the attributes that they name, empty where there is none.
pub(super) fn declared_rules(
    entity: &Entity,
    now: impl Fn(&String) -> String,
) -> [(&'static str, String); 6] {
    let one = |name: &Option<String>| name.as_ref().map(&now).unwrap_or_default();
    let several = |names: &[String]| names.iter().map(&now).collect::<Vec<_>>().join(", ");
    let latest = if entity.latest { "the newest version only" } else { "" };
    [
        ("edge", several(&entity.edge)),
        ("identity", several(&entity.identity)),
        ("lock", one(&entity.lock)),
        ("versions", one(&entity.versions)),
        ("ttl", one(&entity.ttl)),
        ("latest", latest.to_owned()),
    ]
}

/// What is said of rules that are not the same in both models.
pub(super) fn changed<const N: usize>(
    was: [(&'static str, String); N],
    is: [(&'static str, String); N],
) -> impl Iterator<Item = String> {
    was.into_iter().zip(is).filter_map(|((rule, was), (_, is))| match (was.as_str(), is.as_str()) {
        _ if was == is => None,
        ("", is) => Some(format!("+ {rule} {is}")),
        (was, "") => Some(format!("- {rule} {was}")),
        (was, is) => Some(format!("{rule} {was} becomes {is}")),
    })
}

/// The aggregates that are computed from something else than before. `renamed` has the new names of attributes.
pub(super) fn aggregates(before: &Entity, after: &Entity, renamed: &BTreeMap<&str, &str>) -> Vec<String> {
    let now = |name: &str| renamed.get(name).copied().unwrap_or(name).to_owned();
    let was: BTreeMap<String, String> =
        before.aggregates.iter().map(|own| (now(&own.name), own.to_string())).collect();
    let is: BTreeMap<String, String> =
        after.aggregates.iter().map(|own| (own.name.clone(), own.to_string())).collect();
    let changed = is.into_iter().filter_map(|(name, is)| match was.get(&name) {
        Some(was) if *was == is => None,
        Some(was) => Some(format!("{name} = {was} becomes {is}")),
        None => Some(format!("{name} = {is}, computed for every item")),
    });
    changed.collect()
}
